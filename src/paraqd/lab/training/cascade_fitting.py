"""Fit the cascade, in which a larger judge is asked about pairs of which the small judge is unsure.

The fit needs validation pairs, the findings of the rules, and the log-odds of both judges. Its result tells the scorer
when to ask the larger judge and how to weigh both answers; see `scoring.second_opinion`. The weights are fitted to all
pairs that the rules do not decide. The share of the small judge is chosen on the pairs about which the larger judge is
asked, if both labels occur among them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.metrics import evaluate
from paraqd.lab.corpora.faulty_pairs import FaultyPair
from paraqd.lab.training.fusion_fitting import fit_fusion, is_across
from paraqd.lab.training.settings import CascadeSettings, FusionSettings, TrainingError
from paraqd.model_folder import ModelFolder, read_model_folder
from paraqd.progress import Progress, silent
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.cross_encoder import CrossEncoder
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.tables.writers import replacing

_AT_ONCE = 512
_KINDS = ("small", "large", "both", "cascade")  # the scorers that are measured
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FirstOpinions:
    """What the rules and the small judge say about the pairs of one validation set.

    ``rows`` are the places of the pairs in the set. Pairs of two rewrites are left out, as in `fusion_fitting`.
    """

    rows: tuple[int, ...]
    labels: tuple[int, ...]
    questions: tuple[str, ...]
    features: tuple[tuple[str, ...], ...]
    odds: tuple[float, ...]


@dataclass(frozen=True)
class SmallScorer:
    """A scorer with a small judge: its name with its hash, as in a signature, its folder and its fusion."""

    name: str
    folder: ModelFolder
    hashes: Mapping[str, str]
    fusion: Fusion

    @classmethod
    def load(cls, model: str | Path) -> SmallScorer:
        """Read the scorer in a model folder. The folder must be an exported model, because the cascade loads it."""
        folder = read_model_folder(model)
        if folder.kind != "fused" or "fusion" not in folder.facts:
            raise TrainingError(f"{folder.path} does not hold a scorer with a small judge: pass another folder")
        hashes = folder.verified_hashes()
        name = f"{folder.name}@{folder.hash8(hashes)}"
        return cls(name, folder, hashes, Fusion.from_dict(folder.facts["fusion"]))


def first_opinions(
    small: SmallScorer, pairs: Sequence[FaultyPair], *, name: str = "", progress: Progress = silent
) -> FirstOpinions:
    """Apply the rules and the small judge to the pairs of a validation set."""
    judge = CrossEncoder(small.folder.path, kinds=small.folder.evidence_kinds, hashes=small.hashes)
    rows = [i for i, pair in enumerate(pairs) if not is_across(pair)]
    features: list[tuple[str, ...]] = []
    odds: list[float] = []
    for start in range(0, len(rows), _AT_ONCE):
        progress(f"small judge: {name}", start, len(rows))
        prepared = [prepare_pair(pairs[i].question, pairs[i].paraphrase) for i in rows[start : start + _AT_ONCE]]
        wait = judge.begin(prepared)
        for each in prepared:
            findings = READER.findings(each.question, each.paraphrase, each.matching)
            features.append(tuple(finding.feature for finding in findings))
        odds += [round(float(judgement.log_odds), 4) for judgement in wait()]
    labels = tuple(pairs[i].label for i in rows)
    questions = tuple(pairs[i].id.partition("|")[0] for i in rows)
    return FirstOpinions(tuple(rows), labels, questions, tuple(features), tuple(odds))


def write_opinions(opinions: Mapping[str, FirstOpinions], path: Path) -> None:
    """Write the opinions on several validation sets to a file."""
    with replacing(path) as temporary, gzip.open(temporary, "wt", encoding="utf-8") as file:
        json.dump({name: asdict(each) for name, each in opinions.items()}, file)


def read_opinions(path: Path) -> dict[str, FirstOpinions]:
    """Read opinions from a file that `write_opinions` wrote."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stored = json.load(file)
    return {
        name: FirstOpinions(
            tuple(each["rows"]),
            tuple(each["labels"]),
            tuple(each["questions"]),
            tuple(tuple(found) for found in each["features"]),
            tuple(each["odds"]),
        )
        for name, each in stored.items()
    }


def fit_cascade(
    opinions: Mapping[str, FirstOpinions],
    large: Mapping[str, NDArray[np.float32]],
    small: Fusion,
    settings: CascadeSettings,
    fusion_settings: FusionSettings,
) -> dict[str, Any]:
    """Fit the weights of both judges' answers, and measure the cascade by cross-validation.

    Parameters
    ----------
    opinions : mapping
        The opinions of the rules and the small judge, keyed by validation set.
    large : mapping
        The larger judge's log-odds for every pair of each validation set.
    small : Fusion
        The small scorer's fusion. It decides which pairs the larger judge is asked about.

    Returns
    -------
    dict
        The entry ``cascade``, without the small model's name, and the entry ``validation`` of the larger judge's
        ``paraqd.json``. ``validation`` holds the metrics of the small judge alone (with its own fusion), the larger
        judge alone, both judges on every pair, and the cascade.

    """
    table = _Table.join(opinions, large)
    first = np.array([small.log_odds(found, odds) for found, odds in zip(table.features, table.small, strict=True)])
    # no judge is asked about pairs that the rules decide
    open_pairs = np.array([not small.decided(found) for found in table.features], dtype=bool)
    asked = (settings.low < first) & (first < settings.high) & open_pairs
    chosen_on = next((rows for rows in (asked, open_pairs) if len({*table.labels[rows].tolist()}) == 2), None)
    if chosen_on is None:
        raise TrainingError(
            "the cascade cannot be fitted: among the validation pairs that the rules do not decide, one label does not "
            "occur"
        )
    held_out = {share: table.held_out(share, open_pairs, fusion_settings) for share in {0.0, *settings.first_share}}
    losses = {share: table.loss(held_out[share], chosen_on) for share in settings.first_share}
    best = min(losses, key=lambda share: (losses[share], share))
    fusion = table.fit(np.flatnonzero(open_pairs), best, fusion_settings)
    scored = {
        "small": first,
        "large": held_out[0.0],
        "both": np.where(open_pairs, held_out[best], first),
        "cascade": np.where(asked, held_out[best], first),
    }
    return {
        "cascade": {
            "fusion": {
                "bias": round(fusion.bias, 4),
                "weights": {name: round(weight, 4) for name, weight in fusion.weights.items()},
                "model_weight": round(fusion.model_weight, 4),
            },
            "first_share": best,
            "low": settings.low,
            "high": settings.high,
            "losses": {f"{share:g}": round(loss, 5) for share, loss in losses.items()},
        },
        "validation": {
            name: {
                "pairs": int(rows.sum()),
                "asked": round(float(asked[rows].mean()), 4),
                **{kind: _metrics(table.labels[rows], scored[kind][rows]) for kind in _KINDS},
            }
            for name, rows in table.sets()
        },
    }


@dataclass(frozen=True)
class _Table:
    """The pairs of all validation sets in one table."""

    names: NDArray[np.str_]
    questions: tuple[str, ...]
    labels: NDArray[np.int64]
    features: tuple[tuple[str, ...], ...]
    small: Floats
    large: Floats

    @classmethod
    def join(cls, opinions: Mapping[str, FirstOpinions], large: Mapping[str, NDArray[np.float32]]) -> _Table:
        def column(get: Callable[[FirstOpinions], Sequence[Any]]) -> list[Any]:
            return [value for each in opinions.values() for value in get(each)]

        odds = [large[name][list(each.rows)] for name, each in opinions.items() if each.rows]
        return cls(
            np.array([name for name, each in opinions.items() for _ in each.rows]),
            tuple(column(lambda each: each.questions)),
            np.array(column(lambda each: each.labels), dtype=np.int64),
            tuple(column(lambda each: each.features)),
            np.array(column(lambda each: each.odds), dtype=np.float64),
            np.concatenate([np.zeros(0), *odds]).astype(np.float64),
        )

    def sets(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Yield the name of each set and a mask of its rows."""
        for name in dict.fromkeys(self.names.tolist()):
            yield name, self.names == name

    def shares(self) -> Floats:
        """Return each pair's weight. All sets have the same total weight."""
        sizes = Counter(self.names.tolist())
        return np.array([1 / sizes[name] for name in self.names.tolist()])

    def fit(self, rows: NDArray[np.int64], first_share: float, settings: FusionSettings) -> Fusion:
        """Fit the fusion of both judges to some rows."""
        model, shares = first_share * self.small + self.large, self.shares()
        return fit_fusion(
            [self.features[i] for i in rows],
            self.labels[rows].tolist(),
            model=model[rows].tolist(),
            weights=shares[rows].tolist(),
            settings=settings,
        )

    def held_out(self, first_share: float, fitted: NDArray[np.bool_], settings: FusionSettings) -> Floats:
        """Return each pair's log-odds from a fusion of both judges that never saw the pair's question.

        ``fitted`` is a mask of the pairs to which the fusion is fitted.
        """
        folds = np.array(
            [hashlib.sha256(f"fold|{name}".encode()).digest()[0] % settings.folds for name in self.questions]
        )
        odds = np.zeros(len(folds))
        model = first_share * self.small + self.large
        for fold in range(settings.folds):
            mine = np.flatnonzero(folds == fold)
            if len(mine):
                fusion = self.fit(np.flatnonzero((folds != fold) & fitted), first_share, settings)
                odds[mine] = [fusion.log_odds(self.features[i], model[i]) for i in mine]
        return odds

    def loss(self, odds: Floats, rows: NDArray[np.bool_]) -> float:
        """Return the mean log-loss of some rows. Both labels have the same total weight, and so have all sets."""
        shares = self.shares()[rows]
        labels = self.labels[rows]
        for label in (0, 1):
            shares[labels == label] /= max(shares[labels == label].sum(), 1e-12) * 2
        return float(shares @ (np.logaddexp(0, odds[rows]) - labels * odds[rows]))


def _metrics(labels: NDArray[np.int64], odds: Floats) -> dict[str, float]:
    """Return the macro F1 and the AUC. Log-odds above 0 mean that a pair is valid."""
    if len(set(labels.tolist())) < 2:
        return {}
    found = evaluate(labels, odds, threshold=0.0)
    return {"macro_f1": round(found.macro_f1, 4), "auc": round(found.auc, 4)}

"""Train the fused scorer: the learned judge on the extended recipe, then the weights of the evidence, calibrated.

Called again after a kill it goes on where it was: pairs, tokens and checkpoints are kept beside the model folder.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.data.faulty_pairs import FaultyPair, read_faults
from paraqd.data.writers import replace_json
from paraqd.evaluation.calibration import calibrate
from paraqd.evaluation.intervals import bootstrap
from paraqd.generators.encoder import DEFAULT_ENCODER, encoder_folder
from paraqd.generators.runtime import quiet
from paraqd.model_folder import FACTS_FILE, write_facts
from paraqd.progress import Progress, silent
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.scoring.verdict import THRESHOLD, probability_of
from paraqd.training.fusion_weights import fit_fusion
from paraqd.training.judge_card import INTERVALS, judge_card
from paraqd.training.judge_corpus import WEIGHTS, JudgeSets, judge_sets, pair_weights
from paraqd.training.judge_model import KINDS, make_judge, save_judge
from paraqd.training.judge_tokens import (
    PREPARATION,
    JudgeTokens,
    join_tokens,
    read_tokens,
    tokenize_pairs,
    write_tokens,
)
from paraqd.training.judge_training import judge_scores, train_judge
from paraqd.training.model_folder import check_out
from paraqd.training.processes import refuse_several
from paraqd.training.settings import JudgeSettings, TrainingError, require_training
from paraqd.training.teachers import Teacher, mean_odds, teacher_odds
from paraqd.training.torch_state import reproducible

_FOLDS = 5
_TEACHER_EPOCHS = 5
_RECIPE = "extended"


@dataclass(frozen=True)
class TrainedJudge:
    """A finished training: its folder and what is written in it."""

    folder: Path
    facts: dict[str, Any]


def train_extended(
    out: str | Path,
    *,
    settings: JudgeSettings | None = None,
    encoder: str = DEFAULT_ENCODER,
    data_dir: str | Path | None = None,
    questions: int = 14_000,
    data_seed: int = 3407,
    generators: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    teachers: Sequence[str] = (),
    device: str | None = None,
    workers: int = 1,
    overwrite: bool = False,
    restart: bool = False,
    progress: Progress = silent,
) -> TrainedJudge:
    """Train the judge of the extended recipe and write its model folder.

    Parameters
    ----------
    out : str or Path
        The model folder. Pairs, tokens and checkpoints stand beside it, in ``OUT.work``.
    questions : int
        How many questions beside the written ones rules are applied to.
    generators : mapping, optional
        A model for ``f9`` adds its fluent but wrong rewrites.
    without : sequence of str
        Sets of pairs to leave out: written, composed, synthetic, rules, natural, fluent.
    teachers : sequence of str
        Judges that are trained first; ``teacher_share`` of what the judge is trained towards is then what they say
        together.
    restart : bool
        Throw away an unfinished training with other settings.

    """
    require_training()
    refuse_several("the training of the judge")
    settings = settings or JudgeSettings()
    folder = Path(out)
    if (folder / FACTS_FILE).is_file() and not overwrite:
        raise TrainingError(f"{folder} holds a model already: choose another --out, or --overwrite")
    check_out(folder, overwrite=True)
    if not (encoder_folder(encoder) / "config.json").is_file():
        raise TrainingError(
            f"--encoder {encoder}: there is no model of that name here; give {DEFAULT_ENCODER} or a model folder"
        )
    for name in teachers:
        _teacher(name, settings).check()
    if {"written", "composed"} <= set(without) and "synthetic" in without:
        raise TrainingError("--without written,composed,synthetic leaves nothing to weigh the evidence by")
    unknown = sorted(set(without) - set(WEIGHTS))
    if unknown:
        raise TrainingError(f"--without {unknown[0]}: the sets are {', '.join(WEIGHTS)}")
    work = folder.with_name(f"{folder.name}.work")
    sets = judge_sets(
        work / "pairs",
        data_dir=data_dir,
        questions=questions,
        seed=data_seed,
        workers=workers,
        generators=generators,
        without=without,
        device=device,
        progress=progress,
    )
    return train_on_sets(
        sets,
        folder,
        work=work,
        settings=settings,
        encoder=encoder,
        teachers=teachers,
        device=device,
        restart=restart,
        progress=progress,
    )


def train_on_sets(
    sets: JudgeSets,
    folder: Path,
    *,
    work: Path,
    settings: JudgeSettings,
    encoder: str = DEFAULT_ENCODER,
    teachers: Sequence[str] = (),
    device: str | None = None,
    restart: bool = False,
    progress: Progress = silent,
) -> TrainedJudge:
    """Train on files of pairs that are there, fit the fusion, and write the model folder."""
    import torch
    from transformers import AutoTokenizer

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    source = encoder_folder(encoder)
    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(str(source))
        data = {
            name: tokenized(path, tokenizer, work / "tokens", WEIGHTS[name], progress=progress)
            for name, path in sets.train.items()
        }
        asked = {
            "recipe": _RECIPE,
            "encoder": encoder,
            "teachers": [_teacher(name, settings).name for name in teachers],
            "settings": asdict(settings),
            "data": {name: {"pairs": len(found), "sha256": _digest(found)} for name, found in data.items()},
        }
        _begin(work, asked, restart=restart)
        odds = [
            teacher_odds(
                _teacher(name, settings),
                list(sets.train),
                lambda which, tokens, place: tokenized(
                    sets.train[which], tokens, place, WEIGHTS[which], progress=progress
                ),
                work=work,
                settings=settings,
                number=number,
                device=device,
                progress=progress,
            )
            for number, name in enumerate(teachers, start=1)
        ]
        with reproducible(settings.seed):
            judge = make_judge(source, inner=settings.inner)
            train_judge(
                judge,
                join_tokens(list(data.values())),
                settings=settings,
                device=device,
                teacher=mean_odds(odds) if odds else None,
                checkpoints=work / "checkpoints",
                progress=progress,
            )
        checked = {
            name: (list(read_faults(path)), tokenized(path, tokenizer, work / "tokens", 1.0, progress=progress))
            for name, path in sets.validation.items()
        }
        progress("weighing the evidence", 0, None, "")
        facts = {"name": folder.name, "kind": "fused", "threshold": THRESHOLD, "kinds": list(KINDS), **asked}
        facts |= weigh({n: (p, judge_scores(judge, d, device=device)) for n, (p, d) in checked.items()})
        facts["versions"] = {"torch": torch.__version__.partition("+")[0]}
        _save(judge.cpu(), tokenizer, folder, facts)
    shutil.rmtree(work / "checkpoints", ignore_errors=True)
    return TrainedJudge(folder, facts)


def _teacher(name: str, settings: JudgeSettings) -> Teacher:
    teacher = Teacher(model=name, settings={"epochs": min(settings.epochs, _TEACHER_EPOCHS)})
    if not teacher.causal:
        return teacher
    # one look at each pair: its log-odds of them are then almost those of new pairs
    tokens = 2 * settings.batch_tokens
    return replace(teacher, settings={"epochs": 1, "learning_rate": 1e-4, "batch_tokens": tokens, "rounded_share": 0.0})


def tokenized(path: Path, tokenizer: Any, folder: Path, weight: float, *, progress: Progress) -> JudgeTokens:
    """Return a set as tokens, which are kept for the next time."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    rules = hashlib.sha256(f"{PREPARATION}|{tokenizer.backend_tokenizer.to_str()}".encode()).hexdigest()[:8]
    kept = folder / f"{path.name.partition('.')[0]}-{digest}-{rules}-{weight:g}.npz"
    if not kept.is_file():
        pairs = list(read_faults(path))
        progress(f"tokenising {path.name}", 0, len(pairs), "")
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_tokens(tokenize_pairs(pairs, tokenizer, weights=pair_weights(pairs, weight)), kept)
    return read_tokens(kept)


def weigh(checked: Mapping[str, tuple[Sequence[FaultyPair], NDArray[np.float32]]]) -> dict[str, Any]:
    """Fit the fusion to validation pairs, and measure it on folds that it was not fitted to.

    Only pairs of a question and its rewrite take part, not those of two rewrites.
    """
    pairs, odds, names = [], [], []
    for name, (rows, told) in checked.items():
        for pair, score in zip(rows, told, strict=True):
            if not pair.source.startswith("across") and not pair.source.endswith("across"):
                pairs.append(pair)
                odds.append(float(score))
                names.append(name)
    labels = [pair.label for pair in pairs]
    prepared = (prepare_pair(pair.question, pair.paraphrase) for pair in pairs)
    features = [
        [finding.feature for finding in READER.findings(each.question, each.paraphrase, each.matching)]
        for each in prepared
    ]
    # another hash than that of the parts, in which all validation questions agree
    groups = [hashlib.sha256(f"fold|{pair.id.partition('|')[0]}".encode()).digest()[0] % _FOLDS for pair in pairs]
    sizes = Counter(names)
    shares = [1 / sizes[name] for name in names]  # every set counts alike
    scores = np.zeros(len(pairs))
    for fold in range(_FOLDS):
        mine = [i for i, group in enumerate(groups) if group != fold]
        fitted = fit_fusion(
            [features[i] for i in mine],
            [labels[i] for i in mine],
            model=[odds[i] for i in mine],
            weights=[shares[i] for i in mine],
        )
        for i, group in enumerate(groups):
            if group == fold:
                scores[i] = fitted.score(features[i], odds[i])
    fusion = fit_fusion(features, labels, model=odds, weights=shares)
    measured: dict[str, Any] = {}
    for name in checked:
        mine = [i for i, each in enumerate(names) if each == name]
        truths = [labels[i] for i in mine]
        # the pairs of a question are drawn together
        found = bootstrap(truths, scores[mine], groups=[pairs[i].id.partition("|")[0] for i in mine]).estimates
        fits = calibrate(truths, scores[mine])
        measured[name] = {
            "pairs": len(mine),
            **{metric: round(found[metric].value, 4) for metric in INTERVALS},
            "intervals": {m: [round(found[m].low, 4), round(found[m].high, 4)] for m in INTERVALS},
            "brier": round(fits.brier, 4),
            "ece": round(fits.ece_width, 4),
        }
    weights = {name: round(weight, 4) for name, weight in fusion.weights.items()}
    fusion = Fusion(round(fusion.bias, 4), weights, round(fusion.model_weight, 4))  # as it is written
    fusion = replace(fusion, ceiling=_ceiling(fusion, features, odds))
    decided = [told for told, found in zip(odds, features, strict=True) if fusion.decided(found, THRESHOLD)]
    return {
        "fusion": {
            "bias": fusion.bias,
            "weights": weights,
            "model_weight": fusion.model_weight,
            "ceiling": round(fusion.ceiling, 4),
            "presumed": round(float(np.mean(decided)), 4) if decided else 0.0,
        },
        "validation": measured,
    }


def _ceiling(fusion: Fusion, features: Sequence[Sequence[str]], odds: Sequence[float]) -> float:
    """Return the lowest ceiling at which skipping would change none of these verdicts.

    The model is skipped where it could not make a pair valid with log-odds of the ceiling; what it says of a pair with
    findings is lower than of others, so that its highest answer would be too careful.
    """
    if not fusion.model_weight:
        return max(odds)
    share = probability_of(THRESHOLD)
    needed = math.log(share / (1 - share))
    # for each pair that is taken for valid, the highest ceiling with which it would be skipped
    lost = [
        (needed - fusion.log_odds(found)) / fusion.model_weight
        for found, told in zip(features, odds, strict=True)
        if fusion.log_odds(found, told) > needed
    ]
    return min(max(odds), max(lost) + 1e-3) if lost else max(odds)


def _digest(data: JudgeTokens) -> str:
    digest = hashlib.sha256(data.ids.tobytes())
    digest.update(data.labels.tobytes())
    return digest.hexdigest()


def _begin(work: Path, asked: Mapping[str, Any], *, restart: bool) -> None:
    """Keep the checkpoints of this very training; those of another are thrown away only if asked."""
    manifest, checkpoints = work / "training.json", work / "checkpoints"
    wanted = json.loads(json.dumps(asked))
    if manifest.is_file() and json.loads(manifest.read_text("utf-8")) == wanted:
        return
    if checkpoints.is_dir() and any(checkpoints.iterdir()) and not restart:
        raise TrainingError(
            f"{work} holds an unfinished training with other settings: finish it with those, or give --restart"
        )
    shutil.rmtree(checkpoints, ignore_errors=True)
    replace_json(manifest, wanted)


def _save(judge: Any, tokenizer: Any, folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the folder beside its place and move it there whole."""
    temporary = folder.with_name(f".{folder.name}.writing")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        save_judge(judge, tokenizer, temporary)
        write_facts(temporary, facts)
        (temporary / "README.md").write_text(judge_card(facts), encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)

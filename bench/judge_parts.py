"""Measure what each part of the default recipe adds to the scorer, on validation pairs.

    python bench/judge_parts.py prepare WORK --data-dir DATA
    python bench/judge_parts.py answers WORK --language-judge FOLDER
    python bench/judge_parts.py train WORK --start FOLDER [--part NAME ...]
    python bench/judge_parts.py table WORK

The small judge is trained several times. Each time, one more part of the recipe is used, and everything else is the
same: the first weights (``--start``: the exported small judge of 0.1.0), the number of pairs, the settings and the
seed. Then the rules and the language-model judge are added to the last of these judges.

The recipe is a smaller form of the recipe ``default``. `prepare` creates its pairs, needs the data sets, and takes a
quarter of an hour on two processor cores. `answers` has the language-model judge answer the training pairs, and `train`
trains; both need a GPU, but neither the data sets nor the pairs, only WORK without its folder ``pairs``. `table` prints
the table and needs WORK whole. Everything that is finished is kept and reused.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.metrics import evaluate
from paraqd.files import sha256_of
from paraqd.lab.corpora.faulty_pairs import FaultyPair, read_faults
from paraqd.lab.training.cascade_fitting import FirstOpinions, fit_cascade
from paraqd.lab.training.fused_scorer import load_start
from paraqd.lab.training.fusion_fitting import fit_fusion, held_out_scores, is_across
from paraqd.lab.training.judge_tokens import JudgeTokens, join_tokens, read_tokens
from paraqd.lab.training.judge_training import judge_scores, train_judge
from paraqd.lab.training.pair_files import prepared_pairs
from paraqd.lab.training.recipes import JudgeRecipe, load_judge_recipe
from paraqd.lab.training.settings import FusionSettings
from paraqd.model_runtime import pick_device, quiet
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.pair_preparation import prepare_pair

LIST = "parts.json"  # the files of the tokens
# where operators are composed, the last one counts
WORD_OPERATORS = frozenset({"Synonyms", "Hypernyms", "Typos", "UnrelatedWord", "BrokenWords", "MidWordTruncation"})
PAIRS, EPOCH = 400_000, 200_000  # the pairs that a judge reads in training, and in an epoch
SMALLER = {
    "data.questions": 6000,
    "data.train.composed.most": 1500,
    "data.train.rules.most": 1000,
    "data.train.unlabelled.most": 120_000,
}
LEFT_OUT = ("synthetic_composed", "styles_composed", "appended", "model_rewrites", "sampled")
_FIRST = ("written", "composed", "rules", "synthetic", "strangers", "natural")


@dataclass(frozen=True)
class Part:
    """What a judge is trained with: sets of pairs, and whether it learns from word operators and from a teacher."""

    title: str
    sets: tuple[str, ...] = _FIRST
    words: bool = False
    teacher: bool = False


START = "start"  # the first weights, without training
PARTS: Mapping[str, Part] = {
    START: Part("nothing: the judge of 0.1.0", ()),
    "first": Part("the text and the operators of 0.1.0, trained further"),
    "styles": Part("+ text in today's styles", (*_FIRST, "styles")),
    "words": Part("+ operators that change words", (*_FIRST, "styles"), words=True),
    "teacher": Part(
        "+ answers of the language-model judge (distillation)", (*_FIRST, "styles"), words=True, teacher=True
    ),
    "unlabelled": Part(
        "+ pairs without labels (distillation)", (*_FIRST, "styles", "unlabelled"), words=True, teacher=True
    ),
}


def parts_recipe() -> JudgeRecipe:
    """Return the recipe: the default recipe with fewer questions and pairs."""
    return load_judge_recipe("default", SMALLER).without(LEFT_OUT)


def prepare(work: Path, data_dir: Path | None) -> None:
    """Create the pairs and their tokens, and mark the pairs that word operators made."""
    from paraqd.lab.training.work_folder import recipe_pairs, store_all_tokens

    recipe = parts_recipe()
    files = recipe_pairs(recipe, work, data_dir=data_dir, workers=2, progress=_say)
    tokens = store_all_tokens(recipe, files, work, progress=_say)
    marks = {}
    for name, path in files.train.items():
        # a source is the name of the set, followed by the name of the last operator
        marks[name] = np.array([pair.source.rpartition("-")[2] in WORD_OPERATORS for pair in read_faults(path)])
    np.savez_compressed(work / "words.npz", **marks)  # type: ignore[arg-type]  # the names are those of sets
    found = {
        part: {name: path.name for name, path in getattr(tokens, part).items()} for part in ("train", "validation")
    }
    (work / LIST).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    for name, mark in marks.items():
        print(f"{name}: {len(mark):,} pairs, {mark.sum():,} by word operators")


def answers(work: Path, folder: Path, device: str) -> None:
    """Store the language-model judge's log-odds for all training and validation pairs."""
    from paraqd.lab.training.language_weights import load_weights
    from paraqd.lab.training.quantisation_aware import start_rounding

    _check_same(work / "answers", "language judge", _digest(folder))
    judge = load_weights(folder)
    start_rounding(judge)
    if device.startswith("cuda"):
        judge.compile_layers()
    for part, files in _lists(work).items():
        for name, file in files.items():
            path = _answer_file(work, part, name)
            if not path.is_file():
                odds = judge_scores(judge, _tokens(work, file), device=device, batch_tokens=131_072, half=True)
                np.save(path, odds)
                print(f"answers: {part} {name} {len(odds):,}", file=sys.stderr)


def train(work: Path, start: Path, names: Sequence[str], device: str, pairs: int) -> None:
    """Train judges, and store their log-odds for the validation pairs."""
    from paraqd.lab.training.torch_state import reproducible

    recipe, lists = parts_recipe(), _lists(work)
    _check_same(work / "odds", "start or number of pairs", f"{_digest(start)} {pairs}")
    settings = replace(recipe.stages[-1], epochs=-(-pairs // EPOCH))
    with np.load(work / "words.npz") as stored:
        words = {name: stored[name] for name in stored.files}
    for name in names:
        part, out = PARTS[name], work / "odds" / f"{name}.npz"
        if out.is_file():
            continue
        begun = time.monotonic()
        if name == START:
            with quiet():
                _store(out, load_start(start, settings, recipe.encoder), work, device)
            continue
        every = {each: _tokens(work, lists["train"][each]) for each in part.sets}
        usable = np.concatenate([np.ones(len(every[each]), bool) if part.words else ~words[each] for each in part.sets])
        rows = np.flatnonzero(usable)
        teacher = None
        if part.teacher:
            teacher = np.concatenate([np.load(_answer_file(work, "train", each)) for each in part.sets])

        def draw(rng: np.random.Generator, rows: NDArray[np.int64] = rows) -> NDArray[np.int64]:
            return rng.choice(rows, min(EPOCH, pairs), replace=len(rows) < min(EPOCH, pairs))

        with quiet(), reproducible(settings.seed):
            judge = load_start(start, settings, recipe.encoder)
            tokens = join_tokens(list(every.values()))
            train_judge(judge, tokens, settings=settings, device=device, teacher=teacher, draw=draw, progress=_say)
            _store(out, judge, work, device)
        print(f"{name}: {len(rows):,} pairs, {time.monotonic() - begun:.0f} s", file=sys.stderr)


def _store(path: Path, judge: Any, work: Path, device: str) -> None:
    """Store a judge's log-odds for the validation pairs."""
    files = _lists(work)["validation"]
    odds = {name: judge_scores(judge, _tokens(work, file), device=device) for name, file in files.items()}
    np.savez(path, **odds)  # type: ignore[arg-type]  # the names are those of sets


def table(work: Path) -> None:
    """Print the macro F1 and the AUC of all judges, alone and with the rules, and of the cascade."""
    recipe = parts_recipe()
    assert recipe.cascade is not None
    files = prepared_pairs(work / "pairs", recipe.data)
    if files is None:
        raise SystemExit(f"error: {work} has no pairs: run `python bench/judge_parts.py prepare {work}` first")
    found = {name: _read(list(read_faults(path)), name) for name, path in files.validation.items()}
    print("| small judge trained with | " + " | ".join(found) + " |")
    print("| --- |" + " --- |" * len(found))
    opinions = found
    for name, part in PARTS.items():
        odds = _stored(work / "odds" / f"{name}.npz")
        opinions = {
            each: replace(facts, odds=tuple(odds[each][list(facts.rows)].tolist())) for each, facts in found.items()
        }
        _row(part.title, _fused(opinions, recipe.fusion, rules=False))
    _row("+ rules (the fusion)", _fused(opinions, recipe.fusion, rules=True))
    large = {name: np.load(_answer_file(work, "validation", name)) for name in found}
    fusion = _fit(opinions, recipe.fusion)
    fitted = fit_cascade(opinions, large, fusion, recipe.cascade, recipe.fusion)["validation"]
    for kind, title in (
        ("cascade", "+ language-model judge where the small judge is unsure"),
        ("large", "language-model judge on every pair, and rules"),
    ):
        _row(title, {name: (each[kind]["macro_f1"], each[kind]["auc"]) for name, each in fitted.items()})
    print("\nasked: " + ", ".join(f"{name} {each['asked']:.0%}" for name, each in fitted.items()))


def _read(pairs: Sequence[FaultyPair], name: str) -> FirstOpinions:
    """Return what the rules say about the pairs of a validation set, without a judge."""
    print(f"reading {name}", file=sys.stderr)
    rows = [number for number, pair in enumerate(pairs) if not is_across(pair)]
    kept = [pairs[number] for number in rows]
    prepared = (prepare_pair(pair.question, pair.paraphrase) for pair in kept)
    features = tuple(
        tuple(finding.feature for finding in READER.findings(each.question, each.paraphrase, each.matching))
        for each in prepared
    )
    questions = tuple(pair.id.partition("|")[0] for pair in kept)
    return FirstOpinions(tuple(rows), tuple(pair.label for pair in kept), questions, features, ())


def _joined(opinions: Mapping[str, FirstOpinions], column: str) -> list[Any]:
    return [value for each in opinions.values() for value in getattr(each, column)]


def _shares(opinions: Mapping[str, FirstOpinions]) -> list[float]:
    return [1 / len(each.rows) for each in opinions.values() for _ in each.rows]


def _fused(
    opinions: Mapping[str, FirstOpinions], settings: FusionSettings, *, rules: bool
) -> dict[str, tuple[float, float]]:
    """Return the macro F1 and the AUC for each set. The weights are fitted to other folds."""
    features, labels = _joined(opinions, "features"), _joined(opinions, "labels")
    scores = held_out_scores(
        features if rules else [()] * len(labels),
        labels,
        _joined(opinions, "odds"),
        _shares(opinions),
        _joined(opinions, "questions"),
        settings,
    )
    found, start = {}, 0
    for name, each in opinions.items():
        mine = evaluate(each.labels, scores[start : start + len(each.rows)])
        found[name] = (mine.macro_f1, mine.auc)
        start += len(each.rows)
    return found


def _fit(opinions: Mapping[str, FirstOpinions], settings: FusionSettings) -> Fusion:
    odds = _joined(opinions, "odds")
    fusion = fit_fusion(
        _joined(opinions, "features"),
        _joined(opinions, "labels"),
        model=odds,
        weights=_shares(opinions),
        settings=settings,
    )
    return replace(fusion, ceiling=max(odds))


def _row(title: str, found: Mapping[str, tuple[float, float]]) -> None:
    print(f"| {title} | " + " | ".join(f"{f1:.3f}, {auc:.3f}" for f1, auc in found.values()) + " |")


def _stored(path: Path) -> dict[str, NDArray[np.float32]]:
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def _check_same(folder: Path, what: str, value: str) -> None:
    """Record what the files in a folder were made with. Stop if there are files that were made with something else."""
    folder.mkdir(exist_ok=True)
    path = folder / "made-with.txt"
    if path.exists() and path.read_text(encoding="utf-8") != value:
        raise SystemExit(f"error: {folder} was made with another {what}: delete it, or choose another work folder")
    path.write_text(value, encoding="utf-8")


def _digest(folder: Path) -> str:
    """Return a hash of the weights in a folder."""
    kinds = (".onnx", ".npz", ".safetensors")
    files = sorted(path for path in folder.rglob("*") if path.suffix in kinds)
    return hashlib.sha256("".join(map(sha256_of, files)).encode()).hexdigest()[:16]


def _lists(work: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads((work / LIST).read_text(encoding="utf-8"))
    return found


def _tokens(work: Path, file: str) -> JudgeTokens:
    return read_tokens(work / "tokens" / file)


def _answer_file(work: Path, part: str, name: str) -> Path:
    return work / "answers" / f"{part}-{name}.npy"


def _say(stage: str, done: int, total: int | None, note: str = "") -> None:
    print(f"{stage}: {done:,}{f' of {total:,}' if total else ''} {note}", file=sys.stderr)


def main() -> None:
    """Run a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    for name in ("prepare", "answers", "train", "table"):
        steps.add_parser(name).add_argument("work", type=Path)
    steps.choices["prepare"].add_argument("--data-dir", type=Path)
    steps.choices["answers"].add_argument("--language-judge", type=Path, required=True)
    steps.choices["train"].add_argument("--start", type=Path, required=True)
    steps.choices["train"].add_argument("--part", action="append", choices=PARTS)
    steps.choices["train"].add_argument("--pairs", type=int, default=PAIRS)
    for name in ("answers", "train"):
        steps.choices[name].add_argument("--device")
    given = parser.parse_args()
    if given.step == "prepare":
        prepare(given.work, given.data_dir)
    elif given.step == "answers":
        answers(given.work, given.language_judge, pick_device(given.device))
    elif given.step == "train":
        train(given.work, given.start, given.part or list(PARTS), pick_device(given.device), given.pairs)
    else:
        table(given.work)


if __name__ == "__main__":
    main()

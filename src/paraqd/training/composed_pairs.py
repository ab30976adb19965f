"""The corpus of the learned judge: written rewrites, operators composed on top of them, and rule-made pairs.

A question of the written set's benchmark or validation part or of a test set, or one that differs from it in numbers
and a word or two alone, is never trained on.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.data.datasets import DatasetError, find, load_pairs, load_questions, state, written_split
from paraqd.data.faulty_pairs import FaultyPair, operator_faults, write_faults, written_faults
from paraqd.data.near_twins import near_twins
from paraqd.data.tables import open_table
from paraqd.data.writers import replacing
from paraqd.runs.augment import augment
from paraqd.runs.outputs import read_metadata

# called with (stage, done, total or None)
Progress = Callable[[str, int, int | None], None]
_FORMS = ("heavy", "moderate")
_TESTS = ("aquarat", "sawp")
_SETTINGS = "made-with.json"
# applied to questions and to their written rewrites alike
OPERATORS: tuple[str, ...] = (
    "NumToWords",
    "WordsToNumbers",
    "UnitExpansion",
    "UnitContraction",
    "EqualQuantity",
    "ConsistentRenaming",
    "ThingRenaming",
    "ClumsyGrammar",
    "Rewrite",
    "LastSentenceDeletion",
    "NumberDeletion",
    "UnitReplacement",
    "NumberChange",
    "NumberSwap",
    "RelationFlip",
    "ConditionDeletion",
    "QuestionReplacement",
    "QuestionTruncation",
    "InconsistentRenaming",
    "ThingMixing",
    "RoleSwap",
    "TfidfReplacement",
    "RandomDeletion",
    "ClumsyGrammar+NumberChange",
    "ClumsyGrammar+TfidfReplacement",
    "Typography",
    "Decoration",
    "SentenceOrder",
    "ConverseRelation",
    "QuestionForm",
    "PronounUse",
    "Shortening",
    "LightSynonyms",
    "LightSynonyms+Shortening",
    "Decoration+QuestionForm",
    "SentenceOrder+NumToWords",
    "ConditionAddition",
    "EntityDeletion",
    "OrderedNumbers",
    "BrokenConverse",
    "WrongReference",
    "SmallWordChange",
    "InventedWord",
    "LightSynonyms+InventedWord",
    "LightSynonyms+SmallWordChange",
    "LightSynonyms+NumberSwap",
    "Shortening+NumberChange",
    "SentenceOrder+NumberChange",
    "SentenceOrder+NumberSwap",
    "SentenceOrder+RelationFlip",
    "SentenceOrder+BrokenConverse",
    "Typography+NumberChange",
    "Decoration+NumberDeletion",
    "Decoration+QuestionTruncation",
    "QuestionForm+UnitReplacement",
)


@dataclass(frozen=True)
class ExtendedCorpus:
    """The files of the corpus by name; ``train`` and ``validation`` list them by what they are for."""

    folder: Path
    train: Mapping[str, Path]
    validation: Mapping[str, Path]


def extended_corpus(
    folder: str | Path,
    *,
    data_dir: str | Path | None = None,
    questions: int = 14_000,
    seed: int = 3407,
    workers: int = 1,
    operators: Sequence[str] = OPERATORS,
    progress: Progress | None = None,
) -> ExtendedCorpus:
    """Make the corpus in a folder from ``written_pairs`` and ``questions``; what is there already is kept.

    Parameters
    ----------
    questions : int
        How many questions beside the written ones rules are applied to.
    operators : sequence of str
        What is applied to each question and each valid rewrite.

    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    check_settings(place, {"questions": questions, "seed": seed, "operators": list(operators)})
    every = list(open_table(find("written_pairs", data_dir)).rows())
    back = kept_back(every, data_dir)
    written = [row for row in every if _part(row) == "validation"] + without_twins(
        [row for row in every if _part(row) == "train"], back
    )
    texts = place / "written.jsonl"
    _write(texts, ((f"{row['id']}|{form}", row[f"{form}_valid"]) for row in written for form in _FORMS))
    others = place / "questions.jsonl"
    if not others.is_file():
        rows = load_questions("questions", data_dir=data_dir)
        names = {str(row["id"]) for row in every}
        free = other_questions(rows, names, size=questions + questions // 8, seed=seed)  # about one of 18 is a twin
        chosen = without_twins(free, back)[:questions]
        _write(others, ((row["id"], row["question"]) for row in chosen))
    made = {}
    for source in (texts, others):
        out = source.with_name(f"{source.stem}_augmented.jsonl.gz")
        if not read_metadata(out).get("complete"):
            augment(
                source,
                out,
                operators=operators,
                seed=seed,
                workers=workers,
                overwrite=True,
                progress=_named(source, progress),
            )
        made[source.stem] = out
    asked = {f"{row['id']}|{form}": str(row["question"]) for row in written for form in _FORMS}
    files: dict[str, dict[str, Path]] = {"train": {}, "validation": {}}
    for part, found in files.items():
        mine = [row for row in written if _part(row) == part]
        ids = {str(row["id"]) for row in mine}
        sets: dict[str, Iterator[FaultyPair]] = {
            "written": written_faults(mine),
            "composed": operator_faults(_of(made["written"], ids), asked),
        }
        if part == "train":
            sets["rules"] = operator_faults(open_table(made["questions"]).rows(), {})
        for name, pairs in sets.items():
            path = place / f"{name}_{part}.jsonl.gz"
            if not path.is_file():
                write_faults(pairs, path)
            found[name] = path
    return ExtendedCorpus(place, files["train"], files["validation"])


def other_questions(
    rows: Sequence[Mapping[str, Any]], written: Collection[str], *, size: int, seed: int
) -> list[Mapping[str, Any]]:
    """Draw training questions that are neither among the written ones nor twins of those that are kept back.

    >>> rows = [{"id": name, "split": "train", "skeleton": "s"} for name in ("a", "b")]
    >>> [row["id"] for row in other_questions(rows, {"a"}, size=5, seed=1)]
    ['b']
    """
    kept_back = {row.get("skeleton") for row in rows if str(row["id"]) in written and _part(row) != "train"}
    free = [
        row
        for row in rows
        if row.get("split", "train") == "train"
        and str(row["id"]) not in written
        and row.get("skeleton", row["id"]) not in kept_back
    ]
    random.Random(seed).shuffle(free)
    return free[:size]


def kept_back(written: Iterable[Mapping[str, Any]], data_dir: str | Path | None = None) -> list[str]:
    """Return the questions nothing like which is trained on: written ones that are kept back, and the test sets'."""
    found = [str(row["question"]) for row in written if _part(row) != "train"]
    for name in _TESTS:
        if state(name, data_dir, check=False).where != "missing":  # who has no test sets cannot look at them either
            found += sorted({pair.question for pair in load_pairs(name, data_dir=data_dir)})
    return found


def without_twins(rows: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the rows whose question is no near twin of a text."""
    twins = near_twins([str(row["question"]) for row in rows], texts)
    return [row for row, twin in zip(rows, twins, strict=True) if not twin]


def check_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Remember what a folder's files are made with; refuse to go on with those of other settings."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _SETTINGS
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if any(folder.glob("*.jsonl*")):
            raise DatasetError(
                f"{folder} holds files of which nobody knows how they were made: delete it, or name another folder"
            ) from None
        with replacing(path) as temporary:
            Path(temporary).write_text(json.dumps(dict(settings), indent=2) + "\n", encoding="utf-8")
        return
    other = sorted(name for name in {*held, *settings} if held.get(name) != settings.get(name))
    if other:
        raise DatasetError(
            f"{folder} was made with other {' and '.join(other)}: delete it to make it anew, or name another folder"
        )


def _part(row: Mapping[str, Any]) -> str:
    return written_split(str(row["id"]))


def _of(path: Path, names: Collection[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the augmented rewrites of some questions."""
    return (row for row in open_table(path).rows() if str(row["id"]).rpartition("|")[0] in names)


def _write(path: Path, rows: Iterable[tuple[Any, Any]]) -> None:
    """Write texts as questions, whole or not at all."""
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        for name, text in rows:
            file.write(json.dumps({"id": str(name), "question": str(text)}, ensure_ascii=False) + "\n")


def _named(source: Path, progress: Progress | None) -> Callable[[str, int, int | None], None] | None:
    if progress is None:
        return None
    return lambda stage, done, total: progress(f"{source.stem}: {stage}", done, total)

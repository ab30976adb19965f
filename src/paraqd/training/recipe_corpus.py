"""What a training reads: files of augmented pairs, or the corpus of a recipe, made once and kept in the cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.corpus.datasets import cache_dir, find, load_questions
from paraqd.corpus.mixture import paper_training, paper_validation
from paraqd.corpus.tables import open_table
from paraqd.corpus.triplets import TripletSet, make_triplets, read_triplets
from paraqd.training.prepare import PreparedPairs, describe_pairs, prepare_pairs, write_questions
from paraqd.training.settings import EncoderTrainingError

# called with (stage, done, total or None, what else there is to say)
Progress = Callable[[str, int, int | None, str], None]


@dataclass(frozen=True)
class TrainingPairs:
    """Triplets to train on and to validate on, and how their pairs were made."""

    triplets: TripletSet
    validation: TripletSet | None
    recipe: str
    stand_ins: tuple[str, ...]


def read_pairs_for_training(
    files: Sequence[str | Path],
    *,
    recipe: str = "paper",
    validation: str | Path | None = None,
    without: Sequence[str] = (),
    in_batch: bool = False,
    questions: int = 30_000,
    seed: int = 3407,
    data_dir: str | Path | None = None,
    generators: Mapping[str, str] | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> TrainingPairs:
    """Read augmented pairs; without files the recipe's corpus is augmented into the cache first."""
    if files:
        described = [describe_pairs(path) for path in files]
    else:
        made, checked = recipe_corpus(
            recipe,
            questions=questions,
            seed=seed,
            data_dir=data_dir,
            generators=generators or {},
            device=device,
            progress=progress,
        )
        described, validation = [made], validation or checked.path
    if len(described) == 1:
        triplets = read_triplets(described[0].path, seed=seed, drop_operators=without, in_batch=in_batch)
    else:
        rows = _rows([found.path for found in described])
        triplets = make_triplets(rows, seed=seed, drop_operators=without, in_batch=in_batch)
    return TrainingPairs(
        triplets=triplets,
        validation=None if validation is None else read_triplets(validation, seed=seed),
        recipe=", ".join(dict.fromkeys(found.recipe for found in described if found.recipe)),
        stand_ins=tuple(dict.fromkeys(name for found in described for name in found.stand_ins)),
    )


def _rows(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        yield from open_table(path).rows()


def recipe_corpus(
    recipe: str,
    *,
    questions: int = 30_000,
    seed: int = 3407,
    data_dir: str | Path | None = None,
    generators: Mapping[str, str] | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> tuple[PreparedPairs, PreparedPairs]:
    """Augment the training and the validation questions of the data folder, once for the same settings."""
    if questions < 1:
        raise EncoderTrainingError(f"--questions {questions}: at least one is needed")
    source = find("questions", data_dir)
    with open(source, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    asked = {
        "recipe": recipe,
        "questions": questions,
        "seed": seed,
        "data": digest,
        "generators": dict(generators or {}),
    }
    key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]
    folder = cache_dir() / "corpora" / f"{Path(recipe).stem}-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name, size in (("train", questions), ("validation", None)):
        path = folder / f"{name}.jsonl"
        if not path.is_file():
            rows = load_questions("questions", data_dir=data_dir)
            chosen = paper_validation(rows) if size is None else paper_training(rows, size=size, seed=seed)
            write_questions(chosen, path)
        found.append(
            prepare_pairs(
                path,
                folder / f"{name}_pairs.jsonl.gz",
                recipe=recipe,
                seed=seed,
                generators=generators,
                device=device,
                progress=_named(name, progress),
            )
        )
    return found[0], found[1]


def _named(name: str, progress: Progress | None) -> Callable[[str, int, int | None], None]:
    def tell(stage: str, done: int, total: int | None) -> None:
        if progress is not None:
            progress(f"{name} pairs: {stage}", done, total, "")

    return tell

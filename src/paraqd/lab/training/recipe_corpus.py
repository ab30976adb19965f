"""Provide triplets for training a bi-encoder.

The triplets come from the user's files of pairs, or from a corpus that is created when it is first needed and then
stored in the cache.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from paraqd.files import sha256_of
from paraqd.lab.corpora.mixture import PAPER_QUESTIONS, paper_training, paper_validation
from paraqd.lab.corpora.triplets import TripletSet, read_triplets
from paraqd.lab.operators.recipes import load_recipe
from paraqd.lab.training.augmented_pairs import PreparedPairs, describe_pairs, prepare_pairs, write_questions
from paraqd.lab.training.settings import SEED, TrainingError
from paraqd.progress import Progress, silent
from paraqd.scoring.signature import with_hash
from paraqd.tables.datasets import cache_dir, find, load_questions
from paraqd.tables.locks import exclusive
from paraqd.tables.table import DEFAULT_COLUMNS, Columns
from paraqd.version import __version__


@dataclass(frozen=True)
class TrainingPairs:
    """Triplets for training and validation, with a record of how the pairs were created.

    ``recipe`` contains the recipes' names. ``stand_ins`` lists the operators that used a replacement model, and
    ``left_out`` lists the skipped operators.
    """

    triplets: TripletSet
    validation: TripletSet | None
    recipe: str
    stand_ins: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def read_pairs_for_training(
    files: Sequence[str | Path],
    *,
    recipe: str = "paper",
    validation: str | Path | None = None,
    without: Sequence[str] = (),
    in_batch: bool = False,
    questions: int = PAPER_QUESTIONS,
    seed: int = SEED,
    columns: Columns = DEFAULT_COLUMNS,
    encoding: str | None = None,
    data_dir: str | Path | None = None,
    generators: Mapping[str, str] | None = None,
    device: str | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> TrainingPairs:
    """Read augmented pairs from files, and build triplets from the pairs.

    If ``files`` is empty, the corpus of the recipe is used; see `recipe_corpus`. ``seed`` determines which questions
    are drawn, what the operators produce and which valid text each triplet contains.
    """
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
            workers=workers,
            progress=progress,
        )
        described, validation = [made], validation or checked.paths[0]
    if not files:
        columns, encoding = DEFAULT_COLUMNS, None
    return TrainingPairs(
        triplets=read_triplets(
            *(path for found in described for path in found.paths),
            seed=seed,
            drop_operators=without,
            in_batch=in_batch,
            columns=columns,
            encoding=encoding,
        ),
        validation=None
        if validation is None
        else read_triplets(validation, seed=seed, columns=columns, encoding=encoding),
        recipe=", ".join(dict.fromkeys(found.recipe for found in described if found.recipe)),
        stand_ins=tuple(dict.fromkeys(name for found in described for name in found.stand_ins)),
        left_out=tuple(dict.fromkeys(name for found in described for name in found.left_out)),
    )


def recipe_corpus(
    recipe: str,
    *,
    questions: int = PAPER_QUESTIONS,
    seed: int = SEED,
    data_dir: str | Path | None = None,
    generators: Mapping[str, str] | None = None,
    device: str | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> tuple[PreparedPairs, PreparedPairs]:
    """Apply a recipe's operators to training and validation questions, and return the training and validation pairs.

    The pairs are stored in the cache, and later calls with the same settings reuse them.
    """
    if questions < 1:
        raise TrainingError(f"--questions {questions}: use at least 1")
    source = find("questions", data_dir)
    asked = {
        "recipe": asdict(load_recipe(recipe)),
        "questions": questions,
        "seed": seed,
        "data": sha256_of(source),
        "generators": generator_facts(generators or {}),
        "version": __version__,
    }
    key = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]
    folder = cache_dir() / "corpora" / f"{Path(recipe).stem}-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    with exclusive(folder / ".lock"):  # so that only one process creates the corpus
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
                    workers=workers,
                    progress=lambda stage, done, total, note="", name=name: progress(
                        f"{name} pairs: {stage}", done, total, note
                    ),
                )
            )
    return found[0], found[1]


def generator_facts(generators: Mapping[str, str]) -> dict[str, str]:
    """Return a description of each generator's model, keyed by generator.

    The description is the model's name or path. If the model is a folder, the folder's hash is appended.
    """
    return {key: with_hash(model) for key, model in sorted(generators.items())}

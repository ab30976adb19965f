"""Keep a recipe's sets of pairs in files, with a record of the settings with which the files were created."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.faulty_pairs import FaultyPair, write_faults
from paraqd.lab.corpora.synthetic import synthetic_problems
from paraqd.lab.training.recipes import JudgeData, PairSet
from paraqd.tables.datasets import DatasetError
from paraqd.tables.writers import replace_json

MANIFEST = "made-with.json"

Pairs = Iterable[FaultyPair]


@dataclass(frozen=True)
class PairFiles:
    """The files of pairs for training and for validation, keyed by the set's name.

    Training and validation have no questions in common.
    """

    train: Mapping[str, Path]
    validation: Mapping[str, Path]


def prepared_pairs(folder: str | Path, recipe: JudgeData, *, data_dir: str | Path | None = None) -> PairFiles | None:
    """Return a recipe's files of pairs if a folder contains all of them, otherwise None.

    The data sets need not be on this machine. If the synthetic problems are, they must be those from which the pairs
    were created.
    """
    place = Path(folder)
    found = {part: _set_files(place, part, getattr(recipe, part)) for part in ("train", "validation")}
    if not (place / MANIFEST).is_file() or not all(p.is_file() for files in found.values() for p in files.values()):
        return None
    wanted = dict(pair_settings(recipe))
    with contextlib.suppress(DatasetError):
        wanted["synthetic"] = synthetic_digest(recipe, data_dir)
    there, wanted = json.loads((place / MANIFEST).read_text("utf-8")), json.loads(json.dumps(wanted))
    if any(there.get(name) != value for name, value in wanted.items()):
        return None
    return PairFiles(non_empty(found["train"]), non_empty(found["validation"]))


def pair_settings(recipe: JudgeData) -> dict[str, Any]:
    """Return the values of a recipe that determine the content of its sets."""
    names = ("seed", "questions", "held_out", "operators", "unlabelled_operators")
    return {name: getattr(recipe, name) for name in names}


def synthetic_digest(recipe: JudgeData, data_dir: str | Path | None = None) -> str:
    """Return a hash of the synthetic problems and the styles, or an empty string if the recipe uses neither."""
    sets = (*recipe.train, *recipe.validation)
    used = [name for name in ("synthetic", "styles", "model_rewrites") if any(each.startswith(name) for each in sets)]
    digest = hashlib.sha256()
    for name in used:
        for problem in synthetic_problems(data_dir, name=name):
            digest.update(repr(problem).encode())
    return digest.hexdigest()[:16] if used else ""


def write_sets(
    place: Path, part: str, sets: Mapping[str, PairSet], make: Mapping[str, Callable[[], Pairs]]
) -> dict[str, Path]:
    """Write the sets whose files do not exist yet, and return the files of all non-empty sets."""
    found = _set_files(place, part, sets)
    for name, path in found.items():
        if not path.is_file():
            write_faults(make[name](), path)
    return non_empty(found)


def _set_files(place: Path, part: str, sets: Mapping[str, PairSet]) -> dict[str, Path]:
    return {name: place / f"{name}_{part}_{each.most or 'all'}.jsonl.gz" for name, each in sets.items()}


def non_empty(files: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files that have a pair."""
    return {name: path for name, path in files.items() if gzip.open(path).read(1)}


def check_manifest(folder: Path, settings: Mapping[str, Any]) -> None:
    """Record the settings with which the files in a folder are created.

    Raise `DatasetError` if existing files were created with different settings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, wanted = folder / MANIFEST, json.loads(json.dumps(settings))
    if not path.is_file():
        if any(folder.glob("*.jsonl*")):
            raise DatasetError(f"{folder} has files of unknown origin: delete it, or choose another --out")
        replace_json(path, wanted)
        return
    there = json.loads(path.read_text("utf-8"))
    # a folder from an earlier version may name more settings
    changed = sorted(name for name in wanted if there.get(name) != wanted[name])
    if changed:
        raise DatasetError(
            f"{folder} was created with other values of {' and '.join(changed)}: delete it, or choose another --out"
        )

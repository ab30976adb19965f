"""Apply operators to questions, and store the labelled pairs. An interrupted run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.augment import augment
from paraqd.lab.operators.recipes import Recipe
from paraqd.lab.training.settings import SEED
from paraqd.progress import Progress, silent
from paraqd.runs.output import read_metadata
from paraqd.runs.store import is_unfinished
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER
from paraqd.tables.table import replacing


@dataclass(frozen=True)
class PreparedPairs:
    """Files of labelled pairs, with a record of how the pairs were created.

    ``recipe`` is the recipe's name, ``stand_ins`` lists the operators that used a replacement model, ``left_out`` maps
    each skipped operator to the reason, and ``entities`` is the name of the entity reader.
    """

    paths: tuple[Path, ...]
    recipe: str
    stand_ins: tuple[str, ...]
    left_out: Mapping[str, str]
    entities: str = ""


def describe_pairs(path: str | Path) -> PreparedPairs:
    """Return a file of augmented pairs with its record. If paraqd did not write the file, the record is empty."""
    facts = read_metadata(path)
    stand_ins = tuple(f"{name} ({model})" for name, model in facts.get("stand_ins", {}).items())
    return PreparedPairs(
        (Path(path),), str(facts.get("recipe", "")), stand_ins, facts.get("left_out", {}), facts.get("entities", "")
    )


def write_questions(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write questions to a JSON Lines file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        lines = (json.dumps({"id": str(row["id"]), "question": str(row["question"])}) for row in rows)
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def prepare_pairs(
    questions: Path,
    out: Path,
    *,
    recipe: str | Recipe = "",
    operators: Sequence[str] | None = None,
    seed: int = SEED,
    stand_ins: bool = True,
    skip: Sequence[str] = (),
    generators: Mapping[str, str] | None = None,
    encoder: str = DEFAULT_ENCODER,
    entities: str = "light",
    device: str | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> PreparedPairs:
    """Apply operators to a file of questions, and write the labelled pairs to ``out``.

    The operators are those in ``operators`` or, by default, those of the recipe. If ``out`` is already complete, the
    existing file is used. An operator whose model is not available is skipped and listed in the result.
    """
    if not is_complete(out):
        augment(
            questions,
            out,
            recipe=recipe or "extended",
            operators=operators,
            seed=seed,
            stand_ins=stand_ins,
            skip=skip,
            generators=generators,
            encoder=encoder,
            entities=entities,
            device=device,
            workers=workers,
            overwrite=True,
            progress=progress,
        )
    return describe_pairs(out)


def is_complete(out: Path) -> bool:
    """Return True if a file of pairs is complete and is not being replaced by an unfinished run."""
    return out.is_file() and not is_unfinished(out) and bool(read_metadata(out).get("complete"))

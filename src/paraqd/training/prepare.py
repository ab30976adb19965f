"""From questions to labelled pairs for training: augmented once, kept, and taken up again after a kill."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.data.tables import replacing
from paraqd.generators.encoder import DEFAULT_ENCODER
from paraqd.runs.augment import AugmentInterrupted, augment
from paraqd.runs.outputs import read_metadata
from paraqd.runs.parts import Parts, parts_folder

# called with (stage, done, total or None)
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class PreparedPairs:
    """A file of labelled pairs, and how they were made."""

    path: Path
    recipe: str
    stand_ins: tuple[str, ...]
    left_out: Mapping[str, str]
    entities: str = ""


def describe_pairs(path: str | Path) -> PreparedPairs:
    """Read what made a file of augmented pairs; nothing is known of a file from elsewhere."""
    facts = read_metadata(path)
    stand_ins = tuple(f"{name} ({model})" for name, model in facts.get("stand_ins", {}).items())
    return PreparedPairs(
        Path(path), str(facts.get("recipe", "")), stand_ins, facts.get("left_out", {}), facts.get("entities", "")
    )


def write_questions(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write questions as JSONL, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        lines = (json.dumps({"id": str(row["id"]), "question": str(row["question"])}) for row in rows)
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def prepare_pairs(
    questions: Path,
    out: Path,
    *,
    recipe: str,
    seed: int = 3407,
    stand_ins: bool = True,
    skip: Sequence[str] = (),
    generators: Mapping[str, str] | None = None,
    encoder: str = DEFAULT_ENCODER,
    entities: str = "light",
    device: str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> PreparedPairs:
    """Augment questions with a recipe, unless the pairs are there already.

    An operator whose model cannot be had is left out and named in the result.
    """
    if not is_complete(out):
        try:
            augment(
                questions,
                out,
                recipe=recipe,
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
        except AugmentInterrupted as interrupt:
            raise KeyboardInterrupt from interrupt
    return describe_pairs(out)


def is_complete(out: Path) -> bool:
    """Tell whether a file of pairs is there whole, and no run is about to make it anew."""
    begun = Parts(parts_folder(out)).begun  # an output of a run that was broken off may be older than its parts
    return out.is_file() and not begun and bool(read_metadata(out).get("complete"))

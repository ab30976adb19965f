"""Have a small language model rewrite questions in several styles (the set ``sampled``). Only the teacher judges them.

The data sets are only needed for what is written first: the questions, and the pairs on which the language model is
trained. The rest can happen on another machine, with a GPU.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paraqd.data.faulty_pairs import FaultyPair, write_faults
from paraqd.data.tables import open_table
from paraqd.data.writers import write_rows
from paraqd.generators.base import Decoding
from paraqd.generators.loading import load_generator
from paraqd.generators.runtime import pick_device
from paraqd.generators.styles import STYLES, styled
from paraqd.generators.train import train_generator
from paraqd.generators.training_data import Pair
from paraqd.progress import Progress, silent
from paraqd.training.recipes import GeneratorRecipe
from paraqd.training.settings import TrainingError
from paraqd.training.unlabelled_pairs import unlabelled_pair

SAMPLED = "sampled"
# hot enough for mistakes, which the teacher should judge too
_SAMPLING = Decoding(do_sample=True, temperature=1.0, top_p=0.95, max_new_tokens=200)

Inputs = Sequence[Mapping[str, Any]]


def draw_inputs(questions: Sequence[tuple[str, str]], *, count: int, seed: int) -> list[dict[str, Any]]:
    """Draw questions, given as (id, text), each with a style and a seed for sampling.

    >>> draw_inputs([("a", "Find x.")], count=1, seed=1)[0]["question"]
    'Find x.'
    """
    rng = random.Random(f"{seed}|rewrites")
    drawn = [(*rng.choice(questions), rng.choice(STYLES)) for _ in range(count if questions else 0)]
    return [{"id": a, "question": b, "style": c, "seed": rng.randrange(2**31)} for a, b, c in drawn]


def sampled_rewrites(inputs: Inputs, folder: str | Path, *, device: str | None = None) -> list[FaultyPair]:
    """Have the paraphrasing generator in a folder rewrite what `draw_inputs` drew.

    On a GPU, the generator computes in bfloat16, and its outputs depend on the batches.
    """
    place = pick_device(device)
    generator = load_generator(folder, device=place, dtype="bfloat16" if place.startswith("cuda") else None)
    texts = [styled(each["question"], each["style"]) for each in inputs]
    outputs = generator.generate(texts, seed=[int(each["seed"]) for each in inputs], decoding=_SAMPLING)
    return [
        unlabelled_pair(each["id"], each["question"], candidate)
        for each, candidates in zip(inputs, outputs, strict=True)
        for candidate in candidates
        if candidate != each["question"]
    ]


def prepare_sampled(
    work: Path,
    questions: Callable[[], Sequence[tuple[str, str]]],
    pairs: Callable[[], Sequence[Pair]] | None,
    *,
    count: int,
    seed: int,
) -> None:
    """Write what needs the data sets to a work folder: the questions, and the generator's training pairs if wanted."""
    if not (path := _inputs_file(work, count)).is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        schema = {"id": str, "question": str, "style": str, "seed": int}
        write_rows(path, schema, draw_inputs(questions(), count=count, seed=seed))
    if pairs is not None and not (path := _generator_pairs_file(work)).is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, {"input": str, "output": str}, ({"input": a, "output": b} for a, b in pairs()))


def sampled_file(work: Path, count: int) -> Path:
    """Return the file of the set, which may not exist yet."""
    return work / "pairs" / f"{SAMPLED}_train_{count}.jsonl.gz"


def write_sampled(
    work: Path,
    made: GeneratorRecipe,
    *,
    count: int,
    generator: str | None = None,
    device: str | None = None,
    progress: Progress = silent,
) -> Path:
    """Write the set with what `prepare_sampled` wrote. An existing file is kept.

    If no folder of a generator is passed, a generator is trained first.
    """
    path = sampled_file(work, count)
    if path.is_file():
        return path
    needed = [_inputs_file(work, count), *([] if generator else [_generator_pairs_file(work)])]
    if missing := [each for each in needed if not each.is_file()]:
        raise TrainingError(f"{missing[0]} is missing: run the command with --prepare-only first")
    if generator is None:
        folder = train_generator(
            made.kind,  # type: ignore[arg-type]  # train_generator checks the kind
            None,
            work / "generators" / made.kind,
            scale=made.scale,  # type: ignore[arg-type]
            seed=made.seed,
            device=device,
            pairs=[(str(row["input"]), str(row["output"])) for row in open_table(needed[1]).rows()],
            progress=progress,
        )
        generator = str(folder)
    progress(f"{SAMPLED}: rewriting questions", 0, count)
    write_faults(sampled_rewrites(list(open_table(needed[0]).rows()), generator, device=device), path)
    return path


def _inputs_file(work: Path, count: int) -> Path:
    return work / "pairs" / f"{SAMPLED}_questions_{count}.jsonl.gz"


def _generator_pairs_file(work: Path) -> Path:
    return work / "generators" / "pairs.jsonl.gz"

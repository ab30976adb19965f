"""Have a small language model rewrite questions in several styles (the set ``sampled``). Only the teacher judges them.

The data sets are only needed for what is written first: the questions, and the pairs on which the language model is
trained. The rest can happen on another machine, with a GPU.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.faulty_pairs import FaultyPair, write_faults
from paraqd.lab.generators.train import train_generator
from paraqd.lab.generators.training_data import Pair
from paraqd.lab.training.paraphraser_pairs import settings_digest
from paraqd.lab.training.recipes import GeneratorRecipe, JudgeRecipe
from paraqd.lab.training.settings import TrainingError
from paraqd.lab.training.unlabelled_pairs import unlabelled_pair
from paraqd.model_runtime import pick_device, require_extra
from paraqd.paraphrasing.text_models.base import Decoding
from paraqd.paraphrasing.text_models.causal import packaged_model_file
from paraqd.paraphrasing.text_models.loading import load_generator
from paraqd.paraphrasing.text_models.styles import STYLES, styled
from paraqd.progress import Progress, silent
from paraqd.scoring.signature import with_hash
from paraqd.tables.table import open_table
from paraqd.tables.writers import write_rows

SAMPLED = "sampled"
# hot enough for mistakes, which the teacher should judge too
_SAMPLING = Decoding(do_sample=True, temperature=1.0, top_p=0.95, max_new_tokens=200)
_GPU_BATCH_TOKENS = 262_144  # one output for each of many texts needs little memory

Inputs = Sequence[Mapping[str, Any]]


def without_sampled(recipe: JudgeRecipe) -> JudgeRecipe:
    """Return the recipe without the set ``sampled``: only the small judge learns from it."""
    return recipe.without([SAMPLED]) if SAMPLED in recipe.data.train else recipe


def draw_inputs(questions: Sequence[tuple[str, str]], *, count: int, seed: int) -> list[dict[str, Any]]:
    """Draw questions, given as (id, text), each with a style and a seed for sampling.

    >>> draw_inputs([("a", "Find x.")], count=1, seed=1)[0]["question"]
    'Find x.'
    """
    rng = random.Random(f"{seed}|rewrites")
    drawn = [(*rng.choice(questions), rng.choice(STYLES)) for _ in range(count if questions else 0)]
    return [{"id": name, "question": text, "style": style, "seed": rng.randrange(2**31)} for name, text, style in drawn]


def sampled_rewrites(inputs: Inputs, folder: str | Path, *, device: str | None = None) -> list[FaultyPair]:
    """Have the paraphrasing generator in a folder rewrite what `draw_inputs` drew.

    On a GPU, the generator computes in bfloat16, and its outputs depend on the batches.
    """
    place = pick_device(device)
    on_gpu = place.startswith("cuda")
    generator: Any = load_generator(folder, device=place, dtype="bfloat16" if on_gpu else None)
    if on_gpu:
        generator = replace(generator, engine=replace(generator.engine, batch_tokens=_GPU_BATCH_TOKENS))
    texts = [styled(each["question"], each["style"]) for each in inputs]
    outputs = generator.generate(texts, seed=[int(each["seed"]) for each in inputs], decoding=_SAMPLING)
    return [
        unlabelled_pair(each["id"], each["question"], candidate)
        for each, candidates in zip(inputs, outputs, strict=True)
        for candidate in candidates
        if candidate != each["question"]
    ]


def inputs_file(work: Path, count: int) -> Path:
    """Return the file of the drawn questions, which may not exist yet."""
    return work / "pairs" / f"{SAMPLED}_questions_{count}.jsonl.gz"


def generator_pairs_file(work: Path, made: GeneratorRecipe) -> Path:
    """Return the file of the generator's training pairs, which may not exist yet."""
    return work / "generators" / f"pairs_{made.scale}_{settings_digest()}.jsonl.gz"


def sampled_file(work: Path, count: int, made: GeneratorRecipe, generator: str | None = None) -> Path:
    """Return the file of the set, which may not exist yet. The name depends on what writes the set."""
    source = with_hash(generator) if generator else repr(astuple(made))
    return work / "pairs" / f"{SAMPLED}_train_{count}_{hashlib.sha256(source.encode()).hexdigest()[:8]}.jsonl.gz"


def prepare_inputs(work: Path, questions: Callable[[], Sequence[tuple[str, str]]], *, count: int, seed: int) -> None:
    """Draw the questions and write them to the work folder, unless they are there."""
    if count < 1:
        raise TrainingError(f"data.train.{SAMPLED} needs the number of rewrites: most = 12000, for example")
    path = inputs_file(work, count)
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        schema = {"id": str, "question": str, "style": str, "seed": int}
        write_rows(path, schema, draw_inputs(questions(), count=count, seed=seed))


def check_base_model(made: GeneratorRecipe) -> None:
    """Raise an exception if the model is missing on which the generator is trained."""
    if made.scale == "full":
        require_extra(("torch", "transformers", "gguf"))
        packaged_model_file()


def write_sampled(
    work: Path,
    made: GeneratorRecipe,
    pairs: Callable[[], Sequence[Pair]],
    *,
    count: int,
    generator: str | None = None,
    device: str | None = None,
    progress: Progress = silent,
) -> Path:
    """Write the set, and return its file. An existing file is kept.

    Parameters
    ----------
    pairs : callable
        A function that returns the pairs on which the generator is trained.
    generator : str, optional
        The folder of a generator. By default, one is trained first.

    """
    path = sampled_file(work, count, made, generator)
    if path.is_file():
        return path
    if generator is None:
        folder = train_generator(
            made.kind,  # type: ignore[arg-type]  # train_generator checks the kind
            None,
            work / "generators" / made.kind,
            scale=made.scale,  # type: ignore[arg-type]
            seed=made.seed,
            device=device,
            pairs=pairs(),
            progress=progress,
        )
        generator = str(folder)
    progress(f"{SAMPLED}: rewriting questions", 0, count)
    inputs = list(open_table(inputs_file(work, count)).rows())
    write_faults(sampled_rewrites(inputs, generator, device=device), path)
    return path

"""Keep a training run's intermediate results in a work folder: pairs, tokens and the record of the settings."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraqd.files import sha256_of
from paraqd.lab.corpora.faulty_pairs import read_faults
from paraqd.lab.generators.training_data import Pair
from paraqd.lab.training.judge_corpus import make_judge_pairs, pair_weights, questions_to_rewrite
from paraqd.lab.training.judge_tokens import (
    MAX_LENGTH,
    PREPARATION,
    JudgeTokens,
    read_tokens,
    tokenize_pairs,
    write_tokens,
)
from paraqd.lab.training.pair_files import PairFiles, non_empty, prepared_pairs
from paraqd.lab.training.paraphraser_pairs import kept_pairs
from paraqd.lab.training.recipes import JudgeRecipe
from paraqd.lab.training.sampled_pairs import (
    SAMPLED,
    check_base_model,
    generator_pairs_file,
    prepare_inputs,
    sampled_file,
    without_sampled,
    write_sampled,
)
from paraqd.lab.training.settings import TrainingError
from paraqd.model_runtime import quiet
from paraqd.progress import Progress, silent
from paraqd.scoring.torch_encoder import encoder_folder
from paraqd.tables.writers import replace_json

TOKENS = "tokens"  # the sub-folder for tokens, which both judges read


def work_folder(out: Path, work: str | Path | None = None) -> Path:
    """Return the folder for intermediate results: ``work``, or the folder ``OUT.work`` beside the model folder."""
    return out.with_name(f"{out.name}.work") if work is None else Path(work)


def recipe_pairs(
    recipe: JudgeRecipe,
    work: Path,
    *,
    data_dir: str | Path | None = None,
    generators: Mapping[str, str] | None = None,
    device: str | None = None,
    workers: int = 1,
    complete: bool = True,
    progress: Progress = silent,
) -> PairFiles:
    """Return the files of a recipe's pairs in a work folder. Missing files are created from the data sets.

    If the folder contains all files, the data sets are not needed. ``generators`` may have the folder of the generator
    that writes the set ``sampled``, keyed by its kind; otherwise the generator is trained. Neither happens if
    ``complete`` is False: the set is then missing, but everything is written that needs the data sets.
    """
    others, made = without_sampled(recipe).data, recipe.data.generator
    sampled, generator = SAMPLED in recipe.data.train, (generators or {}).get(made.kind)
    count = recipe.data.train[SAMPLED].most or 0 if sampled else 0
    options: dict[str, Any] = {"data_dir": data_dir}
    if complete and sampled and generator is None and not sampled_file(work, count, made).is_file():
        check_base_model(made)  # before hours of other work
    files = prepared_pairs(work / "pairs", others, **options) or make_judge_pairs(
        work / "pairs", others, workers=workers, device=device, progress=progress, **options
    )
    if not sampled:
        return files

    def pairs() -> list[Pair]:
        return kept_pairs(
            generator_pairs_file(work, made), scale=made.scale, workers=workers, progress=progress, **options
        )

    seed = recipe.data.seed
    prepare_inputs(work, lambda: questions_to_rewrite(work / "pairs", others, **options), count=count, seed=seed)
    if not complete:
        if generator is None:
            pairs()
        return files
    path = write_sampled(work, made, pairs, count=count, generator=generator, device=device, progress=progress)
    return PairFiles({**files.train, **non_empty({SAMPLED: path})}, files.validation)


def tokenized(
    path: Path, tokenizer: Any, folder: Path, weight: float, *, max_length: int = MAX_LENGTH, progress: Progress
) -> JudgeTokens:
    """Return a file's pairs in tokenised form. The tokens are stored in ``folder``, and later calls reuse them."""
    return read_tokens(store_tokens(path, tokenizer, folder, weight, max_length=max_length, progress=progress))


def store_all_tokens(recipe: JudgeRecipe, files: PairFiles, work: Path, *, progress: Progress = silent) -> PairFiles:
    """Tokenise all pairs of a recipe with its encoder's tokenizer, and return the files of the tokens."""
    from transformers import AutoTokenizer

    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(str(encoder_folder(recipe.encoder)))

        def stored(path: Path, weight: float) -> Path:
            return store_tokens(path, tokenizer, work / TOKENS, weight, progress=progress)

        return PairFiles(
            {name: stored(path, recipe.data.train[name].weight) for name, path in files.train.items()},
            {name: stored(path, 1.0) for name, path in files.validation.items()},
        )


def store_tokens(
    path: Path, tokenizer: Any, folder: Path, weight: float, *, max_length: int = MAX_LENGTH, progress: Progress
) -> Path:
    """Tokenise a file's pairs, unless their tokens are already in ``folder``, and return the file of the tokens."""
    described = json.loads(tokenizer.backend_tokenizer.to_str())
    described["truncation"] = described["padding"] = None  # every call sets these
    text = json.dumps([PREPARATION, max_length, described], sort_keys=True)
    rules = hashlib.sha256(text.encode()).hexdigest()[:8]
    stored = folder / f"{path.name.partition('.')[0]}-{sha256_of(path)[:12]}-{rules}-{weight:g}.npz"
    if not stored.is_file():
        pairs = list(read_faults(path))
        progress(f"tokenising {path.name}", 0, len(pairs))
        stored.parent.mkdir(parents=True, exist_ok=True)
        weights = pair_weights(pairs, weight)
        write_tokens(tokenize_pairs(pairs, tokenizer, weights=weights, max_length=max_length), stored)
    return stored


def token_digest(tokens: JudgeTokens) -> str:
    """Return the sha256 of the token ids and the labels."""
    digest = hashlib.sha256(tokens.ids.tobytes())
    digest.update(tokens.labels.tobytes())
    return digest.hexdigest()


def begin_training(
    work: Path, facts: Mapping[str, Any], *, restart: bool, results: Sequence[str] = ("checkpoints", "stages")
) -> None:
    """Prepare the work folder.

    The subfolders ``results`` of a training run with the same data and settings are kept. Others are discarded if
    ``restart`` is True; otherwise, `TrainingError` is raised.
    """
    manifest, wanted = work / "training.json", json.loads(json.dumps(facts))
    if manifest.is_file() and json.loads(manifest.read_text("utf-8")) == wanted:
        return
    unfinished = [work / name for name in results]
    if any(path.is_dir() and any(path.iterdir()) for path in unfinished) and not restart:
        raise TrainingError(
            f"{work} has an unfinished training run with other settings: use those settings, or pass --restart"
        )
    for path in unfinished:
        shutil.rmtree(path, ignore_errors=True)
    replace_json(manifest, wanted)

"""Keep a training run's intermediate results in a work folder: pairs, tokens and the record of the settings."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraqd.data.faulty_pairs import read_faults
from paraqd.data.rewrites import styled_rewrites
from paraqd.data.writers import replace_json
from paraqd.files import sha256_of
from paraqd.generators.encoder import encoder_folder
from paraqd.generators.runtime import quiet
from paraqd.generators.styles import styled
from paraqd.generators.train import train_generator
from paraqd.progress import Progress, silent
from paraqd.training.judge_corpus import make_judge_pairs, pair_weights
from paraqd.training.judge_tokens import (
    MAX_LENGTH,
    PREPARATION,
    JudgeTokens,
    read_tokens,
    tokenize_pairs,
    write_tokens,
)
from paraqd.training.pair_files import PairFiles, prepared_pairs
from paraqd.training.recipes import JudgeRecipe
from paraqd.training.settings import TrainingError

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
    progress: Progress = silent,
) -> PairFiles:
    """Return the files of a recipe's pairs in a work folder. Missing files are created from the data sets.

    If the folder contains all files, neither the data sets nor a generator is needed.
    """
    found = None if generators else prepared_pairs(work / "pairs", recipe.data, data_dir=data_dir)
    if found is not None:
        return found
    generators = dict(generators or {})
    if "sampled" in recipe.data.train and recipe.data.generator.kind not in generators:
        generators |= _train_generator(recipe, work, data_dir, device, progress)
    return make_judge_pairs(
        work / "pairs",
        recipe.data,
        data_dir=data_dir,
        generators=generators,
        workers=workers,
        device=device,
        progress=progress,
    )


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


def _train_generator(
    recipe: JudgeRecipe, work: Path, data_dir: str | Path | None, device: str | None, progress: Progress
) -> dict[str, str]:
    """Train the recipe's generator, and return a dictionary that maps its kind to its folder."""
    made = recipe.data.generator
    folder = train_generator(
        made.kind,  # type: ignore[arg-type]  # train_generator checks the kind
        None,
        work / "generators" / made.kind,
        scale=made.scale,  # type: ignore[arg-type]
        seed=made.seed,
        device=device,
        pairs=[(styled(each.question, each.style), each.text) for each in styled_rewrites(data_dir)],
        progress=progress,
    )
    return {made.kind: str(folder)}

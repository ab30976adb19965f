"""Have a trained language-model judge teach the small judge: compute its log-odds for the training pairs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.files import sha256_of
from paraqd.lab.training.judge_tokens import JudgeTokens, read_tokens
from paraqd.lab.training.judge_training import judge_scores
from paraqd.lab.training.language_weights import WEIGHTS_FILE, load_weights
from paraqd.lab.training.quantisation_aware import start_rounding
from paraqd.lab.training.settings import TrainingError
from paraqd.model_folder import TOKENIZER_FILE
from paraqd.progress import Progress, silent
from paraqd.tables.writers import replacing

FOLDER, PREPARED, WEIGHTS, ODDS = "language", "prepared.json", "weights", "odds.npz"
_BATCH_TOKENS = 131_072


def check_language_judge(work: Path) -> None:
    """Raise `TrainingError` if a work folder has no trained language-model judge."""
    if not (work / FOLDER / WEIGHTS / ODDS).is_file():
        raise TrainingError(
            f"{work} has no trained language-model judge to learn from: train one with --judge large --weights-only, "
            "or pass --teacher none"
        )


def language_odds(
    work: Path,
    sets: Sequence[str],
    tokenize: Callable[[str, Any, Path], JudgeTokens],
    *,
    device: str = "cpu",
    progress: Progress = silent,
) -> NDArray[np.float32]:
    """Return the log-odds of the language-model judge in a work folder for all pairs of the training sets.

    The judge is rounded like the exported judge. Its answers are stored, and later calls reuse them.

    Parameters
    ----------
    work : Path
        The work folder.
    sets : sequence of str
        The names of the training sets.
    tokenize : callable
        A function that takes a set's name, a tokenizer and a folder for storing tokens, and returns the set's tokens.
        It is called for sets on which the judge was not trained.

    Raises
    ------
    TrainingError
        If the work folder has no trained language-model judge, or if the judge was trained on other pairs.

    """
    # the recipes, which these modules need, need this module
    from paraqd.lab.training.pair_files import MANIFEST
    from paraqd.lab.training.work_folder import TOKENS, token_digest

    folder = work / FOLDER
    weights = folder / WEIGHTS
    check_language_judge(work)
    prepared, manifest = json.loads((folder / PREPARED).read_text("utf-8")), work / "pairs" / MANIFEST
    if manifest.is_file() and json.loads(manifest.read_text("utf-8")) != prepared["pairs"]:
        raise TrainingError(f"the language-model judge in {work} was trained on other pairs: train it again")
    judge, found = None, []
    digest = sha256_of(weights / WEIGHTS_FILE)
    for name in sets:
        if name in prepared["train"]:
            tokens = read_tokens(work / TOKENS / prepared["train"][name])
        else:
            tokens = tokenize(name, _tokenizer(folder), work / TOKENS)
        identity = hashlib.sha256(f"{token_digest(tokens)} {digest}".encode()).hexdigest()[:12]
        stored = folder / "answers" / f"{name}-{identity}.npy"
        if not stored.is_file():
            if judge is None:
                judge = load_weights(weights)
                start_rounding(judge)
                if device.startswith("cuda"):
                    judge.compile_layers()
            progress(f"language-model judge: {name}", 0, None)
            odds = judge_scores(judge, tokens, device=device, batch_tokens=_BATCH_TOKENS, half=True)
            stored.parent.mkdir(parents=True, exist_ok=True)
            with replacing(stored) as temporary, open(temporary, "wb") as file:
                np.save(file, odds)
        found.append(np.load(stored))
    answers: NDArray[np.float32] = np.concatenate(found).astype(np.float32)
    return answers


def _tokenizer(folder: Path) -> Any:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_file=str(folder / TOKENIZER_FILE), pad_token="[PAD]")

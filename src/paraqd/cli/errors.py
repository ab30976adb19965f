"""Name the extra that a missing package comes with."""

from __future__ import annotations

# packages that come with an extra
_EXTRAS = {
    "augment": ("spacy", "lemminflect"),
    "generate": ("torch", "transformers", "sentencepiece", "sacremoses", "gguf", "safetensors"),
    "ray": ("ray",),
    "train": ("sentence_transformers", "accelerate", "datasets", "matplotlib", "sklearn"),
}


def missing_extra(error: Exception) -> str | None:
    """Return what to install where a package of an extra is missing, else None."""
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        for extra, packages in _EXTRAS.items():
            if package in packages:
                return f"{package} is not installed: pip install 'paraqd[{extra}]'"
    return None

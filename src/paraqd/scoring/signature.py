"""The signature on every score file and metric: what made the figures, in one line."""

from __future__ import annotations

import hashlib
from pathlib import Path

_WEIGHTS = ("*.safetensors", "[0-9]*_*/*.safetensors")  # the second: modules beside the transformer, such as 2_Dense
_OTHER_WEIGHTS = (("*.bin", "[0-9]*_*/*.bin"), ("*.onnx", "onnx/*.onnx"))
_TOKENIZER = ("tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "*.model")


def signature(model_name: str, model_hash8: str, mode: str, threshold: float, *, skip: bool = True) -> str:
    """Return the signature of a model's scores; it tells where every pair was put to the model, decided or not.

    >>> signature("all-MiniLM-L6-v2", "0123abcd", "encoder", 0.5).partition("|")[2]
    'model:all-MiniLM-L6-v2@0123abcd|mode:encoder|threshold:0.5'
    """
    from paraqd.version import __version__

    made = f"paraqd:{__version__}|model:{model_name}@{model_hash8}|mode:{mode}|threshold:{threshold:g}"
    return made if skip else f"{made}|skip:no"


def difference(one: str, other: str) -> list[str]:
    """Name in what two signatures differ.

    >>> difference("paraqd:0.1|model:a@1|threshold:0.5", "paraqd:0.2|model:a@1|threshold:0.5|skip:no")
    ['version of paraqd', 'way of skipping']
    """
    named = {"paraqd": "version of paraqd", "skip": "way of skipping"}
    mine, theirs = (dict(part.split(":", 1) for part in each.split("|") if ":" in part) for each in (one, other))
    return [named.get(key, key) for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)]


def folder_hash(folder: str | Path) -> str:
    """Return 8 hex digits that stand for the weights and the tokenizer in a model folder.

    Settings that do not change a score (the model card, the version of a library that wrote the folder) do not
    change the digits, nor do the folder's name and its checkpoints.

    Raises
    ------
    FileNotFoundError
        Where the folder holds no weights.
    """
    folder = Path(folder)
    weights = _found(folder, _WEIGHTS)
    for patterns in _OTHER_WEIGHTS:
        weights = weights or _found(folder, patterns)
    if not weights:
        raise FileNotFoundError(f"{folder} holds no weights")
    whole = hashlib.sha256()
    for path in sorted({*weights, *_found(folder, _TOKENIZER)}, key=lambda path: path.relative_to(folder).as_posix()):
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{path.relative_to(folder).as_posix()} {digest}\n".encode())
    return whole.hexdigest()[:8]


def _found(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    return [path for pattern in patterns for path in folder.glob(pattern) if path.is_file()]

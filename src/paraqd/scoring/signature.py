"""Build signatures, which name the model and the settings that produced a score or a metric."""

from __future__ import annotations

import hashlib
from pathlib import Path

from paraqd.files import sha256_of
from paraqd.model_folder import WEIGHTS

_OTHER_WEIGHTS = (("*.bin", "[0-9]*_*/*.bin"), ("*.onnx", "onnx/*.onnx"))
_TOKENIZER = ("tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "*.model")


def signature(
    model_name: str, model_hash8: str, mode: str, threshold: float, *, skip: bool = True, judge: str = ""
) -> str:
    """Return the signature of a model's scores.

    If ``skip`` is False, the signature records that the judge was asked about every pair. ``judge`` names the
    language-model judge and how it was used.

    >>> signature("all-MiniLM-L6-v2", "0123abcd", "encoder", 0.5).partition("|")[2]
    'model:all-MiniLM-L6-v2@0123abcd|mode:encoder|threshold:0.5'
    """
    from paraqd.version import __version__

    line = f"paraqd:{__version__}|model:{model_name}@{model_hash8}|mode:{mode}|threshold:{threshold:g}"
    line += f"|judge:{judge}" if judge else ""
    return line if skip else f"{line}|skip:no"


def difference(one: str, other: str) -> list[str]:
    """Return the names of the parts in which two signatures differ.

    >>> difference("paraqd:0.1|model:a@1|threshold:0.5", "paraqd:0.2|model:a@1|threshold:0.5|skip:no")
    ['version of paraqd', 'setting of --no-skip']
    """
    named = {"paraqd": "version of paraqd", "skip": "setting of --no-skip"}
    mine, theirs = parts_of(one), parts_of(other)
    return [named.get(key, key) for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)]


def folder_hash(folder: str | Path) -> str:
    """Return 8 hex digits that identify the weights and the tokenizer in a model folder.

    The digits do not depend on the folder's name, on checkpoints inside the folder, or on files that do not affect
    scores, such as the model card.

    Raises
    ------
    FileNotFoundError
        If the folder does not contain weights.

    """
    folder = Path(folder)
    weights = _found(folder, WEIGHTS)
    for patterns in _OTHER_WEIGHTS:
        weights = weights or _found(folder, patterns)
    if not weights:
        raise FileNotFoundError(f"{folder} does not contain weights")
    whole = hashlib.sha256()
    for path in sorted({*weights, *_found(folder, _TOKENIZER)}, key=lambda path: path.relative_to(folder).as_posix()):
        whole.update(f"{path.relative_to(folder).as_posix()} {sha256_of(path)}\n".encode())
    return whole.hexdigest()[:8]


def with_hash(model: str) -> str:
    """Return a model's name, followed by a hash of its files if the name is the path of a folder or a file.

    >>> with_hash("all-MiniLM-L6-v2")
    'all-MiniLM-L6-v2'
    """
    path = Path(model).expanduser()
    if path.is_file():
        return f"{model}@{sha256_of(path)[:8]}"
    try:
        return f"{model}@{folder_hash(path)}"
    except FileNotFoundError:  # a model on the hub or in a package
        return model


def _found(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    return [path for pattern in patterns for path in folder.glob(pattern) if path.is_file()]


def parts_of(line: str) -> dict[str, str]:
    """Return the parts of a signature, keyed by name.

    >>> parts_of("paraqd:1|model:a@0|judge:cascade:b@1")["judge"]
    'cascade:b@1'
    """
    return dict(part.split(":", 1) for part in line.split("|") if ":" in part)


def decided_again(line: str, threshold: float, review: str = "") -> str:
    """Return a signature with another threshold, and with another band for review or none.

    >>> decided_again("paraqd:1|model:a@0|threshold:0.5|judge:small|review:0.2,0.8", 0.7)
    'paraqd:1|model:a@0|threshold:0.7|judge:small'
    """
    new = f"threshold:{threshold:g}"
    parts = [part for part in line.split("|") if not part.startswith("review:")]
    parts = [new if part.startswith("threshold:") else part for part in parts]
    return "|".join([*parts, *(() if new in parts else (new,)), *((f"review:{review}",) if review else ())])

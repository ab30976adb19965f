"""Find the language-model judge, which is a package of its own."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from paraqd.errors import ModelError
from paraqd.model_folder import ModelFolder, read_model_folder

GROUP = "paraqd.judges"  # the entry points of judge packages; each names a function that returns a model folder
KIND = "language-model"
_PACKAGE = "paraqd-judge-lm"
_INSTALL = f"pip install {_PACKAGE}"


def installed_judge() -> ModelFolder | None:
    """Return the model folder of the installed judge package, or None if there is no such package.

    Raises
    ------
    ModelError
        If several judge packages are installed, or the package does not contain a model of the right kind.

    """
    found: list[EntryPoint] = sorted(entry_points(group=GROUP), key=lambda entry: entry.value)
    if not found:
        return None
    if len({entry.value for entry in found}) > 1:
        raise ModelError(f"several judge packages are installed ({', '.join(e.value for e in found)}): keep only one")
    try:
        path = Path(found[0].load()())
    except Exception as error:
        raise ModelError(f"the judge package {found[0].value} cannot be loaded ({error}): {_INSTALL}") from None
    folder = read_model_folder(path)
    if folder.kind != KIND:
        raise ModelError(f"{path} contains a model of the kind {folder.kind!r}, not a language-model judge: {_INSTALL}")
    return folder


def required_judge() -> ModelFolder:
    """Return the model folder of the installed judge package, or raise `ModelError` if there is no such package."""
    folder = installed_judge()
    if folder is None:
        raise ModelError(f"the language-model judge is not installed: {_INSTALL}, or choose the small judge")
    return folder

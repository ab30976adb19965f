"""Find the language-model judge, which is a package of its own."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from paraqd.errors import ModelError
from paraqd.judge_package import GROUP, KIND, PACKAGE
from paraqd.model_folder import ModelFolder, read_model_folder
from paraqd.parameters import named

REINSTALL = f"install the judge again (pip install --force-reinstall --no-deps {PACKAGE})"


def installed_judge() -> ModelFolder | None:
    """Return the model folder of the installed judge package, or None if there is no such package.

    Raises
    ------
    ModelError
        If several judge packages are installed, or the package does not contain a model of the right kind.

    """
    found = {entry.value: entry for entry in entry_points(group=GROUP)}  # a package can be on the path twice
    if not found:
        return None
    if len(found) > 1:
        names = sorted(_package(entry) for entry in found.values())
        raise ModelError(f"several judge packages are installed ({', '.join(names)}): keep only one")
    entry = next(iter(found.values()))
    try:
        path = Path(entry.load()())
    except Exception as error:  # the package can raise anything
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelError(f"the judge package {_package(entry)} cannot be loaded ({why}): {REINSTALL}") from None
    folder = read_model_folder(path)
    if folder.kind != KIND:
        raise ModelError(
            f"{path} contains a model of the kind {folder.kind!r}, not a language-model judge: {REINSTALL}"
        )
    return folder


def required_judge() -> ModelFolder:
    """Return the model folder of the installed judge package, or raise `ModelError` if there is no such package."""
    folder = installed_judge()
    if folder is None:
        raise ModelError(
            f"the language-model judge is not installed: pip install {PACKAGE} "
            f"(in a clone, pip install models/{PACKAGE}), or pass {named('judge', 'small')}"
        )
    return folder


def _package(entry: EntryPoint) -> str:
    return entry.value if entry.dist is None else entry.dist.name

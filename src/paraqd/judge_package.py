"""Write the package of the language-model judge, which is a distribution of its own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from paraqd.errors import ModelError, OutputExistsError
from paraqd.model_folder import (
    DEFAULT_MODEL,
    FACTS_FILE,
    LANGUAGE_MODEL,
    ModelFolder,
    read_model_folder,
)
from paraqd.version import __version__

PACKAGE, MODULE = "paraqd-judge-lm", "paraqd_judge_lm"
GROUP = "paraqd.judges"  # the entry points of judge packages; each names a function that returns a model folder
KIND = LANGUAGE_MODEL
_LICENSE, _README = "LICENSE", "README.md"
_WRITTEN = frozenset({"pyproject.toml", _README, _LICENSE, "src"})  # the names at the top of the distribution

_PROJECT = f"""\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{PACKAGE}"
version = "{{version}}"
description = "The language-model judge of paraqd, which is asked about paraphrases that are hard to judge."
readme = "{_README}"
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["{_LICENSE}"]
dependencies = ["paraqd=={{version}}"]

[project.entry-points."{GROUP}"]
{KIND} = "{MODULE}:folder"

[tool.setuptools.packages.find]
where = ["src"]

[tool.setuptools.package-data]
{MODULE} = ["model/**/*"]
"""

_MODULE_TEXT = '''\
"""Provide the language-model judge of paraqd."""

from pathlib import Path


def folder() -> Path:
    """Return the judge's model folder, which paraqd loads."""
    return Path(__file__).parent / "model"
'''

_CARD = f"""\
# {PACKAGE}

This package contains the language-model judge of [paraqd](https://pypi.org/project/paraqd/). If it is installed,
paraqd asks this judge about pairs of which its small judge is unsure.

```
pip install {PACKAGE}
paraqd score pairs.csv -o scored.csv                  # asks the judge about unsure pairs
paraqd score pairs.csv -o scored.csv --judge large    # asks the judge about every pair
paraqd score pairs.csv -o scored.csv --judge small    # does not use this package
```

The judge belongs to version {{version}} of paraqd and to its model `{{model}}`. It runs on the CPU.
"""


def write_judge_package(folder: str | Path, out: str | Path) -> Path:
    """Write a distribution that contains a trained language-model judge, and return its folder.

    ``pip install`` and ``python -m build`` accept the result. Its version is that of this package, and it requires the
    same version of paraqd.

    Parameters
    ----------
    folder : str or Path
        The judge's model folder: ``paraqd.json``, ``tokenizer.json``, ``onnx/model.onnx`` and ``onnx/weights.npz``.
        Its model card (``README.md``) and its license are used if they exist.
    out : str or Path
        The folder to write. An existing package is replaced.

    Raises
    ------
    ModelError
        If the folder does not contain a language-model judge for the default model of this version, or if a file is
        damaged. In this case, nothing is written.
    OutputExistsError
        If ``out`` contains other files.

    """
    judge, target = read_model_folder(folder), Path(out)
    model = _model_of(judge)
    judge.verified_hashes()
    foreign = sorted(path.name for path in target.iterdir() if path.name not in _WRITTEN) if target.is_dir() else []
    if foreign or target.is_file():
        what = f"{target} contains {foreign[0]}" if foreign else f"{target} is a file"
        raise OutputExistsError(f"{what}: pass a new folder for the package")
    root = target / "src" / MODULE
    if root.exists():
        shutil.rmtree(root)
    place = root / "model"
    for name in (FACTS_FILE, *judge.files):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(judge.path / name, place / name)
    (root / "__init__.py").write_text(_MODULE_TEXT, encoding="utf-8")
    card, license_file = judge.path / _README, judge.path / _LICENSE
    text = card.read_text("utf-8") if card.is_file() else _CARD.format(version=__version__, model=model)
    (target / _README).write_text(text, encoding="utf-8")
    project = _PROJECT.format(version=__version__)
    if license_file.is_file():
        shutil.copyfile(license_file, target / _LICENSE)
    else:
        (target / _LICENSE).unlink(missing_ok=True)
        project = project.replace(f'license-files = ["{_LICENSE}"]\n', "")
    (target / "pyproject.toml").write_text(project, encoding="utf-8")
    return target


def _model_of(judge: ModelFolder) -> str:
    """Return the name and hash of the model to which a judge belongs. It must be the default model."""
    if judge.kind != KIND:
        raise ModelError(f"{judge.path} contains a model of the kind {judge.kind!r}, not a language-model judge")
    cascade = judge.facts.get("cascade")
    model = cascade.get("model") if isinstance(cascade, Mapping) else None
    shipped = read_model_folder(DEFAULT_MODEL)
    own = f"{shipped.name}@{shipped.hash8(shipped.verified_hashes())}"
    if model != own:
        given = f"belongs to the model {model}" if model else "was not fitted to a model"
        raise ModelError(f"the judge in {judge.path} {given}: fit it to the default model, which is {own}")
    if missing := [name for name in judge.files if name not in judge.recorded_hashes]:
        raise ModelError(f"{judge.path / FACTS_FILE} has no sha256 for {missing[0]}: save the model again")
    return own

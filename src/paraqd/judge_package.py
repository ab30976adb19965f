"""Write the packages of the large models, which are distributions of their own.

There are two: the language-model judge for pairs, and the large model for single questions.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from paraqd.errors import ModelError, OutputExistsError
from paraqd.model_folder import (
    DEFAULT_MODEL,
    FACTS_FILE,
    LANGUAGE_MODEL,
    PACKED_FILE,
    SOLVABLE_MODEL,
    ModelFolder,
    read_model_folder,
)
from paraqd.version import __version__

HOMEPAGE = "https://pypi.org/project/paraqd/"
_LICENSE, _README = "LICENSE", "README.md"
_WRITTEN = frozenset({"pyproject.toml", _README, _LICENSE, "src"})  # the names at the top of the distribution

_PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = "{description}"
readme = "README.md"
requires-python = ">=3.11"
license = "Apache-2.0"
license-files = ["LICENSE"]
authors = [{{ name = "The paraqd contributors" }}]
dependencies = ["paraqd>={version}"]

[project.urls]
Homepage = "{homepage}"

[project.entry-points."{group}"]
{kind} = "{module}:folder"

[tool.setuptools.packages.find]
where = ["src"]

[tool.setuptools.package-data]
{module} = ["model/**/*"]
"""

_MODULE_TEXT = '''\
"""Provide paraqd's {content}."""

from pathlib import Path


def folder() -> Path:
    """Return the model folder, which paraqd loads."""
    return Path(__file__).parent / "model"
'''

_CARD = """\
# {name}

This package contains the {content} of [paraqd]({homepage}). {use}

```
pip install {name}
{example}
```

It needs paraqd {version} or newer{model}. It runs on the CPU.
"""


@dataclass(frozen=True)
class ModelPackage:
    """A distribution that contains a model.

    ``group`` is the group of its entry point, which names a function that returns the model folder. ``kind`` is the
    model's kind. The other fields are texts for the package.
    """

    name: str
    group: str
    kind: str
    noun: str
    content: str
    description: str
    use: str
    example: str

    @property
    def module(self) -> str:
        """The name of the Python package in the distribution."""
        return self.name.replace("-", "_")


JUDGE = ModelPackage(
    name="paraqd-judge-lm",
    group="paraqd.judges",
    kind=LANGUAGE_MODEL,
    noun="judge",
    content="language-model judge",
    description="The language-model judge of paraqd, which is asked about paraphrases that are hard to judge.",
    use="If it is installed, paraqd asks this judge about pairs of which its small judge is unsure.",
    example="""\
paraqd score pairs.csv -o scored.csv                  # asks the judge about unsure pairs
paraqd score pairs.csv -o scored.csv --judge large    # asks the judge about every pair
paraqd score pairs.csv -o scored.csv --judge small    # does not use this package""",
)
SOLVABLE = ModelPackage(
    name="paraqd-solvable-lm",
    group="paraqd.solvable_models",
    kind=SOLVABLE_MODEL,
    noun="model",
    content="large model for single questions",
    description="The large model of paraqd solvable, which tells whether a question can be solved.",
    use="If it is installed, `paraqd solvable` uses it instead of the small model.",
    example="""\
paraqd solvable questions.csv -o checked.csv                  # uses this package
paraqd solvable questions.csv -o checked.csv --judge small    # does not use it""",
)


def write_judge_package(folder: str | Path, out: str | Path) -> Path:
    """Write a distribution that contains a large model, and return its folder.

    ``pip install`` and ``python -m build`` accept the result. Its version is that of the paraqd that writes it, and it
    requires this version or a newer one. Whether a judge fits a later model is decided by the model's hash.

    Parameters
    ----------
    folder : str or Path
        The model folder of a trained language-model judge, or of a large model for single questions:
        ``paraqd.json``, ``tokenizer.json``, ``onnx/model.onnx`` and ``onnx/weights.npz``. The model card
        (``README.md``) and the license are used if they exist.
    out : str or Path
        The folder to write. An existing package is replaced.

    Raises
    ------
    ModelError
        If the folder contains no such model, if a judge does not belong to the default model of this version, or if a
        file is damaged. In this case, nothing is written.
    OutputExistsError
        If ``out`` contains other files.

    """
    judge, target = read_model_folder(folder), Path(out)
    package = package_of(judge)
    model = f", with the model `{_model_of(judge)}`" if package is JUDGE else ""
    if missing := [name for name in (*judge.files, PACKED_FILE) if name not in judge.recorded_hashes]:
        raise ModelError(f"{judge.path / FACTS_FILE} has no sha256 for {missing[0]}: save the model again")
    judge.verified_hashes()
    foreign = sorted(path.name for path in target.iterdir() if path.name not in _WRITTEN) if target.is_dir() else []
    if foreign or target.is_file():
        what = f"{target} contains {foreign[0]}" if foreign else f"{target} is a file"
        raise OutputExistsError(f"{what}: pass a new folder for the package")
    root = target / "src" / package.module
    shutil.rmtree(target / "src", ignore_errors=True)
    place = root / "model"
    for name in (FACTS_FILE, *judge.files):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(judge.path / name, place / name)
    texts = {**asdict(package), "module": package.module, "homepage": HOMEPAGE, "version": __version__, "model": model}
    (root / "__init__.py").write_text(_MODULE_TEXT.format(**texts), encoding="utf-8")
    card, license_file = judge.path / _README, judge.path / _LICENSE
    text = card.read_text("utf-8") if card.is_file() else _CARD.format(**texts)
    (target / _README).write_text(text, encoding="utf-8")
    project = _PROJECT.format(**texts)
    if license_file.is_file():
        shutil.copyfile(license_file, target / _LICENSE)
    else:
        (target / _LICENSE).unlink(missing_ok=True)
        project = project.replace(f'license-files = ["{_LICENSE}"]\n', "")
    (target / "pyproject.toml").write_text(project, encoding="utf-8")
    return target


def package_of(model: ModelFolder) -> ModelPackage:
    """Return the package to which a model belongs, or raise `ModelError` if it belongs to none."""
    if model.kind == JUDGE.kind:
        return JUDGE
    if model.kind == SOLVABLE.kind and (model.path / PACKED_FILE).is_file():
        return SOLVABLE
    what = (
        "a small model for single questions" if model.kind == SOLVABLE.kind else f"a model of the kind {model.kind!r}"
    )
    raise ModelError(f"{model.path} contains {what}, not a language-model judge or a large model for single questions")


def _model_of(judge: ModelFolder) -> str:
    """Return the name and hash of the model to which a judge belongs. It must be the default model."""
    cascade = judge.facts.get("cascade")
    model = cascade.get("model") if isinstance(cascade, Mapping) else None
    shipped = read_model_folder(DEFAULT_MODEL)
    own = f"{shipped.name}@{shipped.hash8(shipped.verified_hashes())}"
    if model != own:
        given = f"belongs to the model {model}" if model else "was not fitted to a model"
        raise ModelError(f"the judge in {judge.path} {given}: fit it to the default model, which is {own}")
    return own

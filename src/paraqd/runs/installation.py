"""Check an installation: what is installed, what each missing extra would add, and whether the models work."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from paraqd.errors import ModelError, ParaqdError
from paraqd.extras import EXTRAS
from paraqd.judge_package import JUDGE, SOLVABLE
from paraqd.model_folder import ModelFolder
from paraqd.progress import Progress, silent
from paraqd.reading.entities import INSTALL_PIPELINE, has_pipeline
from paraqd.scoring.judge.installed import installed_judge, installed_model
from paraqd.scoring.scorer import Scorer
from paraqd.scoring.second_opinion import default_judge
from paraqd.scoring.solvable import SolvableChecker
from paraqd.tables.datasets import cache_dir
from paraqd.version import __version__

# what each extra adds
PURPOSES = {
    "parquet": "Parquet files, folders of parts and .zst files",
    "excel": "Excel files (.xlsx)",
    "serve": "the HTTP service and the review page",
    "endpoint": "paraphrases from an OpenAI-compatible endpoint",
    "augment": "the operators that need a language pipeline, and paraphrases by rules",
    "generate": "the operators that need a text-to-text model",
    "ray": "runs on a Ray cluster",
    "train": "training, and plots of evaluations",
    "pandas": "the pandas accessor",
    "sklearn": "the scikit-learn estimator",
    "inspect": "the scorer for Inspect",
    "datatrove": "the filter for datatrove",
    "deepeval": "the metric for deepeval",
    "trl": "rewards in TRL's trainers",
}
# what each large model adds
LARGE_PURPOSES = {
    JUDGE.name: "a second, larger judge for pairs that are hard to judge",
    SOLVABLE.name: "a larger model for paraqd solvable",
}
# a pair that every model finds valid, and the same pair with another number
QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
VALID = "Tom has 5 pens. He buys 3 more pens. How many pens does he have now?"
INVALID = "Tom has 6 pens. He buys 3 more pens. How many pens does he have now?"
INCOMPLETE = "Tom has 5 pens and buys 3 more."  # a question that every model for single questions finds unsolvable
Loader = Callable[[], Scorer | SolvableChecker]
_PIPELINE = "an English spaCy pipeline"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*([0-9.]+)")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)")


@dataclass(frozen=True)
class Package:
    """A package that paraqd uses. ``problem`` says what is wrong with it, and ``extra`` is "" for the core."""

    name: str
    version: str
    extra: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Extra:
    """An extra: its purpose, and what is missing. An extra of which nothing is missing is installed."""

    name: str
    purpose: str
    missing: tuple[str, ...] = ()

    @property
    def remedy(self) -> str:
        """The command that installs what is missing. Modules come first, because a pipeline needs spaCy."""
        return INSTALL_PIPELINE if self.missing == (_PIPELINE,) else f"pip install 'paraqd[{self.name}]'"


@dataclass(frozen=True)
class ModelCheck:
    """A model: if it is installed, its signature, its scores of a good and a bad text, and what is wrong."""

    name: str
    installed: bool
    signature: str = ""
    valid_score: float | None = None
    invalid_score: float | None = None
    problem: str = ""


@dataclass(frozen=True)
class Checkup:
    """The result of `check_installation`. ``problems`` has a line for everything that is wrong."""

    version: str
    location: str
    python: str
    system: str
    cores: int
    memory: int | None
    packages: tuple[Package, ...]
    extras: tuple[Extra, ...]
    models: tuple[ModelCheck, ...]
    folders: dict[str, str]
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-serialisable dictionary."""
        return {**asdict(self), "well": not self.problems}


def check_installation(*, progress: Progress = silent) -> Checkup:
    """Check what is installed, and load each installed model and score a known pair with it.

    A missing extra is not a problem. A package that is too old, or a model that does not load or scores a known pair
    wrongly, is one.
    """
    packages = _packages()
    models = tuple(_models(progress))
    problems = [f"{each.name}: {each.problem}" for each in packages if each.problem]
    problems += [f"model {each.name}: {each.problem}" for each in models if each.problem]
    folders = _folders()
    problems += _folder_problems(folders)
    return Checkup(
        version=__version__,
        location=str(Path(__file__).parents[1]),
        python=f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})",
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=_cores(),
        memory=_memory(),
        packages=packages,
        extras=tuple(Extra(name, PURPOSES.get(name, ""), _missing(name)) for name in EXTRAS),
        models=models,
        folders=folders,
        problems=tuple(problems),
    )


def _missing(extra: str) -> tuple[str, ...]:
    modules = tuple(name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None)
    return (*modules, _PIPELINE) if extra == "augment" and not has_pipeline() else modules


def _packages() -> tuple[Package, ...]:
    """Return the packages of the core, and the installed packages of the extras."""
    try:
        lines = metadata.requires("paraqd") or []
    except metadata.PackageNotFoundError:  # paraqd is used without being installed
        lines = []
    found: dict[str, Package] = {}
    for line in lines:
        if not (match := _REQUIREMENT.match(line)):
            continue
        name, least = match.groups()
        extra = next(iter(_EXTRA.findall(line)), "")
        if extra in ("dev", "docs") or name in found:
            continue
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            if not extra:
                found[name] = Package(name, "", extra, f"not installed: pip install {name}")
            continue
        old = _numbers(version) < _numbers(least)
        remedy = f"version {version} is too old: pip install --upgrade '{name}>={least}'"
        found[name] = Package(name, version, extra, remedy if old else "")
    return tuple(found.values())


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version without trailing zeros.

    >>> _numbers("1.26.0rc1"), _numbers("1.26") < _numbers("1.26.1")
    ((1, 26), True)
    """
    match = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in match.group().split(".")] if match else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _models(progress: Progress) -> Iterable[ModelCheck]:
    """Yield the result for each model that ships with the package, and for each large model."""
    loaders: dict[str, Loader] = {
        "default": lambda: Scorer.load(judge="small"),
        "reading": lambda: Scorer.load("reading"),
        "solvable": lambda: SolvableChecker.load(judge="small"),
    }
    large: dict[str, tuple[Callable[[], ModelFolder | None], Loader]] = {
        JUDGE.name: (installed_judge, lambda: Scorer.load(judge="large")),
        SOLVABLE.name: (lambda: installed_model(SOLVABLE), lambda: SolvableChecker.load(judge="large")),
    }
    missing = []
    for name, (find, load) in large.items():
        try:
            if find() is not None:
                loaders[name] = load
            else:
                missing.append(ModelCheck(name, installed=False))
        except ModelError as error:
            missing.append(ModelCheck(name, installed=True, problem=str(error)))
    for number, (name, load) in enumerate(loaders.items()):
        progress("checking models", number, len(loaders), name)
        yield _check_model(name, load)
    progress("checking models", len(loaders), len(loaders))
    yield from missing


def _check_model(name: str, load: Loader) -> ModelCheck:
    """Load a model, and let it judge a valid and an invalid pair, or a complete question and a part of it."""
    try:
        model = load()
        if isinstance(model, Scorer):
            good, bad = (
                (each.score, each.valid) for each in model.score_pairs([(QUESTION, VALID), (QUESTION, INVALID)])
            )
        else:
            good, bad = ((each.score, each.solvable) for each in model.check_texts([QUESTION, INCOMPLETE]))
    except ParaqdError as error:
        return ModelCheck(name, installed=True, problem=str(error))
    except Exception as error:  # a damaged file or library can raise anything
        why = (str(error).splitlines() or [""])[0]
        return ModelCheck(name, installed=True, problem=f"cannot be used ({type(error).__name__}: {why})")
    problem = ""
    if not good[1] or bad[1]:
        problem = "gives a wrong verdict on a known text: install the model again"
    return ModelCheck(name, True, model.signature, round(good[0], 6), round(bad[0], 6), problem)


def _folders() -> dict[str, str]:
    """Return the folders of data and caches, keyed by purpose."""
    return {"data": os.environ.get("PARAQD_DATA_DIR", ""), "cache": str(cache_dir())}


def _folder_problems(folders: dict[str, str]) -> list[str]:
    problems = []
    if folders["data"] and not Path(folders["data"]).expanduser().is_dir():
        problems.append(f"PARAQD_DATA_DIR: there is no folder {folders['data']}")
    cache = Path(folders["cache"])
    there = next((place for place in (cache, *cache.parents) if place.exists()), cache)
    if not there.is_dir() or not os.access(there, os.W_OK):
        problems.append(f"cannot write to the cache {cache}: set PARAQD_CACHE_DIR to another folder")
    try:
        default_judge()
    except ModelError as error:
        problems.append(str(error))
    return problems


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int | None:
    """Return the size of the memory in bytes, or None if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None

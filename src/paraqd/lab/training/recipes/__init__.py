"""Read training recipes from the TOML files in this folder or from a user's own file.

A recipe declares everything that determines a model's weights: the data, settings, seeds, teachers and fusion. A recipe
with ``model = "judge"`` trains a scorer with a learned judge, such as the default scorer. A recipe with ``model =
"bi-encoder"`` trains the paper's model. A recipe with ``model = "solvable"`` trains a judge of single questions.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from paraqd.lab.operators.recipes import recipe_names as operator_recipe_names
from paraqd.lab.training.recipes.solvable import SolvableRecipe, solvable_recipe
from paraqd.lab.training.settings import (
    CascadeSettings,
    FusionSettings,
    JudgeSettings,
    LanguageJudgeSettings,
    Prior,
    TrainingError,
    TrainSettings,
)
from paraqd.lab.training.teachers import LANGUAGE_JUDGE, Teacher

_FOLDER = Path(__file__).parent
_JUDGE, _BI_ENCODER, _SOLVABLE = "judge", "bi-encoder", "solvable"


@dataclass(frozen=True, kw_only=True)
class PairSet:
    """A set of pairs in a recipe.

    ``weight`` is the mean weight of a pair in the loss. ``most`` limits the number of pairs (default: no limit). In
    sets that operators produce, the limit applies to each combination of source and label.
    """

    weight: float = 1.0
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class GeneratorRecipe:
    """The kind of the generator that writes the set ``sampled``, and the scale and seed of its training."""

    kind: str
    scale: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class JudgeData:
    """The sets of pairs for training and validating a judge, and the settings with which the sets are created.

    ``unlabelled_operators`` are applied to the questions of the set ``unlabelled``, which has no labels.
    """

    seed: int
    questions: int
    held_out: tuple[str, ...]
    operators: tuple[str, ...]
    unlabelled_operators: tuple[str, ...]
    train: Mapping[str, PairSet]
    validation: Mapping[str, PairSet]
    generator: GeneratorRecipe


@dataclass(frozen=True, kw_only=True)
class JudgeRecipe:
    """A recipe for a scorer with a learned judge.

    ``language_judge`` and ``cascade`` are None if the recipe does not train a language-model judge.
    """

    name: str
    description: str
    encoder: str
    start: str
    data: JudgeData
    stages: tuple[JudgeSettings, ...]
    teachers: tuple[Teacher, ...]
    fusion: FusionSettings
    language_judge: LanguageJudgeSettings | None = None
    cascade: CascadeSettings | None = None

    def without(self, sets: Sequence[str]) -> JudgeRecipe:
        """Return a copy of the recipe from which the given sets of pairs are removed."""
        known = {**self.data.train, **self.data.validation}
        for name in sets:
            if name not in known:
                raise TrainingError(f"--without {name}: the sets are {', '.join(known)}")
        train, validation = (
            {name: each for name, each in part.items() if name not in sets}
            for part in (self.data.train, self.data.validation)
        )
        large = self.language_judge
        if large is not None:
            shares = {name: share for name, share in large.shares.items() if name not in sets}
            large = replace(large, shares=shares)
        return replace(self, data=replace(self.data, train=train, validation=validation), language_judge=large)


@dataclass(frozen=True, kw_only=True)
class BiEncoderRecipe:
    """A recipe for the paper's bi-encoder. ``operators`` is the name or the path of a list of operators."""

    name: str
    description: str
    encoder: str
    operators: str
    questions: int
    data_seed: int
    settings: TrainSettings


Recipe = JudgeRecipe | BiEncoderRecipe | SolvableRecipe


def recipe_names() -> list[str]:
    """Return the names of the recipes in the package.

    >>> recipe_names()
    ['default', 'paper', 'solvable']
    """
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_recipe(name_or_path: str | Path, overrides: Mapping[str, Any] | None = None) -> Recipe:
    """Load a recipe by name or from a TOML file.

    Parameters
    ----------
    name_or_path : str or Path
        The name or the file of a recipe. If it is the name or the file of a list of operators, load the recipe
        ``paper`` with these operators.
    overrides : mapping, optional
        New values, keyed by their paths in the recipe, such as ``{"data.questions": 100}``. The path
        ``judge.stages.epochs`` applies to every stage.

    Examples
    --------
    >>> load_recipe("default").stages[-1].epochs
    3
    >>> load_recipe("default", {"judge.stages.epochs": 1}).stages[-1].epochs
    1
    >>> load_recipe("uda").operators
    'uda'

    """
    name = str(name_or_path)
    table = copy.deepcopy(_read(name))
    for path, value in (overrides or {}).items():
        _override(table, path, value, name)
    try:
        return _builder(table.pop("model", None), name)(table)
    except KeyError as error:
        raise TrainingError(f"the recipe {name} has no value for {error}") from None
    except (AttributeError, TypeError) as error:
        raise TrainingError(f"the recipe {name} has an invalid value: {error}") from None


def load_judge_recipe(name_or_path: str | Path, overrides: Mapping[str, Any] | None = None) -> JudgeRecipe:
    """Load a recipe for a judge; see `load_recipe`."""
    recipe = load_recipe(name_or_path, overrides)
    if not isinstance(recipe, JudgeRecipe):
        raise TrainingError(f"the recipe {recipe.name} does not train a judge")
    return recipe


def parse_overrides(texts: Sequence[str]) -> dict[str, Any]:
    """Parse overrides of the form ``KEY=VALUE``, in which the value is in TOML syntax.

    >>> parse_overrides(["data.questions=100", 'data.held_out=["sawp"]'])
    {'data.questions': 100, 'data.held_out': ['sawp']}
    """
    found = {}
    for text in texts:
        key, sign, value = text.partition("=")
        try:
            if not sign or not key.strip():
                raise ValueError("there is no '='")
            found[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except ValueError as error:
            raise TrainingError(f"--set {text}: write KEY=VALUE with a TOML value ({error})") from None
    return found


def teacher_entry(model: str) -> dict[str, Any]:
    """Return the entry for a teacher in a recipe, with settings that suit the kind of model.

    A language model is trained for only one epoch so that its log-odds for the training pairs are similar to its
    log-odds for new pairs.

    >>> teacher_entry("all-MiniLM-L6-v2")
    {'model': 'all-MiniLM-L6-v2', 'epochs': 5}
    """
    if model == LANGUAGE_JUDGE:
        return {"model": model}
    if not Teacher(model=model, settings={}).causal:
        return {"model": model, "epochs": 5}
    return {"model": model, "epochs": 1, "learning_rate": 1e-4, "batch_tokens": 32768, "rounded_share": 0.0}


@cache
def _read(name: str) -> dict[str, Any]:
    if name == "extended":
        raise TrainingError("extended is the name of a list of operators: use --recipe default to train a scorer")
    if name in recipe_names():
        return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
    table: dict[str, Any] = {}
    if name.endswith(".toml"):
        try:
            table = tomllib.loads(Path(name).read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise TrainingError(f"cannot read the recipe {name}: {error}") from None
    elif name not in operator_recipe_names():
        raise TrainingError(
            f"there is no recipe {name!r}: use {' or '.join(recipe_names())}, a list of operators "
            f"({', '.join(operator_recipe_names())}), or a .toml file"
        )
    if "model" in table:
        _builder(table["model"], name)
        return table
    paper = tomllib.loads((_FOLDER / "paper.toml").read_text("utf-8"))
    return {**paper, "name": Path(name).stem, "data": {**paper["data"], "operators": name}}


def _builder(model: object, name: str) -> Callable[[dict[str, Any]], Recipe]:
    """Return the function that builds the recipe of a model, or raise `TrainingError` if there is no such model."""
    if not isinstance(model, str) or model not in _BUILDERS:
        raise TrainingError(f"the recipe {name} has model = {model!r}: use one of {', '.join(_BUILDERS)}")
    return _BUILDERS[model]


def _override(table: Any, path: str, value: Any, name: str) -> None:
    first, _, rest = path.partition(".")
    if isinstance(table, list):
        for each in table:
            _override(each, path, value, name)
    elif not isinstance(table, dict) or (rest and first not in table):
        raise TrainingError(f"the recipe {name} has no value {path!r} to replace")
    elif rest:
        _override(table[first], rest, value, name)
    else:
        table[first] = value


def _judge_recipe(table: dict[str, Any]) -> JudgeRecipe:
    data, judge, fusion = table.pop("data"), table.pop("judge"), table.pop("fusion")
    stages = judge.pop("stages")
    if not stages:
        raise TrainingError("a recipe for a judge needs at least one stage")
    teachers = [dict(each) for each in table.pop("teachers", [])]
    _check_settings(judge, *stages, *({k: v for k, v in each.items() if k != "model"} for each in teachers))
    large = {name: table.pop(name) for name in ("language_judge", "cascade") if name in table}
    if len(large) == 1:
        raise TrainingError("a recipe needs both sections, language_judge and cascade, or neither")
    return JudgeRecipe(
        data=JudgeData(
            generator=GeneratorRecipe(**data.pop("generator")),
            operators=tuple(data.pop("operators")),
            unlabelled_operators=tuple(data.pop("unlabelled_operators", ())),
            held_out=tuple(data.pop("held_out")),
            train=_pair_sets(data.pop("train")),
            validation=_pair_sets(data.pop("validation")),
            **data,
        ),
        stages=tuple(JudgeSettings(**{**judge, **stage}) for stage in stages),
        teachers=tuple(Teacher(model=each.pop("model"), settings=each) for each in teachers),
        fusion=FusionSettings(
            prior=Prior(**fusion.pop("prior")),
            reliable_prior=Prior(**fusion.pop("reliable_prior")),
            reliable=frozenset(fusion.pop("reliable")),
            **fusion,
        ),
        language_judge=_language_judge(large["language_judge"]) if large else None,
        cascade=_cascade(large["cascade"]) if large else None,
        **table,
    )


def _check_settings(*tables: Mapping[str, Any]) -> None:
    """Raise `TrainingError` if a table contains a name that is not a setting of a judge."""
    settings = {field.name for field in fields(JudgeSettings)}
    for given in tables:
        unknown = sorted(set(given) - settings)
        if unknown:
            raise TrainingError(f"{unknown[0]!r} is not a judge setting: use one of {', '.join(sorted(settings))}")


def _language_judge(table: dict[str, Any]) -> LanguageJudgeSettings:
    training = table.pop("training")
    _check_settings(training)
    return LanguageJudgeSettings(training=JudgeSettings(**training), **table)


def _cascade(table: dict[str, Any]) -> CascadeSettings:
    return CascadeSettings(first_share=tuple(table.pop("first_share")), **table)


def _pair_sets(table: Mapping[str, Any]) -> dict[str, PairSet]:
    return {name: PairSet(**each) for name, each in table.items()}


def _bi_encoder_recipe(table: dict[str, Any]) -> BiEncoderRecipe:
    data, training = table.pop("data"), table.pop("training")
    return BiEncoderRecipe(
        operators=data.pop("operators"),
        questions=data.pop("questions"),
        data_seed=data.pop("seed"),
        settings=TrainSettings(**training),
        **data,
        **table,
    )


_BUILDERS: dict[str, Callable[[dict[str, Any]], Recipe]] = {
    _JUDGE: _judge_recipe,
    _BI_ENCODER: _bi_encoder_recipe,
    _SOLVABLE: solvable_recipe,
}

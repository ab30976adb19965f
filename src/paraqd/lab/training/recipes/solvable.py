"""Define the recipe for the model that judges single questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paraqd.lab.corpora.question_texts import FAMILIES
from paraqd.lab.operators.registry import base_name
from paraqd.lab.operators.registry import names as operator_names
from paraqd.lab.training.settings import JudgeSettings, TrainingError

SETS = ("corpus", "written", "synthetic", "styles", "single")
_MOST = ("breaking", "harmless")


@dataclass(frozen=True, kw_only=True)
class TextSet:
    """A set of texts in a recipe.

    ``weight`` is the weight of a text in the loss; outputs of operators have the weight 1. ``texts`` limits the
    solvable texts, and ``complete`` limits the paraphrases that ask another but complete problem (default: no limit).
    ``parts`` is the number of parts into which the solvable texts are divided; each operator is applied to one part.
    """

    weight: float = 1.0
    texts: int | None = None
    complete: int | None = None
    parts: int = 1

    def __post_init__(self) -> None:
        _check("weight", _is_number(self.weight) and self.weight > 0, "a number above 0", self.weight)
        for name in ("texts", "complete", "parts"):
            value = getattr(self, name)
            fits = _is_count(value) or (value is None and name != "parts")
            _check(name, fits, "a whole number from 1", value)


@dataclass(frozen=True, kw_only=True)
class SolvableData:
    """The sets of texts for training and validation, and the settings with which the sets are created.

    ``families`` maps each family of faults to its operators. ``counterparts`` maps harmless operators to the family
    with which they are held out. ``most`` limits the outputs of each ``breaking`` and each ``harmless`` operator.
    """

    seed: int
    held_out: tuple[str, ...]
    held_out_families: tuple[str, ...]
    most: Mapping[str, int]
    varied: float
    families: Mapping[str, tuple[str, ...]]
    harmless: tuple[str, ...]
    counterparts: Mapping[str, str]
    train: Mapping[str, TextSet]
    validation: Mapping[str, TextSet]

    def __post_init__(self) -> None:
        _check("data.seed", _is_whole(self.seed), "a whole number", self.seed)
        fits = (
            isinstance(self.most, Mapping) and set(self.most) == set(_MOST) and all(map(_is_count, self.most.values()))
        )
        _check("data.most", fits, "a table with whole numbers from 1 for breaking and harmless", self.most)
        _check("data.varied", _is_number(self.varied) and 0 <= self.varied <= 1, "a number from 0 to 1", self.varied)
        for name in (*self.train, *self.validation):
            if name not in SETS:
                raise TrainingError(f"there is no set of texts {name!r}: the sets are {', '.join(SETS)}")
        for name in self.operators:
            if any(base_name(each) not in operator_names() for each in name.split("+")):
                raise TrainingError(f"there is no operator {name!r}: paraqd lab operators lists the operators")
        for name in (*self.families, *self.held_out_families, *self.counterparts.values()):
            if name not in tuple(FAMILIES):  # a wrong value may not be hashable
                raise TrainingError(f"there is no family of faults {name!r}: the families are {', '.join(FAMILIES)}")

    @property
    def family_of(self) -> dict[str, str]:
        """The family of each operator that belongs to one."""
        made = {operator: family for family, operators in self.families.items() for operator in operators}
        return {**made, **self.counterparts}

    @property
    def operators(self) -> tuple[str, ...]:
        """All operators, each of which is applied to solvable texts."""
        return (*self.harmless, *self.family_of)

    @property
    def harmless_operators(self) -> tuple[str, ...]:
        """The operators that leave a text as it is: solvable or broken. They are applied to broken texts, too."""
        return (*self.harmless, *self.counterparts)


@dataclass(frozen=True, kw_only=True)
class LanguageModelRecipe:
    """How the larger model is trained. ``start`` is the language-model judge from which training starts."""

    start: str
    training: JudgeSettings


@dataclass(frozen=True, kw_only=True)
class SolvableRecipe:
    """A recipe for the models that tell whether a question is solvable: a small model and a larger one."""

    name: str
    description: str
    encoder: str
    start: str
    data: SolvableData
    stages: tuple[JudgeSettings, ...]
    language_judge: LanguageModelRecipe


def solvable_recipe(table: dict[str, Any]) -> SolvableRecipe:
    """Build a recipe from the content of its file."""
    data, judge, large = (_table(table, name) for name in ("data", "judge", "language_judge"))
    stages, harmless, families = judge.pop("stages"), _table(data, "harmless"), _table(data, "families")
    if not isinstance(stages, list) or not stages or not all(isinstance(stage, dict) for stage in stages):
        raise TrainingError("a recipe for a judge needs a list with at least one stage")
    training = _table(large, "training")
    for name, value in (*table.items(), *large.items()):
        _check(name, isinstance(value, str), "a text", value)
    return SolvableRecipe(
        data=SolvableData(
            held_out=_names(data, "held_out"),
            held_out_families=_names(data, "held_out_families"),
            families={name: _names(families, name) for name in list(families)},
            harmless=_names(harmless, "operators"),
            counterparts=_table(harmless, "counterparts"),
            train=_sets(data, "train"),
            validation=_sets(data, "validation"),
            **data,
        ),
        stages=tuple(JudgeSettings(**{**judge, **stage}) for stage in stages),
        language_judge=LanguageModelRecipe(training=JudgeSettings(**training), **large),
        **table,
    )


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    """Remove a value from a table, and return it if it is a table itself."""
    value = table.pop(name)
    _check(name, isinstance(value, dict), "a table", value)
    return dict(value)


def _names(table: dict[str, Any], name: str) -> tuple[str, ...]:
    """Remove a value from a table, and return it if it is a list of names."""
    value = table.pop(name)
    _check(name, isinstance(value, list) and all(isinstance(each, str) for each in value), "a list of names", value)
    return tuple(value)


def _sets(data: dict[str, Any], part: str) -> dict[str, TextSet]:
    sets = _table(data, part)
    return {name: TextSet(**_table(sets, name)) for name in list(sets)}


def _check(name: str, fits: bool, wanted: str, value: object) -> None:
    if not fits:
        raise TrainingError(f"{name} must be {wanted}, not {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1

"""Define the recipe for the model that judges single questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paraqd.data.question_texts import FAMILIES
from paraqd.training.settings import JudgeSettings, TrainingError


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
        for name in (*self.families, *self.held_out_families, *self.counterparts.values()):
            if name not in FAMILIES:
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
class SolvableRecipe:
    """A recipe for the model that tells whether a question is solvable."""

    name: str
    description: str
    encoder: str
    start: str
    data: SolvableData
    stages: tuple[JudgeSettings, ...]


def solvable_recipe(table: dict[str, Any]) -> SolvableRecipe:
    """Build a recipe from the content of its file."""
    data, judge = table.pop("data"), table.pop("judge")
    stages, harmless = judge.pop("stages"), data.pop("harmless")
    if not stages:
        raise TrainingError("a recipe for a judge needs at least one stage")
    return SolvableRecipe(
        data=SolvableData(
            held_out=tuple(data.pop("held_out")),
            held_out_families=tuple(data.pop("held_out_families")),
            families={name: tuple(operators) for name, operators in data.pop("families").items()},
            harmless=tuple(harmless["operators"]),
            counterparts=dict(harmless["counterparts"]),
            train={name: TextSet(**each) for name, each in data.pop("train").items()},
            validation={name: TextSet(**each) for name, each in data.pop("validation").items()},
            **data,
        ),
        stages=tuple(JudgeSettings(**{**judge, **stage}) for stage in stages),
        **table,
    )

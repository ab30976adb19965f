"""Load recipes, which are named lists of operators in TOML files."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from paraqd.errors import ParaqdError


class UnknownRecipeError(ParaqdError, ValueError):
    """Raised when no recipe has the given name, or when a recipe file cannot be read."""


@dataclass(frozen=True)
class Recipe:
    """A named list of operators, in the order in which their outputs are written.

    ``valid`` contains the operators that the recipe lists as valid. ``stand_ins`` maps the names of model operators to
    stand-ins that replace the declared stand-ins (see ``Operator.stand_in``).
    """

    name: str
    description: str
    operators: tuple[str, ...]
    valid: tuple[str, ...] = ()
    stand_ins: dict[str, str] = field(default_factory=dict)


def recipe_names() -> list[str]:
    """Return the names of the recipes that ship with the package.

    >>> recipe_names()
    ['extended', 'paper', 'paper-deletion', 'public-code', 'ssmba', 'test', 'uda']
    """
    return sorted(path.stem for path in Path(__file__).parent.glob("*.toml"))


def load_recipe(name_or_path: str | Path) -> Recipe:
    """Load the built-in recipe with the given name, or a recipe from a TOML file.

    >>> load_recipe("paper").operators[0]
    'Backtranslation'
    """
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = Path(__file__).parent / f"{name_or_path}.toml"
        if str(name_or_path) not in recipe_names():
            from rapidfuzz import process

            nearest = process.extractOne(str(name_or_path), recipe_names())
            hint = f"; did you mean {nearest[0]}?" if nearest and nearest[1] > 50 else ""
            raise UnknownRecipeError(
                f"unknown recipe {str(name_or_path)!r}{hint} "
                f"(choose one of {', '.join(recipe_names())}, or pass a .toml file)"
            )
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        operators, stand_ins = data["operators"], data.get("stand_ins", {})
        if not isinstance(operators, dict):
            raise TypeError("it needs a table [operators] with the lists valid and invalid")
        for part in (operators["valid"], operators["invalid"]):
            if not isinstance(part, list) or not all(isinstance(name, str) for name in part):
                raise TypeError("operators.valid and operators.invalid must be lists of names")
        if not isinstance(stand_ins, dict) or not all(isinstance(name, str) for name in stand_ins.values()):
            raise TypeError("stand_ins must be a table of names")
        return Recipe(
            name=str(data.get("name", path.stem)),
            description=str(data.get("description", "")),
            operators=tuple(operators["valid"]) + tuple(operators["invalid"]),
            valid=tuple(operators["valid"]),
            stand_ins=dict(stand_ins),
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise UnknownRecipeError(f"cannot read the recipe {path}: {reason}") from None

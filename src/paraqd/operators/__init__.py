"""The paper's operators f1–f10 and fa–fe, and ours: one file each, found by name through the registry."""

from paraqd.operators.base import MissingResourceError, Noted, Operator, Resources, derive_rng
from paraqd.operators.recipes import Recipe, UnknownRecipeError, load_recipe, recipe_names
from paraqd.operators.registry import Composed, UnknownOperatorError, get, names

__all__ = [
    "Composed",
    "MissingResourceError",
    "Noted",
    "Operator",
    "Recipe",
    "Resources",
    "UnknownOperatorError",
    "UnknownRecipeError",
    "derive_rng",
    "get",
    "load_recipe",
    "names",
    "recipe_names",
]

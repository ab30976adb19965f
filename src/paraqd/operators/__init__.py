"""Produce valid and invalid paraphrases with the paper's operators (f1–f10 and fa–fe) and our own operators."""

from paraqd.operators.base import (
    EVERYTHING,
    PARTS,
    VARIES,
    Declaration,
    DeclarationError,
    MissingResourceError,
    Noted,
    Operator,
    Resources,
    derive_rng,
)
from paraqd.operators.recipes import Recipe, UnknownRecipeError, load_recipe, recipe_names
from paraqd.operators.registry import Composed, UnknownOperatorError, declarations, get, names

__all__ = [
    "EVERYTHING",
    "PARTS",
    "VARIES",
    "Composed",
    "Declaration",
    "DeclarationError",
    "MissingResourceError",
    "Noted",
    "Operator",
    "Recipe",
    "Resources",
    "UnknownOperatorError",
    "UnknownRecipeError",
    "declarations",
    "derive_rng",
    "get",
    "load_recipe",
    "names",
    "recipe_names",
]

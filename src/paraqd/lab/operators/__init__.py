"""Produce valid and invalid paraphrases with the paper's operators (f1–f10 and fa–fe) and our own operators."""

from paraqd.lab.operators.recipes import Recipe, UnknownRecipeError, load_recipe, recipe_names
from paraqd.lab.operators.registry import Composed, UnknownOperatorError, declarations, get, names
from paraqd.rewriting.operator import (
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

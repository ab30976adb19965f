"""Change the wording of a problem and keep the problem, with rules. Each family of edits has its own module.

A rule is an operator whose outputs are valid. The laboratory lists the rules among its operators.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from paraqd.extras import EXTRAS
from paraqd.reading.entities import has_pipeline, load_spacy
from paraqd.rewriting.operator import Noted, Operator, Resources, derive_rng

__all__ = ["RULES", "Noted", "Operator", "Resources", "derive_rng", "missing_packages", "rule", "rule_resources"]

# Maps each rule's name, which is also the name of its class, to its module. Modules are imported on first use.
RULES: Mapping[str, str] = {
    "Rewrite": "rewrite",
    "RewriteKeepingVoice": "rewrite",
    "SentenceOrder": "sentence_order",
    "ConverseRelation": "converse_relation",
    "QuestionForm": "question_form",
    "LightSynonyms": "light_synonyms",
    "Shortening": "shortening",
    "PronounUse": "pronoun_use",
    "NumToWords": "num_to_words",
    "WordsToNumbers": "words_to_numbers",
    "UnitExpansion": "unit_expansion",
    "UnitContraction": "unit_contraction",
}


@cache
def rule(name: str) -> Operator:
    """Return the rule with the given name.

    >>> rule("NumToWords").paper_id
    'f3'
    """
    found: Operator = getattr(import_module(f"{__name__}.{RULES[name]}"), name)()
    return found


def rule_resources() -> Resources:
    """Return the resources that the rules need. The parser is loaded when it is first requested."""
    return Resources({"parser": load_spacy})


def missing_packages() -> list[str]:
    """Return the packages that the rules require and that are not installed."""
    missing = [name for name in EXTRAS["augment"] if importlib.util.find_spec(name) is None]
    return missing if has_pipeline() else [*missing, "an English spaCy pipeline"]

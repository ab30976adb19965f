"""Operators by name: ours, the ones that other packages add, and compositions of two.

Another package adds its own through the entry-point group ``paraqd.operators``.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from rapidfuzz import process

from paraqd.errors import ParaqdError
from paraqd.operators.base import Operator, Resources
from paraqd.reading import Problem, read

# name -> module (the class has the operator's name); modules are imported when asked for
BUILTIN: Mapping[str, str] = {
    "Backtranslation": "models.backtranslation",
    "SameSentence": "sentences.same_sentence",
    "NumToWords": "numbers.num_to_words",
    "UnitExpansion": "units.unit_expansion",
    "ImportantPhraseDeletion": "wording.important_phrase_deletion",
    "LastSentenceDeletion": "sentences.last_sentence_deletion",
    "EntityReplacement": "entities.entity_replacement",
    "NumberDeletion": "numbers.number_deletion",
    "LossyParaphrase": "models.lossy_paraphrase",
    "UnitReplacement": "units.unit_replacement",
    "ActivePassive": "rewriting.active_passive",
    "CorruptedReconstruction": "models.corrupted_reconstruction",
    "TfidfReplacement": "wording.tfidf_replacement",
    "RandomDeletion": "wording.random_deletion",
    "T5Paraphrase": "models.t5_paraphrase",
    "Rewrite": "rewriting.rewrite",
    "RewriteKeepingVoice": "rewriting.rewrite",
    "WordsToNumbers": "numbers.words_to_numbers",
    "UnitContraction": "units.unit_contraction",
    "EqualQuantity": "numbers.equal_quantity",
    "ConsistentRenaming": "entities.consistent_renaming",
    "NumberChange": "numbers.number_change",
    "NumberSwap": "numbers.number_swap",
    "RelationFlip": "relations.relation_flip",
    "ConditionDeletion": "sentences.condition_deletion",
    "QuestionReplacement": "questions.question_replacement",
    "QuestionTruncation": "questions.question_truncation",
    "InconsistentRenaming": "entities.inconsistent_renaming",
    "RoleSwap": "entities.role_swap",
    "ThingMixing": "entities.thing_mixing",
    "ThingRenaming": "entities.thing_renaming",
    "ClumsyGrammar": "wording.clumsy_grammar",
    "Typography": "wording.typography",
    "Decoration": "sentences.decoration",
    "ConditionAddition": "sentences.condition_addition",
    "EntityDeletion": "entities.entity_deletion",
    "SentenceOrder": "sentences.sentence_order",
    "OrderedNumbers": "numbers.ordered_numbers",
    "ConverseRelation": "relations.converse_relation",
    "BrokenConverse": "relations.broken_converse",
    "QuestionForm": "questions.question_form",
    "PronounUse": "entities.pronoun_use",
    "WrongReference": "entities.wrong_reference",
    "Shortening": "wording.shortening",
    "LightSynonyms": "wording.light_synonyms",
    "SmallWordChange": "relations.small_word_change",
    "InventedWord": "wording.invented_word",
    "LowTfidfReplacement": "wording.low_tfidf_replacement",
    "MaskedReconstruction": "models.masked_reconstruction",
}


class UnknownOperatorError(ParaqdError, ValueError):
    """No operator of that name; the message suggests the nearest."""


class Composed(Operator):
    """An operator on top of a valid one, named ``Rewrite+NumberChange``; its polarity is the second's."""

    def __init__(self, first: Operator, second: Operator) -> None:
        if first.polarity != "valid":
            raise ValueError(f"only a valid operator can be composed on: {first.name} is {first.polarity}")
        self.first = first
        self.second = second
        self.name = f"{first.name}+{second.name}"  # type: ignore[misc]  # one name per instance
        self.polarity = second.polarity  # type: ignore[misc]
        self.needs = (*first.needs, *second.needs)  # type: ignore[misc]

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Apply the second operator to the first one's output."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Apply the second operator to the first one's outputs."""
        middle = self.first.apply_batch(problems, rngs, resources)
        entities = resources.get("entities")
        found = [i for i, text in enumerate(middle) if text is not None]
        read_again = [read(str(middle[i]), entities=entities) for i in found]
        outputs = self.second.apply_batch(read_again, [rngs[i] for i in found], resources)
        result: list[str | None] = [None] * len(problems)
        for i, output in zip(found, outputs, strict=True):
            result[i] = None if output == problems[i].text else output
        return result

    def source_model(self, resources: Resources) -> str:
        """Name the models of both, if any."""
        return "+".join(filter(None, (self.first.source_model(resources), self.second.source_model(resources))))


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Return other packages' operators by name; one is imported when it is asked for, not before."""
    return {point.name: point for point in entry_points(group="paraqd.operators")}


def names() -> list[str]:
    """Return every operator's name, the paper's first.

    >>> names()[:3]
    ['Backtranslation', 'SameSentence', 'NumToWords']
    """
    return [*BUILTIN, *(name for name in _plugins() if name not in BUILTIN)]


def full_name(name: str) -> str:
    """Return the name behind a paper id, in compositions too; nothing is imported, and nothing checked.

    >>> full_name("f3+NumberChange")
    'NumToWords+NumberChange'
    """
    parts = [(base_name(part), part) for part in name.split("+")]
    return "+".join(_PAPER_IDS.get(base, base) + part.removeprefix(base) for base, part in parts)


def base_name(name: str) -> str:
    """Return the operator's name without the number of the draw.

    >>> base_name("MaskedReconstruction#2"), base_name("Rewrite")
    ('MaskedReconstruction', 'Rewrite')
    """
    base, _, draw = name.partition("#")
    return base if _is_draw(draw) else name


def _is_draw(text: str) -> bool:
    """Tell whether this numbers a further draw; one way to write each, as outputs depend on the name."""
    return text.isascii() and text.isdigit() and text[0] != "0" and text != "1"


def get(name: str) -> Operator:
    """Return the operator of that name; ``A+B`` composes B on top of A. A paper id (``f3``) works too.

    ``A#2`` is A once more: an operator's random generator depends on its name, so this makes another output of
    the same question.

    >>> get("f3").name
    'NumToWords'
    >>> get("NumToWords+NumberChange").polarity
    'invalid'
    """
    if "+" in name:
        first, _, second = name.rpartition("+")
        return Composed(get(first), get(second))
    base = base_name(name)
    if base != name:
        again = get(base)
        again.name = f"{again.name}{name.removeprefix(base)}"  # type: ignore[misc]  # one name per instance
        return again
    name = _PAPER_IDS.get(name, name)
    if name in BUILTIN:
        module = importlib.import_module(f"paraqd.operators.{BUILTIN[name]}")
        operator: Operator = getattr(module, name)()
        return operator
    if name in _plugins():
        point = _plugins()[name]
        try:
            made: Operator = point.load()()
        except (ImportError, AttributeError, TypeError) as error:
            raise UnknownOperatorError(f"the operator {name!r} ({point.value}) cannot be loaded: {error}") from error
        return made
    nearest = process.extractOne(name, [*names(), *_PAPER_IDS])
    hint = f"; did you mean {nearest[0]}?" if nearest and nearest[1] > 50 else ""
    raise UnknownOperatorError(f"unknown operator {name!r}{hint} (all: {', '.join(names())})")


# f1–f10 are the paper's training operators, fa–fe its test operators
_PAPER_IDS: Mapping[str, str] = {
    "f1": "Backtranslation",
    "f2": "SameSentence",
    "f3": "NumToWords",
    "f4": "UnitExpansion",
    "f5": "ImportantPhraseDeletion",
    "f6": "LastSentenceDeletion",
    "f7": "EntityReplacement",
    "f8": "NumberDeletion",
    "f9": "LossyParaphrase",
    "f10": "UnitReplacement",
    "fa": "ActivePassive",
    "fb": "CorruptedReconstruction",
    "fc": "TfidfReplacement",
    "fd": "RandomDeletion",
    "fe": "T5Paraphrase",
}

"""Find operators by name: built-in operators, operators from other packages, and compositions of operators.

Other packages add operators through the entry-point group ``paraqd.operators``.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint

from paraqd.errors import ArgumentError, ParaqdError
from paraqd.plugins import PluginError, create, package_of, provided
from paraqd.reading import Problem, read
from paraqd.rewriting.operator import Declaration, Operator, Resources

# Maps each operator's name, which is also the name of its class, to its module, in this package unless it has a full
# name. Modules are imported on first use.
BUILTIN: Mapping[str, str] = {
    "Backtranslation": "models.backtranslation",
    "SameSentence": "sentences.same_sentence",
    "NumToWords": "paraqd.rewriting.num_to_words",
    "UnitExpansion": "paraqd.rewriting.unit_expansion",
    "ImportantPhraseDeletion": "wording.important_phrase_deletion",
    "LastSentenceDeletion": "sentences.last_sentence_deletion",
    "EntityReplacement": "entities.entity_replacement",
    "NumberDeletion": "numbers.number_deletion",
    "LossyParaphrase": "models.lossy_paraphrase",
    "UnitReplacement": "units.unit_replacement",
    "ActivePassive": "wording.active_passive",
    "CorruptedReconstruction": "models.corrupted_reconstruction",
    "TfidfReplacement": "wording.tfidf_replacement",
    "RandomDeletion": "wording.random_deletion",
    "T5Paraphrase": "models.t5_paraphrase",
    "Rewrite": "paraqd.rewriting.rewrite",
    "RewriteKeepingVoice": "paraqd.rewriting.rewrite",
    "WordsToNumbers": "paraqd.rewriting.words_to_numbers",
    "UnitContraction": "paraqd.rewriting.unit_contraction",
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
    "SentenceOrder": "paraqd.rewriting.sentence_order",
    "OrderedNumbers": "numbers.ordered_numbers",
    "ConverseRelation": "paraqd.rewriting.converse_relation",
    "BrokenConverse": "relations.broken_converse",
    "QuestionForm": "paraqd.rewriting.question_form",
    "PronounUse": "paraqd.rewriting.pronoun_use",
    "WrongReference": "entities.wrong_reference",
    "Shortening": "paraqd.rewriting.shortening",
    "LightSynonyms": "paraqd.rewriting.light_synonyms",
    "SmallWordChange": "relations.small_word_change",
    "InventedWord": "wording.invented_word",
    "LowTfidfReplacement": "wording.low_tfidf_replacement",
    "MaskedReconstruction": "models.masked_reconstruction",
    "NumberRemoval": "numbers.number_removal",
    "TopWordReplacement": "wording.top_word_replacement",
    "TopWordReplacementEverywhere": "wording.top_word_replacement",
    "EntitiesOrTopWords": "public_code",
    "NumbersOrTopWords": "public_code",
    "ParaphraseOrTopWords": "public_code",
    "UnitsOrTopWords": "public_code",
    "Synonyms": "wording.synonyms",
    "Hypernyms": "wording.hypernyms",
    "Typos": "wording.typos",
    "UnrelatedWord": "wording.unrelated_word",
    "BrokenWords": "wording.broken_words",
    "MidWordTruncation": "questions.mid_word_truncation",
    "VagueNumber": "numbers.vague_number",
    "AmountDeletion": "numbers.amount_deletion",
    "IntroductionDeletion": "sentences.introduction_deletion",
    "UnknownReference": "entities.unknown_reference",
    "FactDeletion": "sentences.fact_deletion",
    "VagueDetail": "sentences.vague_detail",
}


class UnknownOperatorError(ParaqdError, ValueError):
    """Raised when no operator has the given name, or when an operator cannot be loaded."""


class Composed(Operator, declared=False):
    """Apply a valid operator and then another operator, as in ``Rewrite+NumberChange``.

    The polarity and the fault are those of the second operator.
    """

    def __init__(self, first: Operator, second: Operator) -> None:
        if first.polarity != "valid":
            raise ArgumentError(f"the first operator of a composition must be valid; {first.name} is {first.polarity}")
        self.first = first
        self.second = second
        # declared per instance, not per class
        self.name = f"{first.name}+{second.name}"  # type: ignore[misc]
        self.polarity = second.polarity  # type: ignore[misc]
        self.fault = second.fault  # type: ignore[misc]
        self.changes = first.changes | second.changes  # type: ignore[misc]
        self.needs = (*first.needs, *second.needs)  # type: ignore[misc]
        self.extras = (*first.extras, *second.extras)  # type: ignore[misc]

    @property
    def description(self) -> str:
        """The descriptions of the two operators, in order."""
        return f"{self.first.description} Then: {self.second.description}"

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Apply the second operator to the first operator's output; return None if either operator does not apply."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Apply the first operator to many problems, and the second operator to the first operator's outputs."""
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
        """Return the names of the operators' models, joined by ``+``, or an empty string if there is no model."""
        return "+".join(filter(None, (self.first.source_model(resources), self.second.source_model(resources))))


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Map the names of operators in other packages to their entry points, without importing the operators."""
    return {point.name: point for point in provided("paraqd.lab.operators")}


def names() -> list[str]:
    """Return the names of all operators, with the paper's operators first.

    >>> names()[:3]
    ['Backtranslation', 'SameSentence', 'NumToWords']
    """
    return [*BUILTIN, *(name for name in _plugins() if name not in BUILTIN)]


@cache
def _builtin(name: str) -> type[Operator]:
    """Import a built-in operator's class."""
    place = BUILTIN[name]
    module = importlib.import_module(place if place.startswith("paraqd.") else f"paraqd.lab.operators.{place}")
    found: type[Operator] = getattr(module, name)
    return found


@cache
def _by_paper_id() -> dict[str, str]:
    """Map each paper id, such as ``f3``, to the name of its operator."""
    return {paper_id: name for name in BUILTIN if (paper_id := _builtin(name).paper_id)}


def full_name(name: str) -> str:
    """Replace each paper id in the name of an operator or composition with the operator's name.

    Unknown names are left unchanged.

    >>> full_name("f3+NumberChange")
    'NumToWords+NumberChange'
    """
    parts = [(base_name(part), part) for part in name.split("+")]
    return "+".join(_without_paper_id(base) + part.removeprefix(base) for base, part in parts)


def _without_paper_id(name: str) -> str:
    return name if name in BUILTIN or name in _plugins() else _by_paper_id().get(name, name)


def base_name(name: str) -> str:
    """Return an operator's name without its draw number, such as ``#2``.

    >>> base_name("MaskedReconstruction#2"), base_name("Rewrite")
    ('MaskedReconstruction', 'Rewrite')
    """
    base, _, draw = name.partition("#")
    return base if _is_draw_number(draw) else name


def _is_draw_number(text: str) -> bool:
    """Return True if the text is a valid draw number: an integer of at least 2, without leading zeros.

    Leading zeros are rejected because the outputs depend on the operator's name, and ``#2`` and ``#02`` would be the
    same draw with different outputs.
    """
    return text.isascii() and text.isdigit() and text[0] != "0" and text != "1"


def get(name: str) -> Operator:
    """Return the operator with the given name or paper id (``f3``).

    ``A+B`` applies A and then B. ``A#2`` is a second draw of A, which uses a different random generator because the
    generator depends on the operator's name.

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
        again.name = f"{again.name}{name.removeprefix(base)}"  # type: ignore[misc]  # declared per instance
        return again
    name = _without_paper_id(name)
    if name in BUILTIN:
        return _builtin(name)()
    if name in _plugins():
        return _created(_plugins()[name])
    from rapidfuzz import process

    nearest = process.extractOne(name, [*names(), *_by_paper_id()])
    hint = f"; did you mean {nearest[0]}?" if nearest and nearest[1] > 50 else ""
    raise UnknownOperatorError(f"unknown operator {name!r}{hint} (available: {', '.join(names())})")


def _created(point: EntryPoint) -> Operator:
    """Load an operator of another package."""
    try:
        operator = create(point)
    except PluginError as error:
        raise _unusable(point, str(error)) from error
    if not isinstance(operator, Operator):
        raise _unusable(point, f"{type(operator).__name__} is not a subclass of paraqd.lab.operators.Operator")
    return operator


def _unusable(point: EntryPoint, why: str) -> UnknownOperatorError:
    return UnknownOperatorError(
        f"the operator {point.name!r} of the package {package_of(point)} cannot be loaded ({why}): install the package "
        "again, or remove it"
    )


def declarations() -> dict[str, Declaration]:
    """Return the declarations of all operators, keyed by name.

    >>> declarations()["NumberDeletion"].fault
    'number_lost'
    """
    return {name: get(name).declaration() for name in names()}


def fault_of(name: str) -> str:
    """Return the fault that an operator declares, or an empty string if the fault varies or the operator is valid.

    >>> fault_of("Rewrite+NumberDeletion#2"), fault_of("NumToWords")
    ('number_lost', '')
    """
    return get(base_name(name.rpartition("+")[2])).fault or ""

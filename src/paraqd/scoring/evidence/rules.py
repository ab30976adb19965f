"""What the reading finds against a paraphrase: findings with spans and a sentence, before they are weighed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from paraqd.reading import Kind, Problem, Quantity
from paraqd.scoring.evidence.figure_labels import label_findings
from paraqd.scoring.evidence.finding import Finding
from paraqd.scoring.evidence.matching import Item, Matching
from paraqd.scoring.evidence.missing_words import gap_findings
from paraqd.scoring.evidence.names import name_findings, pronoun_findings
from paraqd.scoring.evidence.order import ordered_findings
from paraqd.scoring.evidence.owners import owner_findings
from paraqd.scoring.evidence.quantities import follows, match_quantities
from paraqd.scoring.evidence.question import question_findings
from paraqd.scoring.evidence.relations import relation_findings, turning_findings
from paraqd.scoring.evidence.roles import exchanged
from paraqd.scoring.verdict import EvidenceKind

_SURE_EXCHANGE = 1.3  # of 2: of valid pairs one in 500 is held for exchanged, of those with a changed number one in 12
_CONTEXT = 18
_MOST_TOLD = 40  # of a sort: nobody reads more
_ALGEBRA = frozenset({Kind.EXPONENT, Kind.COEFFICIENT})


@dataclass(frozen=True)
class Reader:
    """The rules, beside that of the quantities, in the order in which their findings are told."""

    rules: tuple[Callable[[Problem, Problem], Iterator[Finding]], ...]

    def findings(self, question: Problem, paraphrase: Problem, matching: Matching | None = None) -> list[Finding]:
        """Return the findings against a paraphrase, of each sort as many as anybody reads.

        ``matching`` is how the quantities belong together, where that is known already.
        """
        told: Counter[str] = Counter()
        kept = []
        numbers = quantity_findings(question, paraphrase, matching)
        others = (each for rule in self.rules for each in rule(question, paraphrase))
        for found in chain(numbers, others):
            told[found.feature] += 1
            if told[found.feature] <= _MOST_TOLD:
                kept.append(found)
        return kept


def quantity_findings(question: Problem, paraphrase: Problem, matching: Matching | None = None) -> Iterator[Finding]:
    """Find numbers that are lost, added, changed or exchanged, and units that are others."""
    matching = matching or match_quantities(question, paraphrase)
    for a, b in matching.other_value[:_MOST_TOLD]:
        clock = a.first.kind is b.first.kind is Kind.TIME_OF_DAY
        became = f"{_quoted(a, question)} became {_quoted(b, paraphrase)}".rstrip(".")
        message = f"The {'time' if clock else 'number'} {became}."
        feature = "algebra_changed" if {a.first.kind, b.first.kind} & _ALGEBRA else "number_changed"
        if a.first.value * b.first.value == 1 and a.first.unit is b.first.unit is None:
            feature = "multiple_turned"  # twice as many, half as many: the other way round it is the same
        elif len(a.first.terms) > len(b.first.terms) > 1 and not set(a.first.terms) <= _members(paraphrase):
            feature = "ratio_cut"  # 2 : 3 : 5, 2 : 5
        elif feature == "number_changed" and not _places(a, b) and follows(b, question):
            feature = "number_restated"  # a radius of 7, a diameter of 14: it may be the same, said otherwise
        elif feature == "number_changed" and _replaced(a, b, matching):
            feature = "number_replaced"
        yield Finding(feature, EvidenceKind.NUMBER_CHANGED, a.spans, b.spans, message)
    for a, b in matching.other_unit[:_MOST_TOLD]:
        message = f"{_quoted(a, question).capitalize()} became {_quoted(b, paraphrase)}."
        yield Finding("unit_changed", EvidenceKind.UNIT_CHANGED, a.spans, b.spans, message)
    for item in matching.lost[:_MOST_TOLD]:
        feature = "small_number_lost" if item.small else "number_lost"
        number = question.text[slice(*item.first.number_span)]
        message = f"The paraphrase lost the number {number} ({_context(item, question)})."
        yield Finding(feature, EvidenceKind.NUMBER_LOST, item.spans, (), message)
    for item in matching.added[:_MOST_TOLD]:
        feature = "small_number_added" if item.small else "number_added"
        if item.first.kind in _ALGEBRA:
            feature = "algebra_changed"
        message = f"The paraphrase has a number that the question has not: {_quoted(item, paraphrase)}."
        yield Finding(feature, EvidenceKind.NUMBER_ADDED, (), item.spans, message)
    for item in matching.derived[:_MOST_TOLD]:
        message = f"The paraphrase has a number that can only be had from the question's: {_quoted(item, paraphrase)}."
        yield Finding("number_derived", EvidenceKind.NUMBER_ADDED, (), item.spans, message)
    yield from _exchanges(matching, question, paraphrase)
    yield from owner_findings(question, paraphrase, matching)


def _replaced(a: Item, b: Item, matching: Matching) -> bool:
    """Return True if all numbers have their counterparts but these two, which are of one sort: 46 a kg, 48 a kg.

    A share may be told by what is left of it: a quarter is gone, 75% is left.
    """
    alone = len(matching.other_value) == 1 and not (matching.lost or matching.added or matching.derived)
    if alone and {a.first.kind, b.first.kind} == {Kind.PERCENT, Kind.FRACTION}:
        return _share(a.first) + _share(b.first) != 1
    plain = a.first.kind is b.first.kind and not a.first.terms
    return alone and plain and a.first.value != -b.first.value


def _share(quantity: Quantity) -> Fraction:
    return Fraction(quantity.value) / (100 if quantity.kind is Kind.PERCENT else 1)


def _places(a: Item, b: Item) -> bool:
    """Return True if both are places in an order: no arithmetic leads from the 13th to the 30th."""
    return a.first.kind is b.first.kind is Kind.ORDINAL


def _members(problem: Problem) -> set[Fraction]:
    """Return the members of all ratios of a text."""
    return {term for quantity in problem.quantities for term in quantity.terms}


def _exchanges(matching: Matching, question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    for sure, a, b, a_there, b_there in exchanged(matching, question, paraphrase)[:1]:
        feature = "numbers_exchanged" if sure >= _SURE_EXCHANGE else "numbers_crossed"
        message = (
            f"The numbers {_quoted(a, question)} and {_quoted(b, question)} changed places: "
            f"{_context(b_there, paraphrase)} stands where {_context(a, question)} stood."
        )
        spans = (a.spans + b.spans, a_there.spans + b_there.spans)
        yield Finding(feature, EvidenceKind.NUMBER_CHANGED, *spans, message)


def _quoted(item: Item, problem: Problem) -> str:
    return item.surface(problem.text)


def _context(item: Item, problem: Problem) -> str:
    """Return the words around a quantity, whole words only."""
    text = problem.text
    sentence = next((s for s in problem.sentences if s.start <= item.start < s.end), None)
    first, last = (sentence.start, max(sentence.end, item.end)) if sentence else (0, len(text))
    start, end = max(first, item.start - _CONTEXT), min(last, item.end + _CONTEXT)
    before, after = text[start : item.start], text[item.end : end]
    if start > first:
        before = before.partition(" ")[2]
    after = after.rpartition(" ")[0] if end < last else after.rstrip(".?!;, ")
    return "“" + " ".join(f"{before}{text[item.start : item.end]}{after}".split()) + "”"


READER = Reader(
    (
        question_findings,
        relation_findings,
        turning_findings,
        name_findings,
        label_findings,
        pronoun_findings,
        gap_findings,
        ordered_findings,
    )
)

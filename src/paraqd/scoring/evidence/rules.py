"""Apply all rules to a pair of readings, and collect the findings that the fusion weighs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.units import SPELLINGS, category
from paraqd.scoring.evidence.copies import copied_numbers
from paraqd.scoring.evidence.derived import follows
from paraqd.scoring.evidence.figure_labels import label_findings
from paraqd.scoring.evidence.finding import Finding, as_sentence, original_and_paraphrase, quote, quote_context
from paraqd.scoring.evidence.in_place import swapped_in_place
from paraqd.scoring.evidence.matching import Amount, Matching
from paraqd.scoring.evidence.missing_words import gap_findings
from paraqd.scoring.evidence.names import misplaced_names, name_findings, pronoun_findings
from paraqd.scoring.evidence.order import order_findings
from paraqd.scoring.evidence.owners import owner_findings
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.evidence.question import question_findings
from paraqd.scoring.evidence.relations import relation_findings, turning_findings
from paraqd.scoring.evidence.roles import swapped_numbers
from paraqd.scoring.verdict import EvidenceKind, Span

_SURE_EXCHANGE = 1.3  # at most 2; reached by one in 500 valid pairs and one in 12 pairs with a changed number
_MOST_REPORTED = 40  # findings per feature
_ALGEBRA = frozenset({Kind.EXPONENT, Kind.COEFFICIENT})
_ABOUT_NUMBERS = frozenset({EvidenceKind.NUMBER_CHANGED, EvidenceKind.NUMBER_ADDED})
_REPLACED = frozenset({"number_replaced", "numbers_swapped"})
_NEXT_WORD = re.compile(r"\s*([^\W\d_]+)")
_NOUNS = {Kind.TIME_OF_DAY: "time", Kind.RATIO: "ratio"}


@dataclass(frozen=True)
class Reader:
    """A collection of rules, applied in order. The rules for quantities always come first and are not listed."""

    rules: tuple[Callable[[Problem, Problem], Iterator[Finding]], ...]

    def findings(self, question: Problem, paraphrase: Problem, matching: Matching | None = None) -> list[Finding]:
        """Return the faults found in a paraphrase, with at most 40 faults per feature.

        Pass ``matching`` if the quantities have already been matched.
        """
        counts: Counter[str] = Counter()
        kept = []
        numbers = quantity_findings(question, paraphrase, matching)
        others = (each for rule in self.rules for each in rule(question, paraphrase))
        for found in chain(numbers, others):
            counts[found.feature] += 1
            if counts[found.feature] <= _MOST_REPORTED:
                kept.append(found)
        return kept


def quantity_findings(question: Problem, paraphrase: Problem, matching: Matching | None = None) -> Iterator[Finding]:
    """Find missing, new, changed and swapped numbers, and changed units."""
    found = list(_matched_findings(question, paraphrase, matching or match_quantities(question, paraphrase)))
    copied = []
    if _REPLACED.isdisjoint(finding.feature for finding in found):
        copied = list(copied_numbers(question, paraphrase))
    places = {span for finding in copied for span in finding.paraphrase_spans}
    # the same number is not reported twice; in a copy, it is certain what became of it
    yield from (
        each for each in found if each.kind not in _ABOUT_NUMBERS or not _overlap(each.paraphrase_spans, places)
    )
    yield from copied


def _overlap(spans: Iterable[Span], others: Iterable[Span]) -> bool:
    return any(start < last and first < end for start, end in spans for first, last in others)


def _matched_findings(question: Problem, paraphrase: Problem, matching: Matching) -> Iterator[Finding]:
    for a, b in matching.in_place[:_MOST_REPORTED]:
        message = as_sentence(f"A {_noun(a, b)} changed: {_became(a, b, question, paraphrase)}")
        yield Finding("number_replaced", EvidenceKind.NUMBER_CHANGED, a.spans, b.spans, message)
    for a, b in matching.other_value[:_MOST_REPORTED]:
        message = as_sentence(f"A {_noun(a, b)} changed: {_became(a, b, question, paraphrase)}")
        feature = "algebra_changed" if {a.first.kind, b.first.kind} & _ALGEBRA else "number_changed"
        if a.first.value * b.first.value == 1 and a.first.unit is b.first.unit is None:
            feature = "multiple_turned"  # *twice as many* may mean the same as *half as many* from the other side
        elif len(a.first.terms) > len(b.first.terms) > 1 and not set(a.first.terms) <= _members(paraphrase):
            feature = "ratio_cut"  # 2 : 3 : 5 became 2 : 5
        elif feature == "number_changed" and not _both_ordinals(a, b) and follows(b, question):
            feature = "number_restated"  # a radius of 7 may have become a diameter of 14
        elif feature == "number_changed" and _replaced(a, b, matching):
            feature = "only_number_changed"
        yield Finding(feature, EvidenceKind.NUMBER_CHANGED, a.spans, b.spans, message)
    for a, b in matching.other_unit[:_MOST_REPORTED]:
        if SPELLINGS.get(_word_after(question.text, a.end)) == b.first.unit:
            continue  # in "$420 kilograms", which occurs in data sets, the sign is a mistake
        noun = "currency" if _other_currency(a.first, b.first) else "unit"
        message = as_sentence(f"A {noun} changed: {_became(a, b, question, paraphrase)}")
        yield Finding("unit_changed", EvidenceKind.UNIT_CHANGED, a.spans, b.spans, message)
    for item in matching.lost[:_MOST_REPORTED]:
        feature = "small_number_lost" if item.small else "number_lost"
        number = quote(question.text[slice(*item.first.number_span)])
        where = original_and_paraphrase(quote_context(question, item.start, item.end), "")
        message = as_sentence(f"The {_noun(item)} {number} is missing; {where}")
        yield Finding(feature, EvidenceKind.NUMBER_LOST, item.spans, (), message)
    for item in matching.added[:_MOST_REPORTED]:
        feature = "small_number_added" if item.small else "number_added"
        if item.first.kind in _ALGEBRA:
            feature = "algebra_changed"
        message = f"The {_noun(item)} {_quoted(item, paraphrase)} is not in the original."
        yield Finding(feature, EvidenceKind.NUMBER_ADDED, (), item.spans, message)
    for item in matching.derived[:_MOST_REPORTED]:
        number = f"The {_noun(item)} {_quoted(item, paraphrase)}"
        message = f"{number} is not in the original and may give away part of the solution."
        yield Finding("number_derived", EvidenceKind.NUMBER_ADDED, (), item.spans, message)
    yield from _exchanges(matching, question, paraphrase)
    yield from owner_findings(question, paraphrase, matching)


def _word_after(text: str, end: int) -> str:
    found = _NEXT_WORD.match(text, end)
    return found[1].lower() if found else ""


def _replaced(a: Amount, b: Amount, matching: Matching) -> bool:
    """Return True if the texts differ only in the two given numbers and both numbers are of the same kind.

    Two shares that add up to a whole are not a replacement, because *a quarter is gone* means the same as
    *75% is left*.
    """
    alone = len(matching.other_value) == 1 and not (matching.lost or matching.added or matching.derived)
    if alone and {a.first.kind, b.first.kind} == {Kind.PERCENT, Kind.FRACTION}:
        return _share(a.first) + _share(b.first) != 1
    plain = a.first.kind is b.first.kind and not a.first.terms
    return alone and plain and a.first.value != -b.first.value


def _share(quantity: Quantity) -> Fraction:
    return Fraction(quantity.value) / (100 if quantity.kind is Kind.PERCENT else 1)


def _both_ordinals(a: Amount, b: Amount) -> bool:
    """Return True if both amounts are ordinals, which cannot be computed from other numbers."""
    return a.first.kind is b.first.kind is Kind.ORDINAL


def _members(problem: Problem) -> set[Fraction]:
    """Return the terms of all ratios in a text."""
    return {term for quantity in problem.quantities for term in quantity.terms}


def _exchanges(matching: Matching, question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    certain = [(_SURE_EXCHANGE, *found) for found in islice(swapped_in_place(question, paraphrase), 1)]
    for sure, a, b, a_there, b_there in (certain or swapped_numbers(matching, question, paraphrase))[:1]:
        feature = "numbers_exchanged" if sure >= _SURE_EXCHANGE else "numbers_crossed"
        feature = "numbers_swapped" if certain else feature  # between the same words
        where = original_and_paraphrase(
            quote_context(question, a.start, a.end), quote_context(paraphrase, b_there.start, b_there.end)
        )
        message = as_sentence(f"The numbers {_quoted(a, question)} and {_quoted(b, question)} changed places: {where}")
        spans = (a.spans + b.spans, a_there.spans + b_there.spans)
        yield Finding(feature, EvidenceKind.NUMBER_CHANGED, *spans, message)


def _quoted(item: Amount, problem: Problem) -> str:
    return quote(item.surface(problem.text))


def _became(a: Amount, b: Amount, question: Problem, paraphrase: Problem) -> str:
    return f"{_quoted(a, question)} became {_quoted(b, paraphrase)}"


def _noun(*items: Amount) -> str:
    """Return the noun for amounts in a message: *time*, *ratio* or *number*."""
    kinds = {item.first.kind for item in items}
    return _NOUNS.get(kinds.pop(), "number") if len(kinds) == 1 else "number"


def _other_currency(one: Quantity, other: Quantity) -> bool:
    """Return True if two quantities are in different currencies."""
    names = {(quantity.unit or "").partition("/")[0] for quantity in (one, other)}
    return len(names) == 2 and all(category(name) == "currency" for name in names)


READER = Reader(
    (
        question_findings,
        relation_findings,
        turning_findings,
        name_findings,
        misplaced_names,
        label_findings,
        pronoun_findings,
        gap_findings,
        order_findings,
    )
)

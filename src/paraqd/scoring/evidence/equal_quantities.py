"""Decide whether two differently written quantities are equal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.signs import MINUS_PATTERN
from paraqd.reading.unit_mentions import find_unit_mentions
from paraqd.reading.units import dimension
from paraqd.scoring.evidence.comparisons import Comparisons
from paraqd.scoring.evidence.content_words import stem
from paraqd.scoring.evidence.matching import Amount
from paraqd.scoring.evidence.roles import sides_turned

Rule = Callable[[Amount, Amount], bool]

_PLAIN = frozenset({Kind.COUNT, Kind.FRACTION, Kind.ORDINAL, Kind.COEFFICIENT, Kind.MULTIPLE, Kind.EXPONENT})
_SEPARATE_MINUS = re.compile(rf"{MINUS_PATTERN}\s+$")
_BELOW_ZERO = re.compile(r"\s+below\s+(?:zero|freezing)\b", re.I)
_PART_OF_DAY = re.compile(r"[ap]\s?\.?\s?m\b|morning|afternoon|evening|night|noon", re.I)
_PAIRS = re.compile(r"\s+pairs?\s+of\b", re.I)
_THING = re.compile(r"\s+(?:(?:single|individual|separate)\s+)?([^\W\d_]+)", re.I)
_TURN = re.compile(r"\s+(?:of\s+)?(?:an?\s+)?(?:(?:full|complete|whole)\s+)?(?:revolutions?|turns?|rotations?)\b", re.I)
_IN_CENTS = frozenset({"euro", "rand", "real", "shilling"})
_HALF_DAY = 12
_YEN = frozenset({"yen", "yuan"})  # ¥ denotes either currency
_POUNDS = frozenset({"pound", "pound sterling"})
_LEAST_TURNED = 3
_CLOSE = 24  # characters after a time in which the text may name the half of the day


def equal_rules(question: Problem, paraphrase: Problem) -> tuple[Rule, ...]:
    """Return the rules that decide whether two amounts are equal, strictest first.

    Each rule takes an amount of the question and an amount of the paraphrase.
    """
    return (
        equal_as_written,
        _equal_value,
        _share,
        _separate_sign(question, paraphrase),
        _equal_clock(question, paraphrase),
        _in_pairs(question, paraphrase),
        _degrees(question, paraphrase),
    )


def inverse_rules(question: Problem, paraphrase: Problem, comparisons: Comparisons) -> tuple[Rule, ...]:
    """Return the rules that decide whether two numbers are equivalent although one is the inverse of the other."""
    return (_inverse, _inverse_with_sides(question, paraphrase, comparisons))


def single(item: Amount) -> Quantity | None:
    """Return an amount's only quantity, or None for a compound."""
    return item.parts[0] if len(item.parts) == 1 else None


def equal_as_written(a: Amount, b: Amount) -> bool:
    """Return True if two numbers have the same value and their units do not contradict each other.

    For example, *5* equals *5 km*, and *$5* equals *$5 per day*.
    """
    one, other = single(a), single(b)
    if one is None or other is None or one.terms or other.terms:
        return False
    if one.value != other.value:
        return False
    if one.unit is None or other.unit is None:
        plain = one if one.unit is None else other
        return plain.kind in _PLAIN
    top, other_top = one.unit.partition("/")[0], other.unit.partition("/")[0]
    if {top, other_top} == _POUNDS and one.unit_span is not None and other.unit_span is not None:
        return True  # texts do not always say whether pounds mean weight or money
    if {top, other_top} == _YEN and "¥" in one.surface + other.surface:
        return _denominators_agree(one.unit, other.unit)
    return top == other_top and ("/" in one.unit) != ("/" in other.unit)


def _denominators_agree(one: str, other: str) -> bool:
    """Return True unless both units are rates with different denominators."""
    below, other_below = one.partition("/")[2], other.partition("/")[2]
    return not below or not other_below or below == other_below


def _degrees(question: Problem, paraphrase: Problem) -> Rule:
    """Return the rule that *15 degrees* equals *15 °C* unless a text also names a different scale."""
    scales = cache(lambda: {"degree", *_scales(question), *_scales(paraphrase)})

    def rule(a: Amount, b: Amount) -> bool:
        one, other = single(a), single(b)
        if one is None or other is None or one.value != other.value or one.unit is None or other.unit is None:
            return False
        tops = {one.unit.partition("/")[0], other.unit.partition("/")[0]}
        if "degree" not in tops or len(tops) == 1 or not _denominators_agree(one.unit, other.unit):
            return False
        return tops == scales()

    return rule


def _scales(problem: Problem) -> Iterator[str]:
    for mention in find_unit_mentions(problem):
        if (top := mention.unit.partition("/")[0]).startswith("degree "):
            yield top


def _equal_clock(question: Problem, paraphrase: Problem) -> Rule:
    """Return the rule that *one o'clock* equals *1 p.m.* if only one text says which half of the day is meant."""

    def rule(a: Amount, b: Amount) -> bool:
        if not (a.first.kind is b.first.kind is Kind.TIME_OF_DAY) or abs(a.first.value - b.first.value) != _HALF_DAY:
            return False
        named = [
            item.first.value > _HALF_DAY or _PART_OF_DAY.search(problem.text, item.start, item.end + _CLOSE) is not None
            for item, problem in ((a, question), (b, paraphrase))
        ]
        return named[0] != named[1]

    return rule


def _in_pairs(question: Problem, paraphrase: Problem) -> Rule:
    """Return the rule that *8 pairs of shoes* equal *16 shoes*, and that *a quarter turn* equals *90 degrees*."""

    def rule(a: Amount, b: Amount) -> bool:
        here, there = question.text, paraphrase.text
        for (item, text), (other, beside) in (((a, here), (b, there)), ((b, there), (a, here))):
            this, that = single(item), single(other)
            if this is None or that is None or this.unit is not None or this.terms or that.terms:
                continue
            pairs, turn = _PAIRS.match(text, item.end), _TURN.match(text, item.end)
            if pairs and that.kind is Kind.COUNT and that.unit is None and this.value * 2 == that.value:
                return not _PAIRS.match(beside, other.end) and _counted(text, pairs.end()) == _counted(
                    beside, other.end
                )
            if turn and that.unit == "degree" and this.value * 360 == that.value:
                return not _TURN.match(beside, other.end)
        return False

    return rule


def _counted(text: str, start: int) -> str:
    """Return the stem of the noun that a number counts, such as *shoes* in *16 single shoes*."""
    found = _THING.match(text, start)
    return stem(found[1].lower()) if found else ""


def counted_end(text: str, item: Amount) -> int:
    """Return the end of an amount, including the words *pairs of* or *turns* after the number."""
    found = _PAIRS.match(text, item.end) or _TURN.match(text, item.end)
    return found.end() if found else item.end


def _share(a: Amount, b: Amount) -> bool:
    """Return True if one number is a percentage and the other is the equal decimal, as in *35 %* and *0.35*."""
    one, other = single(a), single(b)
    if one is None or other is None or {one.kind, other.kind} != {Kind.PERCENT, Kind.COUNT}:
        return False
    percent, plain = (one, other) if one.kind is Kind.PERCENT else (other, one)
    return plain.unit is None and plain.value.denominator != 1 and percent.value / 100 == plain.value


def _equal_value(a: Amount, b: Amount) -> bool:
    """Return True if two quantities are equal after unit conversion, and only one of them is written as a rate.

    Also return True for equal amounts of which one is in cents, as in *50 cents* and *0.50 euros*.
    """
    one, other = single(a), single(b)
    if one is None or other is None or one.unit is None or other.unit is None or one.terms or other.terms:
        return False
    (top, factor), (other_top, other_factor) = (dimension(unit.partition("/")[0]) for unit in (one.unit, other.unit))
    tops = {one.unit.partition("/")[0], other.unit.partition("/")[0]}
    if not _denominators_agree(one.unit, other.unit):
        return False
    if "cent" in tops and len(tops) == 2 and not tops.isdisjoint(_IN_CENTS):
        cents, whole = (one, other) if one.unit.startswith("cent") else (other, one)
        return cents.value == 100 * whole.value
    if ("/" in one.unit) == ("/" in other.unit):
        return False
    return top == other_top and one.value * factor == other.value * other_factor


def _separate_sign(question: Problem, paraphrase: Problem) -> Rule:
    """Return the rule that a minus sign may be written with a space (- 8) or in words (*3 °C below zero*)."""

    def rule(a: Amount, b: Amount) -> bool:
        if a.first.value != -b.first.value or a.first.unit != b.first.unit or not a.first.value:
            return False
        return any(
            item.first.value > 0
            and (
                _SEPARATE_MINUS.search(problem.text[max(0, item.start - 4) : item.start])
                or _BELOW_ZERO.match(problem.text, item.end)
            )
            for item, problem in ((a, question), (b, paraphrase))
        )

    return rule


def _inverse(a: Amount, b: Amount) -> bool:
    """Return True if a fraction is the inverse of a whole number, as in *a quarter of x* and *x/4*."""
    one, other = single(a), single(b)
    if one is None or other is None or not one.value or not other.value:
        return False
    for this, that in ((one, other), (other, one)):
        if that.unit is not None or that.terms or that.kind not in _PLAIN or that.value.denominator != 1:
            continue
        if that.value < _LEAST_TURNED:
            continue
        share = this.value / 100 if this.kind is Kind.PERCENT else this.value
        if this.kind in (Kind.FRACTION, Kind.PERCENT) and share == 1 / that.value:
            return True
        if len(this.terms) == 2 and sorted(this.terms) == [1, that.value]:
            return True
    return False


def _inverse_with_sides(question: Problem, paraphrase: Problem, comparisons: Comparisons) -> Rule:
    """Return the rule that a number equals its inverse if the compared things have also changed sides.

    For example, *Ann is twice as old as Bob* means the same as *Bob is half as old as Ann*.
    """

    def rule(a: Amount, b: Amount) -> bool:
        one, other = single(a), single(b)
        if one is None or other is None:
            return False
        if one.terms or other.terms:
            inverse = len(one.terms) > 1 and one.terms == other.terms[::-1] and one.terms != other.terms
        else:
            shares = [q.value / 100 if q.kind is Kind.PERCENT else q.value for q in (one, other)]
            plain = all(q.unit is None or q.kind is Kind.PERCENT for q in (one, other))
            inverse = plain and shares[0] * shares[1] == 1 != shares[0]
        return inverse and sides_turned(question, a, paraphrase, b, comparisons)

    return rule

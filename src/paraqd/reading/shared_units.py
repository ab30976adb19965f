"""Assign the unit of a list or range to all its numbers, and read ratios written with *to*."""

from __future__ import annotations

from itertools import pairwise

from paraqd.reading.quantity_draft import Draft
from paraqd.reading.token_stream import Stream
from paraqd.reading.types import Kind

_PLAIN = frozenset({Kind.COUNT, Kind.FRACTION})
_JOINS = frozenset({",", "and", "or", "to", "-", "–", "—", "&", "by", "x", "×", "*"})
_CLOSING_JOINS = frozenset({"and", "or", "to", "-", "–", "—", "&", "by", "x", "×", "*"})
_RATIO_WORDS = frozenset({"ratio", "ratios", "proportion", "odds"})
_AFTER_LIST = frozenset("respectively each per at in on for from by is are was were if then".split())
_AFTER_CENTS = frozenset("and but apiece each per last this to at on for altogether".split())
_LARGE_PERCENT = 10
_WITH_CENTS = frozenset({"dollar", "euro"})
_MOST_TERMS = 12
_LOOK_BACK = 14


def _join(s: Stream, left: Draft, right: Draft) -> str | None:
    """Return the word or mark that joins two adjacent numbers into a list or range, or None."""
    between = s.low[left.after : right.first]
    if len(between) == 2 and between[0] == "," and between[1] in {"and", "or"}:
        return between[1]
    if len(between) == 1 and between[0] in _JOINS:
        return between[0]
    return None


def share_units(s: Stream, drafts: list[Draft]) -> list[Draft]:
    """Assign the unit of each list or range to all its numbers, and merge the terms of ratios such as *2 to 3*."""
    drafts = _merge_ratios(s, drafts)
    for i in range(len(drafts) - 2, -1, -1):
        left, right = drafts[i], drafts[i + 1]
        if left.kind not in _PLAIN or left.unit is not None or right.unit is None:
            continue
        if right.kind not in {Kind.MEASURE, Kind.MONEY, Kind.PERCENT} or right.first != right.number_first:
            continue
        join = _join(s, left, right)
        if right.kind is Kind.PERCENT and _is_share(s, left, right, join):
            continue
        if join is None or (join == "," and not (right.unit_span is None or _continues(s, drafts, i))):
            continue
        left.unit, left.kind = right.unit, right.kind
    _share_currency(s, drafts)
    _minutes_after_hours(s, drafts)
    _cents_after_dollars(s, drafts)
    return drafts


def _is_share(s: Stream, left: Draft, right: Draft, join: str | None) -> bool:
    """Return True if the number before a percentage is a share rather than another percentage.

    For example, 0.35 in *0.35 and 15 %* is a share, but 0.5 in *0.5 to 2 %* is a percentage.
    """
    if left.kind is Kind.FRACTION:
        return True
    listed = join in {",", "and", "or"} and s.low[max(0, left.first - 1)] != "between"
    return listed and left.value < 1 and right.value >= _LARGE_PERCENT


def _minutes_after_hours(s: Stream, drafts: list[Draft]) -> None:
    """Read the m in 2h 15m as minutes."""
    for left, right in pairwise(drafts):
        if (
            left.unit == "hour"
            and right.unit == "metre"
            and s.text[right.after - 1] == "m"
            and left.after == right.first
        ):
            right.unit = "minute"


def _cents_after_dollars(s: Stream, drafts: list[Draft]) -> None:
    """Read a number in words after dollars or euros as cents, as in *two dollars seventy-five*."""
    for left, right in pairwise(drafts):
        following = s.low[right.after]
        if (
            left.unit in _WITH_CENTS
            and left.after == right.first
            and right.worded
            and right.kind is Kind.COUNT
            and right.unit is None
            and 1 < right.value < 100
            and (not following[:1].isalpha() or following in _AFTER_CENTS)
        ):
            right.unit, right.kind = "cent", Kind.MONEY


def _share_currency(s: Stream, drafts: list[Draft]) -> None:
    """Assign a currency to the later numbers of a list or range, as in *Rs. 60 to 80* or *$5, $7 and 9*."""
    for left, right in pairwise(drafts):
        if left.kind is not Kind.MONEY or right.kind is not Kind.COUNT or right.unit is not None:
            continue
        written_before = left.first != left.number_first or left.unit_span is None
        following = s.low[right.after]
        ends = not following[:1].isalpha() or following in _AFTER_LIST
        if written_before and ends and "/" not in (left.unit or "") and _join(s, left, right) in _CLOSING_JOINS | {","}:
            right.unit, right.kind = left.unit, Kind.MONEY


def _continues(s: Stream, drafts: list[Draft], i: int) -> bool:
    """Return True if the comma after number i is part of a list, as in *3, 4, 12 days* or *6,8 days*."""
    comma = drafts[i].after
    if s.glued(comma) and s.glued(comma + 1):
        return True
    return i > 0 and drafts[i - 1].kind in _PLAIN and _join(s, drafts[i - 1], drafts[i]) == ","


def _merge_ratios(s: Stream, drafts: list[Draft]) -> list[Draft]:
    if _RATIO_WORDS.isdisjoint(s.words):
        return drafts
    merged: list[Draft] = []
    for draft in drafts:
        last = merged[-1] if merged else None
        if last is not None and len(last.terms) < _MOST_TERMS and _is_ratio(s, last, draft):
            terms = (*(last.terms or (last.value,)), draft.value)
            last.kind, last.terms = Kind.RATIO, terms
            last.value = terms[0] / terms[1] if terms[1] else terms[0]
            last.after = last.number_after = draft.after
        else:
            merged.append(draft)
    return merged


def _is_ratio(s: Stream, left: Draft, right: Draft) -> bool:
    if (
        s.low[left.after : right.first] not in (["to"], ["is", "to"])
        or right.kind not in _PLAIN
        or right.unit
        or not right.value
    ):
        return False
    if left.unit or left.kind not in _PLAIN | {Kind.RATIO}:
        return False
    before = s.low[max(0, left.first - _LOOK_BACK) : left.first]
    if s.low[right.after] == "ratio":
        return True
    for word in reversed(before):
        if word in {".", "?", "!", ";", "from", "between"}:
            return False
        if word in _RATIO_WORDS:
            return True
    return False

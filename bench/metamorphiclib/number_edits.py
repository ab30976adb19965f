"""Change, delete and exchange whole numbers in digits.

The regular expressions are our own. They find fewer numbers than `paraqd.reading`, but share no mistake with it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_VALUES = {word: value for value, word in enumerate(WORDS)} | {"a": 1, "an": 1, "single": 1, "twice": 2, "both": 2}
_VALUES |= {"pair": 2, "double": 2, "triple": 3, "dozen": 12, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100}

_DIGITS = re.compile(r"\d+(?:,\d{3}(?!\d))*(?:\.\d+)?")
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
# what stands before digits that are no number of their own: letters, an exponent, a decimal point, a fraction, a list
# without spaces (Indian thousands look the same), a label, the numerator of a mixed number
_BEFORE = re.compile(
    r"(?:[^\W\d_]|[_\\]|\^\s*\(?\s*-?\s*|(?:^|[\s(+*/=-])\.|\d[.,:]|[/⁄]\s*|\d\s|[\d\w)]-"
    r"|\b(?:figure|fig\.?|problem|question|exercise|chapter|no\.?|option|options|part|step|page|grade|class)\s*)$",
    re.IGNORECASE,
)
# what stands after them: letters (4th, 2x, 5km), decimals, a fraction, a mixed number, a root, the bracket of a list
_AFTER = re.compile(
    r"(?:[^\W\d_]|_|[.,:]\d|\s*[/⁄]\s*\d|\s+\d|\s+and\s+\d+\s*/\s*\d|-\d|\s?\^|\s?(?:st|nd|rd|th)\b)", re.IGNORECASE
)
_POWER = re.compile(r"\b(?:sq|cu|cm|m|km|mm|ft|feet|foot|inch|inches|yd|meters?|metres?)\.?\s?$", re.IGNORECASE)
_OPTIONS = re.compile(r"(?:^|\s)\(?[a-e1-5]\s?[).]\s.*\s\(?[b-e2-5]\s?[).]\s", re.IGNORECASE)
# joins the parts of a list or of a sum, where the order seldom matters
_JOINER = re.compile(r"^(?:[,;&+*×·]|and|or|by|plus|times)$", re.IGNORECASE)
_SIGNS = frozenset({"$", "€", "£", "₹", "rs", ".", "%", "-"})
_PIECE = re.compile(r"[A-Za-z]+(?:\s?/\s?[A-Za-z]+)*|\d+|\S")
# an expression before or after, in which the number is more than a part of a list
_MINUS = re.compile(r"[-–−≤<>/÷^:]\s?$")
_GOES_ON = re.compile(r"\s?(?:[≤<>/÷^(!:]|[abnxyz]\b|times\b|[*×]\s?\+)")
_SERIES = re.compile(r"\b(?:series|sequence|pattern|odd one)\b|_{2}|\.{3}|,\s?[?x]\s?$", re.IGNORECASE)
_RESPECTIVELY = re.compile(r"\brespective|\bfirst,? second\b", re.IGNORECASE)
_FROM = re.compile(r"\b(?:integers?|numbers?|digits?)\s+from\s+$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\b[^.?!]*$", re.IGNORECASE)
# a second thing beside the first, of which the text may say the same
_BESIDE = re.compile(r"\b(?:another|others?|second|latter)\b", re.IGNORECASE)
# a count that the rest of the text repeats: these 3 categories, 7 days a week
_DEFINITE = re.compile(r"\b(?:the|these|those|all|both|other|of|any|every|each|next|per)\s+$", re.IGNORECASE)
_CALENDAR = re.compile(
    r"^[\s-]*(?:days?\s+(?:a|per|in\s+a|each)\s+week|hours?\s+(?:a|per)\s+day|months?\s+(?:a|per)\s+year)"
)


@dataclass(frozen=True)
class Number:
    """A whole number in digits, and where it stands."""

    start: int
    end: int
    value: int


def numbers(text: str) -> list[Number]:
    """Return the whole numbers that stand alone: no part of a fraction, exponent, unit, ordinal, list marker or label.

    >>> [number.value for number in numbers("1) A 4th pipe fills 2 1/2 of 1,200 m2 in 3.5 h; rs.850 for 10%.")]
    [1200, 850, 10]
    """
    if _OPTIONS.search(text):
        return []
    return [number for number in _digits(text) if _stands_alone(text, number)]


def _digits(text: str) -> Iterator[Number]:
    """Yield every run of digits without a decimal point."""
    for found in _DIGITS.finditer(text):
        if "." not in found[0]:
            yield Number(found.start(), found.end(), int(found[0].replace(",", "")))


def _stands_alone(text: str, number: Number) -> bool:
    before, after = text[: number.start], text[number.end :]
    if _BEFORE.search(before) and not re.search(r"(?:^|\s)(?:rs|inr)\.?$", before, re.IGNORECASE):
        return False
    if _AFTER.match(after) or (number.value in {2, 3} and _POWER.search(before)):
        return False
    if before.endswith("[") and after.startswith("]"):
        return False
    bracketed = after.startswith(")") and (before.endswith("(") or before.count("(") == before.count(")"))
    return not bracketed and not (not before.strip() and re.match(r"[.)]\s", after))


def values(text: str) -> list[int]:
    """Return the value of every number in the text, in digits or in a word, also of those that do not stand alone."""
    words = (_VALUES.get(word.lower()) for word in _WORD.findall(text))
    return [number.value for number in _digits(text)] + [value for value in words if value is not None]


def single_numbers(text: str) -> list[Number]:
    """Return the numbers whose value occurs once in the text."""
    found = values(text)
    return [number for number in numbers(text) if found.count(number.value) == 1]


def repeated_numbers(text: str) -> list[Number]:
    """Return the numbers whose value stands alone at least twice."""
    found = numbers(text)
    alone = [number.value for number in found]
    return [number for number in found if alone.count(number.value) > 1]


def change_single(text: str, rng: random.Random) -> str | None:
    """Replace a number that occurs once by a value that does not occur."""
    found = [number for number in single_numbers(text) if number.value > 0]
    return _fresh(text, rng.choice(found), rng) if found else None


def change_repeated_to_other(text: str, rng: random.Random) -> str | None:
    """Replace a repeated number in one place by another value of the text."""
    found = repeated_numbers(text)
    if not found:
        return None
    number = rng.choice(found)
    others = [other for other in numbers(text) if other.value != number.value]
    if not others:
        return None
    other = rng.choice(others)
    return _put(text, number, text[other.start : other.end])


def change_repeated_to_one(text: str, rng: random.Random) -> str | None:
    """Replace a repeated number in one place by 1."""
    found = [number for number in repeated_numbers(text) if number.value != 1]
    return _put(text, rng.choice(found), "1") if found else None


def change_repeated_to_fresh(text: str, rng: random.Random) -> str | None:
    """Replace a repeated number in one place by a value that does not occur."""
    found = repeated_numbers(text)
    return _fresh(text, rng.choice(found), rng) if found else None


def delete_number(text: str, rng: random.Random) -> str | None:
    """Delete a number that occurs once, with the sign, percent sign or hyphen that is attached to it.

    0, 1 and 2 stay, because *1 hour* and *hour*, or *2 numbers* and *numbers*, can be the same. So do counts that the
    text repeats, as in *these 3 categories*.
    """
    found = [
        number
        for number in single_numbers(text)
        if number.value > 2 and not _DEFINITE.search(text[: number.start]) and not _CALENDAR.match(text[number.end :])
    ]
    if not found:
        return None
    number = rng.choice(found)
    sign = re.search(r"(?:(?:(?<=\s)|(?<=\()|^)[-−+])?[$€£₹#]?\s?$", text[: number.start])
    rest = re.match(r"(?:\s?%|[$€£₹]|-(?=[A-Za-z]))?", text[number.end :])
    before = text[: sign.start() if sign else number.start].rstrip(" ")
    after = text[number.end + (rest.end() if rest else 0) :].lstrip(" ")
    space = "" if not before or not after or after[0] in ",.?;:!)%" or before[-1] == "(" else " "
    return before + space + after


def swap_numbers(text: str, rng: random.Random) -> str | None:
    """Exchange two different numbers that are not parts of one list or sum, nor the ends of a range."""
    return _swap(
        text, [pair for pair in _unequal(text) if not in_one_list(text, *pair) and not _alike(text, *pair)], rng
    )


def swap_listed_numbers(text: str, rng: random.Random) -> str | None:
    """Exchange two different numbers of a list or a sum, in a text without *respectively*."""
    if _RESPECTIVELY.search(text):
        return None
    return _swap(text, [pair for pair in _unequal(text) if in_one_list(text, *pair)], rng)


def swap_respective_numbers(text: str, rng: random.Random) -> str | None:
    """Exchange two different numbers of a list, in a text with *respectively*."""
    if not _RESPECTIVELY.search(text):
        return None
    return _swap(text, [pair for pair in _unequal(text) if in_one_list(text, *pair)], rng)


def _unequal(text: str) -> list[tuple[Number, Number]]:
    found = numbers(text)
    pairs = [(one, other) for index, one in enumerate(found) for other in found[index + 1 :]]
    return [(one, other) for one, other in pairs if one.value != other.value]


def _alike(text: str, one: Number, other: Number) -> bool:
    """Return True if the text may say the same of both numbers: *one train … the other*, *between 2 m and 3 m*."""
    before, between = text[: one.start], text[one.end : other.start]
    if _BESIDE.search(between) or (_BETWEEN.search(before) and re.search(r"\band\b", between)):
        return True
    return bool(_FROM.search(before)) and between.strip() == "to"


def _swap(text: str, pairs: Sequence[tuple[Number, Number]], rng: random.Random) -> str | None:
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    first, second = text[one.start : one.end], text[other.start : other.end]
    return text[: one.start] + second + text[one.end : other.start] + first + text[other.end :]


def in_one_list(text: str, one: Number, other: Number) -> bool:
    """Return True if two numbers are parts of one list or sum. Two numbers with only a comma between are no list.

    >>> three, *_, seven = numbers("3 km, 5 km and 7 km")
    >>> in_one_list("3 km, 5 km and 7 km", three, seven)
    True
    >>> in_one_list("3 boys and 7 girls", *numbers("3 boys and 7 girls"))
    False
    """
    if _SERIES.search(text):
        return False
    found = numbers(text)
    first, last = found.index(one), found.index(other)
    while first and _joined(text, found[first - 1], found[first]):
        first -= 1
    while last + 1 < len(found) and _joined(text, found[last], found[last + 1]):
        last += 1
    run = found[first : last + 1]
    if not all(_joined(text, *pair) for pair in pairwise(run)):
        return False
    return len(run) > 2 or text[one.end : other.start].strip() != ","


def _joined(text: str, one: Number, other: Number) -> bool:
    """Return True if only joiners, decimals and the unit of the second number stand between two numbers.

    Both must have the same currency or percent sign, or none.
    """
    if any(_MINUS.search(text[: number.start]) for number in (one, other)) or _GOES_ON.match(text[other.end :]):
        return False
    if _kind(text, one) != _kind(text, other):
        return False
    gap = re.sub(r"(?<=,|d) an?\b(?=\s*$)", "", text[one.end : other.start].lower())  # a 5-foot rope and a 7-foot rope
    between = [piece for piece in _PIECE.findall(gap) if not piece.isdigit()]
    if between == ["x"]:  # 20 x 30
        return True
    if between == ["and"] and other.value == 1:  # 2 people have 4 and 1 person has 5
        return False
    unit = {*_SIGNS}
    for piece in _PIECE.findall(text[other.end : other.end + 30].lower())[:3]:
        if piece != "-" and (_JOINER.match(piece) or not piece[0].isalpha()):  # a 5-foot and a 7-foot rope
            break
        unit.add(piece)
    joiners = [piece for piece in between if _JOINER.match(piece)]
    if sum(piece in "+*×·" for piece in joiners) > 1:  # an expression, such as 6 * + 2
        return False
    return bool(joiners) and all(piece in joiners or piece in unit for piece in between)


def _kind(text: str, number: Number) -> str:
    """Return the currency sign or the percent sign of a number, or an empty string."""
    currency = re.search(r"(?:[$€£₹]|\brs\.?)\s?$", text[: number.start], re.IGNORECASE)
    percent = re.match(r"\s?(?:%|per ?cent\b)", text[number.end :])
    return (currency[0].strip() if currency else "") + ("%" if percent else "")


def _put(text: str, number: Number, new: str) -> str:
    return text[: number.start] + new + text[number.end :]


def _fresh(text: str, number: Number, rng: random.Random) -> str:
    """Replace a number by a value of about its size that the text does not have."""
    taken = {0, 1, *values(text)}
    zeros = len(str(number.value)) - len(str(number.value).rstrip("0")) if number.value else 0
    step = 10 ** min(zeros, max(0, len(str(number.value)) - 2))
    low, high = number.value // 2 // step, number.value * 3 // 2 // step + 5
    new = 0
    while new in taken:  # the range has more values than the text has numbers
        new = rng.randint(low, high + len(taken)) * step
    return _put(text, number, f"{new:,}" if "," in text[number.start : number.end] else str(new))

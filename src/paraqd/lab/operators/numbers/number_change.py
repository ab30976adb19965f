"""Change the value of one number."""

from __future__ import annotations

import random
from fractions import Fraction

from paraqd.reading import Kind, Problem, Quantity, read, same_quantities
from paraqd.reading.signs import MINUS
from paraqd.rewriting.number_words import cardinal_words, fraction_words, ordinal_words
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import match_case, splice
from paraqd.rewriting.words_to_numbers import ordinal_digits

_TRIES = 6


class NumberChange(Operator):
    """Change the value of one number but keep its form: 15 km → 18 km, two-thirds → three quarters, 2:3 → 2:5."""

    name = "NumberChange"
    polarity = "invalid"
    fault = "number_changed"
    changes = frozenset({"numbers"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Change the value of one number; return None if no number can be changed."""
        del resources
        numbers = [q for q in problem.quantities if q.kind is not Kind.LABEL]
        rng.shuffle(numbers)
        for q in numbers[:_TRIES]:
            new = _different_number(problem.text[q.number_span[0] : q.number_span[1]], q, rng)
            if new is None or (q.worded and problem.text[q.number_span[1] :].startswith((" a ", " an "))):
                continue  # "half an hour" must not become "three quarters an hour"
            text = splice(problem.text, [(*q.number_span, match_case(new, problem, q.number_span[0]))])
            if text != problem.text and not same_quantities(problem.quantities, read(text).quantities):
                return text
        return None


def _different_number(surface: str, q: Quantity, rng: random.Random) -> str | None:
    """Write a different value in the same form as ``surface``; return None if that is not possible."""
    if q.worded:
        return _different_words(surface, q, rng)
    if q.kind is Kind.RATIO or "/" in surface or ":" in surface:
        return _different_part(surface, rng, clock=q.kind is Kind.TIME_OF_DAY)
    if q.kind is Kind.ORDINAL:
        return ordinal_digits(int(q.value) + rng.randint(1, 3))
    if q.kind is Kind.TIME_OF_DAY:
        return _different_part(surface, rng, clock=True)
    sign = surface[0] if surface[0] in MINUS else ""
    surface = surface.removeprefix(sign)
    head, space, scale = surface.partition(" ")
    if not head.replace(",", "").replace(".", "").isdecimal():
        return None
    return sign + _different_digits(head, rng) + space + scale


def _different_digits(digits: str, rng: random.Random) -> str:
    """Draw a different number of similar size, with the same number of decimals and the same digit grouping."""
    plain = digits.replace(",", "")
    _, point, decimals = plain.partition(".")
    step = 10 ** len(decimals)
    old = int(Fraction(plain) * step)
    spread = max(2, abs(old) // 2)
    round_to = 10 ** (len(str(old)) - len(str(old).rstrip("0"))) if old else 1
    new = old
    while new == old or new <= 1:  # the number 1 would need a singular noun
        new = old + rng.choice((-1, 1)) * max(round_to, rng.randint(1, spread) // round_to * round_to)
        if new <= 1:
            new = old + round_to * rng.randint(1, 3)
    if point:
        whole = "" if plain[0] == "." and new < step else str(new // step)
        return f"{whole}.{new % step:0{len(decimals)}d}"
    if "," not in digits:
        return str(new)
    groups = digits.split(",")
    return indian_groups(new) if len(groups) > 2 and len(groups[1]) == 2 else f"{new:,}"


def indian_groups(n: int) -> str:
    """Write a number with Indian digit grouping.

    >>> indian_groups(120000), indian_groups(999)
    ('1,20,000', '999')
    """
    head, tail = str(n)[:-3], str(n)[-3:]
    while len(head) > 2:
        head, tail = head[:-2], f"{head[-2:]},{tail}"
    return f"{head},{tail}" if head else tail


def _different_part(surface: str, rng: random.Random, *, clock: bool) -> str | None:
    """Change one of the numbers in a fraction, ratio or time of day; return None if there is no number."""
    pieces = _split_at_digits(surface)
    spots = [i for i, piece in enumerate(pieces) if piece.isdecimal()]
    if not spots:
        return None
    fraction = "/" in surface
    if fraction and len(spots) == 3:
        spots = spots[:1]  # change the whole part of a mixed number, because its fraction must stay below one
    spot = rng.choice(spots)
    width = len(pieces[spot])
    if clock and width == 2 and spot == spots[-1]:
        new = f"{(int(pieces[spot]) + rng.randint(5, 50)) % 60:02d}"
    elif clock:
        new = str(int(pieces[spot]) % 12 + 1)
    elif fraction and len(spots) == 2 and spot == spots[0] and int(pieces[spots[1]]) > int(pieces[spot]):
        below = [n for n in range(1, min(int(pieces[spots[1]]), 52)) if n != int(pieces[spot])]
        new = str(rng.choice(below)) if below else str(int(pieces[spot]) + 1)
    else:
        new = str(int(pieces[spot]) + rng.randint(1, 4))
    pieces[spot] = new
    return "".join(pieces)


def _split_at_digits(surface: str) -> list[str]:
    pieces: list[str] = []
    for c in surface:
        if pieces and c.isdecimal() and pieces[-1].isdecimal():
            pieces[-1] += c
        else:
            pieces.append(c)
    return pieces


def _different_words(surface: str, q: Quantity, rng: random.Random) -> str | None:
    if q.kind is Kind.ORDINAL:
        return ordinal_words(int(q.value) + rng.randint(1, 3))
    if q.kind is Kind.TIME_OF_DAY:
        return None
    if q.kind is Kind.MULTIPLE and surface.lower() in {"twice", "thrice"}:
        return f"{cardinal_words(int(q.value) + rng.randint(2, 4))} times"
    if q.kind is Kind.MULTIPLE and surface.lower() in {"double", "triple"}:
        return "triple" if surface.lower() == "double" else "double"
    if q.kind is Kind.MULTIPLE and q.value.denominator == 1 and not surface.isalpha():
        return None
    if q.value.denominator != 1 and not any(found.value == q.value for found in read(surface).quantities):
        return None  # in "two hours and a half", the half follows the unit
    if q.value.denominator != 1:
        choices = [Fraction(1, 3), Fraction(2, 3), Fraction(1, 4), Fraction(3, 4), Fraction(1, 5), Fraction(2, 5)]
        new = rng.choice([value for value in choices if value != q.value])
        return fraction_words(new + int(q.value))
    old = int(q.value)
    if old == 0 or (surface.lower().split()[0] in {"a", "an"} and old < 12):
        return None
    new_value = old + rng.randint(1, max(2, min(old // 2, 20)))
    return cardinal_words(new_value)

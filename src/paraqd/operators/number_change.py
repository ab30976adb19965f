"""One number changed into another."""

from __future__ import annotations

import random
from fractions import Fraction

from paraqd.operators.base import Operator, Resources
from paraqd.operators.number_words import cardinal_words, fraction_words, ordinal_words
from paraqd.operators.text import match_case, splice
from paraqd.reading import Kind, Problem, Quantity, read, same_quantities

_TRIES = 6


class NumberChange(Operator):
    """Changes one number into another of the same form: 15 km → 18 km, two-thirds → three quarters, 2:3 → 2:5."""

    name = "NumberChange"
    polarity = "invalid"

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Change one number; None where the text has none that can be changed."""
        del resources
        numbers = [q for q in problem.quantities if q.kind is not Kind.LABEL]
        rng.shuffle(numbers)
        for q in numbers[:_TRIES]:
            new = _another(problem.text[q.number_span[0] : q.number_span[1]], q, rng)
            if new is None:
                continue
            text = splice(problem.text, [(*q.number_span, match_case(new, problem, q.number_span[0]))])
            if text != problem.text and not same_quantities(problem.quantities, read(text).quantities):
                return text
        return None


def _another(surface: str, q: Quantity, rng: random.Random) -> str | None:
    """Write another value in the form of ``surface``."""
    if q.worded:
        return _another_in_words(surface, q, rng)
    if q.kind is Kind.RATIO or "/" in surface or ":" in surface:
        return _another_part(surface, rng)
    if q.kind is Kind.ORDINAL:
        return None
    head, space, scale = surface.partition(" ")
    if not head.replace(",", "").replace(".", "").isdecimal():
        return None
    return _another_number(head, rng) + space + scale


def _another_number(digits: str, rng: random.Random) -> str:
    """Draw a number near the old one, with as many decimals and the same grouping."""
    plain = digits.replace(",", "")
    _, point, decimals = plain.partition(".")
    step = 10 ** len(decimals)
    old = int(Fraction(plain) * step)
    spread = max(2, abs(old) // 2)
    round_to = 10 ** (len(str(old)) - len(str(old).rstrip("0"))) if old else 1
    new = old
    while new == old or new <= 0:
        new = old + rng.choice((-1, 1)) * max(round_to, rng.randint(1, spread) // round_to * round_to)
        if new <= 0:
            new = old + round_to * rng.randint(1, 3)
    if point:
        return (
            f"{new // step}.{new % step:0{len(decimals)}d}"
            if plain[0] != "." or new >= step
            else f".{new % step:0{len(decimals)}d}"
        )
    return f"{new:,}" if "," in digits and len(digits.split(",")[-2]) != 2 else str(new)


def _another_part(surface: str, rng: random.Random) -> str | None:
    """Change one of the numbers of a fraction, a ratio or a time."""
    pieces = _pieces(surface)
    spots = [i for i, piece in enumerate(pieces) if piece.isdecimal()]
    if not spots:
        return None
    spot = rng.choice(spots)
    width = len(pieces[spot])
    if ":" in surface and width == 2 and spot == spots[-1]:
        new = f"{(int(pieces[spot]) + rng.randint(5, 50)) % 60:02d}"
    else:
        new = str(int(pieces[spot]) + rng.randint(1, 4))
    pieces[spot] = new
    return "".join(pieces)


def _pieces(surface: str) -> list[str]:
    pieces: list[str] = []
    for c in surface:
        if pieces and c.isdecimal() and pieces[-1].isdecimal():
            pieces[-1] += c
        else:
            pieces.append(c)
    return pieces


def _another_in_words(surface: str, q: Quantity, rng: random.Random) -> str | None:
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
    if q.value.denominator != 1:
        choices = [Fraction(1, 3), Fraction(2, 3), Fraction(1, 4), Fraction(3, 4), Fraction(1, 5), Fraction(2, 5)]
        new = rng.choice([value for value in choices if value != q.value])
        return fraction_words(new + int(q.value))
    old = int(q.value)
    if old == 0 or (surface.lower().split()[0] in {"a", "an"} and old < 12):
        return None
    new_value = old + rng.randint(1, max(2, min(old // 2, 20)))
    return cardinal_words(new_value)

"""Build long pairs from short fragments, in the ways in which work can grow faster than a text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from itertools import count

Pair = tuple[str, str]
Shape = Callable[[Sequence[str], int, random.Random], Pair]

_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"\b([A-Z])[a-z]+\b")
_FILLERS = (
    " ",
    "\n",
    "\t",
    ".",
    ",",
    "-",
    "*",
    "?",
    "!",
    "_",
    "(",
    '"',
    "0",
    "9",
    "a",
    "A",
    "中",
    "½",
    "\u00a0",
    " ,",
    " x",
)
_ENDS = ("", " How many?", " x?", " 7?", ". Find x.", " z")
_JOINS = (" ", " ", "", ", ", ". ", "\n")
_SYLLABLES = [first + vowel for first in "bdfgklmnprst" for vowel in "aeiou"]


def repeated(piece: str, size: int, join: str = " ") -> str:
    """Return a text of about ``size`` characters that repeats a piece."""
    return join.join([piece] * max(1, size // (len(piece) + len(join))))


def counted(piece: str, size: int, first: int, join: str = " ") -> str:
    """Return a text that repeats a piece with other numbers and other names each time."""
    numbers = count(first)
    made: list[str] = []
    done = 0
    for turn in count():
        part = _NUMBER.sub(lambda _: str(next(numbers)), piece)
        part = _NAME.sub(rf"\g<1>{_word(turn)}", part)
        made.append(part)
        done += len(part) + len(join)
        if done >= size:
            return join.join(made)
    raise AssertionError


def _word(number: int) -> str:
    """Return a made-up word for a number.

    >>> _word(0), _word(61)
    ('bababa', 'bebeba')
    """
    return "".join(_SYLLABLES[(number // 60**place) % 60] for place in range(3))


def _same(pieces: Sequence[str], size: int, rng: random.Random) -> Pair:
    text = repeated(pieces[0], size, rng.choice(_JOINS))
    return text + rng.choice(_ENDS), _NUMBER.sub(_next, text) + rng.choice(_ENDS)


def _next(match: re.Match[str]) -> str:
    return str(int(match[0]) + 1)


def _counted(pieces: Sequence[str], size: int, rng: random.Random) -> Pair:
    join, end = rng.choice(_JOINS), rng.choice(_ENDS)
    return counted(pieces[0], size, 2, join) + end, counted(pieces[0], size, rng.choice((3, 5, 5000)), join) + end


def _against(pieces: Sequence[str], size: int, rng: random.Random) -> Pair:
    join = rng.choice(_JOINS)
    makers = [rng.choice((lambda piece: repeated(piece, size, join), lambda piece: counted(piece, size, 2, join)))] * 2
    return makers[0](pieces[0]) + rng.choice(_ENDS), makers[1](pieces[1]) + rng.choice(_ENDS)


def _halves(pieces: Sequence[str], size: int, rng: random.Random) -> Pair:
    one, two = (counted(piece, size // 2, 2, " ") for piece in pieces[:2])
    return f"{one} {two}{rng.choice(_ENDS)}", f"{two} {one}{rng.choice(_ENDS)}"


def _framed(pieces: Sequence[str], size: int, rng: random.Random) -> Pair:
    """Repeat a fragment between two others, which may open and close an expression."""
    opening, middle, closing = pieces[:3]
    text = repeated(middle, size, rng.choice(_JOINS))
    return f"{opening} {text} {closing}", f"{opening} {_NUMBER.sub(_next, text)} {closing}"


def _gap(pieces: Sequence[str], size: int, rng: random.Random) -> Pair:
    """Put a long run of one character between fragments."""
    filler = rng.choice(_FILLERS)
    run = filler * (size // len(filler))
    return f"{pieces[0]}{run}{pieces[1]}", f"{pieces[0]}{run}{pieces[2]}"


def _glued(pieces: Sequence[str], size: int, rng: random.Random) -> Pair:
    """Repeat the first characters of a fragment without spaces."""
    piece = pieces[0][: rng.randint(1, 4)]
    text = repeated(piece, size, "")
    return f"{text}{rng.choice(_ENDS)}", f"{text}{pieces[1]}"


SHAPES: dict[str, Shape] = {
    "same": _same,
    "counted": _counted,
    "against": _against,
    "halves": _halves,
    "framed": _framed,
    "gap": _gap,
    "glued": _glued,
}

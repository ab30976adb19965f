"""Every text can be read, in time that grows in proportion to its length."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest
from counted_calls import calls

from paraqd.reading import read, same_quantities
from paraqd.reading.signs import ZERO_WIDTH
from paraqd.reading.unit_mentions import find_unit_mentions

MEGABYTE = 10**6

# repeated until the text is long enough
REPEATED = {
    "digits": "9",
    "groups": "1,222",
    "list": "1, ",
    "bare list": "1,",
    "fractions": "1/",
    "ratios": "1:",
    "decimals": "1.",
    "powers": "2^",
    "letters": "a ",
    "long word": "m",
    "apostrophes": "a'",
    "brackets": "(",
    "quotes": '"',
    "dollars": "$",
    "minus signs": "-",
    "stops": ".",
    "spaced stops": ". ",
    "initials": "A. ",
    "rupees": "Rs.",
    "question marks": "? ",
    "line breaks": "a\n",
    "cardinals": "one hundred and ",
    "scales": "thousand ",
    "dozens": "dozen ",
    "hyphens": "twenty-",
    "half hours": "an hour and a half ",
    "terms": "5 m - ",
    "shared units": "3, 4 and 5 km ",
    "pounds": "5 pounds ",
    "how many": "how many ",
    "what": "what ",
    "find": "find, ",
    "which": "which, ",
    "is": "is ",
    "names": "Ram ",
    "capitals": "The New ",
    "vulgar fractions": "½",
    "superscripts": "²",
    "combining marks": "e\u0301\u0327",
    "zero bytes": "\x00",
    "blanks": " \t\u00a0",
}


def repeat(piece: str) -> Callable[[int], str]:
    return lambda size: (piece * (size // len(piece) + 1))[:size]


SHAPES: dict[str, Callable[[int], str]] = {
    **{name: repeat(piece) for name, piece in REPEATED.items()},
    "one ratio": lambda size: "The ratio of " + repeat("1 to ")(size),
    "one scale": lambda size: "5 " + repeat("thousand ")(size),
    "stray marks": lambda size: "x" + repeat(". ")(size),
    "space inside": lambda size: "x" + " " * size + "y?",
    "space behind is": lambda size: "the sum is" + " " * size + "y",
    "dashes behind is": lambda size: "the sum is" + " -" * (size // 2) + "y",
    "blank to fill": lambda size: "the sum is " + "_" * size + "y",
    "one question": lambda size: "so, " + repeat("which, ")(size) + "?",
    "open quotation": lambda size: 'Go."' + repeat(' " ')(size),
    "mixed Unicode": lambda size: "".join(chr(0x20 + (i * 7919) % 0xD7E0) for i in range(size)),
    "surrogates": lambda size: "".join(chr(0xD800 + i % 0x800) for i in range(size)),
}


@pytest.mark.parametrize("text", ["", " ", "\n", "\t\r\n\x0b\x0c", "\u00a0\u2003\u3000", "\x1c\x1d\x1e\x1f\x85\u2028"])
def test_blank(text: str):
    problem = read(text)
    assert problem.sentences == problem.quantities == problem.entities == problem.questions == problem.tokens == ()
    assert problem.question is None


def test_each_character_beside_a_number():
    odd = [0x200B, 0x202E, 0xFEFF, 0xD800, 0xDFFF, 0xFFFE, 0x1F642, 0x10FFFF]
    for character in map(chr, [*range(0x300), *odd]):
        for text in (character, f"{character}5", f"5{character}", f"5{character}6", f"five{character}six"):
            found = "".join(q.surface for q in read(text).quantities)
            assert sum(c in "56" for c in found) == sum(c in "56" for c in text), text


@pytest.mark.parametrize("name", SHAPES)
def test_short_texts_of_each_shape(name: str):
    for size in (*range(1, 40), 500):
        text = SHAPES[name](size)
        problem = read(text)
        assert "".join(token.text for token in problem.tokens) == "".join(text.split())
        assert same_quantities(problem.quantities, problem.quantities)
        find_unit_mentions(problem)


@pytest.mark.parametrize("name", ["digits", "groups", "cardinals", "how many", "long word"])
def test_a_megabyte_of_one_thing(name: str):
    text = SHAPES[name](MEGABYTE)
    problem = read(text)
    assert problem.text == text
    assert sum(len(token.text) for token in problem.tokens) == sum(not c.isspace() for c in text)


def test_a_megabyte_of_everything():
    share = MEGABYTE // len(SHAPES)
    text = "\n".join(shape(share) for shape in SHAPES.values())
    assert len(text) > 0.99 * MEGABYTE
    shown = ZERO_WIDTH.sub("", text).replace("\u2010", "-").replace("\u2011", "-")
    assert "".join(token.text for token in read(text).tokens) == "".join(shown.split())


@pytest.mark.parametrize("size", [10, 500, 5000])
@pytest.mark.parametrize("piece", ["thousand ", "dozen ", "million-", "hundred ", "crore "])
def test_scales_do_not_pile_up(piece: str, size: int):
    """A number of more than a few hundred digits counts nothing, and computing it is not linear."""
    for text in (piece * size, "5 " + piece * size, "$5 " + piece * size, "five " + piece * size):
        for q in read(text).quantities:
            assert q.value.numerator.bit_length() < 3000


# Growth. Processor time, not wall time; the best of several; eight times the text may take twice what is proportional
# (quadratic growth would take 64 times as long).
SMALL = 16_000
FACTOR = 8
LIMIT = 2 * FACTOR
NOISE = 0.004  # seconds: below this a measurement says nothing
ATTEMPTS = 4


def seconds(text: str) -> float:
    gc.disable()
    try:
        start = time.process_time()
        read(text)
        return time.process_time() - start
    finally:
        gc.enable()


# Where the number of calls says it all (see below), time is not taken as well.
TIMED = [name for name in SHAPES if name not in {
    "list", "bare list", "fractions", "decimals", "powers", "vulgar fractions", "shared units", "terms", "half hours",
    "pounds", "dollars", "minus signs", "zero bytes", "hyphens", "cardinals", "combining marks", "names",
}]  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_calls_grow_linearly(name: str):
    shape = SHAPES[name]
    read(shape(100))  # what is computed once
    assert calls(read, shape(8000)) <= 9 * calls(read, shape(1000)) + 100

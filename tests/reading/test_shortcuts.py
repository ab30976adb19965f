"""Cheap tests before a pattern must not hide anything that the pattern would find."""

from __future__ import annotations

import re
import string
import sys

import pytest

from paraqd.reading import question, read
from paraqd.reading.quantities import find_quantities
from paraqd.reading.token_stream import Stream


def test_low_has_every_letter_that_a_pattern_takes_for_another():
    signs = "".join(chr(code) for code in range(128, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    alike = re.findall("[a-z]", signs, re.I)
    assert {"ſ", "ı", "İ", "\N{KELVIN SIGN}"} == set(alike)
    for sign in alike:
        letters = [letter for letter in string.ascii_lowercase if re.fullmatch(letter, sign, re.I)]
        assert letters == [read(sign).low]


@pytest.mark.parametrize(
    "pattern",
    ["_HOW", "_WH", "_IMPERATIVE", "_ASKING_PHRASE", "_WANTED", "_REQUIRED", "_ORDERED", "_INVERTED"],
)
def test_every_pattern_that_finds_a_question_needs_a_cue(pattern):
    """Take the cues out of texts that ask: no pattern finds anything any more."""
    texts = [
        "how many pens", "what is it", "which of them does he sell", "who is it", "Find the sum", "seek the value",
        "The sum is to be found.", "The area is asked for.", "Required: the area", "To find: x", "then count the birds",
        "Decide on one", "the total is to be worked out", "please rearrange them", "show me", "what percent",
    ]  # fmt: skip
    found = [text for text in texts if getattr(question, pattern).search(text)]
    assert found
    for text in found:
        without = re.sub(r"\w+", lambda word: "" if word[0].lower() in question._CUES else word[0], text)
        assert without != text and getattr(question, pattern).search(without) is None


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("2 and a half hours", "5/2", "hour"),
        ("4 fifths of it", "4/5", None),
        ("3 p.m.", "15", None),
        ("3 pm", "15", None),
        ("12 noon", "12", None),
        ("12 midnight", "0", None),
        ("at 7 in the evening", "19", None),
        ("7 oclock", "7", None),
        ("12 pens", "12", None),
        ("12 km", "12", "kilometre"),
        ("12 dozen pens", "144", None),
    ],
)
def test_a_number_goes_on_behind_it(text, value, unit):
    (quantity,) = find_quantities(Stream(text))
    assert (str(quantity.value), quantity.unit) == (value, unit)


def test_lists_are_split_where_grouped_numbers_are_not():
    text = "Add 3,4,5 to 10,576, then 1,2."
    stream = Stream(text)
    assert stream.text[: stream.n] == ["Add", *"3,4,5", "to", "10,576", ",", "then", *"1,2", "."]
    assert all(text[token.start : token.end] == token.text for token in stream.tokens)

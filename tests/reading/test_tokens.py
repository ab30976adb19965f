"""Tokens: words, numbers with their grouping, single punctuation marks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from paraqd.reading import read, tokenize
from paraqd.reading.tokens import is_grouped


def words(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\n ", []),
        ("one", ["one"]),
        ("one two", ["one", "two"]),
        ("a, b.", ["a", ",", "b", "."]),
        ("twenty-five", ["twenty", "-", "five"]),
        ("5km", ["5", "km"]),
        ("km5", ["km", "5"]),
        ("H2O", ["H", "2", "O"]),
        ("don't", ["don't"]),
        ("o’clock", ["o’clock"]),
        ("Ravi's", ["Ravi's"]),
        ("the boys' bats", ["the", "boys", "'", "bats"]),
        ("...", [".", ".", "."]),
        ("a_b", ["a", "_", "b"]),
        ("$5", ["$", "5"]),
        ("5%", ["5", "%"]),
        ("½", ["½"]),
        ("2½", ["2", "½"]),
        ("x²", ["x", "²"]),
        ("x¹⁰", ["x", "¹⁰"]),
        ("x₁₂", ["x", "₁₂"]),
        ("2:3", ["2", ":", "3"]),
        ("a.m.", ["a", ".", "m", "."]),
        ("naïve café", ["naïve", "café"]),
        ("5\u00a0km", ["5", "km"]),
        ("a\x00b", ["a", "\x00", "b"]),
    ],
)
def test_words(text: str, expected: list[str]):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1200", ["1200"]),
        ("1,200", ["1,200"]),
        ("1,20,000", ["1,20,000"]),
        ("10,576.25", ["10,576.25"]),
        ("3,4,5", ["3", ",", "4", ",", "5"]),
        ("3, 4", ["3", ",", "4"]),
        ("1,2345", ["1", ",", "2345"]),
        ("0.6", ["0.6"]),
        (".5", [".5"]),
        ("x.5", ["x", ".", "5"]),
        ("5.", ["5", "."]),
        ("5.km", ["5", ".", "km"]),
        ("1.2.3", ["1.2", ".", "3"]),
        ("1,200,", ["1,200", ","]),
        ("3,4.5", ["3", ",", "4.5"]),
        ("3/4", ["3", "/", "4"]),
        ("٣٤", ["٣٤"]),
    ],
)
def test_numbers(text: str, expected: list[str]):
    assert words(text) == expected


@pytest.mark.parametrize("run", ["1,200", "12,345", "123,456", "1,234,567", "1,20,000", "12,34,567", "1,00,00,000"])
def test_grouped(run: str):
    assert is_grouped(run)


@pytest.mark.parametrize(
    "run", ["3,4,5", "1,2", "1,23", "1,2345", "1234,567", "12,345,67", "0,123", "01,234", "123,45,678"]
)
def test_not_grouped(run: str):
    assert not is_grouped(run)


@pytest.mark.parametrize(
    "text", ["Rs.40,000 at 5% for 1.5 years.", "3,4,5 and  6,\n7", "x² + ½ = ₂", "  (a)  ", "don't ''quote''"]
)
def test_spans(text: str):
    tokens = tokenize(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert all(left.end <= right.start for left, right in pairwise(tokens))
    assert "".join(token.text for token in tokens) == "".join(text.split())


def test_a_problem_carries_its_tokens():
    text = "Meera bought 2.5 kg of rice."
    assert read(text).tokens == tokenize(text)

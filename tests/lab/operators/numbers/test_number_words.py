"""Write numbers in words that are read as the same value."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraqd.reading import Kind, read
from paraqd.rewriting.number_words import cardinal_words, decimal_words, fraction_words, ordinal_words

CHECK = settings(deadline=None, derandomize=True)


def read_value(words):
    """Read the only number of a sentence."""
    (quantity,) = read(f"There are {words} of these.").quantities
    return quantity.value


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (40, "forty"),
        (25, "twenty-five"),
        (100, "one hundred"),
        (105, "one hundred and five"),
        (900, "nine hundred"),
        (1_001, "one thousand and one"),
        (1_200, "one thousand two hundred"),
        (10_576, "ten thousand five hundred and seventy-six"),
        (1_000_000, "one million"),
        (-3, "negative three"),
    ],
)
def test_cardinals(n, words):
    assert cardinal_words(n) == words


@pytest.mark.parametrize(
    ("n", "words"),
    [(120_000, "one lakh twenty thousand"), (250_000, "two lakh fifty thousand"), (10_000_000, "one crore")],
)
def test_indian_cardinals(n, words):
    assert cardinal_words(n, indian=True) == words


def test_too_large_for_words():
    assert cardinal_words(10**15) is None
    assert cardinal_words(-(10**15)) is None
    assert cardinal_words(10**12, indian=True) is None


@CHECK
@given(st.integers(2, 10**15 - 1))
def test_cardinals_read_as_the_same_value(n):
    assert read_value(cardinal_words(n)) == n


@CHECK
@given(st.integers(2, 10**10 - 1))
def test_indian_cardinals_read_as_the_same_value(n):
    assert read_value(cardinal_words(n, indian=True)) == n


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("0.6", "zero point six"),
        ("0.65", "zero point six five"),
        (".5", "zero point five"),
        ("2.05", "two point zero five"),
        ("1,200.5", "one thousand two hundred point five"),
    ],
)
def test_decimals(digits, words):
    assert decimal_words(digits) == words


@CHECK
@given(st.decimals(0, 10**6, places=3))
def test_decimals_read_as_the_same_value(number):
    assert read_value(decimal_words(f"{number:.3f}")) == Fraction(number)


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (1, "first"),
        (2, "second"),
        (3, "third"),
        (5, "fifth"),
        (8, "eighth"),
        (9, "ninth"),
        (12, "twelfth"),
        (20, "twentieth"),
        (21, "twenty-first"),
        (40, "fortieth"),
        (100, "hundredth"),
        (0, None),
        (-2, None),
        (101, None),
    ],
)
def test_ordinals(n, words):
    assert ordinal_words(n) == words


@pytest.mark.parametrize("n", range(1, 100))
def test_ordinals_read_as_the_same_ordinal(n):
    (quantity,) = read(f"She lives in the {ordinal_words(n)} house.").quantities
    assert (quantity.kind, quantity.value) == (Kind.ORDINAL, n)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Fraction(1, 2), "one half"),
        (Fraction(3, 2), "one and a half"),
        (Fraction(5, 2), "two and a half"),
        (Fraction(1, 4), "one quarter"),
        (Fraction(3, 4), "three quarters"),
        (Fraction(2, 3), "two thirds"),
        (Fraction(7, 8), "seven eighths"),
        (Fraction(16, 3), "five and one third"),
        (Fraction(4), None),
        (Fraction(0), None),
        (Fraction(-1, 2), None),
        (Fraction(1, 47), None),
    ],
)
def test_fractions(value, words):
    assert fraction_words(value) == words


@CHECK
@given(st.fractions(min_value=Fraction(1, 20), max_value=50, max_denominator=20))
def test_fractions_read_as_the_same_value(value):
    words = fraction_words(value)
    if words is not None:
        assert read_value(words) == value

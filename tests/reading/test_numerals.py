"""Numbers in words and in digits: cardinals, ordinals, the values of digits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paraqd.reading.numerals import ORDINALS, VULGAR_VALUES, cardinal, digits_value, meridiem, ordinal_value
from paraqd.reading.token_stream import Stream


def stream(text: str) -> Stream:
    return Stream(text)


def whole(text: str) -> int | None:
    """Return the cardinal that a text is, or None where it does not take up all of it."""
    s = stream(text)
    found = cardinal(s, 0)
    return found[0] if found is not None and found[1] == s.n else None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("zero", 0),
        ("one", 1),
        ("nineteen", 19),
        ("twenty", 20),
        ("twenty-five", 25),
        ("twenty five", 25),
        ("ninety-nine", 99),
        ("Twenty-Five", 25),
        ("hundred", 100),
        ("one hundred", 100),
        ("one hundred five", 105),
        ("one hundred and five", 105),
        ("two hundred and forty-three", 243),
        ("two-hundred", 200),
        ("fifteen hundred", 1500),
        ("one thousand", 1000),
        ("one thousand and one", 1001),
        ("three thousand four hundred and five", 3405),
        ("twelve thousand", 12_000),
        ("five hundred thousand", 500_000),
        ("one hundred and five thousand", 105_000),
        ("two hundred thirty-four thousand five hundred sixty-seven", 234_567),
        ("one lakh", 100_000),
        ("two lakh fifty thousand one hundred and five", 250_105),
        ("three crore five lakh", 30_500_000),
        ("one million", 1_000_000),
        ("two million three hundred thousand", 2_300_000),
        ("one billion two million three thousand and four", 1_002_003_004),
        ("nine hundred ninety-nine thousand nine hundred ninety-nine", 999_999),
    ],
)
def test_cardinal(text: str, value: int):
    assert whole(text) == value


@pytest.mark.parametrize(
    ("text", "value", "after"),
    [
        ("five and six", 5, 1),
        ("five six", 5, 1),
        ("twenty and five", 20, 1),
        ("twenty one-dollar notes", 20, 1),
        ("one hundred and five and six", 105, 4),
        ("thousand million", 1000, 1),
        ("seven apples", 7, 1),
        ("twenty zero", 20, 1),
    ],
)
def test_cardinal_stops(text: str, value: int, after: int):
    assert cardinal(stream(text), 0) == (value, after)


@pytest.mark.parametrize("text", ["", "apples", "and five", "-five", "7", "third", "half"])
def test_no_cardinal(text: str):
    assert cardinal(stream(text), 0) is None


def test_every_number_below_a_thousand():
    ones = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen"
    ).split()
    tens = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()

    def spell(n: int, joint: str) -> str:
        if n < 20:
            return ones[n]
        if n < 100:
            return tens[n // 10] + (f"-{ones[n % 10]}" if n % 10 else "")
        return f"{ones[n // 100]} hundred" + (f"{joint}{spell(n % 100, joint)}" if n % 100 else "")

    for n in range(1000):
        assert whole(spell(n, " ")) == n
        assert whole(spell(n, " and ")) == n


@pytest.mark.parametrize(
    ("text", "value", "after"),
    [
        ("first", 1, 1),
        ("Third", 3, 1),
        ("twelfth", 12, 1),
        ("twentieth", 20, 1),
        ("twenty-first", 21, 3),
        ("ninety-ninth", 99, 3),
        ("hundredth", 100, 1),
    ],
)
def test_ordinal(text: str, value: int, after: int):
    assert ordinal_value(stream(text), 0) == (value, after)


@pytest.mark.parametrize("text", ["", "three", "twenty", "twenty-five", "thirds", "firstly"])
def test_no_ordinal(text: str):
    assert ordinal_value(stream(text), 0) is None


def test_ordinals_are_complete_to_twenty():
    assert sorted(value for value in ORDINALS.values() if value <= 20) == list(range(1, 21))


@pytest.mark.parametrize(
    ("digits", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("1,200", 1200),
        ("1,20,000", 120_000),
        ("0.6", Fraction(3, 5)),
        (".5", Fraction(1, 2)),
        ("1,234.50", Fraction(2469, 2)),
        ("0.1", Fraction(1, 10)),
        ("٣", 3),
    ],
)
def test_digits_value(digits: str, value: Fraction):
    assert digits_value(digits) == value


def test_vulgar_fractions_agree_with_unicode():
    import unicodedata

    for sign, value in VULGAR_VALUES.items():
        assert float(value) == pytest.approx(unicodedata.numeric(sign)), sign


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("am", ("a", 1)),
        ("PM", ("p", 1)),
        ("a.m.", ("a", 4)),
        ("p.m", ("p", 3)),
        ("P.M.", ("p", 4)),
        ("a man", None),
        ("a . m", None),
        ("amount", None),
        ("", None),
    ],
)
def test_meridiem(text: str, expected: tuple[str, int] | None):
    assert meridiem(stream(text), 0) == expected

"""Warnings about texts that are too long."""

import pytest

from paraqd.scoring.text_warnings import text_warnings

SHORT = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
LONG = "Tom walks on. " * 65 + SHORT


@pytest.mark.parametrize("pair", [(SHORT, LONG), (LONG, SHORT), (LONG, LONG)])
def test_a_text_of_more_than_two_hundred_words_is_warned_about(pair):
    (warning,) = text_warnings(*pair)
    assert f"A text has {len(LONG.split())} words." in warning and "so the score may be wrong" in warning


def test_texts_of_an_ordinary_length_are_not():
    fitting = " ".join(LONG.split()[-200:])
    assert text_warnings(SHORT, fitting) == ()
    assert text_warnings(SHORT, "word " + fitting) != ()

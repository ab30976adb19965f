"""No text in a CSV file can be taken for a formula, and none is changed on the way through a file."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraqd.tables.formulas import begins_like_formula, marked, unmarked

TEXTS = st.text() | st.text("'=+-@ \n\t\r1.x(|﹦＝\ufeff", max_size=8)


@given(TEXTS, st.booleans())
def test_a_text_comes_back(text, for_spreadsheet):
    written = marked(text, for_spreadsheet=for_spreadsheet)
    assert unmarked(written, for_spreadsheet=for_spreadsheet) == text
    assert written in (text, "'" + text)


@pytest.mark.parametrize("before", ["", "\n", "\r\n", "\t", " ", "\n \n", "\xa0", "\ufeff", "\u200b"])
@pytest.mark.parametrize("formula", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-cmd|' /C calc'!A0", "＝1+1"])
def test_nothing_before_a_formula_hides_it(before, formula):
    assert begins_like_formula(before + formula)
    for for_spreadsheet in (False, True):
        assert marked(before + formula, for_spreadsheet=for_spreadsheet) == "'" + before + formula


def test_other_texts_stay_as_they_are():
    for text in ("\nTom has 5 pens.", "\n-5", " -5", "'Tis 5 o'clock."):
        assert marked(text, for_spreadsheet=True) == text
    assert marked("\n-3x + 5 = 2", for_spreadsheet=False) == "\n-3x + 5 = 2"


@pytest.mark.parametrize("text", ["+" + "1" * 100_000 + "x", "-" + "1." * 50_000 + "x", "-" + "1 " * 50_000 + "x"])
def test_a_long_text_is_marked_in_linear_time(text):
    started = time.monotonic()
    assert marked(text, for_spreadsheet=True) == "'" + text
    assert time.monotonic() - started < 10  # a hundredth of a second, or minutes if the time grows with the square

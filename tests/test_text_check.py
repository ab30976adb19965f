"""One check says whether a text can be used."""

from __future__ import annotations

import pytest

from paraqd import Scorer
from paraqd.text_check import SPREADSHEET_ERRORS, pair_problem, text_problem


@pytest.mark.parametrize("value", ["", " \n\t", "\0\0", "\u200b", "\ufeff \u2060", None])
def test_blank(value):
    assert text_problem(value, "question") == "blank question"


def test_a_blank_paraphrase_is_usable_but_none_is_not():
    assert pair_problem("How many?", " ") == ""
    assert pair_problem("How many?", None) == "paraphrase is not text"


@pytest.mark.parametrize("error", sorted(SPREADSHEET_ERRORS))
def test_a_spreadsheet_error_is_not_text(error):
    assert text_problem(error) == f"text is a spreadsheet error ({error}), not text"
    assert text_problem(f"What does {error} mean?") == ""
    with pytest.raises(ValueError, match="question is a spreadsheet error"):
        Scorer.load("reading").score(error, error)
    with pytest.raises(ValueError, match="paraphrase is a spreadsheet error"):
        Scorer.load("reading").score("Ann has 5 pens. How many?", f" {error.lower()}\n")

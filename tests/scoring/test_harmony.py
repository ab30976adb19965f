"""Lists of numbers in the question's order, where the order does not matter."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.harmony import harmonise
from paraqd.scoring.quantities import match_quantities


@pytest.mark.parametrize(
    ("question", "paraphrase", "made"),
    [
        ("Find the median of 7, 3 and 5.", "What is the median of 3, 5, 7?", "What is the median of 7, 3 and 5?"),
        ("What comes next: 7, 3, 5?", "3, 5, 7: what comes next?", "3, 5, 7: what comes next?"),
        ("Find the sum of 7, 3 and 5.", "What is the sum of 3, 5, 8?", "What is the sum of 3, 5, 8?"),
        ("Find the sum of 7 and 3.", "What is the sum of 3 and 7?", "What is the sum of 3 and 7?"),
    ],
)
def test_lists(question, paraphrase, made):
    here, there = read(question), read(paraphrase)
    found = harmonise(here, there, match_quantities(here, there))
    assert found.text == made
    assert found.back(0, len(found.text)) == (0, len(paraphrase))

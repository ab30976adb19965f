"""Lists of numbers are put into the question's order if the order does not matter."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.normalise_quantities import normalise_quantities


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
    found = normalise_quantities(here, there, match_quantities(here, there))
    assert found.text == made
    assert found.original_span(0, len(found.text)) == (0, len(paraphrase))


@pytest.mark.parametrize(
    ("question", "paraphrase", "made"),
    [
        ("He has 5 and buys 3.", "He has 5. He buys 3 more.", "He has 5. He buys 3."),
        ("He has 5 and buys 3 more.", "He had 5 and purchased 3.", "He had 5 and purchased 3 more."),
        (
            "She has 3. Her brother picked another 18.",
            "She has 3, he picked 18 more pens.",
            "She has 3, he picked 18 pens.",
        ),
        ("He bought 5 and she bought 3.", "He bought 5 and she bought 3 more.", None),
        # what is compared, what is needed, and another deed
        ("He buys 3. She buys 4.", "He buys 3 more than she does. She buys 4.", None),
        ("He has 5 and needs 3.", "He has 5 and needs 3 more.", None),
        ("He gave her 3 of his 5.", "He had 5 and got 3 more.", None),
        ("He has 5 and buys 3.", "He has 5 and buys 4 more.", None),
    ],
)
def test_more_of_what_is_got(question, paraphrase, made):
    here, there = read(question), read(paraphrase)
    found = normalise_quantities(here, there, match_quantities(here, there))
    assert found.text == (made or paraphrase)
    assert found.original_span(0, len(found.text)) == (0, len(paraphrase))

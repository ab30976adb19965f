"""Long texts that repeat themselves take time in proportion to their length."""

from __future__ import annotations

import time

import pytest

from paraqd import Scorer

SIZE = 40_000
REPEATED = (
    "half a ",
    "twice as ",
    "sold ",
    "5 more than 3 ",
    "buys 3 more ",
    "median of 7, 3, 5, ",
    "and a half ",
    "Is 5 even? ",
    "How many? ",
)


@pytest.mark.parametrize("piece", REPEATED)
def test_repeated_pieces(piece):
    """Some took half a minute and more: every word was compared with every other."""
    text = piece * (SIZE // len(piece))
    scorer = Scorer.load("reading")
    start = time.process_time()
    scorer.score(f"{text}7?", f"{text}x?")
    assert time.process_time() - start < 10


def test_many_ratios():
    def ratios(first):
        return "".join(f"The ratio of a{i}x to b{i}x is {i} : {i + 1}. " for i in range(first, first + 1000))

    start = time.process_time()
    Scorer.load("reading").score(ratios(2), ratios(5))
    assert time.process_time() - start < 10

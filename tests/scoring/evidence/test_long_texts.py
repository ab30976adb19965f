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


# White space or marks between two words, and what follows the second word
GAPS = {
    "a list of names": ("Ann{}Bob has 5. Cara has 7. How many?", "Ann{}Bob has 5. Cara has 8. How many?"),
    "two numbers": ("a b 5{}z 7 c d.", "a b 7{}z 5 c d."),
    "a label": ("Question{}x 5?", "Question{}y 6?"),
    "what is asked": ("5 is asked{}x.", "6 is asked{}x."),
    "an instruction": ("How many 5? Show your work for{}3.5 x.", "How many 6? Show your work for{}3.5 x."),
}


@pytest.mark.parametrize("name", GAPS)
def test_long_gaps(name):
    """Regular expressions tried every division of a gap into two parts, which took 10 to 50 seconds."""
    gap = " for" * (SIZE // 2) if name == "an instruction" else " " * (3 * SIZE // 2)
    question, paraphrase = (text.format(gap) for text in GAPS[name])
    scorer = Scorer.load("reading")
    start = time.process_time()
    scorer.score(question, paraphrase)
    assert time.process_time() - start < 5

"""The work on a pair grows with the length of its texts, and not with the square of the length."""

from __future__ import annotations

from itertools import count

import pytest
from counted_calls import calls

from paraqd import Scorer, read
from paraqd.scoring.evidence.comparisons import MOST_COMPARISONS, Comparisons
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.evidence.roles import sides_turned

WARNING = "The texts have too many numbers to compare each with all others, so the score may be wrong."


def word(number):
    """Return a word of its own for each number."""
    return "".join(chr(ord("a") + number // 26**place % 26) for place in range(4))


def repeat(piece, size):
    return piece * (size // len(piece))


def fill(piece, size):
    """Return a text of pieces, each of which is made from its number."""
    made, numbers = "", count()
    while len(made) < size:
        made += piece(next(numbers))
    return made


# texts in which every number was compared with many others
MANY_COMPARISONS = {
    "percentages": lambda n: ("Tom has 3 pens. " + repeat("5% ", n), "Tom has 3 pens. " + repeat("6% ", n)),
    "percentages of": lambda n: (repeat("50% of ", n), fill(lambda i: f"{7 * i + 3} ", n)),
    "other percentages": lambda n: (fill(lambda i: f"{i + 2}% ", n), fill(lambda i: f"{i + 2}.5% ", n)),
    "fractions": lambda n: (repeat("1/2 ", n), repeat("1/3 ", n)),
    "fractions of": lambda n: (fill(lambda i: f"1/{i + 3} of ", n), fill(lambda i: f"{7 * i + 3} ", n)),
    "ratios": lambda n: (fill(lambda i: f"{i + 2}:{i + 9} ", n), fill(lambda i: f"{7 * i + 3} ", n)),
    "one ratio": lambda n: (fill(lambda i: f"{i + 2}:", n) + "7", fill(lambda i: f"{i + 2} ", n)),
    "one ratio of ones": lambda n: (repeat("1:2:", n) + "7", repeat("1 2 ", n)),
    "derived": lambda n: (fill(lambda i: f"{17 * i * i + 1001} pens ", 350), fill(lambda i: f"{7 * i + 10**5} ", n)),
    "twice": lambda n: (fill(lambda i: f"twice {word(i)} ", n), fill(lambda i: f"half {word(i)} ", n)),
    "many findings": lambda n: (
        repeat("5 more than 3 twice 5% with 7:2 ", n),
        repeat("6 less than 4 half 7% without 2:7 ", n),
    ),
}
# texts in which the work grew with the square of the length
MANY_NAMES = {
    "one ratio": MANY_COMPARISONS["one ratio"],
    "one ratio of ones": MANY_COMPARISONS["one ratio of ones"],
    "swapped numbers": lambda n: (
        fill(lambda i: f"{word(i)} {5 + i % 2 * 2} {word(i + 4000)} ", n),
        fill(lambda i: f"{word(i)} {7 - i % 2 * 2} {word(i + 4000)} ", n),
    ),
    "letters": lambda n: (
        "Ann has 5 pens. Bob has 7. " + repeat("x A ", n),
        "Ann has 5 pens. Bob has 7. " + repeat("y A ", n),
    ),
    "names": lambda n: (
        "Tom has 5 pens. How many has he?",
        "Tom has 5 pens. How many has " + fill(lambda i: f"{word(i).title()}, ", n),
    ),
}


@pytest.fixture(scope="module")
def scorer():
    return Scorer.load("reading")


@pytest.mark.parametrize("name", MANY_COMPARISONS)
def test_comparisons_are_limited(scorer, name):
    """Such texts took up to 1.6 seconds for every 1,000 characters."""
    family = MANY_COMPARISONS[name]
    scorer.score(*family(100))  # what is computed once
    calls(scorer.score, *family(4000), most=25 * MOST_COMPARISONS)


@pytest.mark.parametrize("name", MANY_NAMES)
def test_the_work_grows_like_the_length(scorer, name):
    family = MANY_NAMES[name]
    scorer.score(*family(100))  # what is computed once
    assert calls(scorer.score, *family(4000)) < 5.5 * calls(scorer.score, *family(1000))


def test_comparisons_are_counted_and_refused():
    comparisons = Comparisons(5)
    assert comparisons.take(5) and comparisons.complete
    assert not comparisons.take() and not comparisons.complete


def test_a_pair_that_is_not_compared_completely_has_a_warning(scorer):
    numbers, others = fill(lambda i: f"{i} ", 4000), fill(lambda i: f"{i + 5000} ", 4000)
    assert not match_quantities(read(numbers), read(others)).complete
    verdict = scorer.score(numbers, others)
    assert WARNING in verdict.warnings and not verdict.valid


def test_a_long_list_is_compared_completely(scorer):
    """A hundred numbers, half of which changed, are no reason for a warning."""
    numbers = "".join(f"{i + 10} {word(i)}, " for i in range(100))
    changed = "".join(f"{i + 10 + 1000 * (i % 2)} {word(i)}, " for i in range(100))
    assert len(match_quantities(read(numbers), read(changed)).in_place) == 50
    assert WARNING not in scorer.score(numbers, changed).warnings


@pytest.mark.parametrize(
    ("question", "paraphrase", "turned"),
    [
        ("Ann is twice as old as Bob.", "Bob is half as old as Ann.", True),
        ("Ann is twice as old as Bob.", "Ann is half as old as Bob.", False),
        ("Red, blue and green.", "Green, blue and red.", True),
        ("The red, blue and green pens.", "The red, green and blue pens.", False),
        ("One pen.", "One pen.", False),
    ],
)
def test_most_things_are_in_another_order(question, paraphrase, turned):
    here, there = read(question), read(paraphrase)

    class Anywhere:
        start = end = 0

    assert sides_turned(here, Anywhere, there, Anywhere, Comparisons()) is turned

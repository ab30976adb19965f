"""Change one small word."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.relations.small_word_change import ENTRIES, SmallWordChange
from paraqd.reading import read


def outputs(operator, text, times=40):
    made = [operator.apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    assert text not in made
    return {each for each in made if each is not None}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Ana buys 3 pens for $2 each.", "Ana buys 3 pens for $2 in total."),
        ("She eats 1/3 of the remaining 12 figs.", "She eats 1/3 of the original 12 figs."),
        ("The price is increased by 20%.", "The price is increased to 20%."),
        ("The price fell to $20.", "The price fell by $20."),
        ("At least 3 of 5 coins show heads.", "At most 3 of 5 coins show heads."),
        ("Ana has 5 more pens than Ben.", "Ana has 5 times as many pens as Ben."),
        ("Ana has 5 times as many pens as Ben.", "Ana has 5 more pens than Ben."),
        ("12 pupils play both chess and golf.", "12 pupils play either chess or golf."),
        ("Find numbers below 90 divisible by 3 and 5.", "Find numbers below 90 divisible by 3 or 5."),
        ("Two of 9 cards are drawn without replacement.", "Two of 9 cards are drawn with replacement."),
        ("A path 2 m wide runs inside the park.", "A path 2 m wide runs outside the park."),
        ("Ana sold all her 9 cakes.", "Ana sold some of her 9 cakes."),
        ("She eats 2 figs every day. How many in 6 days?", "She eats 2 figs every other day. How many in 6 days?"),
        ("How many of the 9 figs are left?", "How many of the 9 figs are gone?"),
        ("Ana has twice as many as Ben.", "Ana has half as many as Ben."),
        ("A and B together can do it in 6 days.", "A and B each can do it in 6 days."),
        ("12% did not vote.", "12% did vote."),
        ("Two cars 90 km apart drive towards each other.", "Two cars 90 km apart drive away from each other."),
        ("She took 3 figs from the basket.", "She took 3 figs to the basket."),
    ],
)
def test_a_small_word_changes_the_problem(text, other):
    assert other in outputs(SmallWordChange(), text)


@pytest.mark.parametrize(
    "text",
    [
        "The price is reduced by 50%.",  # reduced to 50% is the same
        "The price is reduced to 1/2 of it.",
        "The 3 teams play each other.",
        "He pays $40 per day and $2 for a wash. What did he pay on Monday?",
        "Ana gets up early every day. She has 3 cats.",
        "Not only 3 but 4 came.",
        "The least common multiple of 12 and 18 is 36.",
        "She did not like it. He ate 3 figs.",
    ],
)
def test_a_small_word_without_meaning_stays(text):
    assert not outputs(SmallWordChange(), text)


def test_the_table_is_long_enough():
    assert len(ENTRIES) >= 30

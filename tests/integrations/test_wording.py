"""The distance counts rewording, not what a program can change without it."""

from __future__ import annotations

import random

import pytest
from rapidfuzz.distance import LCSseq

from paraqd.integrations.wording import common_length, distance

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
ANOTHER = "After buying 3 pens on top of his 5, what is the size of Tom's collection?"


@pytest.mark.parametrize(
    "copy",
    [
        QUESTION,
        QUESTION.lower(),
        QUESTION.replace(".", " ,").replace("?", ""),
        QUESTION.replace("5", "five").replace("3", "three"),
        QUESTION.replace("Tom", "Peter"),
        f"{QUESTION} The sun is shining on the hills.",
        f"On a bright morning, birds sing. {QUESTION}",
        "Tom has 5 pens and buys 3 more. How many pens?",
        "Tóm hás 5 péns ánd buys 3 móre. Hów mány péns dóes hé háve nów?",
        "Tom has 5 p-e-n-s and b-u-y-s 3 more. How m-a-n-y pens does he have n-o-w?",
        "Tom has 5 penns and buyss 3 moree. How manny penns doees he haave now?",
        "Tom has 5 <b>pens</b> and buys 3 more. How many p\u200bens does he have now?",
    ],
)
def test_a_copy_with_cosmetic_changes_is_no_distance_away(copy):
    assert distance(QUESTION, copy) < 0.1


def test_one_synonym_is_close_and_a_rewrite_is_far():
    near = distance(QUESTION, QUESTION.replace("buys", "purchases"))
    assert 0 < near < 0.2 < 0.4 < distance(QUESTION, ANOTHER)


def test_another_order_of_the_same_words_counts():
    moved = "How many pens does Tom have now? He has 5 pens and buys 3 more."
    assert 0.1 < distance(QUESTION, moved) < distance(QUESTION, ANOTHER)


def test_texts_without_words():
    assert distance("?", "!") == 0
    assert distance("Tom has 5 pens.", "!") == 1


@pytest.mark.parametrize(("one", "other", "length"), [("", "abc", 0), ("abc", "abc", 3), ("abcde", "axcxe", 3)])
def test_the_longest_common_subsequence(one, other, length):
    assert common_length(one, other) == length


def test_the_longest_common_subsequence_is_that_of_rapidfuzz():
    rng = random.Random(1)
    for _ in range(500):
        one, other = (rng.choices("abcdef", k=rng.randint(0, 90)) for _ in range(2))
        assert common_length(one, other) == LCSseq.similarity(one, other)

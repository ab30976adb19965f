"""Numbers that were replaced or swapped between the same words."""

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.in_place import swapped_in_place
from paraqd.scoring.evidence.rules import READER

SHOP = "A shop sells 12 red pens and 12 blue pens for 30 dollars on each of 12 days."


def features(question, paraphrase):
    return [finding.feature for finding in READER.findings(read(question), read(paraphrase))]


@pytest.mark.parametrize(
    "paraphrase",
    [
        SHOP.replace("12 blue", "30 blue"),  # a number that stands elsewhere
        SHOP.replace("12 blue", "1 blue"),  # a number that a paraphrase may add
        SHOP.replace("12 blue", "24 blue"),  # a number that follows from another
        SHOP.replace("12 blue", "17 blue"),
    ],
)
def test_one_of_several_equal_numbers_is_replaced(paraphrase):
    assert "number_replaced" in features(SHOP, paraphrase)


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        (SHOP, "On each of 12 days a shop sells 12 red and 12 blue pens for 30 dollars."),
        (SHOP, "For 30 dollars, a shop sells a dozen red pens and as many blue ones on each of 12 days."),
        ("The radius of the circle is 7 cm.", "The diameter of the circle is 14 cm."),
        ("A train takes 30 minutes to get there.", "A train takes half an hour to get there."),
        ("Tom has 2 dozen eggs in the box.", "Tom has 24 eggs in the box."),
    ],
)
def test_other_words_or_equal_quantities_are_no_replacement(question, paraphrase):
    assert "number_replaced" not in features(question, paraphrase)


def test_words_that_occur_twice_say_nothing():
    question = "Ann buys 5 red pens today. Ben buys 7 red pens today."
    assert not list(
        swapped_in_place(
            read("He buys 5 red pens. He buys 7 red pens."), read("He buys 7 red pens. He buys 5 red pens.")
        )
    )
    swapped = question.replace("5", "x").replace("7", "5").replace("x", "7")
    assert len(list(swapped_in_place(read(question), read(swapped)))) == 1
    assert "numbers_swapped" in features(question, swapped)


def test_the_order_in_a_sum_does_not_matter():
    question, turned = read("Find the sum of 14 and 9 apples."), read("Find the sum of 9 and 14 apples.")
    assert not list(swapped_in_place(question, turned))

"""Delete a phrase without which the problem has no answer."""

from __future__ import annotations

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read


def apply(text, seed=0):
    return get("FactDeletion").apply(read(text), derive_rng(seed, "q", "FactDeletion"), Resources())


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (
            "Two trains 300 km apart run towards each other at 60 km/h and 40 km/h. When do they meet?",
            "towards each other",
        ),
        ("Two cards are drawn without replacement from 52. What is the chance of two aces?", "without replacement"),
        ("The geometric sequence begins with 2 and 6. What is its next term?", "geometric"),
        (
            "Two cars leave a town in opposite directions at 50 km/h. When are they 100 km apart?",
            "in opposite directions",
        ),
        ("Divide $70 between Ann and Tom in the ratio 3 : 4 today. What does Ann get?", "in the ratio 3 : 4"),
    ],
)
def test_the_phrase_goes_and_the_rest_stays(text, phrase):
    assert apply(text) == text.replace(f"{phrase} ", "")


def test_a_triangle_loses_its_shape():
    text = "The shortest side of a right triangle is 3 cm, and its perimeter is 12 cm. How long are the other sides?"
    assert apply(text) == text.replace("right ", "")


def test_the_article_fits_the_next_word():
    found = apply("Each side of an equilateral triangle is 3 cm. What is its area?")
    assert found == "Each side of a triangle is 3 cm. What is its area?"


def test_all_copies_of_a_phrase_go():
    text = (
        "Two cars drive in opposite directions for 2 h. Later, two vans drive in opposite directions for 3 h. How far?"
    )
    assert "opposite" not in apply(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What is 5 + 3?",
        "The shares are in the ratio 3 : 4. Find the larger share of 70.",
        "Two vans drive at the same speed of 50 km/h. How far apart are they after 2 h?",
        "Two vans drive at the same speed as the train. How far do they come?",
        "A man runs at 9 km/h in the same direction as the 100 m train. When does it pass him?",
        # a triangle with legs has a right angle, and three sides are enough
        "A right triangle has legs of 3 cm and 4 cm. How long is the third side?",
        "The hypotenuse of a right triangle is 5 cm, and one side is 3 cm. How long is the other?",
        "The sides of a right triangle are 3 cm, 4 cm and 5 cm. What is its area?",
        "An isosceles triangle has two equal sides of 5 cm and a base of 6 cm. What is its perimeter?",
    ],
)
def test_a_text_without_such_a_phrase_is_left_alone(text):
    assert apply(text) is None

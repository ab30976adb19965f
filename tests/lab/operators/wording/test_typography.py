"""Type the text carelessly."""

from __future__ import annotations

import re

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.wording.typography import Typography
from paraqd.reading import read, same_quantities

MARBLES = (
    "Rosa has 12 marbles and buys 5 bigger marbles. Her brother's friend takes 3. How many marbles does Rosa have?"
)


def outputs(operator, text, times=60):
    made = [operator.apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    return {each for each in made if each is not None}


def bare(text):
    """Return only the letters and digits of a text, in lower case."""
    text = re.sub(r"&nbsp;|&apos;|&rsquo;|&amp;", "", text)
    return re.sub(r"[\W_]", "", text).lower()


def test_typing_mistakes_keep_the_numbers_the_names_and_the_question():
    found = outputs(Typography(), MARBLES)
    assert len(found) > 30
    for made in found:
        assert same_quantities(read(MARBLES).quantities, read(made).quantities)
        assert read(made).question is not None
        assert made.lower().count("rosa") == 2
        assert "how many" in made.lower()


def test_every_kind_of_mistake_is_made():
    found = outputs(Typography(), MARBLES, times=200)
    assert any(made == made.lower() for made in found)
    assert any("  " in made for made in found)
    assert any(" ?" in made for made in found)
    assert any(not made.endswith("?") for made in found)
    assert any("&nbsp;" in made for made in found)
    assert any("brother&apos;s" in made for made in found)
    assert any("’" in made for made in found)
    assert any(bare(made) != bare(MARBLES) for made in found)


def test_only_few_plain_words_are_misspelt_and_none_becomes_another():
    text = "Three boys wrote there about the trail of seventeen meters near Paris, where three hours passed. How long?"
    kept = {"three", "seventeen", "meters", "paris", "hours", "long", "boys"}
    for made in outputs(Typography(), text, times=200):
        words = re.sub(r"&nbsp;", " ", made).lower().replace(",", " ").replace(".", " ").replace("?", " ").split()
        assert kept <= set(words)
        assert words.count("three") == 2
        assert "trial" not in words
        assert len(set(words) - set(text.lower().replace(",", "").replace(".", "").replace("?", "").split())) <= 4


def test_letters_that_differ_by_case_alone_stay_apart():
    text = "A box has X pens and a jar has x pens more than it. How many pens are there, given that X is 5?"
    assert all(" X " in made.replace("&nbsp;", " ") for made in outputs(Typography(), text))


def test_a_text_loses_its_full_stops_or_its_capitals_but_not_both():
    text = (
        "Tom went to Kettering Park. She gave him pens. Later Tom found another box of pens. How many pens were there?"
    )
    found = outputs(Typography(), text, times=200)
    assert any("pens Later" in made for made in found)
    assert not any("pens later" in made for made in found)


def test_a_text_in_lower_case_keeps_words_that_may_be_names():
    text = "thurston walked to kettering with 5 boxes. how many boxes did thurston carry?"
    for made in outputs(Typography(), text):
        assert made.count("thurston") == 2


def test_the_same_draw_gives_the_same_text():
    made = [Typography().apply(read(MARBLES), derive_rng(1, "q", Typography.name), Resources()) for _ in range(2)]
    assert made[0] == made[1] != MARBLES

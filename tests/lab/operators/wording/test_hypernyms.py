"""Replace a thing with its kind or a similar thing."""

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.wording.content_words import form_of
from paraqd.lab.operators.wording.hypernyms import _KINDS, Hypernyms
from paraqd.reading import read


def outputs(text, parser, seeds=40):
    given = Resources(parser=parser)
    made = [Hypernyms().apply(read(text), derive_rng(n, "a", "Hypernyms"), given) for n in range(seeds)]
    return {each for each in made if each is not None}


def test_a_thing_becomes_its_kind_everywhere(parser):
    text = "Tom has 5 apples. He eats an apple. How many apples are left?"
    made = outputs(text, parser)
    assert "Tom has 5 fruits. He eats a fruit. How many fruits are left?" in made
    assert "Tom has 5 pears. He eats a pear. How many pears are left?" in made
    assert not any(" apple" in each for each in made)


def test_a_car_becomes_a_vehicle(parser):
    assert outputs("A car covers 60 km in 2 hours.", parser) == {"A vehicle covers 60 km in 2 hours."}


@pytest.mark.parametrize(
    "text",
    [
        "Tom has 5 apples and 3 oranges.",  # two fruits
        "Tom has 5 apples and 3 lychees and other fruit.",
        "Tom has 5 apples and an apple tree.",  # a compound noun
        "A car follows a bus for 3 km.",
        "There are 3 dogs and 4 animals in all.",
        "There are 3 dogs with 4 legs each.",
        "He holds 3 diamonds and 2 hearts of one suit.",
        "She eats carrot for 3 days.",
        "Tom has 5 pens.",
    ],
)
def test_nothing_is_replaced_if_it_could_be_wrong(text, parser):
    assert outputs(text, parser) == set()


def test_every_listed_thing_has_a_plural():
    things = {word for kind, listed in _KINDS.items() for word in (kind, *listed.split())}
    assert {word for word in things if form_of(word, "NNS") is None} == set()

"""Refer to somebody or something that the text does not mention."""

from __future__ import annotations

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.lab.operators.entities.unknown_reference import _UNKNOWN
from paraqd.reading import read


def outputs(text, seeds=40):
    operator = get("UnknownReference")
    return {operator.apply(read(text), derive_rng(seed, "q", operator.name), Resources()) for seed in range(seeds)}


def test_the_question_asks_about_an_unknown_person():
    text = "Tom has 5 caps and Ann has 7. How many caps has Tom?"
    for found in outputs(text):
        name = re.fullmatch(r"Tom has 5 caps and Ann has 7\. How many caps has (\w+)\?", found)[1]
        assert name not in ("Tom", "Ann")


def test_a_comparison_refers_to_an_unknown_thing():
    text = "The box is 4 kg heavier than the bag. The bag weighs 8 kg. What does the box weigh?"
    for found in outputs(text):
        assert found in {text.replace("than the bag", f"than {unknown}") for unknown in _UNKNOWN}


@pytest.mark.parametrize("text", ["", "What is 7 times 8?", "It is 5 degrees warmer than usual. How warm is it?"])
def test_a_text_without_a_reference_is_left_alone(text):
    assert outputs(text, seeds=5) == {None}

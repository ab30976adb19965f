"""Delete a name after its preposition."""

from __future__ import annotations

import random

import pytest

from paraqd.lab.operators.entities.entity_deletion import EntityDeletion
from paraqd.reading import read
from paraqd.rewriting.operator import Resources


def outputs(text):
    made = {EntityDeletion().apply(read(text), random.Random(seed), Resources()) for seed in range(20)}
    return made - {None}


def test_the_preposition_stays():
    text = "Olga drove 90 km from Prague at 60 km/h. How long did she drive?"
    assert "Olga drove 90 km from at 60 km/h. How long did she drive?" in outputs(text)
    assert "drove 90 km from Prague at 60 km/h. How long did she drive?" in outputs(text)


@pytest.mark.parametrize("text", ["A man has 5 pens. How many pens has he?", "how far did she go in 3 hours ?"])
def test_without_a_name_nothing_is_made(text):
    assert not outputs(text)

"""Replace numbers with vague words."""

from __future__ import annotations

import pytest

from paraqd.operators import Resources, derive_rng, get
from paraqd.reading import read


def outputs(text, seeds=60):
    operator = get("VagueNumber")
    return {operator.apply(read(text), derive_rng(seed, "q", operator.name), Resources()) for seed in range(seeds)}


def test_a_count_becomes_vague():
    found = outputs("Ann packs 48 rolls in 6 bags. How many are in each bag?")
    assert "Ann packs several rolls in 6 bags. How many are in each bag?" in found
    assert "Ann packs 48 rolls in a few bags. How many are in each bag?" in found
    for text in found:
        assert ("48" in text) != ("6" in text)  # exactly one number is vague


def test_money_and_percentages_get_their_own_words():
    found = outputs("The shop gives 20% off. A coat costs $80. What is the new price?")
    assert "The shop gives a certain percentage off. A coat costs $80. What is the new price?" in found
    assert "The shop gives 20% off. A coat costs a certain amount. What is the new price?" in found


@pytest.mark.parametrize(
    ("text", "vague"),
    [
        ("Ann has 5 pens. Tom has twice as many pens as Ann. How many has he?", "more pens than Ann"),
        ("Ann has 8 pens. Tom has half as many pens as Ann. How many has he?", "fewer pens than Ann"),
        ("Boys and girls are in the ratio 3 : 4. There are 28 children. How many boys?", "in a certain ratio"),
    ],
)
def test_a_comparison_loses_its_number(text, vague):
    assert any(vague in found for found in outputs(text))


@pytest.mark.parametrize("text", ["", "How many pens has Ann?", "She came on the third day. When did he come?"])
def test_a_text_without_a_suitable_number_is_left_alone(text):
    assert outputs(text, seeds=5) == {None}

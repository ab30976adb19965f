"""Add a harmless sentence with a vague number word."""

from __future__ import annotations

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.lab.operators.sentences.vague_detail import _DETAILS
from paraqd.reading import read, same_quantities

TEXT = "Tom has 5 caps. He buys 2. How many has he?"


def outputs(text, seeds=60):
    operator = get("VagueDetail")
    return {operator.apply(read(text), derive_rng(seed, "q", operator.name), Resources()) for seed in range(seeds)}


def test_one_sentence_is_added_before_the_question():
    found = outputs(TEXT)
    assert len(found) > 10
    for text in found:
        assert text.endswith("How many has he?")
        [detail] = [detail for detail in _DETAILS if detail in text]
        assert text.replace(f"{detail} ", "") == TEXT


def test_no_detail_contains_a_quantity():
    for detail in _DETAILS:
        assert same_quantities(read(f"{TEXT} {detail}").quantities, read(TEXT).quantities), detail


def test_a_text_in_lower_case_stays_in_lower_case():
    for text in outputs("tom has 5 caps . how many has he ?"):
        assert text == text.lower()
        assert " ." in text


def test_a_blank_text_is_left_alone():
    assert outputs("", seeds=3) == {None}

"""Add or remove harmless phrases."""

from __future__ import annotations

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.sentences.decoration import PHRASES, Decoration, listed_phrases
from paraqd.reading import read

MARBLES = (
    "Rosa has 12 marbles and buys 5 bigger marbles. Her brother's friend takes 3. How many marbles does Rosa have?"
)


PLAIN = "The sum of two numbers is 12 and their product is 35. What is the larger number?"


def outputs(operator, text, times=60):
    made = [operator.apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    return {each for each in made if each is not None}


KINDS = ("before", "between", "after", "heading", "closing")
ALL_PHRASES = (*PHRASES, *(phrase for kind in KINDS for phrase in listed_phrases(kind)))


def bare(text):
    """Return only the letters and digits of a text, in lower case."""
    text = re.sub(r"&nbsp;|&apos;|&rsquo;|&amp;", "", text)
    return re.sub(r"[\W_]", "", text).lower()


def test_there_are_enough_phrases():
    assert len(set(PHRASES)) >= 60
    assert not any(char.isdigit() for phrase in PHRASES for char in phrase)


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_harmless_phrase_has_no_number_and_no_question(phrase):
    text = f"Tom, {phrase}, left early." if phrase[0].islower() else f"{phrase} Tom left early."
    assert not read(text).quantities
    assert [question.target for question in read(f"{text} How many pens are there?").questions] == ["pens"]


@pytest.mark.parametrize("kind", ["before", "between", "after"])
def test_a_listed_sentence_has_no_number_and_does_not_ask_for_an_amount(kind):
    sentences = listed_phrases(kind)
    assert len(sentences) >= 150
    for sentence in sentences:
        assert not read(sentence).quantities, sentence
        assert "How many pens" in read(f"{sentence} How many pens are there?").question.text, sentence


@pytest.mark.parametrize("text", [MARBLES, PLAIN, MARBLES.lower(), PLAIN.lower()])
def test_a_decorated_text_is_the_old_one_and_a_phrase(text):
    found = outputs(Decoration(), text)
    assert len(found) > 10
    for made in found:
        phrases = [phrase for phrase in ALL_PHRASES if phrase.lower() in made.lower()]
        assert any(bare(made).replace(bare(phrase), "", 1) == bare(text) for phrase in phrases)
        assert read(made).question.target == read(text).question.target
        assert text.islower() == made.islower()


def test_a_person_is_described_as_the_subject_only():
    assert any(made.startswith("Rosa, ") for made in outputs(Decoration(), MARBLES))
    possessive = "Rosa's 12 marbles are red. Give Rosa 3 more. How many marbles are red?"
    assert not any("Rosa," in made or "Rosa's," in made for made in outputs(Decoration(), possessive))


def test_no_sentence_is_put_inside_an_abbreviation():
    text = "Two numbers are in the ratio 3:4 and their L.C.M. is 24. Their H.C.F. is:"
    assert not any(re.search(r"F\. \w+.* is:", made) for made in outputs(Decoration(), text))


def test_numbers_alone_get_no_weather():
    scenes = [phrase for phrase in PHRASES if re.search("rain|sun|town|wind|village", phrase)]
    assert not any(scene in made for made in outputs(Decoration(), PLAIN) for scene in scenes)


def test_a_time_that_matters_gets_no_other_time():
    text = "Rosa reads 12 pages every day. How many pages does Rosa read in a week?"
    times = [phrase for phrase in PHRASES if re.search("rainy|morning|that day|ago|spring", phrase)]
    assert not any(time in made for made in outputs(Decoration(), text) for time in times)


def test_a_phrase_without_meaning_is_removed():
    text = "On a rainy afternoon, a man sold 5 pens. How many pens did he sell?"
    assert "A man sold 5 pens. How many pens did he sell?" in outputs(Decoration(), text)


def test_the_same_draw_gives_the_same_text():
    made = [Decoration().apply(read(MARBLES), derive_rng(1, "q", Decoration.name), Resources()) for _ in range(2)]
    assert made[0] == made[1] != MARBLES

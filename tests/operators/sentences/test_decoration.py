"""Careless typing, harmless phrases, and conditions that look like them and change the answer."""

from __future__ import annotations

import re

import pytest

from paraqd.operators import Resources, derive_rng
from paraqd.operators.sentences.condition_addition import PHRASES as CONDITIONS
from paraqd.operators.sentences.condition_addition import ConditionAddition
from paraqd.operators.sentences.decoration import PHRASES, Decoration
from paraqd.operators.wording.typography import Typography
from paraqd.reading import read, same_quantities

MARBLES = (
    "Rosa has 12 marbles and buys 5 bigger marbles. Her brother's friend takes 3. How many marbles does Rosa have?"
)
PLAIN = "The sum of two numbers is 12 and their product is 35. What is the larger number?"


def outputs(operator, text, times=60):
    made = [operator.apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    return {each for each in made if each is not None}


def bare(text):
    """Return the letters and digits of a text alone, in lower case."""
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


def test_every_kind_of_slip_is_made():
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


def test_a_text_loses_its_stops_or_its_capitals_but_not_both():
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


def test_there_are_phrases_enough():
    assert len(set(PHRASES)) >= 60
    assert len(set(CONDITIONS)) >= 40
    assert not any(char.isdigit() for phrase in (*PHRASES, *CONDITIONS) for char in phrase)


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_harmless_phrase_has_no_number_and_no_question(phrase):
    text = f"Tom, {phrase}, left early." if phrase[0].islower() else f"{phrase} Tom left early."
    assert not read(text).quantities
    assert not read(text).questions


@pytest.mark.parametrize("text", [MARBLES, PLAIN, MARBLES.lower(), PLAIN.lower()])
def test_a_decorated_text_is_the_old_one_and_a_phrase(text):
    found = outputs(Decoration(), text)
    assert len(found) > 10
    for made in found:
        phrase = next(p for p in sorted(PHRASES, key=len, reverse=True) if p.lower() in made.lower())
        assert bare(made).replace(bare(phrase), "", 1) == bare(text)
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
    assert not any(re.search("rain|sun|town|wind|village", made) for made in outputs(Decoration(), PLAIN))


def test_a_time_that_matters_gets_no_other_time():
    text = "Rosa reads 12 pages every day. How many pages does Rosa read in a week?"
    assert not any(re.search("rainy|morning|that day|ago|spring", made) for made in outputs(Decoration(), text))


def test_an_idle_phrase_is_left_out():
    text = "On a rainy afternoon, a man sold 5 pens. How many pens did he sell?"
    assert "A man sold 5 pens. How many pens did he sell?" in outputs(Decoration(), text)


def test_a_condition_is_added_and_nothing_is_lost():
    found = outputs(ConditionAddition(), MARBLES, times=120)
    assert len(found) > 25
    for made in found:
        assert len(made) > len(MARBLES)
        assert set(re.findall(r"\w+", MARBLES.lower())) <= set(re.findall(r"\w+", made.lower()))
    assert MARBLES.replace("have?", "have, after giving away half of them?") in found


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("A pen costs $2. How much do 5 pens cost?", "tax|discount|fee|prices|tip|twice|coupon|refund"),
        ("Ann works 5 hours for $9 an hour. How much money does Ann earn?", "tax|charity|stolen|friend|fee|bonus"),
        ("Tom cleans 3 rooms an hour. How long will it take to clean 12 rooms?", "speed|pace|pause|faster|delay"),
        ("Ann is 3 years older than Tom, who is 9. How old is Ann?", "years (?:later|earlier|after|before)|half later"),
        ("Tom runs 3 km every day. How far can Tom run in 2 weeks?", "weekdays|Sundays|first day|other day|off|week"),
    ],
)
def test_a_condition_fits_what_is_asked(text, added):
    found = outputs(ConditionAddition(), text)
    inside = {made for made in found if not re.search("result|answer|you (?:get|find)", made, re.I)}
    assert len(inside) > 3
    assert all(re.search(added, made.replace(text, "")) for made in inside)


@pytest.mark.parametrize(
    "text",
    [
        "Ann had some pens and lost 3, so 5 are left. How many pens did Ann have at first?",
        "Ann has 5 pens and Tom has 3. How many more pens does Ann have than Tom?",
        "A bus has 40 seats. How many children can ride in 3 buses?",
        "Pens are red or blue in the ratio 2:3. What is the probability of a red pen?",
        "Ann has 5 pens.",
        "",
    ],
)
def test_no_condition_where_it_might_not_matter(text):
    assert not outputs(ConditionAddition(), text)


@pytest.mark.parametrize("operator", [Typography(), Decoration(), ConditionAddition()])
def test_the_same_draw_gives_the_same_text(operator):
    made = [operator.apply(read(MARBLES), derive_rng(1, "q", operator.name), Resources()) for _ in range(2)]
    assert made[0] == made[1] != MARBLES

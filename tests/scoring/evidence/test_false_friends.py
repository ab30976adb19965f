"""Pairs on which a rule once found too much or too little: order, times of day, units of rates."""

from __future__ import annotations

import pytest

from paraqd import Scorer
from paraqd.reading import read
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.markup import remove_markup


@pytest.fixture(scope="module")
def scorer():
    return Scorer.load("reading")


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        (
            "Tom, Ann and Bob have 5, 7 and 9 pens respectively. How many do Tom and Ann have in total?",
            "Tom, Ann and Bob have 9, 5 and 7 pens respectively. How many do Tom and Ann have in total?",
        ),
        (
            "On three days a baker sold 20, 35 and 50 buns. What is the average for the days before the third?",
            "On three days a baker sold 50, 35 and 20 buns. What is the average for the days before the third?",
        ),
        (
            "Start with 6. Add 4. Double the result. Find the number.",
            "Start with 6. Double the result. Add 4. Find the number.",
        ),
        (
            "A bag costs $200. The shop raises the price by 10%. The shop lowers the price by $5. What is the price?",
            "A bag costs $200. The shop lowers the price by $5. The shop raises the price by 10%. What is the price?",
        ),
    ],
)
def test_an_order_that_matters_is_no_matter_of_course(scorer, question, paraphrase):
    assert scorer.score(question, paraphrase).score < 1


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("The shop opens at nine o'clock. When?", "The shop opens at eight o'clock. When?"),
        ("It starts at half past two. When does it end?", "It starts at half past three. When does it end?"),
        ("He drives for 60 minutes at 50 km per hour. How far?", "He drives at 50 km per hour. How far?"),
        ("It runs for 24 hours and fills 40 litres a day. How much?", "It fills 40 litres a day. How much?"),
        ("It starts at 7 o'clock every morning. When?", "It starts at 7 p.m. When?"),
        ("He bought 2 shirts and a pair of leather shoes. Why?", "He bought shirts and a pair of leather shoes. Why?"),
        ("TOM HAS 5 PENS. ANN HAS 7. HOW MANY HAS TOM?", "TOM HAS 7 PENS. ANN HAS 5. HOW MANY HAS TOM?"),
    ],
)
def test_what_must_be_found(question, paraphrase):
    assert READER.findings(read(question), read(paraphrase))


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("In year 1, 45,000 people came. How many?", "45,000 people came in year 1. How many?"),
        ("On June 12, 15,000 people came. How many?", "15,000 people came on June 12. How many?"),
        ("How many pens does Tom have?", "How many pens does Tom have"),
        ("What town were they born in?", "What town were they born in"),
        ("It rose by 5 in the morning. How much?", "In the morning it rose by 5. How much?"),
        ("They led by ten to five. Who?", "They led, and it was ten to five. Who?"),
        ("All four score and one misses. Who?", "Four of them score and one of them misses. Who?"),
        ("What is his daily number of pages in 3 weeks?", "How many pages does he read per day in 3 weeks?"),
        ("Rope A is 3 m longer than rope B.", "Rope B is 3 m shorter than rope A."),
        ("A triangle has 5 cm. Round to the nearest CM. Find AB in ABC.", "Find AB in triangle ABC with 5 cm."),
    ],
)
def test_what_is_no_finding(question, paraphrase):
    assert not READER.findings(read(remove_markup(question).text), read(remove_markup(paraphrase).text))


def test_one_and_the_other_are_alike():
    features = {
        f.feature for f in READER.findings(read("One is 4 more than the other."), read("One is 4 less than the other."))
    }
    assert "relation_opposed" not in features


def test_capitals_of_one_text_tell_nothing(scorer):
    question = "In triangle ABC, AB = 5 and BC = 7. Find AC."
    assert scorer.score(question, question.upper()).score == 1
    assert scorer.score(question.upper(), question).score == 1


def test_full_width_letters_are_latin(scorer):
    wide = "".join(chr(ord(sign) + 0xFEE0) if sign.isalpha() else sign for sign in "How many pens has Tom?")
    assert scorer.score("How many pens has Tom?", wide).score > -1


@pytest.mark.parametrize(
    ("text", "asks"),
    [("Search parties found 5 hikers.", False), ("A job is wanted.", False), ("Search the number.", True)],
)
def test_what_asks(text, asks):
    assert (read(text).question is not None) is asks

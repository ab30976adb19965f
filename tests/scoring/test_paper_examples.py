"""The paper's own examples, which were not used for training: its table of scores, and f1 to f10."""

from __future__ import annotations

import pytest

from paraqd import Scorer

ALEX = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"
CART = "A cart of 20 apples is distributed among 10 students. How much apple does each student get?"
JOHN = "John walked 200 kilometres. How long did he walk in terms of metres?"
CAT = "A bag of cat food weighs 7 pounds and 4 ounces. How much does the bag weigh in ounces?"


@pytest.fixture(scope="module")
def scorer():
    return Scorer.load()


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        (CART, "20 hats in a cart are equally distributed among 10 students. How many hats does each student get?"),
        (JOHN, "john walked 200 km. How long did he walk in terms of metres?"),
        (
            ALEX,
            "Alex was driving 100 km from New York at a constant speed of 20 km / h. "
            "How many hours did it take in total?",
        ),
        (ALEX, ALEX),
        (ALEX, ALEX.replace("100", "one hundred").replace("20", "twenty")),
        (ALEX, ALEX.replace("kmph", "kilometre per hour").replace("km", "kilometre")),
    ],
)
def test_valid(scorer, question, paraphrase):
    verdict = scorer.score(question, paraphrase)
    assert verdict.valid
    assert verdict.evidence == ()


@pytest.mark.parametrize(
    ("question", "paraphrase", "kinds", "words"),
    [
        (
            CAT,
            "A bag of cat food weighs 7 pounds and ounces. How much does the bag in ounces?",
            {"number_lost"},
            "4 ounces",
        ),
        (
            CART,
            "20 hats in a cart are equally distributed among 10 students. How much apple does each student get?",
            {"entity_changed"},
            "hats",
        ),
        (
            JOHN,
            "john walked 200 centimetres. How long did he walk in terms of metres?",
            {"unit_changed"},
            "200 centimetres",
        ),
        (ALEX, ALEX.replace("many hours ", ""), {"content_lost", "question_lost", "question_changed"}, "many hours"),
        (ALEX, ALEX.partition(" How")[0], {"question_lost"}, "How many hours"),
        (ALEX, ALEX.replace("Alex", "Sarah").replace(" New York", ""), {"incoherent"}, "from at"),
        (ALEX, ALEX.replace("100", "some").replace("20", "some"), {"number_lost"}, "100 km"),
        (
            ALEX,
            "The journey from New York to New Jersey took Alex 100 km at a constant speed.",
            {"question_lost"},
            "How many",
        ),
        (ALEX, ALEX.replace("100 km", "100 m"), {"unit_changed"}, "100 m"),
        ("John ate 5 apples", "John ate some apples", {"number_lost"}, "5"),
    ],
)
def test_invalid_for_the_right_reason(scorer, question, paraphrase, kinds, words):
    verdict = scorer.score(question, paraphrase)
    assert not verdict.valid
    told = [
        text[start:end]
        for piece in verdict.evidence
        if piece.kind in kinds
        for text, spans in ((question, piece.question_spans), (paraphrase, piece.paraphrase_spans))
        for start, end in spans
    ]
    assert any(words in each or each in words for each in told), told

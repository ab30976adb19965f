"""Rules rewrite questions, keep their quantities, and say so when they cannot."""

import re

import pytest

from paraqd.errors import ArgumentError
from paraqd.extras import MissingExtraError
from paraqd.paraphrasing.sources import rules as module
from paraqd.paraphrasing.sources.loading import load_source
from paraqd.reading import read, same_quantities
from paraqd.tables.questions import Question

pytestmark = pytest.mark.extra("augment")

QUESTIONS = [
    Question("1", "Dana buys 3 notebooks at $2 each and a pen for $1. How much change does she get from a $20 bill?"),
    Question("2", "a train 200 m long is running at 68 kmph. how long does it take to pass a man?"),
]


@pytest.mark.parametrize("styles", [(), ("plain",), ("exam", "engaging")])
def test_candidates_are_distinct_and_keep_the_quantities(rules, styles):
    for question, found in zip(QUESTIONS, rules.candidates(QUESTIONS, count=12, seed=1, styles=styles), strict=True):
        texts = [each.text for each in found.candidates]
        assert len(texts) >= 6
        assert len(set(texts)) == len(texts) and question.text not in texts
        for each in found.candidates:
            assert same_quantities(read(question.text).quantities, read(each.text).quantities)
            assert each.edits and each.style in (styles or ("",))


def test_every_text_in_a_style_has_what_makes_the_style(rules):
    exam, engaging, plain = (
        rules.candidates(QUESTIONS[:1], count=8, seed=1, styles=[style])[0].candidates
        for style in ("exam", "engaging", "plain")
    )
    assert exam and all(any(edit.startswith("Exam") for edit in each.edits) for each in exam)
    assert engaging and all(any(edit.startswith("Engaging") for edit in each.edits) for each in engaging)
    assert plain and not any("this information" in each.text or "are told" in each.text for each in plain)


def test_candidates_depend_on_the_seed_and_the_id_only(rules):
    assert rules.candidates(QUESTIONS, count=4, seed=1) == rules.candidates(QUESTIONS, count=4, seed=1)
    assert rules.candidates(QUESTIONS, count=4, seed=1) != rules.candidates(QUESTIONS, count=4, seed=2)
    assert rules.candidates(QUESTIONS[1:], count=4, seed=1) == rules.candidates(QUESTIONS, count=4, seed=1)[1:]


def test_a_style_ends_when_chains_give_nothing_new():
    tried = []
    source = module.RuleSource(check=lambda: tried.append(1))
    question = Question("q", "What is 7 times 8?")
    [many] = source.candidates([question], count=8000, seed=1)
    assert many.candidates and len(tried) < 400
    tried.clear()
    [few] = source.candidates([question], count=80, seed=1)
    assert few == many and len(tried) == 240  # the paraphrases for up to ten do not depend on the early end


def test_large_numbers_are_not_written_in_words(rules):
    question = Question("3", "A farmer has 4875 hens and buys 1,250 more hens. How many hens does he have?")
    [found] = rules.candidates([question], count=20, seed=1)
    assert found.candidates
    assert not any("thousand" in each.text for each in found.candidates)


@pytest.mark.parametrize(
    "text", ["Which of the following is odd? I. 3x II. 2y", "2 + 2", "Which statement is true? (a) x > 2 (b) x < 2"]
)
def test_a_question_that_no_rule_can_rewrite_has_a_reason(rules, text):
    [found] = rules.candidates([Question("q", text)], count=4, seed=1)
    assert found.candidates == ()
    assert found.problem.startswith("no rule can rewrite it")


def test_a_question_with_a_line_break_is_rewritten(rules):
    question = Question("q", "Ann has 12 pens and buys 3 more pens.\nHow many pens does she have?")
    [found] = rules.candidates([question], count=4, seed=1)
    assert len(found.candidates) == 4
    assert not any("\n" in each.text for each in found.candidates)


def test_no_text_has_a_space_before_a_mark(rules):
    questions = [
        Question(str(n), "Ann has 12 pens . She buys 3 more pens . Find the number of pens that Ann has .")
        for n in range(6)
    ]
    texts = [each.text for found in rules.candidates(questions, count=12, seed=1) for each in found.candidates]
    assert len(texts) > 40
    assert not [text for text in texts if re.search(r" [,.?]", text)]


def test_a_missing_parser_is_one_line(monkeypatch):
    monkeypatch.setattr(module, "missing_packages", lambda: ["spacy"])
    with pytest.raises(MissingExtraError, match=r"not installed: spacy .*pip install 'paraqd\[augment\]'"):
        load_source("rules")


def test_a_source_needs_a_name():
    with pytest.raises(ArgumentError, match="the name of the source is empty"):
        load_source(" ")


def test_a_question_in_another_language_is_left_alone(rules):
    text = "Eine Bäckerin backt 24 Brötchen pro Stunde. Wie viele Brötchen backt sie in 5 Stunden?"
    (found,) = rules.candidates([Question("1", text)], count=4, seed=1)
    assert not found.candidates and "does not seem to be in English" in found.problem


def test_a_question_in_capitals_is_left_alone(rules):
    (found,) = rules.candidates([Question("1", "HOW MANY EGGS ARE THERE IN 5 DOZEN?")], count=4, seed=1)
    assert not found.candidates and "written in capitals" in found.problem

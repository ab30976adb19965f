"""The search takes the score as its objective."""

from paraqd.operators.apply import Question
from paraqd.paraphrasing.choice import Judged
from paraqd.paraphrasing.search import anneal, best_of, worth
from paraqd.paraphrasing.sources.base import Candidate

QUESTION = Question("q1", "Ann has 12 pens. She buys 3 more pens. How many pens does she have now?")


def test_an_invalid_text_is_worth_less_than_every_valid_text(scorer):
    bad = "Ann has 13 pens. She buys 3 more pens. How many pens does she have now?"
    good = "Ann has twelve pens and buys three more. How many pens does she have now?"
    values = [
        worth(QUESTION.text, Judged(Candidate(text, ""), scorer.score(QUESTION.text, text))) for text in (bad, good)
    ]
    assert values[0] < 0 < values[1]


def test_best_of_n_takes_the_best(scorer, fixed):
    good = "Ann has twelve pens and buys three more. How many pens does she have now?"
    source = fixed("Ann has 13 pens. She buys 3 more pens. How many pens does she have now?", good)
    assert best_of(QUESTION, source, scorer.score_pairs).text == good
    assert best_of(QUESTION, fixed(), scorer.score_pairs) is None


def test_annealing_finds_a_valid_text_and_records_all_edits(scorer, rules):
    found = anneal(QUESTION, rules, scorer.score_pairs, steps=4, seed=1)
    assert found.verdict.valid
    assert found.candidate.edits
    assert found == anneal(QUESTION, rules, scorer.score_pairs, steps=4, seed=1)
    first = best_of(QUESTION, rules, scorer.score_pairs, count=4, seed=1)
    assert worth(QUESTION.text, found) >= worth(QUESTION.text, first)


def test_annealing_with_a_source_that_writes_nothing_finds_nothing(scorer, fixed):
    assert anneal(QUESTION, fixed(), scorer.score_pairs, steps=2) is None

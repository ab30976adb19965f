"""The search takes the score as its objective."""

from collections.abc import Callable
from dataclasses import dataclass, field

from paraqd.paraphrasing.choice import Judged
from paraqd.paraphrasing.search import anneal, worth
from paraqd.paraphrasing.sources.base import Candidate, Found
from paraqd.tables.questions import Question

QUESTION = Question("q1", "Ann has 12 pens. She buys 3 more pens. How many pens does she have now?")


@dataclass
class Recorded:
    """A source that rewrites a text with a function, and records what it is asked."""

    rewrite: Callable[[str], str]
    calls: list[tuple] = field(default_factory=list)
    name: str = "recorded"
    identity: str = "recorded"

    def candidates(self, questions, *, count, seed, styles=()):
        del count
        self.calls += [(each.text, seed, tuple(styles)) for each in questions]
        return [Found((Candidate(self.rewrite(each.text), self.name, "", ("Edit",)),)) for each in questions]


def test_an_invalid_text_is_worth_less_than_every_valid_text(scorer):
    bad = "Ann has 13 pens. She buys 3 more pens. How many pens does she have now?"
    good = "Ann has twelve pens and buys three more. How many pens does she have now?"
    values = [
        worth(QUESTION.text, Judged(Candidate(text, ""), scorer.score(QUESTION.text, text))) for text in (bad, good)
    ]
    assert values[0] < 0 < values[1]


def test_annealing_finds_a_valid_text_and_records_all_edits(scorer, rules):
    found = anneal(QUESTION, rules, scorer.score_pairs, steps=4, seed=1)
    assert found.verdict.valid
    assert found.candidate.edits
    assert found == anneal(QUESTION, rules, scorer.score_pairs, steps=4, seed=1)
    assert found != anneal(QUESTION, rules, scorer.score_pairs, steps=4, seed=2)


def test_annealing_rewrites_what_it_found_before(scorer):
    texts = (
        "Ann has 12 pens. She buys 3 more. How many pens does she have now?",
        "Starting with twelve pens, Ann buys three more. Find the number of pens that she has now.",
    )
    source = Recorded(lambda text: texts[text != QUESTION.text])
    found = anneal(QUESTION, source, scorer.score_pairs, steps=3)
    assert [call[0] for call in source.calls] == [QUESTION.text, texts[0], texts[1]]
    assert found.text == texts[1]
    assert found.candidate.edits == ("Edit", "Edit")
    first = Judged(Candidate(texts[0], ""), scorer.score(QUESTION.text, texts[0]))
    assert worth(QUESTION.text, found) > worth(QUESTION.text, first)


def test_a_bad_text_is_left_for_a_good_one_but_never_returned(scorer):
    good = "Ann has twelve pens and buys three more. How many pens does she have now?"
    bad = "Ann has 13 pens. She buys 3 more pens. How many pens does she have now?"
    found = anneal(QUESTION, Recorded(lambda text: bad if text == good else good), scorer.score_pairs, steps=4)
    assert found.text == good


def test_no_two_steps_of_any_runs_have_the_same_seed(scorer):
    source = Recorded(lambda text: QUESTION.text + " Think.")
    for seed in (1, 2):
        for run in range(3):
            anneal(QUESTION, source, scorer.score_pairs, steps=3, seed=seed, run=run)
    seeds = [call[1] for call in source.calls]
    assert len(seeds) == 18
    assert len(set(seeds)) == len(seeds)


def test_only_the_last_step_writes_in_the_style(scorer, rules):
    source = Recorded(lambda text: QUESTION.text + " Think.")
    anneal(QUESTION, source, scorer.score_pairs, steps=3, style="exam")
    assert [call[2] for call in source.calls] == [(), (), ("exam",)]
    found = anneal(QUESTION, rules, scorer.score_pairs, steps=4, style="exam")
    assert found.candidate.style == "exam"
    assert sum(edit.startswith("Exam") for edit in found.candidate.edits) == 1


def test_annealing_with_a_source_that_writes_nothing_finds_nothing(scorer, fixed):
    assert anneal(QUESTION, fixed(), scorer.score_pairs, steps=2) is None

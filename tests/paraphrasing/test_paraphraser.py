"""Paraphrases pass the gate, differ, and say where they come from."""

import json
import pickle
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import paraqd
from paraqd.errors import ArgumentError
from paraqd.parameters import as_options
from paraqd.paraphrasing.choice import Limits
from paraqd.paraphrasing.distance import overlap
from paraqd.paraphrasing.paraphraser import Settings, paraphrase_questions
from paraqd.paraphrasing.sources.base import Candidate, Found
from paraqd.paraphrasing.sources.endpoint import EndpointSource
from paraqd.paraphrasing.sources.loading import load_source
from paraqd.tables.questions import Question

QUESTION = "Meera buys 12 kg of rice at $3 per kg and 5 kg of sugar at $2 per kg. How much money does she spend in all?"

RIDE = "Asha cycles 3 km in 12 minutes. What is her speed in km per hour?"
MENDED = "It takes Asha 12 minutes to ride 3 km on her bike. Work out her speed in km per hour."
STEPS = (
    "In 12 minutes, Asha cycles 3 km. Find her speed in km per hour.",
    "Riding her bike, Asha covers a distance of three km in twelve minutes. How many km per hour is that?",
)


@dataclass(frozen=True)
class Stepwise:
    """A source that reaches its second text only by rewriting its first."""

    name: str = "stepwise"
    identity: str = "stepwise"

    def candidates(self, questions, *, count, seed, styles=()):
        del count, seed, styles
        return [Found((Candidate(STEPS[each.text in STEPS], self.name),)) for each in questions]


@dataclass(frozen=True)
class Doubtful:
    """A source that writes with rules, but at first only texts that the scorer calls invalid."""

    rules: Any
    name: str = "doubtful"
    identity: str = "doubtful"

    def candidates(self, questions, *, count, seed, styles=()):
        if count == 2:
            return [Found((Candidate("How old is the moon?", self.name),)) for _ in questions]
        return self.rules.candidates(questions, count=count, seed=seed, styles=styles)


@pytest.mark.parametrize("wrong", [{"repair": "no"}, {"gate": 1}, {"limits": (0.8, 0.8)}])
def test_settings_of_wrong_types_are_refused(wrong):
    with pytest.raises(ArgumentError, match=f"^{next(iter(wrong))} is "):
        Settings(**wrong)


def test_paraphrases_are_valid_and_differ(scorer):
    found = paraqd.paraphrase(QUESTION, n=4, scorer=scorer)
    assert [each.rank for each in found] == [1, 2, 3, 4]
    for each in found:
        assert each.valid and each.score > 0.5 and each.source == "rules" and each.edits
        assert overlap(QUESTION, each.text) <= 0.80
        assert scorer.score(QUESTION, each.text).score == pytest.approx(each.score)
    assert all(overlap(one.text, two.text) <= 0.80 for one, two in combinations(found, 2))


@pytest.mark.usefixtures("faulty_rule")
def test_a_candidate_that_cannot_be_scored_is_not_chosen(scorer, fixed):
    question = "Tom has 5 red and 3 blue pens. How many pens does he have in all?"
    good = "If 5 of Tom's pens are red and 3 are blue, what is the number of his pens?"
    found = paraqd.paraphrase(question, n=2, source=fixed(good, f"{good} (faulty)"), scorer=scorer)
    assert [each.text for each in found] == [good]


def test_the_same_seed_gives_the_same_paraphrases_and_another_gives_others(scorer):
    once, again = (paraqd.paraphrase(QUESTION, n=3, scorer=scorer, seed=1) for _ in range(2))
    assert once == again
    assert once != paraqd.paraphrase(QUESTION, n=3, scorer=scorer, seed=2)


def test_paraphrases_do_not_depend_on_the_other_questions(scorer, rules):
    questions = [Question("a", QUESTION), Question("b", "Tom has 5 pens. He buys 3 more. How many pens does he have?")]
    together = paraphrase_questions(questions, rules, scorer, Settings(n=2))
    alone = [paraphrase_questions([each], rules, scorer, Settings(n=2))[0] for each in questions]
    assert [each.paraphrases for each in together] == [each.paraphrases for each in alone]


def test_styles_are_recorded_and_an_unknown_style_is_refused(scorer):
    found = paraqd.paraphrase(QUESTION, n=4, styles=["exam", "engaging"], scorer=scorer)
    assert {each.style for each in found} == {"exam", "engaging"}
    with pytest.raises(ArgumentError, match="cannot write in the style 'pirate': choose among plain, exam, engaging"):
        paraqd.paraphrase(QUESTION, styles=["pirate"], scorer=scorer)


def test_a_repaired_paraphrase_is_marked_and_counted(scorer, fixed):
    question = "Asha cycles 3 km in 12 minutes. What is her speed in km per hour?"
    broken = fixed("It takes Asha 12 minutes to ride 3 m on her bike. Work out her speed in km per hour.")
    settings = Settings(n=1, candidates=1)
    [found] = paraphrase_questions([Question("q", question)], broken, scorer, settings)
    assert [each.repaired for each in found.paraphrases] == ["unit_changed"]
    assert "3 km" in found.paraphrases[0].text
    assert found.counts == {"candidates": 1, "passed": 0, "mended": 1, "repaired": 1}
    [plain] = paraphrase_questions([Question("q", question)], broken, scorer, Settings(n=1, candidates=1, repair=False))
    assert plain.paraphrases == ()
    assert plain.reason == "no candidate passed the gate (1 tried)"


def test_texts_that_are_mended_into_the_same_text_count_once(scorer, fixed):
    broken = fixed(*(MENDED.replace("3 km", f"3 {unit}") for unit in ("m", "cm", "miles")))
    [found] = paraphrase_questions([Question("q", RIDE)], broken, scorer, Settings(n=1))
    assert found.counts == {"candidates": 3, "passed": 0, "mended": 1, "repaired": 1}
    assert [each.text for each in found.paraphrases] == [MENDED]


@pytest.mark.parametrize("first", [0, 1])
def test_a_text_that_the_source_wrote_itself_is_not_called_repaired(scorer, fixed, first):
    texts = [MENDED, MENDED.replace("3 km", "3 m")]
    source = fixed(texts[first], texts[1 - first])
    [found] = paraphrase_questions([Question("q", RIDE)], source, scorer, Settings(n=1))
    assert found.counts == {"candidates": 2, "passed": 1, "mended": 0, "repaired": 0}
    assert [(each.text, each.repaired) for each in found.paraphrases] == [(MENDED, "")]


def test_a_text_that_is_mended_into_the_question_is_no_paraphrase(scorer, fixed):
    source, settings = fixed(RIDE.replace("3 km", "3 m")), Settings(n=1, limits=Limits(question=1.0))
    [found] = paraphrase_questions([Question("q", RIDE)], source, scorer, settings)
    assert found.paraphrases == ()
    assert found.counts["mended"] == 0


def test_without_the_gate_the_verdict_is_still_the_scorers(scorer, fixed):
    question = "Asha cycles 3 km in 12 minutes. What is her speed in km per hour?"
    broken = fixed("It takes Asha 15 minutes to ride 3 km on her bike. Work out her speed in km per hour.")
    settings = Settings(n=1, candidates=1, gate=False, repair=False)
    [found] = paraphrase_questions([Question("q", question)], broken, scorer, settings)
    assert [each.valid for each in found.paraphrases] == [False]


def test_a_source_that_repeats_the_question_is_named_as_such(scorer, fixed):
    [found] = paraphrase_questions([Question("q", QUESTION)], fixed(QUESTION, f" {QUESTION} "), scorer, Settings(n=1))
    assert found.paraphrases == ()
    assert found.reason == "the source only repeats the question"


def test_candidates_are_counted_once_and_without_those_that_repeat_the_question(scorer, fixed):
    source = fixed(QUESTION, *STEPS, f" {STEPS[0]} ")
    [found] = paraphrase_questions([Question("q", QUESTION)], source, scorer, Settings(n=1))
    assert found.counts["candidates"] == 2


@pytest.mark.parametrize("choice", ["mmr", "pareto"])
def test_both_choices_can_choose_texts_that_only_annealing_found(scorer, choice):
    stepwise = Stepwise()
    settings = Settings(n=2, choice=choice, limits=Limits(score=0.5))
    [plain] = paraphrase_questions([Question("q", RIDE)], stepwise, scorer, settings)
    [found] = paraphrase_questions([Question("q", RIDE)], stepwise, scorer, replace(settings, search="anneal"))
    assert [each.text for each in plain.paraphrases] == [STEPS[0]]
    assert {each.text for each in found.paraphrases} == set(STEPS)
    assert found.counts["candidates"] == 2
    assert all(each.valid for each in found.paraphrases)


def test_annealing_writes_in_the_wanted_styles_by_turns(scorer, rules):
    settings = Settings(n=2, candidates=2, styles=("exam", "engaging"), search="anneal")
    [found] = paraphrase_questions([Question("q", QUESTION)], Doubtful(rules), scorer, settings)
    assert {each.style for each in found.paraphrases} == {"exam", "engaging"}


def test_annealing_is_refused_with_an_endpoint_before_any_request(scorer):
    source = EndpointSource("http://127.0.0.1:9/v1", model="m", attempts=1)
    with as_options(), pytest.raises(ArgumentError, match="--search anneal cannot be used with an endpoint"):
        paraphrase_questions([Question("q", QUESTION)], source, scorer, Settings(n=1, search="anneal"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 0}, "at least 1"),
        ({"n": 2.5}, r"n is 2\.5: pass a whole number"),
        ({"n": True}, "n is True: pass a whole number"),
        ({"candidates": "40"}, "candidates is '40': pass a whole number"),
        ({"seed": None}, "seed is None: pass a whole number"),
        ({"styles": "exam"}, "styles is 'exam': pass a list of names"),
        ({"styles": (5,)}, "styles has 5, which is not the name of a style"),
        ({"styles": ("exam", "\ud800")}, "styles has .*, which is not the name of a style"),
        ({"limits": 0.8}, r"limits is 0\.8: pass Limits"),
        ({"n": 1001}, "n is 1,001: ask for at most 1,000 paraphrases of a question"),
        ({"candidates": 8001}, "candidates is 8,001: ask for at most 8,000 per question"),
        ({"n": 5, "candidates": 2}, "2 candidates cannot give 5 paraphrases: ask for more candidates"),
        ({"n": 2, "candidates": 1}, "1 candidate cannot give 2 paraphrases"),
        ({"choice": "best"}, "mmr or pareto"),
        ({"search": "deep"}, "sample or anneal"),
    ],
)
def test_settings_are_checked(given, message):
    with pytest.raises(ArgumentError, match=message):
        Settings(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scorer": "default"}, r"scorer is 'default': pass a loaded scorer, such as paraqd.Scorer.load\(\)"),
        ({"source": 5}, "source is 5: pass a name, an address, or an object with the method candidates"),
        ({"styles": "exam"}, "styles is 'exam': pass a list of names"),
        ({"styles": None}, "styles is None: pass a list of names"),
        ({"n": 2.5}, r"n is 2\.5: pass a whole number"),
    ],
)
def test_arguments_are_checked(scorer, given, message):
    with pytest.raises(ArgumentError, match=message):
        paraqd.paraphrase(QUESTION, **{"scorer": scorer, **given})


@pytest.mark.parametrize("given", ["0.5", None, 0, 1.5, True, float("nan")])
def test_limits_are_checked(given):
    with pytest.raises(ArgumentError, match="the limit question must be above 0 and at most 1, not "):
        Limits(question=given)


def test_settings_of_any_kind_become_plain_values():
    limits = Limits(question=np.float32(0.5))
    settings = Settings(
        n=np.int64(2), candidates=np.int32(9), seed=np.uint8(1), repair=np.True_, limits=limits, styles=iter(["exam"])
    )
    plain = Settings(n=2, candidates=9, seed=1, limits=Limits(question=0.5), styles=("exam",))
    assert settings == pickle.loads(pickle.dumps(settings)) == plain
    assert json.dumps(settings.to_dict()) == json.dumps(plain.to_dict())


@pytest.mark.parametrize("source", ["rules", "https://example.org/v1"])
def test_an_unknown_setting_of_an_endpoint_is_named(source):
    with pytest.raises(ArgumentError, match="an endpoint has no setting 'nonsense': choose among model, key_variable"):
        load_source(source, nonsense=1)


def test_settings_of_an_endpoint_need_an_endpoint():
    with pytest.raises(ArgumentError, match=r"settings of an endpoint \(model\) need one, and the source is rules"):
        load_source("rules", model="tiny")


def test_a_blank_question_is_refused(scorer):
    with pytest.raises(ArgumentError, match="blank question"):
        paraqd.paraphrase(" ", scorer=scorer)

"""What an endpoint answers: refusals, strange answers, keys, tokens and models."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("httpx")

from paraqd.parameters import as_options
from paraqd.paraphrasing.sources.base import SourceError
from paraqd.paraphrasing.sources.endpoint import EndpointSource
from paraqd.tables.questions import Question

QUESTIONS = [Question(str(number), f"Ann has {number} pens. How many?") for number in range(6)]
KEY = "sk-very-secret-indeed"


def answer(text, **more):
    return 200, {}, {"choices": [{"message": {"content": text}}], "usage": {"total_tokens": 50}, **more}


GOOD = answer('["Two pens are with Ann."]')
NO = (400, {}, {"error": {"message": "the text is\ntoo long"}})


def ask(source, questions=QUESTIONS[:1], **given):
    return source.candidates(questions, **{"count": 4, "seed": 1, **given})


def texts(found):
    return [each.text for each in found.candidates]


# --- the key --------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["x", "12", "box", "EMPTY"])
def test_a_short_key_changes_no_answer(endpoint, source, monkeypatch, tmp_path, key):
    monkeypatch.setenv("PARAQD_ENDPOINT_KEY", key)
    endpoint.plan = [answer('["Ann owns 12 boxes that are not EMPTY."]')]
    assert texts(ask(source())[0]) == ["Ann owns 12 boxes that are not EMPTY."]
    [kept] = (tmp_path / "cache").iterdir()
    assert "12 boxes that are not EMPTY" in kept.read_text(encoding="utf-8")
    assert texts(ask(source())[0]) == ["Ann owns 12 boxes that are not EMPTY."]
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize("written", [KEY, KEY.replace("s", "\\u0073")])
def test_an_answer_with_the_key_is_neither_returned_nor_kept(endpoint, source, monkeypatch, tmp_path, written):
    monkeypatch.setenv("PARAQD_ENDPOINT_KEY", KEY)
    endpoint.plan = [answer(f'["Ann has 2 pens.", "Ann has {written} pens."]'), GOOD]
    [found] = ask(source())
    assert found.candidates == ()
    assert found.problem == "the endpoint's answer contains the key, so it was dropped"
    assert not (tmp_path / "cache").exists()
    assert texts(ask(source())[0]) == ["Two pens are with Ann."]


def test_a_key_in_a_refusal_is_hidden(endpoint, source, monkeypatch):
    monkeypatch.setenv("PARAQD_ENDPOINT_KEY", KEY)
    endpoint.plan = [(422, {}, {"error": f"wrong: Bearer {KEY}"})]
    assert ask(source())[0].problem == "the endpoint refused it: it answered 422: wrong: Bearer ***"


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_question_that_is_refused_does_not_stop_the_others(endpoint, source, status):
    endpoint.plan = [GOOD, (status, *NO[1:]), GOOD]
    first, second, third = ask(source(), QUESTIONS[:3])
    assert first.candidates and third.candidates
    assert second.candidates == ()
    assert second.problem == f"the endpoint refused it: it answered {status}: the text is too long"
    assert len(endpoint.seen) == 3


STRANGE = ["<html>hello</html>", {"hello": 1}, [1], {"choices": []}, pytest.param("[" * 100_000, id="brackets")]


@pytest.mark.parametrize("body", STRANGE)
def test_a_strange_answer_concerns_only_its_question(endpoint, source, body):
    endpoint.plan = [(200, {}, body), GOOD]
    first, second = ask(source(), QUESTIONS[:2])
    assert first.candidates == ()
    assert first.problem == "the endpoint refused it: it answers, but not as an OpenAI-compatible endpoint does"
    assert second.candidates


@pytest.mark.parametrize("body", STRANGE)
def test_a_server_of_another_kind_is_one_line(endpoint, source, body):
    endpoint.plan = [(200, {}, body)]
    with pytest.raises(SourceError, match="refused 5 questions in a row: it answers, but not as an OpenAI-") as caught:
        ask(source(), QUESTIONS)
    assert "\n" not in str(caught.value) and "often ends in /v1" in str(caught.value)
    assert len(endpoint.seen) == 5


def test_refusals_are_counted_from_call_to_call(endpoint, source):
    endpoint.plan = [NO]
    asked = source()
    for question in QUESTIONS[:4]:
        assert ask(asked, [question])[0].problem
    with pytest.raises(SourceError, match="refused 5 questions in a row: it answered 400: the text is too long"):
        ask(asked, QUESTIONS[4:5])


def test_an_answer_ends_a_row_of_refusals(endpoint, source):
    endpoint.plan = [NO, NO, NO, NO, GOOD, NO]
    found = ask(source(), QUESTIONS)
    assert [bool(each.candidates) for each in found] == [False] * 4 + [True, False]


def test_several_requests_for_one_question_are_one_refusal(endpoint, source):
    endpoint.plan = [NO]
    [found] = ask(source(), count=80)
    assert len(endpoint.seen) == 7
    assert found.problem.startswith("the endpoint refused it")


def test_a_question_with_some_answers_has_no_problem(endpoint, source):
    endpoint.plan = [NO, GOOD]
    [found] = ask(source(), count=20)
    assert texts(found) == ["Two pens are with Ann."] and found.problem == ""


def test_a_refusal_can_be_written_to_a_file(endpoint, source):
    endpoint.plan = [(400, {}, {"error": "bad \ud800 text"})]
    assert ask(source())[0].problem == "the endpoint refused it: it answered 400: bad ? text"


# --- tokens and requests --------------------------------------------------------------------------


@pytest.mark.parametrize("used", ['"12 tokens"', "1e999", "-100", "true", "null", "[]", "4.5"])
def test_a_limit_of_tokens_needs_an_endpoint_that_counts_them(endpoint, source, used):
    choices = json.dumps(GOOD[2]["choices"])
    endpoint.plan = [(200, {}, f'{{"choices": {choices}, "usage": {{"total_tokens": {used}}}}}'), GOOD]
    with pytest.raises(SourceError, match="does not say how many tokens an answer used, so most_tokens=60 cannot be"):
        ask(source(most_tokens=60), QUESTIONS[:2])
    asked = source()
    assert all(each.candidates for each in ask(asked, QUESTIONS[:2]))
    assert asked.tokens == 50
    assert len(endpoint.seen) == 2  # the first answer, which was paid for, is kept


def test_a_limit_of_tokens_is_not_silently_ignored(endpoint, source):
    endpoint.plan = [answer('["Two pens are with Ann."]', usage=None)]
    with pytest.raises(SourceError, match="does not say how many tokens"), as_options():
        ask(source(most_tokens=5), QUESTIONS)
    assert len(endpoint.seen) == 1


def test_a_limit_names_the_parameter_with_its_value(source):
    with pytest.raises(SourceError, match="raise most_requests=1 to send more"):
        ask(source(most_requests=1), QUESTIONS)
    with pytest.raises(SourceError, match="raise --most-requests 1 to send more"), as_options():
        ask(source(most_requests=1), QUESTIONS)


def test_asking_for_the_models_is_no_request_that_counts(source):
    asked = source(model=None, most_requests=1)
    assert ask(asked)[0].candidates
    assert asked.requests == 1


# --- models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [{}, {"data": []}, *({"data": [{"id": name}]} for name in (None, "", " ", 5, ["tiny"], {"a": 1}, "tiny \ud800"))],
)
def test_a_list_without_a_usable_model_is_one_line(endpoint, source, body):
    endpoint.models = (200, {}, body)
    with pytest.raises(SourceError, match="lists no model: name one with model='NAME'"):
        ask(source(model=None))
    with pytest.raises(SourceError, match="lists no model: name one with --endpoint-model NAME"), as_options():
        ask(source(model=None))


@pytest.mark.parametrize("models", [(200, {}, "<html>hello</html>"), (400, {}, "no")])
def test_a_list_of_models_that_cannot_be_read_is_one_line(endpoint, source, models):
    endpoint.models = models
    with pytest.raises(SourceError, match=r"does not list its models: it answer.*; check the address, which often"):
        ask(source(model=None))


def test_a_cache_that_cannot_be_written_names_the_parameter(endpoint, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="pass another folder with cache='DIR'"):
        ask(EndpointSource(endpoint.address, model="tiny", cache=tmp_path / "file" / "cache"))

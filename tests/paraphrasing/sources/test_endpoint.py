"""The source for endpoints, tested against a real server on this machine."""

from __future__ import annotations

import socket
import time

import pytest

pytest.importorskip("httpx")

from paraqd.errors import ArgumentError
from paraqd.paraphrasing.sources.base import SourceError
from paraqd.paraphrasing.sources.endpoint import EndpointSource
from paraqd.paraphrasing.sources.loading import load_source
from paraqd.tables.questions import Question

QUESTIONS = [Question("1", "Ann has 2 pens. How many?"), Question("2", "Tom has 3 cups. How many?")]
GOOD = (200, {}, {"choices": [{"message": {"content": '["Two pens are Ann\'s."]'}}], "usage": {"total_tokens": 50}})


def ask(source, questions=QUESTIONS[:1], **given):
    return source.candidates(questions, **{"count": 4, "seed": 1, **given})


def test_an_answer_becomes_candidates(endpoint, source):
    [found] = ask(source(), styles=["exam"])
    assert [(each.text, each.source, each.style) for each in found.candidates] == [
        ("Two pens are Ann's.", "tiny@127.0.0.1", "exam")
    ]
    _, path, key, body = endpoint.seen[0]
    assert (path, key, body["model"]) == ("/v1/chat/completions", None, "tiny")
    assert "Ann has 2 pens" in body["messages"][1]["content"]
    assert "examination" in body["messages"][1]["content"]


def test_without_a_model_the_first_that_is_listed_is_used(source):
    assert source(model=None).name == "tiny@127.0.0.1"


def test_the_key_comes_from_the_environment(endpoint, source, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret")
    ask(source(key_variable="MY_KEY"))
    assert endpoint.seen[0][2] == "Bearer secret"
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(ArgumentError, match="MY_KEY is not set"):
        source(key_variable="MY_KEY")


def test_a_key_is_not_sent_unencrypted_to_another_machine(monkeypatch):
    monkeypatch.setenv("PARAQD_ENDPOINT_KEY", "secret")
    with pytest.raises(ArgumentError, match="unencrypted"):
        EndpointSource("http://example.org/v1")
    with pytest.raises(ArgumentError, match="must not hold a key"):
        EndpointSource("https://name:secret@example.org/v1")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again(endpoint, source, status):
    endpoint.plan = [(status, {}, "busy"), (status, {}, "busy"), GOOD]
    assert len(ask(source())[0].candidates) == 1
    assert len(endpoint.seen) == 3


def test_the_wait_is_as_long_as_the_endpoint_asks_for(endpoint, source):
    endpoint.plan = [(429, {"Retry-After": "0.3"}, "busy"), GOOD]
    ask(source())
    assert endpoint.seen[1][0] - endpoint.seen[0][0] >= 0.3


def test_an_endpoint_that_stays_busy_is_one_line(endpoint, source):
    endpoint.plan = [(500, {}, {"error": {"message": "out of\nmemory"}})]
    with pytest.raises(SourceError, match=r"it answered 500: out of memory \(3 attempts\)"):
        ask(source(attempts=3))
    assert len(endpoint.seen) == 3


def test_an_endpoint_that_is_down_is_one_line(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    source = EndpointSource(f"http://127.0.0.1:{port}/v1", model="m", cache=tmp_path, attempts=2, first_wait=0.01)
    with pytest.raises(SourceError, match=r"does not work: it cannot be reached .*\(2 attempts\)"):
        ask(source)


def test_a_slow_endpoint_is_one_line(endpoint, source):
    endpoint.slow = 0.5
    with pytest.raises(SourceError, match=r"no answer within 0\.1 seconds \(2 attempts\)"):
        ask(source(timeout=0.1, attempts=2))


@pytest.mark.parametrize(("status", "hint"), [(401, "put the key into"), (404, "often ends in /v1"), (402, "refused")])
def test_a_refusal_is_not_repeated(endpoint, source, status, hint):
    endpoint.plan = [(status, {}, {"error": "no"})]
    with pytest.raises(SourceError, match=hint):
        ask(source())
    assert len(endpoint.seen) == 1


def test_an_answer_without_a_paraphrase_concerns_only_its_question(endpoint, source):
    nothing = (200, {}, {"choices": [{"message": {"content": "I'm sorry, I cannot help."}}]})
    endpoint.plan = [nothing, GOOD]
    first, second = ask(source(), QUESTIONS)
    assert first.candidates == () and first.problem == "the endpoint's answer contains no paraphrase"
    assert len(second.candidates) == 1


def test_no_request_is_paid_for_twice(endpoint, source):
    first = ask(source(), QUESTIONS)
    assert ask(source(most_requests=1), QUESTIONS) == first
    assert len(endpoint.seen) == 2
    ask(source(), QUESTIONS, seed=2)
    assert len(endpoint.seen) == 4


def test_the_work_stops_at_the_limit_of_requests_and_continues_from_the_cache(endpoint, source):
    with pytest.raises(SourceError, match="the limit of 1 request is reached: raise most_requests"):
        ask(source(most_requests=1), QUESTIONS)
    assert len(endpoint.seen) == 1
    assert len(ask(source(most_requests=1), QUESTIONS)) == 2


def test_the_work_stops_at_the_limit_of_tokens(endpoint, source):
    with pytest.raises(SourceError, match="the limit of 40 tokens is reached"):
        ask(source(most_tokens=40), QUESTIONS)
    assert len(endpoint.seen) == 1


def test_requests_keep_to_the_rate(endpoint, source):
    ask(source(requests_per_minute=60, at_once=2), QUESTIONS)
    assert endpoint.seen[1][0] - endpoint.seen[0][0] >= 0.5  # one second, less the time on the way


def test_the_order_of_the_questions_is_kept_with_several_requests_at_once(endpoint, source):
    questions = [Question(str(number), f"Ann has {number} pens. How many?") for number in range(12)]
    found = ask(source(at_once=6), questions)
    assert len(found) == 12 and all(each.candidates for each in found)
    assert len(endpoint.seen) == 12


KEY = "sk-very-secret-indeed"


@pytest.mark.parametrize("key", ["sk-very\nsecret", "sk-very secret", "sk-verysecret\u00e9", "sk-very\tsecret"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(source, monkeypatch, key):
    monkeypatch.setenv("PARAQD_ENDPOINT_KEY", key)
    with pytest.raises(ArgumentError, match="the key in the environment variable PARAQD_ENDPOINT_KEY") as caught:
        source()
    assert "secret" not in str(caught.value) and "sk-" not in str(caught.value)


def test_line_breaks_around_a_key_do_no_harm(endpoint, source, monkeypatch):
    monkeypatch.setenv("PARAQD_ENDPOINT_KEY", f"{KEY}\n")
    ask(source())
    assert endpoint.seen[0][2] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [401, 500])
@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": f"wrong header Authorization: Bearer {KEY}"}},
        {"error": {"message": "x" * 150 + KEY}},  # the message is cut within the key
        {"headers": [f"Bearer {KEY}"]},
        f"<html>Bearer {KEY}</html>",
    ],
)
def test_a_key_that_the_endpoint_repeats_is_hidden(endpoint, source, monkeypatch, status, body):
    monkeypatch.setenv("PARAQD_ENDPOINT_KEY", KEY)
    endpoint.plan = [(status, {}, body)]
    with pytest.raises(SourceError, match=r"\*\*\*|xxx") as caught:
        ask(source(attempts=1))
    assert endpoint.seen[0][2] == f"Bearer {KEY}"
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "https://:secret@example.org/v1",
        "https://:secret@",
        "https://secret@[::1/v1",
        "ftp://name:secret@example.org",
        "https://example.org/v1?key=secret",
        "https://example.org/v1#secret",
        "HTTPS://name:secret@example.org/v1",
    ],
)
def test_an_address_with_a_password_is_refused_without_showing_it(address):
    with pytest.raises(ArgumentError, match="must not hold a key") as caught:
        load_source(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"at_once": 0}, "at_once is 0: pass at least 1"),
        ({"at_once": None}, "at_once is None: pass a whole number"),
        ({"attempts": 0}, "attempts is 0: pass at least 1"),
        ({"attempts": 2.5}, r"attempts is 2\.5: pass a whole number"),
        ({"most_requests": -1}, "most_requests is -1: pass at least 1"),
        ({"most_tokens": "5"}, "most_tokens is '5': pass a whole number"),
        ({"requests_per_minute": 0}, r"requests_per_minute is 0: pass a number from 0\.001 to 1,000,000"),
        ({"requests_per_minute": -1}, "requests_per_minute is -1: pass a number"),
        ({"timeout": -1}, "timeout is -1: pass a number"),
        ({"timeout": float("inf")}, "timeout is inf: pass a number"),
        ({"timeout": None}, "timeout is None: pass a number"),
        ({"first_wait": float("nan")}, "first_wait is nan: pass a number from 0 to 1,000,000"),
        ({"model": ""}, "blank model"),
        ({"model": "m\udcff"}, "model is not valid Unicode"),
        ({"key_variable": 5}, "key_variable is not text"),
    ],
)
def test_settings_are_checked(source, given, message):
    with pytest.raises(ArgumentError, match=message):
        source(**given)


@pytest.mark.parametrize("address", [5, "", "http://127.0.0.1/v\udcff1"])
def test_an_address_that_is_no_text_is_one_line(address):
    with pytest.raises(ArgumentError, match=r"address.*: pass one like https://HOST/v1"):
        EndpointSource(address, model="m")


@pytest.mark.parametrize(
    ("question", "style", "message"),
    [
        ("Ann has \ud800 pens.", "exam", "question is not valid Unicode"),
        ("  ", "exam", "blank question"),
        ("Ann has 2 pens.", "\ud800", "style is not valid Unicode"),
    ],
)
def test_a_text_that_cannot_be_sent_is_refused_before_any_request(endpoint, source, question, style, message):
    with pytest.raises(ArgumentError, match=message):
        ask(source(), [*QUESTIONS, Question("3", question)], styles=[style])
    assert endpoint.seen == []


@pytest.mark.parametrize("address", ["http://[::1/v1", "http://example.org:port/v1", "https://", "ftp://example.org"])
def test_an_address_of_no_endpoint_is_one_line(address):
    with pytest.raises(ArgumentError, match="is not the address of an endpoint: pass one like"):
        load_source(address)


def test_an_address_in_capitals_is_an_address():
    assert isinstance(load_source("HTTPS://example.org/v1", model="m"), EndpointSource)


def test_an_address_that_cannot_be_used_is_one_line(tmp_path):
    with pytest.raises(SourceError, match="pass one like"):
        ask(EndpointSource("http://127.0.0.1/\x01v1", model="m", cache=tmp_path))


@pytest.mark.parametrize("content", ["I'm sorry, I cannot help.", "", None, pytest.param("[" * 100_000, id="brackets")])
def test_an_answer_without_a_paraphrase_is_not_kept(endpoint, source, content):
    endpoint.plan = [(200, {}, {"choices": [{"message": {"content": content}}]}), GOOD]
    assert ask(source())[0].candidates == ()
    assert len(ask(source())[0].candidates) == 1


def test_many_texts_are_asked_for_in_several_requests_with_different_seeds(endpoint, source):
    ask(source(), count=40, styles=["plain", "exam"])
    asked = [(body["messages"][1]["content"].split()[1], body["seed"]) for *_, body in endpoint.seen]
    assert [count for count, _ in asked] == ["12", "8", "12", "8"]
    assert asked[0][1] == asked[2][1] == 1
    assert asked[1][1] == asked[3][1] != 1


def test_an_error_stops_the_other_requests_at_once(endpoint, source):
    endpoint.plan = [(429, {"Retry-After": "50"}, "busy"), (401, {}, {"error": "no"})]
    start = time.monotonic()
    with pytest.raises(SourceError, match="answered 401"):
        ask(source(at_once=2), QUESTIONS)
    assert time.monotonic() - start < 10
    assert len(endpoint.seen) == 2


def test_an_answer_that_is_on_its_way_when_an_error_comes_is_kept(endpoint, source):
    endpoint.slow = 0.5
    endpoint.plan = [(401, {}, {"error": "no"}), GOOD]
    with pytest.raises(SourceError, match="answered 401"):
        ask(source(at_once=2), QUESTIONS)
    endpoint.plan = [GOOD]
    ask(source(), QUESTIONS)
    assert len(endpoint.seen) == 3


class Stopped(Exception):
    """Raised by a check when nobody waits any more."""


def test_a_check_ends_the_work_before_a_request(endpoint, source):
    def check():
        if endpoint.seen:
            raise Stopped

    asked = source(check=check)
    with pytest.raises(Stopped):
        ask(asked, QUESTIONS)
    assert len(endpoint.seen) == asked.requests == 1


@pytest.mark.parametrize("model", ["tiny", None])
def test_a_check_can_prevent_every_request(endpoint, source, model):
    def check():
        raise Stopped

    with pytest.raises(Stopped):
        ask(source(check=check, model=model))
    assert endpoint.seen == []


def test_a_check_ends_a_wait(endpoint, source):
    endpoint.plan = [(429, {"Retry-After": "50"}, "busy"), GOOD]
    calls = []

    def check():
        calls.append(len(endpoint.seen))
        if calls.count(1) == 3:  # in the middle of the wait
            raise Stopped

    with pytest.raises(Stopped):
        ask(source(check=check))
    assert calls == [0, 1, 1, 1]
    assert len(endpoint.seen) == 1

"""The service answers with verdicts, and with one form of error for everything that can be wrong."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import anyio.to_thread
import httpx
import pytest
from server_process import KEY, QUESTION

from paraqd.server.app import create_app
from paraqd.server.settings import Settings

JSON = {"content-type": "application/json"}
PARAPHRASES = ["How many pens has Tom if 5 are red and 3 blue?", "Tom has 5 red and 4 blue pens. How many in all?", ""]


def error_of(response, status):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["message"].endswith(".")
    return error


def test_paraphrases_get_the_verdicts_of_the_scorer(web, scorer):
    answer = web.post("/v1/score", json={"question": QUESTION, "paraphrases": PARAPHRASES}).json()
    expected = [verdict.to_dict() for verdict in scorer.score_pairs([(QUESTION, text) for text in PARAPHRASES])]
    assert answer["signature"] == scorer.signature
    for found, wanted in zip(answer["verdicts"], expected, strict=True):
        assert found | {"signature": scorer.signature} == json.loads(json.dumps(wanted))


def test_pairs_keep_their_order_and_ids(web, scorer):
    pairs = [{"question": QUESTION, "paraphrase": text, "id": f"é{n}"} for n, text in enumerate(PARAPHRASES)]
    del pairs[1]["id"]
    answer = web.post("/v1/score/batch", json={"pairs": pairs}).json()
    assert [found["id"] for found in answer["verdicts"]] == ["é0", None, "é2"]
    assert [found["valid"] for found in answer["verdicts"]] == [True, False, False]


def test_nothing_to_score_is_no_error(web):
    assert web.post("/v1/score", json={"question": QUESTION, "paraphrases": []}).json()["verdicts"] == []
    assert web.post("/v1/score/batch", json={"pairs": []}).json()["verdicts"] == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"question": " ", "paraphrases": ["a"]}, "question is blank."),
        ({"question": "\u200b", "paraphrases": []}, "question is blank."),
        ({"question": 5, "paraphrases": ["a"]}, "question is not text."),
        ({"question": "a", "paraphrases": ["b", None]}, "paraphrases[1] is not text."),
        ({"question": "a", "paraphrases": "b"}, "paraphrases is not a list."),
        ({"question": "a", "paraphrases": ["b", "c" * 21_000]}, "paraphrases[1] is longer than 20,000 characters."),
        ({"question": "#REF!", "paraphrases": ["b"]}, "question is a spreadsheet error (#REF!), not text."),
        ({"question": "a"}, "paraphrases is missing."),
        ({"question": "a", "paraphrases": ["b"], "treshold": 1}, "treshold is not known."),
        ([], "the body is not a JSON object."),
    ],
)
def test_a_request_that_cannot_be_used_names_the_item(web, body, message):
    assert error_of(web.post("/v1/score", json=body), 422)["message"] == message


def test_a_pair_that_cannot_be_used_is_named(web):
    pairs = [{"question": QUESTION, "paraphrase": "a"}, {"question": "\n", "paraphrase": "b"}]
    error = error_of(web.post("/v1/score/batch", json={"pairs": pairs}), 422)
    assert error["details"] == [{"where": "pairs[1].question", "problem": "is blank"}]
    pairs[1] = {"question": 7, "text": "b"}
    error = error_of(web.post("/v1/score/batch", json={"pairs": pairs}), 422)
    assert error["message"] == "pairs[1].question is not text. There are 2 more problems."


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 422, "invalid_request"),
        (b"{", 400, "invalid_json"),
        (b"\xff\xfe\x00", 400, "invalid_json"),
        (b"[" * 100_000, 400, "invalid_json"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, 400, "invalid_json"),
        (b'{"question": ' + b"9" * 10_000 + b"}", 400, "invalid_json"),
        (b'{"question": NaN, "paraphrases": [Infinity]}', 422, "invalid_request"),
        (b'{"question": "a", "paraphrases": ["\\ud83d"]}', 422, "invalid_request"),
        (b'{"question": "\\udc00 a", "paraphrases": []}', 422, "invalid_request"),
        (b'{"\\ud800": 1}', 422, "invalid_request"),
        (b'{"question": 1e999, "paraphrases": [-0]}', 422, "invalid_request"),
        (b'{"question": "a", "question": 5, "paraphrases": []}', 422, "invalid_request"),
        (b'{"question": "\x00\x01", "paraphrases": []}', 400, "invalid_json"),
    ],
)
def test_hostile_json(web, content, status, code):
    assert error_of(web.post("/v1/score", content=content, headers=JSON), status)["code"] == code


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "x"])
def test_a_body_that_is_not_declared_as_json(web, kind):
    body = json.dumps({"question": QUESTION, "paraphrases": []}).encode()
    assert error_of(web.post("/v1/score", content=body, headers={"content-type": kind}), 415)
    assert web.post("/v1/score", content=body, headers={"content-type": "application/json; charset=utf-8"}).is_success


def test_limits(serving):
    web = serving(max_pairs=2, max_text=100, max_characters=200, max_body=2000)
    error = error_of(web.post("/v1/score", json={"question": QUESTION, "paraphrases": ["a"] * 3}), 413)
    assert error["details"] == {"limit": 2, "given": 3}
    limits = {"max_pairs": 2, "max_text": 100, "max_characters": 200, "max_body": 2000}
    assert web.get("/v1/model").json()["limits"] == limits
    assert error_of(web.post("/v1/score", content=b"x" * 2001, headers=JSON), 413)["details"] == {"limit": 2000}
    chunks = (b"x" * 500 for _ in range(5))  # sent without a content length
    assert error_of(web.post("/v1/score", content=chunks, headers=JSON), 413)["code"] == "too_large"


def test_a_small_request_may_not_mean_much_work(serving):
    """A question counts in each of its pairs, because it is compared with every paraphrase."""
    web = serving(max_text=1000, max_characters=20_000)
    body = {"question": "How many? " * 100, "paraphrases": ["How many?"] * 20}
    assert len(json.dumps(body)) < 2000
    error = error_of(web.post("/v1/score", json=body), 413)
    assert error["code"] == "too_large" and error["details"] == {"limit": 20_000, "given": 20 * 1009}
    body["paraphrases"].pop()
    assert web.post("/v1/score", json=body).is_success
    pairs = [{"question": body["question"], "paraphrase": text} for text in [*body["paraphrases"], "How many?"]]
    assert error_of(web.post("/v1/score/batch", json={"pairs": pairs}), 413)["details"]["limit"] == 20_000


@pytest.mark.usefixtures("faulty_rule")
def test_a_fault_in_one_comparison_is_the_error_of_its_pair(web, scorer, caplog):
    texts = [PARAPHRASES[0], "Tom has 5 faulty pens. How many?", PARAPHRASES[1]]
    answer = web.post("/v1/score", json={"question": QUESTION, "paraphrases": texts}).json()
    first, faulty, last = answer["verdicts"]
    assert [first["score"], last["score"]] == [scorer.score(QUESTION, text).score for text in (texts[0], texts[2])]
    assert "error" not in first
    assert faulty["score"] is faulty["valid"] is None and "ZeroDivisionError" in faulty["error"]
    assert "failing" in caplog.text  # the log shows where
    pairs = [{"question": QUESTION, "paraphrase": text, "id": text} for text in texts]
    found = web.post("/v1/score/batch", json={"pairs": pairs}).json()["verdicts"]
    assert [each["id"] for each in found] == texts and [each.get("error") for each in found] == [
        None,
        faulty["error"],
        None,
    ]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/v1/score", 405),
        ("DELETE", "/v1/model", 405),
        ("POST", "/healthz", 405),
        ("GET", "/v1/score/", 404),
        ("GET", "/V1/model", 404),
        ("GET", "/\N{PILE OF POO}", 404),
    ],
)
def test_paths_and_methods_that_do_not_exist(web, method, path, status):
    message = error_of(web.request(method, path), status)["message"]
    assert path not in message and method not in message  # they may be anything


def test_no_request_of_the_service_needs_a_thread_of_the_framework(scorer):
    """The framework runs functions that are no coroutines in threads; slow work elsewhere could have them all."""

    async def run():
        app = create_app(Settings(review=False, api_key=KEY), scorer=scorer)
        threads = anyio.to_thread.current_default_thread_limiter()
        for number in range(int(threads.total_tokens)):
            threads.acquire_on_behalf_of_nowait(number)
        transport = httpx.ASGITransport(app=app)
        headers = {"Authorization": f"Bearer {KEY}"}
        async with (
            asyncio.timeout(60),
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as web,
        ):
            body = {"question": QUESTION, "paraphrases": PARAPHRASES}
            assert len((await web.post("/v1/score", json=body)).json()["verdicts"]) == 3
            pairs = [{"question": QUESTION, "paraphrase": text} for text in PARAPHRASES]
            assert (await web.post("/v1/score/batch", json={"pairs": pairs})).is_success
            assert (await web.post("/v1/login", json={"key": KEY})).is_success
            assert (await web.post("/v1/logout")).is_success
            paths = ("/v1/model", "/healthz", "/readyz", "/metrics", "/docs", "/docs/api.js", "/openapi.json")
            assert {path: (await web.get(path)).status_code for path in paths} == dict.fromkeys(paths, 200)

    asyncio.run(run())


def test_the_deadline_ends_the_wait_for_verdicts(serving):
    web = serving(deadline=0.5)
    let_go = threading.Event()
    batcher = web.app.state.batcher
    batcher._reader.submit(let_go.wait, 60)
    body = {"question": QUESTION, "paraphrases": PARAPHRASES}
    error = error_of(web.post("/v1/score", json=body), 504)
    assert error["code"] == "deadline_exceeded" and "0.5 seconds" in error["message"]
    assert batcher.waiting == 0
    let_go.set()
    assert web.post("/v1/score", json=body).is_success
    assert 'paraqd_refused_total{reason="deadline"} 1.0' in web.get("/metrics").text.splitlines()


def test_the_state_of_the_server(web):
    assert web.get("/healthz").json() == {"status": "ok"}
    assert web.get("/readyz").json() == {"status": "ready"}
    web.app.state.ready = False
    assert error_of(web.get("/readyz"), 503)["code"] == "not_ready"
    assert web.get("/healthz").is_success


def test_metrics(web):
    web.post("/v1/score", json={"question": QUESTION, "paraphrases": PARAPHRASES})
    web.post("/v1/score", json={})
    web.get("/made/up")
    text = web.get("/metrics").text
    for line in (
        'paraqd_requests_total{method="POST",route="/v1/score",status="200"} 1.0',
        'paraqd_requests_total{method="POST",route="/v1/score",status="422"} 1.0',
        'paraqd_requests_total{method="GET",route="other",status="404"} 1.0',
        "paraqd_batch_pairs_sum 3.0",
        "paraqd_queue_seconds_count 1.0",
        "paraqd_inference_seconds_count 1.0",
        "paraqd_batch_characters_count 1.0",
        "paraqd_waiting_pairs 0.0",
        "paraqd_ready 1.0",
    ):
        assert line in text.splitlines()
    assert "made/up" not in text


def test_a_fault_of_the_server_is_answered_without_its_cause(web, caplog):
    async def broken(*_, **__):
        raise RuntimeError("a secret cause")

    web.app.state.batcher.score = broken
    response = web.post("/v1/score", json={"question": QUESTION, "paraphrases": ["a"]})
    assert error_of(response, 500)["code"] == "internal"
    assert "secret" not in response.text and "a secret cause" in caplog.text
    assert response.headers["x-content-type-options"] == "nosniff"


def test_an_overloaded_server_says_when_to_come_back(serving):
    web = serving(max_waiting=64, max_pairs=64)
    paraphrases = [f"{text} {number}" for number in range(21) for text in PARAPHRASES]
    with ThreadPoolExecutor(8) as pool:
        body = {"question": QUESTION, "paraphrases": paraphrases}
        answers = list(pool.map(lambda _: web.post("/v1/score", json=body), range(16)))
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused and {answer.status_code for answer in answers} == {200, 429}
    for answer in refused:
        assert error_of(answer, 429)["code"] == "overloaded"
        assert int(answer.headers["retry-after"]) >= 1
    assert web.post("/v1/score", json=body).is_success  # afterwards there is room again


def test_the_description_of_the_interface_needs_no_other_site(web):
    page = web.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "http" not in page.text.replace("http-equiv", "")
    for name in ("api.js", "api.css"):
        assert name in page.text
        assert web.get(f"/docs/{name}").is_success
    assert "/v1/score" in web.get("/openapi.json").json()["paths"]

"""Answer requests for verdicts, the model, the state of the server, and figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from paraqd.scoring.pair_errors import PairError
from paraqd.scoring.verdict import Verdict
from paraqd.server.batching import Batcher
from paraqd.server.errors import InvalidInput, ServerError, StorageUnavailable, Unauthorized, UnsupportedMedia
from paraqd.server.messages import (
    BatchAnswer,
    BatchRequest,
    ErrorAnswer,
    Limits,
    LoginRequest,
    ModelAnswer,
    ParaphraseAnswer,
    ParaphraseRequest,
    ScoreAnswer,
    ScoreRequest,
    check_pairs,
    check_paraphrasing,
    paraphrase_message,
    verdict_message,
)
from paraqd.server.paraphrase_queue import ParaphraseQueue
from paraqd.server.security import COOKIE, login_answer, same_key
from paraqd.server.work import unless_gone
from paraqd.version import __version__

service_router = APIRouter()

_STATUSES = {
    400: "The body is not JSON.",
    401: "The API key is missing or wrong.",
    408: "The body arrived too slowly.",
    413: "The request exceeds a limit.",
    415: "The content type is not JSON.",
    422: "The request cannot be used. The message names the item.",
    429: "The server is overloaded. Retry-After gives the seconds to wait.",
    503: "The server is starting or stopping, or cannot use its database.",
    504: "The request was not answered in time.",
}
_PARAPHRASING = {
    404: "This server writes no paraphrases.",
    501: "The server lacks what the source needs. The message names it.",
    502: "The source of the paraphrases cannot be used now.",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of error answers for the OpenAPI document."""
    known = {**_STATUSES, **_PARAPHRASING}
    return {status: {"model": ErrorAnswer, "description": known[status]} for status in statuses}


_SCORING = errors(*_STATUSES)


async def needs_json(request: Request) -> None:
    """Refuse a body that is not declared to be JSON, which also keeps forms of other web sites out.

    This is a coroutine, as everything on the way to a verdict is: the framework would run a function in a thread, and
    the request would wait until one is free.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedMedia("The body must be JSON: send the header 'Content-Type: application/json'.")


JsonBody = Depends(needs_json)


@service_router.post(
    "/v1/score", response_model=ScoreAnswer, responses=_SCORING, tags=["score"], dependencies=[JsonBody]
)
async def score(request: Request, body: ScoreRequest) -> Response:
    """Score paraphrases of one question."""
    pairs = [(body.question, paraphrase) for paraphrase in body.paraphrases]
    places = [("question", f"paraphrases[{number}]") for number in range(len(pairs))]
    if not pairs:  # the question is checked even if there is nothing to score
        check_pairs([(body.question, "")], [("question", "")], request.app.state.settings)
    verdicts = await _scored(request, pairs, places)
    return _answer(request, verdicts=[verdict_message(verdict) for verdict in verdicts])


@service_router.post(
    "/v1/score/batch", response_model=BatchAnswer, responses=_SCORING, tags=["score"], dependencies=[JsonBody]
)
async def score_batch(request: Request, body: BatchRequest) -> Response:
    """Score pairs of a question and a paraphrase."""
    pairs = [(pair.question, pair.paraphrase) for pair in body.pairs]
    places = [(f"pairs[{number}].question", f"pairs[{number}].paraphrase") for number in range(len(pairs))]
    verdicts = await _scored(request, pairs, places)
    messages = [{"id": pair.id, **verdict_message(verdict)} for pair, verdict in zip(body.pairs, verdicts, strict=True)]
    return _answer(request, verdicts=messages)


@service_router.post(
    "/v1/paraphrase",
    response_model=ParaphraseAnswer,
    responses=errors(*_STATUSES, *_PARAPHRASING),
    tags=["paraphrase"],
    dependencies=[JsonBody],
)
async def paraphrase(request: Request, body: ParaphraseRequest) -> Response:
    """Write paraphrases of one question that the model calls valid and that differ from each other."""
    state = request.app.state
    check_paraphrasing(body, state.settings)
    queue: ParaphraseQueue = state.paraphrases
    found = await unless_gone(request, queue.paraphrase(body.question, n=body.n, styles=body.styles, seed=body.seed))
    messages = [paraphrase_message(each) for each in found.paraphrases]
    return _answer(request, paraphrases=messages, reason=found.reason)


@service_router.get("/v1/model", responses=errors(401), tags=["score"])
async def model(request: Request) -> ModelAnswer:
    """Describe the model, and the limits of a request."""
    state = request.app.state
    scorer, settings = state.scorer, state.settings
    limits = Limits(**{name: getattr(settings, name) for name in Limits.model_fields})
    return ModelAnswer(
        name=scorer.name,
        mode=scorer.mode,
        threshold=scorer.threshold,
        signature=scorer.signature,
        version=__version__,
        limits=limits,
        max_paraphrases=0 if state.paraphrases.is_off else settings.max_paraphrases,
    )


@service_router.get("/healthz", tags=["state"])
async def healthz() -> dict[str, str]:
    """Say that the process works."""
    return {"status": "ok"}


@service_router.get("/readyz", responses=errors(503), tags=["state"])
async def readyz(request: Request) -> dict[str, str]:
    """Say whether the server takes requests. While it starts or stops, or has no database, the status is 503."""
    if not request.app.state.ready:
        raise ServerError("The server is starting or stopping.", status=503, code="not_ready")
    if not request.app.state.has_storage:
        raise StorageUnavailable
    return {"status": "ready"}


@service_router.get("/metrics", responses={200: {"content": {"text/plain": {}}}, **errors(401)}, tags=["state"])
async def metrics(request: Request) -> Response:
    """Return figures for Prometheus."""
    return Response(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@service_router.post("/v1/login", responses=errors(400, 401, 413, 415, 422), tags=["session"], dependencies=[JsonBody])
async def login(request: Request, body: LoginRequest) -> dict[str, int]:
    """Set the session cookie of the review page."""
    key = request.app.state.settings.api_key
    if key is None:
        raise InvalidInput("This server needs no key.")
    if not same_key(body.key, key):
        raise Unauthorized("This is not the API key.")
    content, cookie = login_answer(key, secure=request.url.scheme == "https")
    return Response(content, media_type="application/json", headers={"Set-Cookie": cookie})  # type: ignore[return-value]


@service_router.post("/v1/logout", status_code=204, responses=errors(401), tags=["session"])
async def logout() -> Response:
    """Delete the session cookie of the review page."""
    cookie = f"{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
    return Response(status_code=204, headers={"Set-Cookie": cookie})


async def _scored(
    request: Request, pairs: Sequence[tuple[str, str]], places: Sequence[tuple[str, str]]
) -> list[Verdict | PairError]:
    """Check and score pairs."""
    check_pairs(pairs, places, request.app.state.settings)
    batcher: Batcher = request.app.state.batcher
    return await unless_gone(request, batcher.score(pairs))


def _answer(request: Request, **found: Any) -> Response:
    """Return results as JSON. They are known to fit the schema, so they are not checked again."""
    content = json.dumps({**found, "signature": request.app.state.scorer.signature}, ensure_ascii=False)
    return Response(content.encode("utf-8"), media_type="application/json")

"""Split work into requests, decide when to send a request again, and read answers, all without using the network."""

from __future__ import annotations

import json
import random
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paraqd.errors import ArgumentError, ParaqdError
from paraqd.scoring.pair_errors import PairError
from paraqd.scoring.verdict import Evidence, EvidenceKind, Verdict
from paraqd.text_check import pair_problem, text_problem

if TYPE_CHECKING:
    import httpx

    from paraqd.paraphrasing.paraphraser import Paraphrase

_MOST_PAIRS = 128  # a busy server admits small requests sooner
RETRIED = frozenset((429, 502, 503, 504))
BUSY = frozenset((429, 503))  # a source that failed or took too long would do so again
_LONGEST_WAIT, _FIRST_WAIT = 60.0, 0.25
_SHOWN = 200


class ClientError(ParaqdError):
    """Raised when a server cannot be reached or refuses a request.

    Attributes
    ----------
    status : int or None
        The HTTP status, or None if there was no answer.
    code : str
        The server's word for the error, such as ``unauthorized``.
    details : object
        What the server adds, or None.

    """

    def __init__(self, message: str, *, status: int | None = None, code: str = "", details: Any = None) -> None:
        super().__init__(message)
        self.status, self.code, self.details = status, code, details


@dataclass(frozen=True)
class ServedModel:
    """The model that a server uses, and the limits of a request."""

    name: str
    mode: str
    threshold: float
    signature: str
    version: str
    max_pairs: int
    max_text: int
    max_characters: int
    max_body: int


def checked_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs as a list, or raise `ArgumentError` if one of them cannot be scored."""
    found = list(pairs)
    for number, pair in enumerate(found, start=1):
        if isinstance(pair, str) or len(pair) != 2:
            raise ArgumentError(f"pair {number} is not of the form (question, paraphrase)")
        if problem := pair_problem(*pair, longest=None):
            raise ArgumentError(f"pair {number}: {problem}")
    return found


def requests_for(pairs: Sequence[tuple[str, str]], served: ServedModel) -> Iterator[tuple[int, bytes]]:
    """Yield the number of pairs and the body of each request, so that every request is within the server's limits.

    >>> served = ServedModel("m", "fused", 0.5, "", "", max_pairs=2, max_text=9, max_characters=20, max_body=10_000)
    >>> [count for count, body in requests_for([("a", "b")] * 5 + [("12345678", "12345678")] * 2, served)]
    [2, 2, 2, 1]
    """
    most = min(_MOST_PAIRS, served.max_pairs)
    room = served.max_body - len(_body([]))
    held: list[bytes] = []
    size = characters = 0
    for number, (question, paraphrase) in enumerate(pairs, start=1):
        if max(len(question), len(paraphrase)) > served.max_text:
            raise ArgumentError(f"pair {number}: a text is longer than the {served.max_text:,} characters allowed")
        item = json.dumps({"question": question, "paraphrase": paraphrase}, ensure_ascii=False).encode("utf-8")
        if len(item) > room:
            raise ArgumentError(f"pair {number} is larger than the {served.max_body:,} bytes that a request may have")
        work = len(question) + len(paraphrase)
        if held and (len(held) == most or size + len(item) > room or characters + work > served.max_characters):
            yield len(held), _body(held)
            held, size, characters = [], 0, 0
        held.append(item)
        size += len(item) + 1
        characters += work
    if held:
        yield len(held), _body(held)


def _body(items: Sequence[bytes]) -> bytes:
    return b'{"pairs":[' + b",".join(items) + b"]}"


def paraphrase_body(question: str, n: int, styles: Sequence[str], seed: int) -> bytes:
    """Return the body of a request for paraphrases, or raise `ArgumentError` if an argument cannot be used.

    >>> paraphrase_body("How many?", 2, ["exam"], 7)
    b'{"question": "How many?", "n": 2, "styles": ["exam"], "seed": 7}'
    """
    if problem := text_problem(question, "question", unicode=True):
        raise ArgumentError(problem)
    if n < 1:
        raise ArgumentError(f"n is {n}: ask for at least 1 paraphrase")
    if isinstance(styles, str):
        raise ArgumentError("styles must be a list of names, not a text")
    body = {"question": question, "n": n, "styles": list(styles), "seed": seed}
    return json.dumps(body, ensure_ascii=False).encode("utf-8")


def seconds_to_wait(attempt: int, response: httpx.Response | None, retried: Container[int] = RETRIED) -> float | None:
    """Return the seconds to wait before a request is sent again, or None if sending it again is useless.

    Parameters
    ----------
    attempt : int
        The number of attempts so far, at least 1.
    response : httpx.Response, optional
        The answer. None means that there was no answer.
    retried : container of int
        The statuses after which the request may succeed later.

    """
    if response is not None and response.status_code not in retried:
        return None
    wait = float(_FIRST_WAIT * 2 ** (attempt - 1))
    given = "" if response is None else response.headers.get("retry-after", "")
    if given.isascii() and given.isdecimal():
        wait = max(wait, float(given[:6]))
    return min(_LONGEST_WAIT, wait) * random.uniform(1.0, 1.25)  # clients that were refused together return apart


def read_model(response: httpx.Response) -> ServedModel:
    """Return the model that an answer describes."""
    found = read_json(response)
    try:
        names = ("name", "mode", "threshold", "signature", "version")
        return ServedModel(**{name: found[name] for name in names}, **found["limits"])
    except (KeyError, TypeError):
        raise _strange(response) from None


def read_verdicts(response: httpx.Response, count: int) -> list[Verdict | PairError]:
    """Return the verdicts and the pairs' errors of an answer, which must have a certain number of them."""
    found = read_json(response)
    try:
        verdicts = [_verdict(each, found["signature"]) for each in found["verdicts"]]
    except (KeyError, TypeError, ValueError):
        raise _strange(response) from None
    if len(verdicts) != count:
        raise _strange(response)
    return verdicts


def read_paraphrases(response: httpx.Response) -> list[Paraphrase]:
    """Return the paraphrases of an answer."""
    from paraqd.paraphrasing.paraphraser import Paraphrase

    found = read_json(response)
    try:
        return [
            Paraphrase(
                text=each["text"],
                score=each["score"],
                valid=each["valid"],
                evidence=_evidence(each["evidence"]),
                source=each["source"],
                style=each["style"],
                edits=tuple(each["edits"]),
                repaired=each["repaired"],
                rank=rank,
                signature=found["signature"],
            )
            for rank, each in enumerate(found["paraphrases"], start=1)
        ]
    except (KeyError, TypeError, ValueError):
        raise _strange(response) from None


def read_json(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON of an answer, or raise `ClientError` if the answer is an error."""
    try:
        found = response.json()
    except ValueError:
        found = None
    if response.is_success and isinstance(found, dict):
        return found
    error = found.get("error") if isinstance(found, dict) else None
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        raise ClientError(
            f"the server answered: {error['message']}",
            status=response.status_code,
            code=str(error.get("code", "")),
            details=error.get("details"),
        )
    raise _strange(response)


def no_answer(url: str, error: Exception) -> ClientError:
    """Return the error for a server that cannot be reached or does not answer."""
    why = " ".join(str(error).split())[:_SHOWN] or type(error).__name__
    return ClientError(f"no answer from {url} ({why}): check the address, and that paraqd serve is running")


def _strange(response: httpx.Response) -> ClientError:
    message = f"{response.request.url} does not answer like paraqd serve (status {response.status_code})"
    return ClientError(message, status=response.status_code)


def _verdict(found: Mapping[str, Any], signature: str) -> Verdict | PairError:
    if found.get("error") is not None:
        return PairError(found["error"])
    return Verdict(found["score"], found["valid"], _evidence(found["evidence"]), signature, tuple(found["warnings"]))


def _evidence(pieces: Sequence[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            EvidenceKind(piece["kind"]),
            _spans(piece["question_spans"]),
            _spans(piece["paraphrase_spans"]),
            piece["message"],
            piece["delta"],
        )
        for piece in pieces
    )


def _spans(found: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in found)

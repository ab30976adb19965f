"""Write candidates with an OpenAI-compatible endpoint: a service on the network or a server on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from paraqd.errors import ArgumentError
from paraqd.extras import require_extra
from paraqd.files import atomic_write
from paraqd.parameters import are_options, named, number_between, whole_number
from paraqd.paraphrasing.sources.answers import paraphrases_in
from paraqd.paraphrasing.sources.base import Candidate, Found, SourceError, go_on, shares
from paraqd.paraphrasing.sources.endpoint_access import hide_key, holds_key, read_key, split_address
from paraqd.paraphrasing.sources.endpoint_answers import (
    CHECK_ADDRESS,
    HOLDS_KEY,
    NO_PARAPHRASE,
    Answer,
    Refused,
    error_in,
    first_model,
    json_in,
    kept_answer,
    text_in,
    tokens_in,
)
from paraqd.paraphrasing.sources.endpoint_prompt import TASK, request
from paraqd.paraphrasing.sources.loading import KEY_VARIABLE
from paraqd.plural import counted
from paraqd.tables.datasets import cache_dir
from paraqd.tables.questions import Question
from paraqd.text_check import text_problem

if TYPE_CHECKING:
    import httpx

_MOST_PER_REQUEST = 12  # more texts in one answer become alike
_SEED_STEP = 1_000_003  # between the seeds of several requests for the same question and style
_RETRIED = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
_REFUSED = frozenset((400, 413, 422))  # these concern one question, such as one that is too long
_MOST_REFUSED = 5  # questions in a row; then the endpoint itself is not as it should be
_LONGEST_WAIT = 60.0
_LOOK_SECONDS = 0.1  # how often a wait is interrupted to see whether the work shall go on
_SHOWN = 160
_LARGEST = 1_000_000  # of the numbers of seconds and of requests per minute; a socket waits no longer than 24 days


class _Task(NamedTuple):
    """A request: a question by its number, a style, the number of texts, and the seed."""

    number: int
    question: Question
    style: str
    texts: int
    seed: int


@dataclass
class EndpointSource:
    """The source that asks an OpenAI-compatible endpoint for paraphrases.

    Parameters
    ----------
    address : str
        The address, such as ``https://HOST/v1``.
    model : str, optional
        The model (default: the first model that the endpoint lists).
    key_variable : str, optional
        The environment variable that holds the key (default: ``PARAQD_ENDPOINT_KEY``, which may be unset).
    most_requests, most_tokens : int, optional
        Raise a `SourceError` before more requests are sent, or after more tokens were used. The endpoint must say how
        many tokens each answer used. Asking for the endpoint's models is not counted.
    requests_per_minute : float, optional
        The limit of requests per minute.
    cache : str or Path, optional
        The folder for answers (default: a folder in the user's cache). An answer in the cache costs nothing.
    timeout : float
        The seconds to wait for an answer.
    attempts : int
        How often a request is sent if the endpoint is busy or gives no answer.
    first_wait : float
        The seconds before the second attempt. Each wait is twice as long as the one before, or as long as the endpoint
        asks for in ``Retry-After``.
    at_once : int
        The number of requests at a time.
    check : callable
        A function that is called before each attempt and again and again during waits. If it raises an exception,
        the work ends.

    """

    address: str
    model: str | None = None
    key_variable: str | None = None
    most_requests: int | None = None
    most_tokens: int | None = None
    requests_per_minute: float | None = None
    cache: str | Path | None = None
    timeout: float = 60.0
    attempts: int = 5
    first_wait: float = 0.5
    at_once: int = 4
    check: Callable[[], None] = field(default=go_on, compare=False, repr=False)
    requests: int = field(default=0, init=False)
    tokens: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        require_extra("endpoint", "an endpoint as the source", "httpx")
        self._check_settings()
        parts = split_address(self.address)
        self._key = read_key(self.key_variable, parts)
        self._host = parts.hostname
        self._url = self.address.rstrip("/").removesuffix("/chat/completions")
        self._folder = cache_dir() / "endpoint" if self.cache is None else Path(self.cache).expanduser()
        self._lock = threading.Lock()
        self._next = 0.0
        self._refused: set[str] = set()  # the questions that were refused since the last answer

    def _check_settings(self) -> None:
        """Raise an `ArgumentError` if a setting cannot be used."""
        for name in ("model", "key_variable"):
            if (text := getattr(self, name)) is not None:
                _check_text(text, name)
        for name in ("most_requests", "most_tokens", "attempts", "at_once"):
            if (given := getattr(self, name)) is not None or name in ("attempts", "at_once"):
                setattr(self, name, whole_number(name, given, least=1))
        if self.requests_per_minute is not None:
            self.requests_per_minute = number_between("requests_per_minute", self.requests_per_minute, 0.001, _LARGEST)
        self.timeout = number_between("timeout", self.timeout, 0.001, _LARGEST)
        self.first_wait = number_between("first_wait", self.first_wait, 0, _LARGEST)

    @property
    def name(self) -> str:
        """The model and the host."""
        return f"{self._model_name()}@{self._host}"

    @property
    def identity(self) -> str:
        """The address and the model."""
        return f"{self._url} {self._model_name()}"

    def candidates(
        self, questions: Sequence[Question], *, count: int, seed: int, styles: Sequence[str] = ()
    ) -> list[Found]:
        """Return candidates for each question, with up to twelve from one request; see `CandidateSource`.

        A question that the endpoint refuses has no candidates. Raise a `SourceError` if five are refused in a row, and
        an `ArgumentError` before anything is sent if a question or a style cannot be.
        """
        for question in questions:
            _check_text(question.text, "question")
        for style in filter(None, styles):
            _check_text(style, "style")
        name = self.name  # the model is looked up before several requests are sent at once
        tasks = [
            _Task(number, question, style, some, seed + part * _SEED_STEP)
            for number, question in enumerate(questions)
            for style, share in shares(count, styles)
            for part, some in enumerate(_portions(share))
        ]
        found: list[list[Candidate]] = [[] for _ in questions]
        problems = [NO_PARAPHRASE for _ in questions]
        for task, answer in zip(tasks, self._answers(tasks), strict=True):
            found[task.number] += [Candidate(text, name, task.style) for text in paraphrases_in(answer.text)]
            problems[task.number] = answer.problem or problems[task.number]
        return [Found(tuple(each), "" if each else problem) for each, problem in zip(found, problems, strict=True)]

    def _answers(self, tasks: Sequence[_Task]) -> list[Answer]:
        """Return the answers to several requests, some at a time.

        The first error ends the work. Requests on their way may still end, because their answers are paid for, but
        nothing more is sent. Ctrl-C waits for nothing: daemon threads do not keep the program from ending.
        """
        left = deque(enumerate(tasks))
        done: SimpleQueue[tuple[int, Answer | Exception]] = SimpleQueue()
        stop = threading.Event()

        def work() -> None:
            while left and not stop.is_set():
                try:
                    number, task = left.popleft()
                except IndexError:  # another thread took the last one
                    return
                try:
                    done.put((number, self._outcome(task, stop)))
                except Exception as error:
                    done.put((number, error))
                    stop.set()

        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self.at_once, len(tasks)))]
        answers = [Answer("")] * len(tasks)
        try:
            for thread in threads:
                thread.start()
            for _ in tasks:
                number, answer = done.get()
                if isinstance(answer, Exception):
                    _join(threads, self.timeout)
                    raise answer
                answers[number] = answer
        finally:
            stop.set()
        return answers

    def _outcome(self, task: _Task, stop: threading.Event) -> Answer:
        """Return the answer to a request, or a refusal. Raise a `SourceError` after too many refusals in a row."""
        try:
            return self._ask(task, stop)
        except Refused as refused:
            with self._lock:
                self._refused.add(task.question.text)
                many = len(self._refused) >= _MOST_REFUSED
            if many:
                raise SourceError(
                    f"{self._url} refused {_MOST_REFUSED} questions in a row: {refused}; {CHECK_ADDRESS}"
                ) from None
            return Answer("", f"the endpoint refused it: {refused}")

    def _ask(self, task: _Task, stop: threading.Event) -> Answer:
        """Return the answer to a request, from the cache if it is there.

        An answer without a paraphrase is not kept, so that the next run asks again. No answer is changed: one that
        contains the key is dropped.
        """
        body = {
            "model": self._model_name(),
            "messages": [
                {"role": "system", "content": TASK},
                {"role": "user", "content": request(task.question.text, task.style, task.texts)},
            ],
            "temperature": 0.9,
            "seed": task.seed,
        }
        key = hashlib.sha256(json.dumps([self._url, body], sort_keys=True).encode()).hexdigest()
        kept = self._folder / f"{key}.json"
        if (text := kept_answer(kept)) is not None and paraphrases_in(text):
            return Answer(text)
        answer = self._send("POST", "/chat/completions", body, stop)
        used = tokens_in(answer)
        with self._lock:
            self.tokens += used or 0
        text = text_in(answer)
        with self._lock:
            self._refused.clear()
        texts = paraphrases_in(text)
        secret = any(holds_key(each, self._key) for each in (text, *texts))
        if texts and not secret:
            self._keep(kept, text)
        if used is None and self.most_tokens is not None:
            raise SourceError(
                f"{self._url} does not say how many tokens an answer used, so {named('most_tokens', self.most_tokens)} "
                "cannot be obeyed: limit the number of requests instead"
            )
        return Answer("", HOLDS_KEY) if secret else Answer(text)

    def _keep(self, kept: Path, text: str) -> None:
        """Write an answer into the cache."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            temporary = kept.with_name(f".{kept.name}.{os.getpid()}.{threading.get_ident()}.writing")
            with atomic_write(kept, temporary) as path:
                path.write_text(json.dumps({"answer": text}), encoding="utf-8")
        except OSError as error:
            raise SourceError(
                f"the answers of {self._host} cannot be kept in {self._folder} ({error.strerror}): pass another folder "
                f"with {named('cache', 'DIR')}"
            ) from None

    def _model_name(self) -> str:
        with self._lock:
            if self.model is not None:
                return self.model
        try:
            name = first_model(self._send("GET", "/models", None, threading.Event()))
        except Refused as refused:
            raise SourceError(f"{self._url} does not list its models: {refused}; {CHECK_ADDRESS}") from None
        if name is None:
            option = named("endpoint_model" if are_options() else "model", "NAME")
            raise SourceError(f"{self._url} lists no model: name one with {option}")
        with self._lock:
            self.model = name
        return name

    def _send(self, method: str, path: str, body: Any, stop: threading.Event) -> dict[str, Any]:
        """Send a request until it is answered, and return the JSON of the answer. ``stop`` ends waits and retries.

        Raise `Refused` if the endpoint refuses this request, and a `SourceError` if it cannot be used at all.
        """
        import httpx

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        why = ""
        for attempt in range(1, self.attempts + 1):
            self.check()
            self._admit(stop, counts=method == "POST")
            response: httpx.Response | None = None
            try:
                response = httpx.request(
                    method, self._url + path, json=body, headers=headers, timeout=self.timeout, follow_redirects=False
                )
            except httpx.TimeoutException:
                why = f"it gave no answer within {self.timeout:g} seconds"
            except httpx.HTTPError as error:
                why = f"it cannot be reached ({hide_key(str(error), self._key) or type(error).__name__})"
            except httpx.InvalidURL:
                raise SourceError("the address is not one of an endpoint: pass one like https://HOST/v1") from None
            if response is not None:
                if response.status_code == 200:
                    return json_in(response.content)
                why = f"it answered {response.status_code}: {self._message(response)}"
                if response.status_code in _REFUSED:
                    raise Refused(why)
                if response.status_code not in _RETRIED:
                    raise SourceError(f"{self._url} refused a request: {why.removeprefix('it ')}{self._hint(response)}")
            if attempt < self.attempts:
                self._pause(_wait(self.first_wait, attempt, response), stop)
        tried = counted(self.attempts, "attempt")
        raise SourceError(f"{self._url} does not work: {why} ({tried}); check the address, or try again later")

    def _admit(self, stop: threading.Event, *, counts: bool) -> None:
        """Wait for the rate limit. If the request counts, raise a `SourceError` if a cap is reached."""
        with self._lock:
            for name, used, most in (
                ("request", self.requests, self.most_requests),
                ("token", self.tokens, self.most_tokens),
            ):
                if counts and most is not None and used >= most:
                    option = named(f"most_{name}s", most)
                    raise SourceError(f"the limit of {counted(most, name)} is reached: raise {option} to send more")
            self.requests += counts
            now = time.monotonic()
            start = max(now, self._next)
            if self.requests_per_minute is not None:
                self._next = start + 60 / self.requests_per_minute
        self._pause(start - now, stop)

    def _pause(self, seconds: float, stop: threading.Event) -> None:
        """Wait. Raise a `SourceError` at once if the work is stopped."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not stop.wait(min(left, _LOOK_SECONDS)):
            self.check()
        if stop.is_set():
            raise SourceError("the work was stopped")

    def _hint(self, response: httpx.Response) -> str:
        if response.status_code in (401, 403):
            return f"; put the key into the variable {self.key_variable or KEY_VARIABLE}"
        return f"; {CHECK_ADDRESS}" if response.status_code == 404 else ""

    def _message(self, response: httpx.Response) -> str:
        """Return what an endpoint says about an error, in one short line without the key."""
        text = error_in(response.content, response.reason_phrase)
        line = hide_key(text, self._key)  # before it is cut, so that no part of the key is left
        return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("an endpoint is not sent to other processes: each loads its own")


def _check_text(text: object, role: str) -> None:
    """Raise an `ArgumentError` if a text cannot be sent."""
    if problem := text_problem(text, role, unicode=True):
        raise ArgumentError(problem)


def _portions(share: int) -> list[int]:
    """Divide the texts for a question and a style among requests.

    >>> _portions(30), _portions(0)
    ([12, 12, 6], [])
    """
    return [min(_MOST_PER_REQUEST, share - start) for start in range(0, share, _MOST_PER_REQUEST)]


def _join(threads: Sequence[threading.Thread], seconds: float) -> None:
    """Wait until the threads have ended, but not longer than some seconds."""
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))


def _wait(first: float, attempt: int, response: httpx.Response | None) -> float:
    """Return the seconds to wait after an attempt: twice as long each time, or as long as the endpoint asks for."""
    wait = first * 2.0 ** min(attempt - 1, 99)  # a larger power is no float
    asked = "" if response is None else response.headers.get("retry-after", "").strip()
    if asked.replace(".", "", 1).isdecimal():
        wait = max(wait, float(asked[:8]))
    return min(wait, _LONGEST_WAIT)

"""Define `Client` and `AsyncClient`, which ask a server that runs ``paraqd serve`` for verdicts and paraphrases."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Container, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Self

from paraqd.errors import ArgumentError
from paraqd.extras import require_extra
from paraqd.progress import Progress, silent
from paraqd.scoring.pair_errors import PairError, all_scored
from paraqd.server.client_messages import (
    BUSY,
    RETRIED,
    ServedModel,
    checked_pairs,
    no_answer,
    paraphrase_body,
    read_model,
    read_paraphrases,
    read_verdicts,
    requests_for,
    seconds_to_wait,
)
from paraqd.server.settings import is_loopback

if TYPE_CHECKING:
    import httpx

    from paraqd.paraphrasing.paraphraser import Paraphrase
    from paraqd.scoring.verdict import Verdict

_MODEL, _BATCH, _PARAPHRASE = "/v1/model", "/v1/score/batch", "/v1/paraphrase"
SEED = 3407


class Client:
    """A client of a server that runs ``paraqd serve``. It can be used in several threads.

    Requests that the server refuses because it is busy, and requests without an answer, are sent again after a while.

    Parameters
    ----------
    url : str
        The address of the server.
    api_key : str, optional
        The server's API key, if it needs one.
    timeout : float
        The seconds to wait for an answer.
    retries : int
        How many times a request is sent again.
    concurrency : int
        The number of requests at a time when there are more pairs than fit in one request.
    transport : httpx.BaseTransport, optional
        Another way to send requests.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8080")
    >>> client.close()

    With a server at this address, ``client.score(question, [paraphrase])`` returns the same verdicts as
    `Scorer.score_pairs` in the server's process.

    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        api_key: str | None = None,
        timeout: float = 90.0,
        retries: int = 8,
        concurrency: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._url = url
        self._retries, self._concurrency = retries, max(1, concurrency)
        self._served: ServedModel | None = None
        options = _options(url, api_key, timeout)
        import httpx

        self._http = httpx.Client(transport=transport, **options)

    def score(self, question: str, paraphrases: Sequence[str]) -> list[Verdict]:
        """Score paraphrases of one question.

        Raises
        ------
        ArgumentError
            If the question is blank or a text is not a string.
        ClientError
            If the server cannot be reached or refuses the request.

        """
        if isinstance(paraphrases, str):
            raise ArgumentError("paraphrases must be a list of texts, not a text")
        return self.score_pairs([(question, paraphrase) for paraphrase in paraphrases])

    def score_pairs(self, pairs: Iterable[tuple[str, str]], *, progress: Progress = silent) -> list[Verdict]:
        """Score pairs, in as many requests as needed. The verdicts have the order of the pairs.

        Raises
        ------
        ArgumentError
            If a question is blank or a text is not a string. In this case, nothing is sent.
        PairsError
            If some pairs cannot be scored because of a fault in the scorer. The error has the verdicts on the others.
        ClientError
            If the server cannot be reached or refuses a request.

        """
        found = checked_pairs(pairs)
        if not found:
            return []
        requests = list(requests_for(found, self._model()))
        verdicts: list[Verdict | PairError] = []
        with ThreadPoolExecutor(min(self._concurrency, len(requests)), thread_name_prefix="paraqd-client") as pool:
            try:
                for some in pool.map(lambda each: self._scored(*each), requests):
                    verdicts += some
                    progress("scoring", len(verdicts), len(found))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return all_scored(verdicts)

    def paraphrase(
        self, question: str, *, n: int = 5, styles: Sequence[str] = (), seed: int = SEED
    ) -> list[Paraphrase]:
        """Return up to ``n`` paraphrases of a question that the server's model calls valid.

        Parameters
        ----------
        question : str
            The question.
        n : int
            The number of paraphrases. Fewer are returned if the server does not find enough.
        styles : sequence of str
            The wanted styles, such as ``plain``, ``exam`` or ``engaging``.
        seed : int
            Another seed gives other paraphrases.

        Raises
        ------
        ArgumentError
            If an argument cannot be used.
        ClientError
            If the server cannot be reached, or cannot write paraphrases.

        """
        body = paraphrase_body(question, n, styles, seed)
        return read_paraphrases(self._send("POST", _PARAPHRASE, body, retried=BUSY))

    def model(self) -> ServedModel:
        """Return the server's model and limits."""
        self._served = read_model(self._send("GET", _MODEL))
        return self._served

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _model(self) -> ServedModel:
        return self._served or self.model()

    def _scored(self, count: int, body: bytes) -> list[Verdict | PairError]:
        return read_verdicts(self._send("POST", _BATCH, body), count)

    def _send(
        self, method: str, path: str, body: bytes | None = None, retried: Container[int] = RETRIED
    ) -> httpx.Response:
        """Send a request, again and again if that may help, and return the last answer."""
        import httpx

        attempt = 0
        while True:
            attempt += 1
            response, error = None, None
            try:
                response = self._http.request(method, path, content=body)
            except httpx.TransportError as failed:
                error = failed
            wait = seconds_to_wait(attempt, response, retried)
            if wait is None or attempt > self._retries:
                return _answer(response, error, self._url)
            time.sleep(wait)


class AsyncClient:
    """A client like `Client`, for programs that use asyncio. Its methods are coroutines.

    Parameters
    ----------
    url : str
        The address of the server.
    api_key : str, optional
        The server's API key, if it needs one.
    timeout : float
        The seconds to wait for an answer.
    retries : int
        How many times a request is sent again.
    concurrency : int
        The number of requests at a time when there are more pairs than fit in one request.
    transport : httpx.AsyncBaseTransport, optional
        Another way to send requests.

    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        api_key: str | None = None,
        timeout: float = 90.0,
        retries: int = 8,
        concurrency: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = url
        self._retries = retries
        self._slots = asyncio.Semaphore(max(1, concurrency))
        self._served: ServedModel | None = None
        options = _options(url, api_key, timeout)
        import httpx

        self._http = httpx.AsyncClient(transport=transport, **options)

    async def score(self, question: str, paraphrases: Sequence[str]) -> list[Verdict]:
        """Score paraphrases of one question. See `Client.score`."""
        if isinstance(paraphrases, str):
            raise ArgumentError("paraphrases must be a list of texts, not a text")
        return await self.score_pairs([(question, paraphrase) for paraphrase in paraphrases])

    async def score_pairs(self, pairs: Iterable[tuple[str, str]]) -> list[Verdict]:
        """Score pairs, in as many requests as needed. See `Client.score_pairs`."""
        found = checked_pairs(pairs)
        if not found:
            return []
        requests = list(requests_for(found, self._served or await self.model()))
        tasks = [asyncio.create_task(self._scored(*each)) for each in requests]
        try:
            return all_scored([verdict for some in await asyncio.gather(*tasks) for verdict in some])
        finally:
            for task in tasks:
                task.cancel()

    async def paraphrase(
        self, question: str, *, n: int = 5, styles: Sequence[str] = (), seed: int = SEED
    ) -> list[Paraphrase]:
        """Return paraphrases of a question. See `Client.paraphrase`."""
        body = paraphrase_body(question, n, styles, seed)
        async with self._slots:
            return read_paraphrases(await self._send("POST", _PARAPHRASE, body, retried=BUSY))

    async def model(self) -> ServedModel:
        """Return the server's model and limits."""
        self._served = read_model(await self._send("GET", _MODEL))
        return self._served

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _scored(self, count: int, body: bytes) -> list[Verdict | PairError]:
        async with self._slots:
            return read_verdicts(await self._send("POST", _BATCH, body), count)

    async def _send(
        self, method: str, path: str, body: bytes | None = None, retried: Container[int] = RETRIED
    ) -> httpx.Response:
        """Send a request, again and again if that may help, and return the last answer."""
        import httpx

        attempt = 0
        while True:
            attempt += 1
            response, error = None, None
            try:
                response = await self._http.request(method, path, content=body)
            except httpx.TransportError as failed:
                error = failed
            wait = seconds_to_wait(attempt, response, retried)
            if wait is None or attempt > self._retries:
                return _answer(response, error, self._url)
            await asyncio.sleep(wait)


def _options(url: str, api_key: str | None, timeout: float) -> dict[str, Any]:
    """Return the options that both kinds of client share."""
    require_extra("serve", "the client", "httpx")
    if not url.startswith(("http://", "https://")):
        raise ArgumentError(f"the address {url!r} must begin with http:// or https://")
    headers = {"Content-Type": "application/json"}
    if api_key is not None:
        headers["Authorization"] = f"Bearer {api_key}"
    import httpx

    uses_proxies = not is_loopback(httpx.URL(url).host)
    return {"base_url": url, "timeout": timeout, "headers": headers, "trust_env": uses_proxies}


def _answer(response: httpx.Response | None, error: Exception | None, url: str) -> httpx.Response:
    """Return an answer, or raise `ClientError` if there is none."""
    if response is None:
        assert error is not None
        raise no_answer(url, error) from None
    return response

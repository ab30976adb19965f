"""Define the settings of the server, and read them from environment variables."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from paraqd.errors import ParaqdError

PREFIX = "PARAQD_SERVE_"
SHORTEST_KEY = 16
_MEGABYTE = 1_000_000
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class SettingsError(ParaqdError):
    """Raised when a setting of the server has an unusable value. The message names the setting."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of the server.

    Attributes
    ----------
    host, port : str, int
        The address to listen on. Port 0 takes a free port.
    model, judge, threshold, threads : optional
        The scorer, as in `paraqd.Scorer.load`.
    api_key : str, optional
        The key that every request must carry (default: no key is needed).
    open_to_all : bool
        Allow an address that other machines can reach although there is no API key.
    allowed_hosts : tuple of str
        Names by which browsers may call a server without an API key, besides IP addresses and names without a dot.
    allowed_origins : tuple of str
        Web sites whose scripts may call the server (CORS).
    review : bool
        Serve the review page.
    database : str, optional
        The SQLAlchemy URL of the database of the review page (default: a SQLite file in the user's data folder).
    paraphrase_source : str
        What writes paraphrases: ``rules``, a model's folder or name, the address of an endpoint, or ``none``.
    paraphrase_model : str, optional
        The model that an endpoint uses (default: the first that it lists).
    paraphrase_requests : int, optional
        The most requests that are sent to an endpoint until the server is started again.
    paraphrase_least_score : float
        The lowest score of a paraphrase that the server returns.
    max_paraphrases : int
        The most paraphrases in one request.
    max_paraphrasing : int
        The most requests for paraphrases in progress. The server refuses more with status 429.
    max_pairs : int
        The most pairs in one request.
    max_text : int
        The most characters in one text.
    max_characters : int
        The most characters in all pairs of one request. This limits its work: a question counts in each of its pairs.
    max_body, max_upload : int
        The most bytes in the body of a request, and in an upload to the review page.
    max_waiting : int
        The most pairs that the server holds for all requests together. It refuses more with status 429.
    max_connections : int
        The most connections at a time.
    batch_pairs, batch_characters : int
        The most pairs and, roughly, the most characters that are scored together.
    deadline : float
        The seconds after which a request is given up.
    client_seconds : float
        The seconds in which a client must send its headers, and then its body.
    drain_seconds : float
        The seconds between the signal to stop, after which ``/readyz`` answers 503, and the end of listening.
    stop_seconds : float
        The most seconds to wait for requests in progress when the server stops.

    """

    host: str = "127.0.0.1"
    port: int = 8080
    model: str | None = None
    judge: str | None = None
    threshold: float | None = None
    threads: int | None = None
    api_key: str | None = None
    open_to_all: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    review: bool = True
    database: str | None = None
    paraphrase_source: str = "rules"
    paraphrase_model: str | None = None
    paraphrase_requests: int | None = None
    paraphrase_least_score: float = 0.95
    max_paraphrases: int = 20
    max_paraphrasing: int = 8
    max_pairs: int = 512
    max_text: int = 20_000
    max_characters: int = 1_000_000
    max_body: int = 4 * _MEGABYTE
    max_upload: int = 32 * _MEGABYTE
    max_waiting: int = 1024
    max_connections: int = 512
    batch_pairs: int = 128
    batch_characters: int = 64_000
    deadline: float = 60.0
    client_seconds: float = 20.0
    drain_seconds: float = 0.0
    stop_seconds: float = 60.0

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SettingsError(f"port {self.port}: choose a number from 0 to 65535")
        if self.threshold is not None and not -1 <= self.threshold <= 1:
            raise SettingsError(f"threshold {self.threshold}: choose a number from -1 to 1")
        for name in (
            "max_pairs",
            "max_text",
            "max_characters",
            "max_body",
            "max_upload",
            "max_waiting",
            "max_connections",
        ):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("batch_pairs", "batch_characters", "max_paraphrases", "max_paraphrasing"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("deadline", "client_seconds", "stop_seconds"):
            if not getattr(self, name) > 0:
                raise SettingsError(f"{name} must be above 0, not {getattr(self, name)}")
        if not self.drain_seconds >= 0:
            raise SettingsError(f"drain_seconds must be at least 0, not {self.drain_seconds}")
        if self.max_waiting < self.max_pairs:
            raise SettingsError(
                f"max_waiting ({self.max_waiting}) is less than max_pairs ({self.max_pairs}): the largest requests "
                "would always be refused"
            )
        if self.max_characters < 2 * self.max_text:
            raise SettingsError(
                f"max_characters ({self.max_characters}) is less than twice max_text ({self.max_text}): pairs of the "
                "longest texts would always be refused"
            )
        _check_key(self.api_key)
        _check_source(self)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
        """Return the given settings, and take the others from environment variables such as ``PARAQD_SERVE_PORT``.

        ``PARAQD_SERVE_API_KEY_FILE`` names a file that contains the API key. A setting that is given as None counts as
        not given.

        >>> Settings.from_environment({"PARAQD_SERVE_PORT": "9000"}, host="::1").port
        9000
        """
        environment = os.environ if environment is None else environment
        known = {field.name: str(field.type) for field in fields(cls)}
        values = {name: value for name, value in given.items() if value is not None}
        for name, kind in known.items():
            text = environment.get(PREFIX + name.upper(), "").strip()
            if text and name not in values:
                values[name] = _parsed(PREFIX + name.upper(), text, kind)
        key_file = environment.get(f"{PREFIX}API_KEY_FILE", "").strip()
        if key_file and "api_key" not in values:
            values["api_key"] = read_key(key_file)
        return cls(**values)

    @property
    def is_local(self) -> bool:
        """Return True if only this machine can reach the address."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return True if an address refers to this machine only.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_key(path: str | Path) -> str:
    """Return the API key in a file, without white space at its ends."""
    try:
        key = Path(path).read_text("utf-8").strip()
    except OSError as error:
        raise SettingsError(f"cannot read the API key in {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} does not contain an API key: it is not text") from None
    if not key:
        raise SettingsError(f"{path} does not contain an API key: it is empty")
    return key


def check_exposure(settings: Settings) -> None:
    """Raise `SettingsError` if other machines could use the server without a key."""
    if not (settings.is_local or settings.api_key or settings.open_to_all):
        raise SettingsError(
            f"--host {settings.host} lets other machines use the server: pass --api-key-file FILE, or --no-api-key if "
            "everyone who can reach it may use it"
        )


def _check_key(key: str | None) -> None:
    if key is None:
        return
    advice = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingsError(f"the API key contains characters that a header cannot carry: {advice}")
    if len(key) < SHORTEST_KEY:
        raise SettingsError(f"the API key is shorter than {SHORTEST_KEY} characters: {advice}")


def _check_source(settings: Settings) -> None:
    source = settings.paraphrase_source
    if not source.strip():
        raise SettingsError("paraphrase_source is empty: choose rules, a model, the address of an endpoint, or none")
    if settings.paraphrase_requests is not None and settings.paraphrase_requests < 1:
        raise SettingsError(f"paraphrase_requests must be at least 1, not {settings.paraphrase_requests}")
    if not -1 <= settings.paraphrase_least_score <= 1:
        raise SettingsError(
            f"paraphrase_least_score must be a score from -1 to 1, not {settings.paraphrase_least_score:g}"
        )
    for name in ("paraphrase_model", "paraphrase_requests"):
        if getattr(settings, name) is not None and not source.startswith(("http://", "https://")):
            raise SettingsError(f"{name} needs an endpoint: set paraphrase_source to its address, https://HOST/v1")


def _parsed(name: str, text: str, kind: str) -> Any:
    """Return the value of an environment variable."""
    kind = kind.removesuffix(" | None")
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        raise SettingsError(f"{name}={text}: a number is needed") from None
    if kind == "bool":
        if text.lower() not in _TRUE + _FALSE:
            raise SettingsError(f"{name}={text}: choose true or false")
        return text.lower() in _TRUE
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text

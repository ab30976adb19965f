"""Read what an endpoint answers: texts, models, tokens, and the reason for a refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

NO_PARAPHRASE = "the endpoint's answer contains no paraphrase"
HOLDS_KEY = "the endpoint's answer contains the key, so it was dropped"
STRANGE = "it answers, but not as an OpenAI-compatible endpoint does"
CHECK_ADDRESS = "check the address, which often ends in /v1, and the model"


class Answer(NamedTuple):
    """The text of an answer, or an empty string and the reason why there is none."""

    text: str
    problem: str = ""


class Refused(Exception):
    """Raised when an endpoint refuses a single request, or answers it with something that cannot be read."""


def json_in(content: bytes) -> dict[str, Any]:
    """Return the JSON object in the body of an answer. Raise `Refused` if there is none.

    >>> json_in(b'{"choices": []}')
    {'choices': []}
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise Refused(STRANGE) from None
    if not isinstance(found, dict):
        raise Refused(STRANGE)
    return found


def text_in(answer: dict[str, Any]) -> str:
    """Return the text that a model wrote, which may be empty. Raise `Refused` if there is no place for one.

    >>> text_in({"choices": [{"message": {"content": "Ann has 2 pens."}}]})
    'Ann has 2 pens.'
    """
    try:
        content = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise Refused(STRANGE) from None
    return content if isinstance(content, str) else ""


def tokens_in(answer: dict[str, Any]) -> int | None:
    """Return the number of tokens that an answer used, or None if it does not say so.

    >>> tokens_in({"usage": {"total_tokens": 12}}), tokens_in({"usage": {"total_tokens": "12 tokens"}})
    (12, None)
    """
    used = answer.get("usage")
    count = used.get("total_tokens") if isinstance(used, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else None


def first_model(answer: dict[str, Any]) -> str | None:
    """Return the first model in a list of models, or None if it has no usable name.

    >>> first_model({"data": [{"id": "tiny"}]}), first_model({"data": [{"id": None}]}), first_model({})
    ('tiny', None, None)
    """
    try:
        name = answer["data"][0]["id"]
        name.encode()
    except (KeyError, IndexError, TypeError, AttributeError, UnicodeEncodeError):
        return None
    return name if isinstance(name, str) and name.strip() else None


def error_in(content: bytes, otherwise: str) -> str:
    """Return what an endpoint says about an error, in one line.

    >>> error_in(b'{"error": {"message": "too long"}}', "Bad Request"), error_in(b"", "Bad Request")
    ('too long', 'Bad Request')
    """
    try:
        found = json.loads(content)
        error = found.get("error", found) if isinstance(found, dict) else found
        text = str(error.get("message", error) if isinstance(error, dict) else error)
    except (ValueError, RecursionError):
        text = content.decode(errors="replace") or otherwise
    return " ".join(text.encode(errors="replace").decode().split())  # such a text may contain surrogates


def kept_answer(path: Path) -> str | None:
    """Return the answer in a file of the cache, or None if there is no such file."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["answer"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None

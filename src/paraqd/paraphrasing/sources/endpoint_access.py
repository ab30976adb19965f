"""Check the address and the key of an endpoint. No message shows the key."""

from __future__ import annotations

import json
import os
from urllib.parse import SplitResult, quote, urlsplit

from paraqd.errors import ArgumentError
from paraqd.paraphrasing.sources.loading import KEY_VARIABLE
from paraqd.text_check import text_problem


def split_address(address: str) -> SplitResult:
    """Return the parts of an address. Raise an `ArgumentError` that never shows a password.

    >>> split_address("https://example.org/v1").hostname
    'example.org'
    """
    if problem := text_problem(address, "address", unicode=True):
        raise ArgumentError(f"{problem}: pass one like https://HOST/v1")
    try:
        parts = urlsplit(address)
        host, secret = parts.hostname, "@" in parts.netloc or bool(parts.query or parts.fragment)
        usable = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:  # such as brackets that are not closed, or a port that is no number
        host, secret, usable = None, "@" in address or "?" in address, False
    if secret:
        raise ArgumentError(
            f"the address of {host or 'the endpoint'} must not hold a key: put the key into the variable {KEY_VARIABLE}"
        )
    if not usable:
        shown = "the source" if "@" in address else address
        raise ArgumentError(f"{shown} is not the address of an endpoint: pass one like https://HOST/v1")
    return parts


def read_key(variable: str | None, address: SplitResult) -> str:
    """Return the key in an environment variable, which must be set if it is named, or an empty string.

    Raise an `ArgumentError` if the key cannot be sent, or would be sent to another machine unencrypted.
    """
    name = variable or KEY_VARIABLE
    key = os.environ.get(name, "").strip()
    if variable and not key:
        raise ArgumentError(f"the environment variable {variable} is not set: put the key into it")
    if not all("!" <= character <= "~" for character in key):
        raise ArgumentError(
            f"the key in the environment variable {name} contains a space, a line break or a character that is not "
            "ASCII: put only the key into it"
        )
    if key and address.scheme == "http" and address.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ArgumentError(f"the key would be sent to {address.hostname} unencrypted: use an address with https://")
    return key


_SHORTEST_SECRET = 16  # characters; a shorter key may be an ordinary part of a text


def holds_key(text: str, key: str) -> bool:
    """Return True if a text contains the key. A key that is too short to be a secret, such as ``x``, does not count.

    >>> holds_key("12 boxes", "x"), holds_key("sk-0123456789abcdef", "sk-0123456789abcdef")
    (False, True)
    """
    return len(key) >= _SHORTEST_SECRET and hide_key(text, key) != text


def hide_key(text: str, key: str) -> str:
    """Return a message in which asterisks replace the key, however it is written.

    >>> hide_key("Bearer abc", "abc"), hide_key("no key is set", "")
    ('Bearer ***', 'no key is set')
    """
    if key:
        for form in (key, json.dumps(key)[1:-1], repr(key)[1:-1], quote(key, safe="")):
            text = text.replace(form, "***")
    return text

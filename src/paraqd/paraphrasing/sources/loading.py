"""Find the source of candidates that a name, a folder or an address refers to.

The command line imports this module for its help, so it imports little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paraqd.errors import ArgumentError
from paraqd.paraphrasing.sources.base import CandidateSource, go_on

RULES = "rules"
KEY_VARIABLE = "PARAQD_ENDPOINT_KEY"  # the environment variable with the key of an endpoint


def load_source(
    source: str,
    *,
    device: str | None = None,
    check: Callable[[], None] = go_on,
    parameter: str = "source",
    **endpoint: Any,
) -> CandidateSource:
    """Load a source: ``rules``, the address of an endpoint (``https://…``), or a model's folder or name.

    ``endpoint`` are the settings of an endpoint; see `EndpointSource`. Other sources take none. Rules and an endpoint
    call ``check`` again and again, and stop if it raises an exception. ``parameter`` is what messages call the
    parameter with which a source is chosen.

    >>> load_source("rules").name
    'rules'
    """
    if not source.strip():
        raise ArgumentError("the name of the source is empty: pass rules, a model or the address of an endpoint")
    if endpoint:
        _check_endpoint(source, endpoint)
    if source == RULES:
        from paraqd.paraphrasing.sources.rules import RuleSource, require_parser

        require_parser(parameter)
        return RuleSource(check=check)
    if "://" in source:
        from paraqd.paraphrasing.sources.endpoint import EndpointSource

        return EndpointSource(source, check=check, **endpoint)
    from paraqd.paraphrasing.sources.model import ModelSource

    return ModelSource.load(source, device=device)


def _check_endpoint(source: str, given: Mapping[str, Any]) -> None:
    """Raise an `ArgumentError` if settings are no settings of an endpoint, or if the source is none."""
    from dataclasses import fields

    from paraqd.paraphrasing.sources.endpoint import EndpointSource

    known = [each.name for each in fields(EndpointSource) if each.init and each.name not in ("address", "check")]
    for name in given:
        if name not in known:
            raise ArgumentError(f"an endpoint has no setting {name!r}: choose among {', '.join(known)}")
    if "://" not in source:
        raise ArgumentError(
            f"the settings of an endpoint ({', '.join(given)}) need one, and the source is {source}: leave them out, "
            "or pass the address of an endpoint as the source"
        )


def is_address(source: str) -> bool:
    """Return True if a source is the address of an endpoint.

    >>> is_address("https://example.org/v1"), is_address("HTTPS://example.org/v1"), is_address("rules")
    (True, True, False)
    """
    return source.lower().startswith(("http://", "https://"))

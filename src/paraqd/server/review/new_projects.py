"""Prepare the settings and rows of new projects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraqd.server.review.errors import BadValueError, TooLargeError
from paraqd.server.review.projects import NewPair, SourceRow
from paraqd.text_check import is_blank, pair_problem

MOST_PAIRS = 200_000


@dataclass(frozen=True)
class Terms:
    """The settings of the server that new projects take over."""

    threshold: float
    band: tuple[float, float] | None = None
    most_pairs: int = MOST_PAIRS


def default_terms(app: Any) -> Terms:
    """Return the threshold and the band of the server's model."""
    return getattr(app.state, "review_terms", None) or Terms(0.5)


def read_band(given: Sequence[float] | str | None, terms: Terms) -> tuple[float, float] | None:
    """Return the band that a request asks for; raise a BadValueError if its ends are in the wrong order."""
    if given == "default":
        return terms.band
    if given is None or isinstance(given, str):
        return None
    low, high = given
    if low > high:
        raise BadValueError(f"the review band must begin below its end, not {low} to {high}")
    return low, high


def checked_pair(question: str, paraphrase: str, identity: str = "", column: str = "") -> NewPair:
    """Return a pair; if it cannot be scored, the pair says why."""
    return NewPair(question, paraphrase, identity, column, pair_problem(question, paraphrase))


def listed_rows(given: Sequence[Mapping[str, Any]], most: int) -> Iterator[SourceRow]:
    """Yield the rows of a project that was sent as a list of pairs; raise a TooLargeError if there are too many."""
    if len(given) > most:
        raise TooLargeError(f"a project can have {most:,} pairs, not {len(given):,}: split it")
    for line, each in enumerate(given, start=1):
        question, paraphrase = each["question"], each["paraphrase"]
        if is_blank(paraphrase):
            yield SourceRow(line, each, (), empty=1)
        else:
            yield SourceRow(line, each, (checked_pair(question, paraphrase, each.get("id") or "", "paraphrase"),))

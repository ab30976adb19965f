"""Prepare the settings and rows of new projects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraqd.scoring.decisions import Band, default_band
from paraqd.server.errors import InvalidInput, TooLarge
from paraqd.server.review.projects import NewPair, SourceRow
from paraqd.text_check import LONGEST, is_blank, pair_problem

MOST_PAIRS = 100_000  # in a project


@dataclass(frozen=True)
class Terms:
    """The settings of the server that new projects take over."""

    threshold: float
    band: tuple[float, float] | None = None
    most_pairs: int = MOST_PAIRS
    longest: int = LONGEST  # characters in a text


def default_terms(app: Any) -> Terms:
    """Return the threshold and the band of the server's model, and the server's limits."""
    scorer = app.state.scorer
    band = default_band(scorer)
    return Terms(scorer.threshold, None if band is None else (band.low, band.high), longest=app.state.settings.max_text)


def read_band(given: Sequence[float] | str | None, terms: Terms) -> tuple[float, float] | None:
    """Return the band that a request asks for; raise an InvalidInput if its ends are in the wrong order."""
    if given == "default":
        return terms.band
    if given is None or isinstance(given, str):
        return None
    low, high = given
    if low > high:
        raise InvalidInput(f"The lower end of the review band comes first, not {low:g} before {high:g}.")
    return low, high


def band_in(text: str, terms: Terms) -> tuple[float, float] | None:
    """Return the band that a text such as ``default``, ``0.2,0.8`` or an empty text describes."""
    if text.strip() in ("", "none", "null"):
        return None
    if text.strip() == "default":
        return terms.band
    band = Band.parse(text.strip(" []"))
    return band.low, band.high


def listed_rows(given: Sequence[Mapping[str, Any]], most: int, longest: int = LONGEST) -> Iterator[SourceRow]:
    """Yield the rows of a project that was sent as a list of pairs; raise a TooLarge if there are too many."""
    if len(given) > most:
        raise TooLarge(f"A project can have {most:,} pairs, not {len(given):,}. Divide them among several projects.")
    for line, each in enumerate(given, start=1):
        question, paraphrase = each["question"], each["paraphrase"]
        if is_blank(paraphrase):
            yield SourceRow(line, each, (), empty=1)
        else:
            problem = pair_problem(question, paraphrase, longest=longest)
            pair = NewPair(question, paraphrase, each.get("id") or "", "paraphrase", problem)
            yield SourceRow(line, each, (pair,))

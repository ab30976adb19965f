"""Texts that come out of a web page: character references and tags read as what they stand for.

A question with ``&nbsp;`` in it is judged as a person sees it; places are given in the text as it came.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from paraqd.scoring.verdict import Evidence, Span

_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_TAG = re.compile(
    r"</?(?:p|br|b|i|u|em|strong|span|div|ul|ol|li|table|tbody|tr|td|th|h[1-6]|a|font|small|big|sub|img)"
    r"(?:\s[^<>]*)?/?>",
    re.I,
)
_RAISED = re.compile(r"<sup>\s*([0-9]{1,3}|[a-z])\s*</sup>", re.I)


@dataclass(frozen=True)
class Plain:
    """A text as a reader sees it; ``places`` says where each of its signs stood in the text as it came."""

    text: str
    places: tuple[int, ...] | None = None  # none: every sign stands where it stood

    def back(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        """Return the places of spans in the text as it came."""
        places = self.places
        if places is None:
            return tuple(spans)
        return tuple((places[start], places[end] if end > start else places[start]) for start, end in spans)


def plain(text: str) -> Plain:
    r"""Read character references and the commonest tags.

    >>> made = plain("48&nbsp;m&sup2; <b>wide</b>")
    >>> made.text, made.back([(0, 2), (7, 11)])
    ('48\xa0m²  wide ', ((0, 2), (19, 23)))
    """
    if "&" not in text and "<" not in text:
        return Plain(text)
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    found = sorted(
        (match.start(), match.end(), _stands_for(match))
        for pattern in (_REFERENCE, _TAG, _RAISED)
        for match in pattern.finditer(text)
    )
    for start, end, seen in found:
        if start < done or seen is None:
            continue
        pieces += [text[done:start], seen]
        places += [*range(done, start), *([start] * len(seen))]
        done = end
    if not done:
        return Plain(text)
    pieces.append(text[done:])
    places += range(done, len(text) + 1)
    return Plain("".join(pieces), tuple(places))


def _stands_for(match: re.Match[str]) -> str | None:
    if match.re is _TAG:
        return " "
    if match.re is _RAISED:
        return f"^{match.group(1)}"
    seen = html.unescape(match.group())
    return None if seen == match.group() else seen


def placed_back(evidence: Sequence[Evidence], question: Plain, paraphrase: Plain) -> tuple[Evidence, ...]:
    """Give evidence its places in the texts as they came."""
    if question.places is None and paraphrase.places is None:
        return tuple(evidence)
    return tuple(
        replace(
            piece,
            question_spans=question.back(piece.question_spans),
            paraphrase_spans=paraphrase.back(piece.paraphrase_spans),
        )
        for piece in evidence
    )

"""One finding of a rule."""

from __future__ import annotations

from typing import NamedTuple

from paraqd.scoring.verdict import EvidenceKind, Span


class Finding(NamedTuple):
    """What a rule found: ``feature`` names its weight in the fusion, the rest becomes evidence."""

    feature: str
    kind: EvidenceKind
    question_spans: tuple[Span, ...]
    paraphrase_spans: tuple[Span, ...]
    message: str

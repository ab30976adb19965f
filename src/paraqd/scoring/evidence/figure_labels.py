"""Find labels that do not fit the figure, such as *diagonal AC* in *rectangle KLMN*."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from paraqd.reading import Problem
from paraqd.scoring.evidence.finding import Finding, quote
from paraqd.scoring.verdict import EvidenceKind, Span

_FIGURE = re.compile(
    r"\b(?:triangles?|rectangles?|squares?|quadrilaterals?|parallelograms?|trapezi(?:um|a|ums)|trapezoids?|rhombus|"
    r"kites?|pentagons?|hexagons?|polygons?|pyramids?|prisms?|tetrahedrons?|cubes?|circles?|cuboids?)\b",
    re.I,
)
_LABEL = re.compile(r"[A-Z](?<![\w'’$].)[A-Z]{1,7}(?![\w'’])")
_POINT = re.compile(r"(?<![\w'’$])[A-Z](?![\w'’])")
_LEAST = 3
_NO_LABELS = frozenset("CM KM MM KG ML AM PM GM FT IN OF IS TO AND THE FIND".split())


def label_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find side labels in the paraphrase with a letter that does not appear anywhere else."""
    if not (question.cased and paraphrase.cased):
        return
    stray = _stray(paraphrase.text)
    if not stray or _stray(question.text):
        return
    for span in stray:
        label = paraphrase.text[slice(*span)]
        message = f"The label {quote(label)} does not fit the figure, because one of its letters appears nowhere else."
        yield Finding("label_stray", EvidenceKind.ENTITY_CHANGED, (), (span,), message)


def _stray(text: str) -> list[Span]:
    """Return the spans of two-letter labels with a letter that does not appear anywhere else.

    Return an empty list if the text has no figure, or no label with three or more letters, such as *KLMN*.
    """
    labels = [label for label in _LABEL.finditer(text) if label.group() not in _NO_LABELS]
    if not any(len(label.group()) >= _LEAST for label in labels) or not _FIGURE.search(text):
        return []
    points = set(_POINT.findall(text)) - {"A", "I"}
    counts = Counter(letter for label in labels for letter in set(label.group()))
    found = []
    for label in labels:
        alone = {letter for letter in label.group() if counts[letter] == 1} - points
        if alone and len(label.group()) < _LEAST:
            found.append(label.span())
    return found

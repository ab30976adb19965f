"""Places where a word is missing: two small words that never stand side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator

from paraqd.reading import Problem
from paraqd.scoring.finding import Finding
from paraqd.scoring.verdict import EvidenceKind

# of 68,000 valid pairs five hold one of these that their question has not, of 94,000 invalid ones more than 500
_GAP = re.compile(
    r"\b(?:(?:the|an) (?:of|and|is|are|was|were|in|to|at|on|or|than|has|have|had)"
    r"|(?:of|between|into) (?:and|is|are|was|were|in|to|at|on|or|has|have|had)"
    r"|(?:from|with) (?:and|is|are|was|were|to|at|of|has|have|had))\b"
    r"(?! (?:least|most|all|once|first|every|half|a time))",
    re.I,
)


def gap_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a gap that the question has not.

    >>> from paraqd.reading import read
    >>> q, p = read("He drove from Rome at 20 km/h."), read("He drove from at 20 km/h.")
    >>> [finding.message for finding in gap_findings(q, p)]
    ['A word seems to be missing in “from at”.']
    """
    there = {match.group().lower() for match in _GAP.finditer(question.text)}
    for match in _GAP.finditer(paraphrase.text):
        if match.group().lower() not in there:
            message = f"A word seems to be missing in “{match.group()}”."
            yield Finding("word_missing", EvidenceKind.INCOHERENT, (), (match.span(),), message)

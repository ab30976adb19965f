"""Find places where a word is missing, such as between two function words that never follow each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from paraqd.reading import Problem
from paraqd.scoring.evidence.finding import Finding, quote
from paraqd.scoring.verdict import EvidenceKind, Span

# Pairs of words that indicate a missing word. A verb may follow a preposition (the town she comes from is far), so such
# pairs are not listed. In a test, the patterns of this module matched none of 21,000 valid paraphrases and 33 of 28,000
# invalid paraphrases.
_GAP = re.compile(
    r"\b(?:(?:[Tt]he|[Aa]n) (?:of|and|is|are|was|were|in(?!-)|to|at|on|or|than|has|have|had)"
    r"|(?:(?<!nstead )of|between|into) (?:and|in|to|at|on|or)"
    r"|(?<!\brid )of from"
    r"|(?:from|(?<!\bbegin )(?<!\bstart )with) (?:and|at|of))\b"
    r"(?! (?:least|most|all|once|first|every|half|a time))"
)
# *than* without a preceding comparison, as in *Ann can run than Oskar*
_THAN = re.compile(r"\bthan\b", re.I)
_COMPARES = re.compile(
    r"\b(?:more|less|fewer|rather|other|others|else|different|differently|worse|elder|further|farther|times|twice|double|triple|half|extra|additional|as|above|"
    r"below|over|under|no|least|most|(?!(?:her|number|together|after|per|whether|however|never|altogether)\b)\w+er)\b"
    r"|[<>≤≥]",
    re.I,
)
# a missing verb, as in *how many does she in 4 weeks*
_NO_VERB = re.compile(
    r"\b(?:does|did) (?:he|she|they|[A-Z]\w+) (?:in|at|for|on|per|from|to|by|after|during|with) "
    r"(?:\d|(?:the|an?|each|every|his|her|their|one|two|three|four|five)\b)"
)


def gap_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find missing words in the paraphrase, except where the question has the same gap.

    >>> from paraqd.reading import read
    >>> q, p = read("He drove from Rome at 20 km/h."), read("He drove from at 20 km/h.")
    >>> [finding.message for finding in gap_findings(q, p)]
    ['A word seems to be missing in "from at".']
    """
    come = _gaps(paraphrase)
    there = {match.group().lower() for match in _gaps(question)} if come else set()
    for match in come:
        if match.group().lower() not in there:
            message = f"A word seems to be missing in {quote(match.group())}."
            yield Finding("word_missing", EvidenceKind.INCOHERENT, (), (match.span(),), message)
    bare = _bare_than(paraphrase)
    if bare and not _bare_than(question):
        for span in bare:
            message = 'A word seems to be missing before "than".'
            yield Finding("word_missing", EvidenceKind.INCOHERENT, (), (span,), message)


def _gaps(problem: Problem) -> list[re.Match[str]]:
    return [match for gap in (_GAP, _NO_VERB) for match in gap.finditer(problem.text)]


def _bare_than(problem: Problem) -> list[Span]:
    """Return the spans of *than* without a preceding comparison. *Than* at the start of a sentence is skipped."""
    found: list[Span] = []
    for sentence in problem.sentences if "than" in problem.low else ():
        compares = _COMPARES.search(problem.text, sentence.start, sentence.end)
        end = compares.start() if compares else sentence.end
        found += [match.span() for match in _THAN.finditer(problem.text, sentence.start + 1, end)]
    return found

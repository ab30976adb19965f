"""Mend a candidate that has one fault with a name: a lost or changed number, a changed unit, or a clipped question.

The evidence says where the fault is in both texts. The words of the question are put in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from paraqd.reading import read
from paraqd.scoring.verdict import Evidence, EvidenceKind, Span, Verdict

_VAGUE = r"some|several|a few|many|a number of|a certain number of|a couple of|a certain amount of|various"
_BEFORE = re.compile(r"\b(?:in|at|for|of|by|with|to|from|after|on|every|only)\s+$", re.I)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_COUNTED = re.compile(r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|\w+teen|\w+ty)) ?$", re.I)
_NUMBER = re.compile(r"[\d.,/]*\d%?")


def repair(question: str, candidate: str, verdict: Verdict) -> tuple[str, str] | None:
    """Mend a candidate, and return the new text and the kind of the fault; None if it cannot be mended.

    Only candidates with exactly one piece of evidence are mended. The result must be judged again.

    >>> changed = Evidence(EvidenceKind.UNIT_CHANGED, ((8, 12),), ((8, 11),), "", -1.0)
    >>> repair("Ann ran 3 km. How far?", "Ann ran 3 m. What distance?", Verdict(-1.0, False, (changed,), ""))
    ('Ann ran 3 km. What distance?', 'unit_changed')
    """
    if verdict.valid or len(verdict.evidence) != 1:
        return None
    [fault] = verdict.evidence
    mend = _MENDS.get(fault.kind)
    text = None if mend is None else mend(question, candidate, fault)
    return None if text is None or text == candidate else (text, fault.kind.value)


def _restore(question: str, candidate: str, fault: Evidence) -> str | None:
    """Replace each span of the candidate with the span of the question that it belongs to."""
    ours, theirs = fault.question_spans, fault.paraphrase_spans
    if not ours or len(ours) != len(theirs):
        return None
    text = candidate
    for (start, end), (first, last) in sorted(zip(ours, theirs, strict=True), key=lambda pair: -pair[1][0]):
        text = text[:first] + question[start:end] + text[last:]
    return text


def _insert_number(question: str, candidate: str, fault: Evidence) -> str | None:
    """Put a lost number back: for a vague word, before the word that follows it, or after the words before it."""
    if len(fault.question_spans) != 1 or fault.paraphrase_spans:
        return None
    [(start, end)] = fault.question_spans
    lost = question[start:end]
    number = _NUMBER.match(lost)
    following = [match[0] for match in _WORD.finditer(question, start + (number.end() if number else 0))]
    bare = number[0] if number else lost.split()[0]
    if following:
        vague = re.compile(rf"\b(?:{_VAGUE}) (?={re.escape(following[0])}\b)", re.I)
        if len(vague.findall(candidate)) == 1:
            return vague.sub(f"{bare} ", candidate)
    for length in (2, 1):
        place = _only(candidate, following[:length]) if len(following) >= length else None
        counted = place is not None and _COUNTED.search(candidate, 0, place[0])  # *20 minutes* has its number
        if place is not None and not counted and (length == 2 or len(following[0]) > 3):
            return f"{candidate[: place[0]]}{bare} {candidate[place[0] :]}"
    before = _BEFORE.search(question, 0, start)
    phrase = question[before.start() if before else start : end]
    preceding = [match[0] for match in _WORD.finditer(question, 0, before.start() if before else start)][-2:]
    place = _only(candidate, preceding) if len(preceding) == 2 else None
    return None if place is None else f"{candidate[: place[1]]} {phrase}{candidate[place[1] :]}"


def _ask_again(question: str, candidate: str, fault: Evidence) -> str | None:
    """Put the question's own question in the place of a clipped one, or at the end."""
    asked = read(question).question
    if asked is None:
        return None
    if fault.paraphrase_spans:
        start = fault.paraphrase_spans[-1][0]
        if len(candidate.rstrip()) - fault.paraphrase_spans[-1][1] > 1:
            return None  # more text follows, so the question is not clipped
        before = candidate[:start].rstrip()
    else:
        before = candidate.rstrip()
    words = asked.text[0].upper() + asked.text[1:] if before.endswith((".", "?", "!")) else asked.text
    return f"{before} {words}".strip()


def _only(text: str, words: list[str]) -> Span | None:
    """Return the place of some words in a text, or None if they do not occur exactly once."""
    if not words:
        return None
    found = list(re.finditer(r"\b" + r"\W+".join(map(re.escape, words)) + r"\b", text, re.I))
    return found[0].span() if len(found) == 1 else None


_MENDS: dict[EvidenceKind, Callable[[str, str, Evidence], str | None]] = {
    EvidenceKind.NUMBER_CHANGED: _restore,
    EvidenceKind.UNIT_CHANGED: _restore,
    EvidenceKind.NUMBER_LOST: _insert_number,
    EvidenceKind.QUESTION_LOST: _ask_again,
}

"""What the learned judge finds, as findings: where it sees a fault, and of what kind it takes it to be."""

from __future__ import annotations

from collections.abc import Sequence

from paraqd.reading import Problem
from paraqd.scoring.evidence.finding import Finding
from paraqd.scoring.judge.cross_encoder import Judgement, Mark
from paraqd.scoring.normalise_quantities import Harmonised
from paraqd.scoring.verdict import EvidenceKind, Span

FEATURE = "learned"
_MOST_SPANS = 3
_NOWHERE = float("-inf")
_STOPS = frozenset(".?!;")
_JOIN = 2  # characters between two marked tokens that still make one span
_MESSAGES = {
    EvidenceKind.NUMBER_LOST: "A number of the question seems to be missing",
    EvidenceKind.NUMBER_ADDED: "A number seems to be added",
    EvidenceKind.NUMBER_CHANGED: "A number seems to be another, or to stand for something else",
    EvidenceKind.UNIT_CHANGED: "A unit seems to be another",
    EvidenceKind.ENTITY_CHANGED: "It seems to be another person or thing",
    EvidenceKind.QUESTION_LOST: "The question seems to be gone or cut off",
    EvidenceKind.QUESTION_CHANGED: "The question seems to ask for something else",
    EvidenceKind.RELATION_CHANGED: "How things are related seems to be different",
    EvidenceKind.CONTENT_LOST: "Something that matters seems to be missing",
    EvidenceKind.CONTENT_ADDED: "Something that matters seems to be added",
    EvidenceKind.INCOHERENT: "This does not seem to make sense",
}


def learned_finding(question: Problem, paraphrase: Problem, judgement: Judgement, made: Harmonised) -> Finding:
    """Return where the judge sees a fault most clearly, and the kind it takes it to be.

    It was shown the paraphrase as ``made``; places are those in the paraphrase as it was given.
    """
    kind = judgement.kind
    here, there = judgement.question, judgement.paraphrase
    sure = tuple(Mark(*made.back(mark.start, mark.end), mark.fault) for mark in there if mark.fault > 0)
    spans = (_spans(question.text, here), _spans(paraphrase.text, sure))
    if not any(spans):
        there = tuple(Mark(*made.back(mark.start, mark.end), mark.fault) for mark in there)
        spans = _likeliest(question, paraphrase, (here, there))
    asked, told = _quoted(question.text, spans[0]), _quoted(paraphrase.text, spans[1])
    if not told:
        said = f"{asked}, which the question has"
    elif not asked or asked == told:
        said = told
    else:
        said = f"{told} where the question has {asked}"
    return Finding(FEATURE, kind, *spans, f"{_MESSAGES[kind]}: {said}.")


def _spans(text: str, marks: Sequence[Mark], least: float = 0.0) -> tuple[Span, ...]:
    """Join marked tokens into spans over whole words, the surest few, in the order of the text."""
    found: list[tuple[float, int, int]] = []
    for mark in sorted({mark for mark in marks if mark.fault > least and mark.end > mark.start}):
        if text[mark.start : mark.end] in _STOPS:
            continue
        start, end = _whole(text, mark.start, mark.end)
        if found and start - found[-1][2] <= _JOIN and _STOPS.isdisjoint(text[found[-1][2] : start]):
            sure, first, last = found.pop()
            found.append((max(sure, mark.fault), first, max(last, end)))
        else:
            found.append((mark.fault, start, end))
    best = sorted(found, reverse=True)[:_MOST_SPANS]
    return tuple(sorted((start, end) for _, start, end in best))


def _likeliest(
    question: Problem, paraphrase: Problem, marks: tuple[tuple[Mark, ...], tuple[Mark, ...]]
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the one place that looks worst, where none is beyond doubt."""
    sides = ((question.text, marks[0]), (paraphrase.text, marks[1]))
    best = [max((mark.fault for mark in mine if mark.end > mark.start), default=_NOWHERE) for _, mine in sides]
    side = 1 if best[1] >= best[0] else 0
    text, mine = sides[side]
    spans = _spans(text, mine, best[side] - 1e-6) or ((0, len(text)),)
    return ((), spans) if side else (spans, ())


def _whole(text: str, start: int, end: int) -> Span:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return start, end


def _quoted(text: str, spans: Sequence[Span]) -> str:
    return ", ".join(dict.fromkeys(f"“{' '.join(text[start:end].split())}”" for start, end in spans))

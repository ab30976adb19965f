"""Convert a learned judge's answer into a finding."""

from __future__ import annotations

from collections.abc import Sequence

from paraqd.scoring.evidence.finding import Finding, as_sentence, original_and_paraphrase, quote
from paraqd.scoring.judge.base import Judgement, Place
from paraqd.scoring.pair_preparation import PreparedPair
from paraqd.scoring.verdict import EvidenceKind, Span

FEATURE = "learned"
_MOST_SPANS = 3
_NOWHERE = float("-inf")
_STOPS = frozenset(".?!;")
_GAP = 2  # the most characters between two places that still form one span
_MESSAGES = {
    EvidenceKind.NUMBER_LOST: "A number may be missing",
    EvidenceKind.NUMBER_ADDED: "A number may have been added",
    EvidenceKind.NUMBER_CHANGED: "A number or its role may have changed",
    EvidenceKind.UNIT_CHANGED: "A unit may have changed",
    EvidenceKind.ENTITY_CHANGED: "A person or thing may have changed",
    EvidenceKind.QUESTION_LOST: "The question may be missing or cut off",
    EvidenceKind.QUESTION_CHANGED: "The question may ask for something else",
    EvidenceKind.RELATION_CHANGED: "A relation may have changed",
    EvidenceKind.CONTENT_LOST: "Something important may be missing",
    EvidenceKind.CONTENT_ADDED: "Something important may have been added",
    EvidenceKind.INCOHERENT: "Some words may not make sense",
}


def judge_finding(pair: PreparedPair, judgement: Judgement) -> Finding:
    """Return a finding with the most likely kind of fault, at the places where the judge is most certain.

    The spans refer to the texts without markup, before quantities were normalised.
    """
    question, paraphrase, kind = pair.question.text, pair.paraphrase.text, judgement.kind
    here, there = judgement.question_places, judgement.paraphrase_places
    at_fault = _before_normalising(pair, [place for place in there if place.fault > 0])
    spans = (merged_spans(question, here), merged_spans(paraphrase, at_fault))
    if not any(spans):
        spans = _worst_place((question, paraphrase), (here, _before_normalising(pair, there)))
    quotes = quote_all(question, spans[0]), quote_all(paraphrase, spans[1])
    where = f"both texts say {quotes[0]}" if quotes[0] == quotes[1] else original_and_paraphrase(*quotes)
    return Finding(FEATURE, kind, *spans, as_sentence(f"{_MESSAGES[kind]}: {where}"))


def _before_normalising(pair: PreparedPair, places: Sequence[Place]) -> tuple[Place, ...]:
    """Map places in the normalised paraphrase to places in the paraphrase without markup."""
    return tuple(Place(*pair.normalised.original_span(start, end), fault) for start, end, fault in places)


def merged_spans(text: str, places: Sequence[Place], least: float = 0.0) -> tuple[Span, ...]:
    """Merge the places at fault into spans of whole words, and return the three most certain spans in text order."""
    found: list[tuple[float, int, int]] = []
    for place in sorted({place for place in places if place.fault > least and place.end > place.start}):
        words = text[place.start : place.end].strip()  # some tokens begin with a space
        if not words or words in _STOPS:
            continue
        begin = text.index(words, place.start)
        if found and found[-1][1] <= begin and begin + len(words) <= found[-1][2]:
            found[-1] = (max(found[-1][0], place.fault), *found[-1][1:])  # the word was already found, and may be long
            continue
        start, end = _whole_words(text, begin, begin + len(words))
        if found and start - found[-1][2] <= _GAP and _STOPS.isdisjoint(text[found[-1][2] : start]):
            fault, first, last = found.pop()
            found.append((max(fault, place.fault), first, max(last, end)))
        else:
            found.append((place.fault, start, end))
    best = sorted(found, reverse=True)[:_MOST_SPANS]
    return tuple(sorted((start, end) for _, start, end in best))


def _worst_place(
    texts: tuple[str, str], places: tuple[tuple[Place, ...], tuple[Place, ...]]
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the spans of the most suspicious place, for a pair in which no place is likely to be at fault.

    If the judge does not locate faults, the span is the whole paraphrase.
    """
    best = [max((place.fault for place in mine if place.end > place.start), default=_NOWHERE) for mine in places]
    side = 1 if best[1] >= best[0] else 0
    spans = merged_spans(texts[side], places[side], best[side] - 1e-6) or ((0, len(texts[side])),)
    return ((), spans) if side else (spans, ())


def _whole_words(text: str, start: int, end: int) -> Span:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return start, end


def quote_all(text: str, spans: Sequence[Span]) -> str:
    """Quote the words at the spans, without punctuation around them, and join the quotations with *and*."""
    words = [text[start:end].strip(" ,;:") for start, end in spans]
    quotes = list(dict.fromkeys(quote(each) for each in words if each)) or [quote(text[slice(*span)]) for span in spans]
    return " and ".join(filter(None, (", ".join(quotes[:-1]), *quotes[-1:])))

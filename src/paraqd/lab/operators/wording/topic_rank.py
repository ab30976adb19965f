"""Rank the phrases of a text with TopicRank (Bougouin et al., 2013), which scores topics on a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_PARTS_OF_SPEECH = frozenset({"NOUN", "PROPN", "ADJ"})
_SIMILARITY = 0.25  # phrases that share a quarter of their stems form one topic
_DAMPING = 0.85
_MOST_PHRASES = 80  # further phrases are ignored, because clustering takes cubic time


@dataclass(frozen=True)
class Phrase:
    """A candidate phrase: its lower-case form, its stems, and the spans and token indices of its occurrences."""

    form: str
    stems: frozenset[str]
    spans: tuple[tuple[int, int], ...]
    offsets: tuple[int, ...]


def candidates(doc: Any) -> list[Phrase]:
    """Return the candidate phrases of a parsed text, which are the longest runs of nouns and adjectives."""
    found: dict[str, list[tuple[int, int, int]]] = {}
    stems: dict[str, frozenset[str]] = {}
    run: list[Any] = []
    for token in [*doc, None]:
        if token is not None and token.pos_ in _PARTS_OF_SPEECH and token.text[:1].isalpha():
            run.append(token)
            continue
        run = _without_compounds(doc, run)
        # exclude short names of points, sets and unknowns
        if any(t.pos_ != "ADJ" for t in run) and any(len(t.text) > 2 for t in run):
            form = " ".join(t.lower_ for t in run)
            found.setdefault(form, []).append((run[0].idx, run[-1].idx + len(run[-1].text.rstrip(".")), run[0].i))
            stems[form] = frozenset(t.lemma_.lower() or t.lower_ for t in run)
        run = []
    return [
        Phrase(form, stems[form], tuple((s, e) for s, e, _ in places), tuple(i for _, _, i in places))
        for form, places in found.items()
    ][:_MOST_PHRASES]


def _without_compounds(doc: Any, run: list[Any]) -> list[Any]:
    """Trim both ends of a run by the words that a hyphen joins to a word outside the run."""
    while run and run[0].i > 0 and doc[run[0].i - 1].text == "-":
        run = run[1:]
    while run and run[-1].i + 1 < len(doc) and doc[run[-1].i + 1].text == "-":
        run = run[:-1]
    return run


def _topics(phrases: Sequence[Phrase]) -> list[list[int]]:
    """Group the indices of phrases into topics by average-linkage clustering on the proportion of shared stems."""
    groups = [[i] for i in range(len(phrases))]
    n = len(phrases)
    overlap = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            a, b = phrases[i].stems, phrases[j].stems
            overlap[i, j] = overlap[j, i] = len(a & b) / len(a | b)
    while len(groups) > 1:
        best, pair = 0.0, (0, 0)
        for x in range(len(groups)):
            for y in range(x):
                mean = float(overlap[np.ix_(groups[x], groups[y])].mean())
                if mean > best:
                    best, pair = mean, (x, y)
        if best < _SIMILARITY:
            break
        groups[pair[1]] += groups.pop(pair[0])
    return groups


def _rank(phrases: Sequence[Phrase], topics: Sequence[Sequence[int]]) -> np.ndarray[Any, Any]:
    """Score the topics with PageRank on a complete graph whose edges are weighted by proximity in the text."""
    n = len(topics)
    weights = np.zeros((n, n))
    for x in range(n):
        for y in range(x):
            near = sum(
                1.0 / abs(i - j)
                for a in topics[x]
                for b in topics[y]
                for i in phrases[a].offsets
                for j in phrases[b].offsets
                if i != j
            )
            weights[x, y] = weights[y, x] = near
    out = weights.sum(axis=1, keepdims=True)
    transition = np.divide(weights, out, out=np.full_like(weights, 1.0 / n), where=out > 0)
    score = np.full(n, 1.0 / n)
    for _ in range(100):
        new = (1 - _DAMPING) / n + _DAMPING * score @ transition
        if float(np.abs(new - score).max()) < 1e-8:
            break
        score = new
    return score


def best_phrases(doc: Any, k: int) -> list[Phrase]:
    """Return the first phrase of each of the k most important topics."""
    phrases = candidates(doc)
    if not phrases:
        return []
    topics = _topics(phrases)
    scores = _rank(phrases, topics)
    order = sorted(range(len(topics)), key=lambda x: (-round(float(scores[x]), 9), phrases[min(topics[x])].offsets[0]))
    return [min((phrases[i] for i in topics[x]), key=lambda p: p.offsets[0]) for x in order[:k]]

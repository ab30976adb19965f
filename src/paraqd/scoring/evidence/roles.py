"""Compare the words around numbers, and find numbers that changed places."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from paraqd.reading import Kind, Problem
from paraqd.reading.types import computed_once
from paraqd.reading.units import dimension
from paraqd.scoring.evidence.comparisons import Comparisons
from paraqd.scoring.evidence.content_words import Word, content_stems, content_words, stem
from paraqd.scoring.evidence.matching import Amount, Matching

_BOUND = frozenset(
    {Kind.COEFFICIENT, Kind.EXPONENT, Kind.ORDINAL}
)  # numbers whose neighbouring words say little about them
_POINTING = frozenset({"former", "latter", "respectively"})
_RATIO = frozenset({"ratio", "proportion"})
# words that a paraphrase may replace with their opposites, so that they say nothing about a number's owner
_COMPARING = frozenset(
    stem(word)
    for word in "more fewer less older younger taller longer shorter heavier lighter greater larger bigger higher "
    "smaller lower faster slower earlier later cheaper ahead behind times twice half double".split()
)
_WINDOW = 4
_WEIGHTS_BEHIND = tuple(1.0 / (1 + distance) for distance in range(_WINDOW))
_WEIGHTS_BEFORE = tuple(0.7 / (1 + distance) for distance in range(_WINDOW))
_BEHIND = 30  # characters
_LEAST_CROSSED = 0.8
_MOST_COMPARED = 60  # numbers, because each is compared with all others
_CUTS = frozenset(", ; . ? ! : and or but while whereas to from than if when".split())


def likeness(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Return the similarity, from 0 to 1, of the words around two quantities."""
    shared = sum(min(weight, b[stem]) for stem, weight in a.items() if stem in b)
    return shared / (min(sum(a.values()), sum(b.values())) or 1.0)


def contexts(problem: Problem, items: Sequence[Amount]) -> list[dict[str, float]]:
    """Return the content words around each quantity, with weights. Nearer words have larger weights.

    If there is a separator such as a comma or *and* between two quantities, the words before the separator belong to
    the first quantity, and the words after the separator belong to the second.
    """
    stems, starts, cuts = _word_layout(problem)
    found = []
    for number, item in enumerate(items):
        before = items[number - 1].end if number else 0
        after = items[number + 1].start if number + 1 < len(items) else len(problem.text)
        behind, ahead = bisect_left(cuts, item.end), bisect_left(cuts, before)
        stop = cuts[behind] if behind < len(cuts) and cuts[behind] < after else after
        start = before if number == 0 else item.start
        if ahead < len(cuts) and cuts[ahead] < item.start:
            start = cuts[ahead]
        first, here, last = bisect_left(starts, start), bisect_left(starts, item.start), bisect_left(starts, stop)
        mine: dict[str, float] = {}
        for side, weights in (
            (stems[here : min(last, here + _WINDOW)], _WEIGHTS_BEHIND),
            (stems[max(first, here - _WINDOW) : here][::-1], _WEIGHTS_BEFORE),
        ):
            for word, weight in zip(side, weights, strict=False):
                if weight > mine.get(word, 0.0):
                    mine[word] = weight
        found.append(mine)
    return found


@computed_once
def _word_layout(problem: Problem) -> tuple[list[str], list[int], list[int]]:
    """Return the stems of words that may belong to a quantity, their positions, and the positions of separators."""
    stems, starts = content_stems(problem)
    cuts = [start for word, start in zip(problem.stream.low, problem.stream.start, strict=True) if word in _CUTS]
    if not _COMPARING.isdisjoint(stems):
        starts = [start for word, start in zip(stems, starts, strict=True) if word not in _COMPARING]
        stems = [word for word in stems if word not in _COMPARING]
    return stems, starts, cuts


def sides_turned(question: Problem, a: Amount, paraphrase: Problem, b: Amount, comparisons: Comparisons) -> bool:
    """Return True if most of the things that both amounts' sentences name are in a different order."""
    if not comparisons.take(_length(question, a) + _length(paraphrase, b)):
        return False
    here, there = _order(question, a), _order(paraphrase, b)
    shared = [there[word] for word in here if word in there]
    return 2 * _inversions(shared) > len(shared) * (len(shared) - 1) / 2


def _inversions(places: Iterable[int]) -> int:
    """Return the number of pairs of which the first is larger than the second.

    >>> _inversions([3, 1, 2])
    2
    """
    found = 0
    before: list[int] = []
    for place in places:
        smaller = bisect_right(before, place)
        found += len(before) - smaller
        before.insert(smaller, place)
    return found


def _length(problem: Problem, item: Amount) -> int:
    """Return the number of content words in an amount's sentence."""
    return len(_words_beside(problem, item))


def _words_beside(problem: Problem, item: Amount) -> Sequence[Word]:
    """Return the content words of an amount's sentence."""
    sentence = problem.sentence_at(item.start)
    if sentence is None:
        return content_words(problem)
    starts = content_stems(problem)[1]
    return content_words(problem)[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]


@computed_once
def _naming(problem: Problem) -> frozenset[int]:
    """Return the starts of the content words that are part of a name."""
    starts = content_stems(problem)[1]
    inside = (slice(bisect_left(starts, e.start), bisect_left(starts, e.end)) for e in problem.entities)
    return frozenset(start for places in inside for start in starts[places])


def _order(problem: Problem, item: Amount) -> dict[str, int]:
    """Return the positions of the names in an amount's sentence, keyed by stem.

    If the sentence has fewer than two names, return the positions of all its content words.
    """
    words, naming = _words_beside(problem, item), _naming(problem)
    named = [word for word in words if word.start in naming]
    found: dict[str, int] = {}
    for word in named if len({word.stem for word in named}) > 1 else words:
        if not item.start <= word.start < item.end and word.stem not in _RATIO:
            found.setdefault(word.stem, word.start)
    return found


def swapped_numbers(
    matching: Matching, question: Problem, paraphrase: Problem
) -> list[tuple[float, Amount, Amount, Amount, Amount]]:
    """Find pairs of numbers that changed places: each number now has the words that the other number had.

    Nothing is found in texts with *former*, *latter* or *respectively*, because in such texts a number need
    not belong to the words beside it.

    Return tuples (certainty, a, b, a's counterpart, b's counterpart), most certain first.
    """
    if len(matching.same) > _MOST_COMPARED:
        return []
    free = [(a, b) for a, b in matching.same if a.first.kind not in _BOUND and b.first.kind not in _BOUND]
    candidates = [(*one, *other) for one, other in combinations(free, 2) if _comparable(one[0], other[0])]
    if not candidates or not all(_POINTING.isdisjoint(problem.stream.words) for problem in (question, paraphrase)):
        return []
    here = contexts(question, sorted((a for a, _ in matching.same), key=_start))
    there = contexts(paraphrase, sorted((b for _, b in matching.same), key=_start))
    mine = dict(zip(sorted((a.start for a, _ in matching.same)), here, strict=True))
    theirs = dict(zip(sorted((b.start for _, b in matching.same)), there, strict=True))
    found = []
    for a, a_there, b, b_there in candidates:
        first, second, other, another = mine[a.start], mine[b.start], theirs[a_there.start], theirs[b_there.start]
        if first.keys().isdisjoint(another) or second.keys().isdisjoint(other):
            continue  # one number's words have nothing in common with the words of the other's counterpart
        # words beside both numbers do not distinguish the numbers
        shared = (first.keys() & second.keys()) | (other.keys() & another.keys())
        first, second, other, another = (
            {stem: weight for stem, weight in words.items() if stem not in shared}
            for words in (first, second, other, another)
        )
        straight = likeness(first, other) + likeness(second, another)
        crossed = (likeness(first, another), likeness(second, other))
        sure = sum(crossed) - straight
        if sure >= _LEAST_CROSSED and min(crossed) > 0:
            pieces = ((question, a), (question, b), (paraphrase, a_there), (paraphrase, b_there))
            if any(_compares(problem, item) for problem, item in pieces):
                sure = min(sure, _LEAST_CROSSED)  # *3 more than Ann* may become *3 fewer* from Ann's side
            found.append((sure, a, b, a_there, b_there))
    return sorted(found, key=lambda each: -each[0])


def _comparable(a: Amount, b: Amount) -> bool:
    """Return True if two amounts have the same dimension and different values."""
    return dimension(a.first.unit)[0] == dimension(b.first.unit)[0] and a.signed != b.signed


def _compares(problem: Problem, item: Amount) -> bool:
    """Return True if a number is the difference between two things, as in *8 blocks higher* or *$1 more*."""
    behind = re.split(r"[.?!;]", problem.text[item.end : item.end + _BEHIND])[0]
    return any(stem(word.lower()) in _COMPARING for word in re.findall(r"[^\W\d_]+", behind)[:3])


def _start(item: Amount) -> int:
    return item.start

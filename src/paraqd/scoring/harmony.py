"""The paraphrase with its quantities written as the question writes them: what is equal then looks equal.

A learned model sees tokens, not values: to it *half an hour* and *30 minutes* differ more than 30 and 50 minutes do.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from paraqd.reading import Problem
from paraqd.scoring.items import Matching
from paraqd.scoring.verdict import Span


@dataclass(frozen=True)
class Harmonised:
    """A rewritten text, and the way back to the text it was made from."""

    text: str
    starts: tuple[int, ...]  # where each piece begins, in the rewritten text
    origins: tuple[Span, ...]  # what each piece was in the original
    kept: tuple[bool, ...]  # whether it stands as it stood

    def back(self, start: int, end: int) -> Span:
        """Return the span of the original text that a span of this text stands for."""
        first, last = (bisect_right(self.starts, place) - 1 for place in (start, max(start, end - 1)))
        begin = self.origins[first][0] + (start - self.starts[first] if self.kept[first] else 0)
        stop = self.origins[last][0] + end - self.starts[last] if self.kept[last] else self.origins[last][1]
        return (begin, max(begin, stop))


def harmonise(question: Problem, paraphrase: Problem, matching: Matching) -> Harmonised:
    """Rewrite the quantities of a paraphrase that equal one of the question's.

    >>> from paraqd.reading import read
    >>> from paraqd.scoring.quantities import match_quantities
    >>> q, p = read("It takes 30 minutes."), read("Half an hour is what it takes.")
    >>> made = harmonise(q, p, match_quantities(q, p))
    >>> made.text, made.back(0, 2), made.back(11, 13)
    ('30 minutes is what it takes.', (0, 12), (13, 15))
    """
    pieces: list[tuple[str, Span, bool]] = []
    done = 0
    for theirs, mine in sorted(((b, a) for a, b in matching.same), key=lambda pair: pair[0].start):
        wanted = mine.surface(question.text)
        if theirs.start < done or wanted == theirs.surface(paraphrase.text) or theirs.signed != mine.signed:
            continue
        pieces.append((paraphrase.text[done : theirs.start], (done, theirs.start), True))
        pieces.append((wanted, (theirs.start, theirs.end), False))
        done = theirs.end
    pieces.append((paraphrase.text[done:], (done, len(paraphrase.text)), True))
    pieces = [piece for piece in pieces if piece[0]] or [("", (0, 0), True)]
    starts, place = [], 0
    for text, _, _ in pieces:
        starts.append(place)
        place += len(text)
    return Harmonised(
        "".join(text for text, _, _ in pieces),
        tuple(starts),
        tuple(origin for _, origin, _ in pieces),
        tuple(kept for _, _, kept in pieces),
    )

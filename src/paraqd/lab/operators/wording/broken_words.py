"""Damage words so that they can no longer be read."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable

from rapidfuzz.distance import OSA

from paraqd.lab.operators.wording.lexicon import UNLISTED, level
from paraqd.reading import Problem
from paraqd.reading.units import SPELLINGS
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice

_WORD = re.compile(r"(?<![\w'’&#*^/.$\\-])[A-Za-z]{2,}(?![\w'’&*^/-])", re.ASCII)
_SMALL = frozenset(
    """
    that this with from they them then than have will each were been what when which into their there these those also
    some such does just only very about after before while would could should being where whose here both many much
    more most less other another every hers your ours upon over under said find total altogether together entire whole
    certain present actual given following possible different first second third still again
    """.split()
)
_LEAST = 5  # the least number of letters of a word that is made unreadable
_MOST_ALIKE = 0.5  # a word that is more like the original may still be read
_TRIES = 20


class BrokenWords(Operator):
    """Damage several words so that the text no longer makes sense: buys 5 marbles at → buys 5 lebrams atat."""

    name = "BrokenWords"
    polarity = "invalid"
    fault = "incoherent"
    changes = frozenset({"wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Damage the words; return None if the text has no word whose loss would matter."""
        del resources
        text = problem.text
        taken = [(q.start, q.end) for q in problem.quantities] + [(e.start, e.end) for e in problem.entities]
        words = [
            match
            for match in _WORD.finditer(text)
            if not any(start < match.end() and match.start() < end for start, end in taken)
        ]
        counts = Counter(match[0].lower()[:_LEAST] for match in words)
        vital = [match for match in words if _is_vital(problem, match) and counts[match[0].lower()[:_LEAST]] == 1]
        if not vital:
            return None
        lost = rng.sample(vital, min(len(vital), rng.choice((2, 2, 3))))
        edits = []
        for match in lost:
            made = _unreadable(match[0], rng)
            if made is None:
                return None
            edits.append((match.start(), match.end(), made))
        rest = [match for match in words if match not in lost]
        for match in rng.sample(rest, min(len(rest), rng.choice((0, 1, 1, 2)))):
            edits.append((match.start(), match.end(), rng.choice((_doubled, _clipped))(match[0], rng)))
        return _run_together(splice(text, edits), rng)


def _is_vital(problem: Problem, match: re.Match[str]) -> bool:
    """Return True if a content word stands in a sentence with a quantity or a question."""
    word = match[0]
    if len(word) < _LEAST or not word.islower() or word in _SMALL or word in SPELLINGS or level(word) == UNLISTED:
        return False
    if word.endswith("ly"):  # most adverbs can be spared
        return False
    sentence = next((s for s in problem.sentences if s.start <= match.start() < s.end), None)
    if sentence is None:
        return False
    counted = any(sentence.start <= quantity.start < sentence.end for quantity in problem.quantities)
    return counted or sentence.text.endswith("?")


def _unreadable(word: str, rng: random.Random) -> str | None:
    """Clip or scramble a word so that it can no longer be recognised; return None if no try succeeds."""
    for _ in range(_TRIES):
        made = rng.choice(_WAYS)(word, rng)
        if level(made) == UNLISTED and OSA.normalized_similarity(made, word) <= _MOST_ALIKE:
            return made
    return None


def _scrambled(word: str, rng: random.Random) -> str:
    """Shuffle the letters; the first letter moves, because a word with its first letter can often be guessed."""
    others = [place for place, letter in enumerate(word) if letter != word[0]]
    first = rng.choice(others) if others else 0
    rest = word[:first] + word[first + 1 :]
    return word[first] + "".join(rng.sample(rest, len(rest)))


def _stump(word: str, rng: random.Random) -> str:
    """Keep two or three letters from the start or from the end of a word."""
    size = rng.choice((2, 3, 3)) if len(word) > _LEAST else 2
    return rng.choice((word[:size], word[-size:]))


def _stutter(word: str, rng: random.Random) -> str:
    part = _stump(word, rng)
    return part * rng.choice((2, 3)) + rng.choice(("", word[-1]))


_WAYS: tuple[Callable[[str, random.Random], str], ...] = (_scrambled, _scrambled, _stump, _stutter)


def _doubled(word: str, rng: random.Random) -> str:
    return word + rng.choice(("", " ")) + word.lower()


def _clipped(word: str, rng: random.Random) -> str:
    return word[: max(1, len(word) - rng.choice((1, 2, 3)))]


def _run_together(text: str, rng: random.Random) -> str:
    """Remove up to two spaces between words; numbers keep their spaces."""
    gaps = [match.start() for match in re.finditer(r"(?<=[a-z]) (?=[a-z])", text)]
    chosen = rng.sample(gaps, min(len(gaps), rng.choice((0, 1, 2))))
    return splice(text, [(gap, gap + 1, "") for gap in chosen])

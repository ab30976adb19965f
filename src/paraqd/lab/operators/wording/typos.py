"""Misspell one or two words in a way that any reader understands."""

from __future__ import annotations

import random
import re
import string

from paraqd.lab.operators.wording.lexicon import UNLISTED, level
from paraqd.reading import Problem, read
from paraqd.reading.name_lists import people, places
from paraqd.reading.numerals import ONES, ORDINALS, SCALES, TENS
from paraqd.reading.units import SPELLINGS
from paraqd.rewriting.kept_quantities import keep_quantities
from paraqd.rewriting.operator import Operator, Resources

_WORD = re.compile(r"(?<![\w'’&#*^/.$\\-])[a-z]{5,}(?![\w'’;&*^/-])", re.ASCII)
# words on which the answer depends; a reader should not have to guess them
_WEIGHTY = re.compile(
    r"(?:hal[fv]|twice|doubl|tripl|thrice|quarter|dozen|fewer|lesser|unless|without|except|least|times|"
    r"percent|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\w*"
)
_NUMBER_WORDS = frozenset({*ONES, *ORDINALS, *SCALES, *TENS})
_COMMON = 50  # the rarest level of a word that is misspelt
_KNOWN = 60  # the rarest level of a word that a reader may take the misspelling for
_LONG = 6  # a shorter word is hard to recognise without one of its letters
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {key: row[max(0, i - 1) : i] + row[i + 1 : i + 2] for row in _KEYBOARD for i, key in enumerate(row)}
_TRIES = 8


class Typos(Operator):
    """Misspell one or two words so that only one common word fits: marbles → marbels, several → sevral."""

    name = "Typos"
    polarity = "valid"
    changes = frozenset({"wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Misspell the words; return None if no word can be misspelt without doubt about its meaning."""
        del resources
        found = [match for match in _WORD.finditer(problem.text) if _may_misspell(problem, match)]
        rng.shuffle(found)
        count = rng.choice((1, 2))
        edits = []
        for match in found[:_TRIES]:
            made = misspelt(match[0], rng)
            if made is not None and made not in problem.text:
                edits.append((match.start(), match.end(), made))
            if len(edits) == count:
                break
        text = keep_quantities(problem, edits)
        if text is None or (problem.question is not None and read(text).question is None):
            return None
        return text


def _may_misspell(problem: Problem, match: re.Match[str]) -> bool:
    """Return True if a word is common and is no number, unit or name, and the answer does not depend on it."""
    word = match[0]
    if level(word) > _COMMON or word in SPELLINGS or word in _NUMBER_WORDS or _WEIGHTY.fullmatch(word):
        return False
    taken = [(q.start, q.end) for q in problem.quantities] + [(e.start, e.end) for e in problem.entities]
    if any(start < match.end() and match.start() < end for start, end in taken):
        return False
    return word.title() not in people() and word.title() not in places()


def misspelt(word: str, rng: random.Random) -> str | None:
    """Misspell a word with one slip of the fingers.

    The first letter is kept. Return None if a few tries do not find a misspelling that is one step away from this
    word and from no other common word.

    >>> misspelt("marbles", random.Random(1)) != "marbles"
    True
    """
    for _ in range(_TRIES):
        made = _slip(word, rng)
        if made != word and level(made) == UNLISTED and _meant(made) == {word}:
            return made
    return None


def _slip(word: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    kinds = ["swap", "swap", "double"]
    if len(word) >= _LONG:
        kinds += ["omit", "omit", "mistype"]
    kind = rng.choice(kinds)
    if kind == "swap":
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == "double":
        return word[:at] + word[at] + word[at:]
    return word[:at] + (rng.choice(_NEIGHBOURS[word[at]]) if kind == "mistype" else "") + word[at + 1 :]


def _meant(made: str) -> set[str]:
    """Return the known words that are one step away from a misspelling."""
    splits = [(made[:i], made[i:]) for i in range(len(made) + 1)]
    near = {left + right[1:] for left, right in splits if right}
    near |= {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    near |= {left + letter + right[1:] for left, right in splits if right for letter in string.ascii_lowercase}
    near |= {left + letter + right for left, right in splits for letter in string.ascii_lowercase}
    return {word for word in near if level(word) <= _KNOWN}

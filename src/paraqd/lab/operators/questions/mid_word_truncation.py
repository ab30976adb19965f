"""Cut the text off inside its last question, at any character."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.reading.units import SPELLINGS
from paraqd.rewriting.operator import Operator, Resources

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
# words without which a question can still be understood
_SLIGHT = frozenset(
    """
    a an the of in on at by to from for with and or is are was were be been has have had do does did will would can
    could should he she it they them his her its their him you your my there this that these those then so if as per
    than total all altogether together now left end overall whole entire approximately about each
    """.split()
)
# a text that ends with one of these words is clearly incomplete
_BREAKS_OFF = _SLIGHT - {"him", "all", "now", "left", "end", "total", "altogether", "together", "overall", "each"}
_BREAKS_OFF |= {"how", "many", "much", "what", "which", "find", "calculate", "determine"}
# ends of questions without which most of the question is still there
_ENDS = re.compile(
    r",?\s+(?:(?:(?:rounded|correct) )?to the nearest|if|when|while|given|assuming|supposing|provided|after|before|"
    r"so that|in terms of|and (?:how|what|by|at|in))\b.*",
    re.I | re.S,
)
_UNIT = re.compile(r",?\s+\(?in ([a-z/]+)(?: per [a-z]+)?\)?\s*[?.]?\s*$", re.I)
_LEAST_ASKED = 12  # letters; an end is left aside only if a question of this length comes before it
_LEAST_KEPT = 2  # letters of the question that remain; otherwise the whole question would be lost
_MOST_KEPT = 0.5  # a larger share of a word's letters may still show which word it was
_LEAST_LOST = 2  # words, whole or in part


class MidWordTruncation(Operator):
    """Cut the text off inside its last question, in or after a word: "How many marbles did she buy?" → "How many mar".

    At least one content word of the question is lost. QuestionTruncation cuts only between words.
    """

    name = "MidWordTruncation"
    polarity = "invalid"
    fault = "question_lost"
    changes = frozenset({"question"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Cut the text off; return None if the text does not end with a question or the question is too short."""
        del resources
        text, question = problem.text, problem.question
        if question is None or text[question.end :].strip():
            return None
        asked = text[: question.start] + _main_part(text[question.start : question.end])
        words = list(_WORD.finditer(asked, question.start))
        vital = [word for word in words[1:] if word[0].lower() not in _SLIGHT and not word[0].isdigit()]
        if not vital or len(words) < _LEAST_LOST:
            return None
        end = min(vital[-1].start() + _readable(vital[-1]), words[-_LEAST_LOST].end() - 1)
        half = (question.start + len(asked)) // 2
        places = [
            at for word in words for at in range(word.start() + 1, word.end() + 1) if _breaks_off(word, at, half=half)
        ]
        places = [at for at in places if question.start + _LEAST_KEPT <= at <= end]
        return text[: rng.choice(places)] if places else None


def _main_part(question: str) -> str:
    """Return a question without a condition, a unit or a rule for rounding at its end."""
    end = _ENDS.search(question, _LEAST_ASKED)
    unit = _UNIT.search(question)
    if unit is not None and unit[1].lower() in SPELLINGS and unit.start() >= _LEAST_ASKED:
        question = question[: unit.start()]
    return question if end is None else question[: end.start()]


def _readable(word: re.Match[str]) -> int:
    """Return the most letters of a word that can remain without showing the word."""
    return int(_MOST_KEPT * len(word[0]))


def _breaks_off(word: re.Match[str], at: int, *, half: int) -> bool:
    """Return True if a text that is cut off at a place in or after a word is clearly incomplete."""
    if at == word.end():
        return word[0].lower() in _BREAKS_OFF or at <= half
    return word[0].isalpha() and at - word.start() <= _readable(word)  # a part of a number is another number

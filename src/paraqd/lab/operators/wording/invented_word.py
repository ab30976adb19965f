"""Replace a word with an invented word."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.reading.units import SPELLINGS
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import fix_article, splice

_WORD = re.compile(r"(?<![\w'’&$\\-])[a-z]{4,}(?![\w'’-])")
_ENDING = re.compile(r"(?<=..)(?:ings?|ed|ly|ers?|es|s)$")
# words that are too general to be worth replacing
_SMALL = frozenset(
    "that this with from they them then than have will each were been what when which into their there these those "
    "also some such does just only very about after before while would could should being where whose here both "
    "many much more most less other another every hers your ours upon over under said".split()
)
_STARTS = "b br c cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sk sl sm sn sp st str t tr v w y z".split()
_MIDDLES = "a e i o u a e i o oo ee ai ou".split()
_ENDS = "b ck ff g k lk lm lt m mp n nd ng nk nt p rb rd rk rl rm rn rt sh sk sp st t th v x zz l r".split()


class InventedWord(Operator):
    """Replace a word with an invented word: packs them into boxes → packs them into blorvens."""

    name = "InventedWord"
    polarity = "invalid"
    fault = "incoherent"
    changes = frozenset({"wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace one word, either once or everywhere; return None if the text has no suitable word."""
        del resources
        text = problem.text
        taken = [(q.start, q.end) for q in problem.quantities] + [(e.start, e.end) for e in problem.entities]
        found = [
            match
            for match in _WORD.finditer(text)
            if match[0] not in _SMALL
            and match[0] not in SPELLINGS
            and not any(start < match.end() and match.start() < end for start, end in taken)
        ]
        if not found:
            return None
        chosen = rng.choice(found)
        new = invented(rng) + _ending(chosen[0])
        same = [match for match in found if match[0] == chosen[0]]
        places = rng.choice((same, [chosen]))
        return splice(text, [_edit(text, match, new) for match in places])


def invented(rng: random.Random) -> str:
    """Invent a pronounceable word without a meaning.

    >>> invented(random.Random(1)).isalpha()
    True
    """
    syllables = rng.choice((1, 2, 2))
    ends = [rng.choice(("", rng.choice(_ENDS))) for _ in range(syllables - 1)] + [rng.choice(_ENDS)]
    return "".join(rng.choice(_STARTS) + rng.choice(_MIDDLES) + end for end in ends)


def _edit(text: str, match: re.Match[str], new: str) -> tuple[int, int, str]:
    start, made = fix_article(text, match.start(), new)
    return start, match.end(), made


def _ending(word: str) -> str:
    match = _ENDING.search(word)
    return match[0] if match else ""

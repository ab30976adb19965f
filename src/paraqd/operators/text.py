"""Cutting and pasting text so that spaces and capitals stay right."""

from __future__ import annotations

import re
from collections.abc import Iterable

from paraqd.reading import Problem

_SPACES = re.compile(r"[ \t]{2,}")
_SPACE_BEFORE_MARK = re.compile(r" +([,.;:?!%)\]])")
_DOUBLE_COMMA = re.compile(r",\s*,")


def splice(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Replace spans of a text; the edits must not overlap and may come in any order.

    >>> splice("5 km in 2 hours", [(0, 1, "five"), (8, 9, "two")])
    'five km in two hours'
    """
    parts: list[str] = []
    last = 0
    for start, end, new in sorted(edits):
        parts.append(text[last:start])
        parts.append(new)
        last = end
    parts.append(text[last:])
    return "".join(parts)


def delete(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Delete spans and mend the spaces and commas around each hole; the rest of the text is not touched.

    >>> delete("Tom has 5 red apples, Ann 6.", [(10, 13)])
    'Tom has 5 apples, Ann 6.'
    """
    for start, end in sorted(spans, reverse=True):
        left, right = text[:start], text[end:]
        if (not left or left[-1].isspace()) and right[:1].isspace():
            right = right.lstrip(" ")
        if left.endswith(" ") and right[:1] in tuple(",.;:?!)"):
            left = left.rstrip(" ")
        text = left + right
    return text


def tidy(text: str) -> str:
    """Remove doubled spaces and commas, and spaces before punctuation marks.

    >>> tidy("He  went , home .")
    'He went, home.'
    """
    text = _SPACES.sub(" ", text)
    text = _SPACE_BEFORE_MARK.sub(r"\1", text)
    return _DOUBLE_COMMA.sub(",", text).strip()


def is_cased(text: str) -> bool:
    """Tell whether a text uses capitals (many collections are all in lower case)."""
    return any(c.isupper() for c in text)


def starts_sentence(problem: Problem, position: int) -> bool:
    """Tell whether a sentence of the problem begins at this position."""
    return any(sentence.start == position for sentence in problem.sentences)


def match_case(new: str, problem: Problem, position: int) -> str:
    """Capitalise ``new`` where it begins a sentence of a text that uses capitals."""
    if new and starts_sentence(problem, position) and problem.text[position : position + 1] and is_cased(problem.text):
        return new[0].upper() + new[1:]
    return new

"""Edit texts while keeping spaces, capitals and articles correct."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paraqd.reading import Problem


def splice(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Apply edits of the form (start, end, new text) to a text.

    The edits may be in any order but must not overlap.

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


def expand_macros(pattern: str, macros: Mapping[str, str]) -> str:
    """Replace the macros in a pattern with their definitions, in order; a definition may contain later macros.

    >>> expand_macros("{day} {n}", {"{day}": "({n})(st|nd)", "{n}": "[0-9]+"})
    '([0-9]+)(st|nd) [0-9]+'
    """
    for macro, meaning in macros.items():
        pattern = pattern.replace(macro, meaning)
    return pattern


def delete(problem: Problem, spans: Iterable[tuple[int, int]]) -> str:
    """Delete spans from a problem's text, and correct the surrounding spaces, commas and capitals.

    >>> from paraqd.reading import read
    >>> delete(read("Tom has 5 red apples, Ann 6."), [(10, 13)])
    'Tom has 5 apples, Ann 6.'
    """
    text = problem.text
    for start, end in sorted(spans, reverse=True):
        left, right = text[:start], text[end:]
        if (not left or left[-1].isspace()) and right[:1].isspace():
            right = right.lstrip(" ")
        if left.endswith(" ") and right[:1] in tuple(",.;:?!)"):
            left = left.rstrip(" ")
        if left.endswith(",") and right.startswith(","):
            right = right[1:]
        if problem.cased and start in problem.sentence_starts:
            right = right[:1].upper() + right[1:]
        text = left + right
    return text


def match_case(new: str, problem: Problem, position: int) -> str:
    """Capitalise ``new`` if a sentence starts at ``position`` and the problem's text uses capitals."""
    if new and position in problem.sentence_starts and problem.cased:
        return new[0].upper() + new[1:]
    return new


def fix_article(text: str, position: int, word: str) -> tuple[int, str]:
    """Return the start and the new text of an edit that writes ``word`` at ``position``.

    If an article precedes the position, the edit also replaces the article with the form that ``word`` requires.

    >>> fix_article("in an hour", 6, "minute"), fix_article("in 2 hours", 5, "minutes")
    ((3, 'a minute'), (5, 'minutes'))
    """
    for article in ("a ", "an ", "A ", "An "):
        start = position - len(article)
        if start >= 0 and text[start:position] == article and (start == 0 or not text[start - 1].isalnum()):
            vowel = word[:1].lower() in "aeiou" and not word.lower().startswith(("one", "eu", "uni"))
            vowel = vowel or word.lower().startswith(("hour", "8", "11 ", "18 "))
            right = "an " if vowel else "a "
            return start, (right.capitalize() if article[0] == "A" else right) + word
    return position, word

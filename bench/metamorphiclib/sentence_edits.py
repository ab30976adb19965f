"""Add a sentence to a question, or cut the question off."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

HARMLESS = (
    "Take your time with this problem.",
    "It was a bright and windy morning.",
    "Please explain how you got your answer.",
    "A pencil and some paper may help.",
    "Questions like this often come up in class.",
    "The radio was playing quietly in the background.",
    "Good luck with your work!",
    "A little sketch can make things clearer.",
    "Many pupils enjoy such puzzles.",
    "There is no need to hurry.",
)
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:rs|mrs?|ms|dr|sq|cu|ft|no|vs|st|approx|etc|min|sec|hrs?|kms?|cm|kg|inch|fig|i\.\s?e|e\.\s?g"
    r"|p\.?\s?a|[ap]\.\s?m)\.$",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"(?:^|[\s(])[a-z]\.\s+[a-z]\.", re.IGNORECASE)
_BOUNDARY = re.compile(r"(?<=[.?!])\s+(?=[\"'(“]?[A-Za-z])")
_ASKS = re.compile(
    r"\b(?:how|what|which|who|whose|when|where|find|calculate|determine|compute|evaluate|express|solve)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:(?:in|at|by|for|to|after|with|on|of|from)\s+)?(?:how|what|which|who|whose|when|where|find|calculate|determine)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z0-9]+(?:[./,'’-][A-Za-z0-9]+)*")
# words whose loss leaves what is asked almost as it was
_FUNCTION = frozenset(
    """
    a about all also altogether am an and any approximately are as at be been being both but by can closest could did
    do does during each entire equal exactly following for from gets give given had has have he her him his how if in
    into is it its itself last left many may might most much must my nearest now of off on one only or other our out
    over overall per respectively same shall she should so some still such than that the their them then there these
    they this those through to today together total up using was we were what when where which while who whole whose
    will with would year you your
    """.split()
)


# words that cannot end a question
_OPEN = frozenset(
    """
    a an and are as at be both by can could did do does each for from had has have her his how if in into is its many
    much must of on or per shall should than that the their these those to was were what when where which while who
    whose will with would
    """.split()
)
# a cut within these can leave an abbreviation of them
_UNITS = re.compile(
    r"(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|miles?|inches|inch|feet|yards?|pounds?|ounces?|grams?|cents?"
    r"|dollars?|percent(?:age)?|(?:kilo|centi|milli)?(?:met(?:er|re)|gram)s?|lit(?:er|re)s?|gallons?|number|average)$",
    re.IGNORECASE,
)


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences.

    >>> text = "A pen costs rs. 5 at 4% p. a. interest. Find x. How many?"
    >>> [text[start:end] for start, end in sentences(text)]
    ['A pen costs rs. 5 at 4% p. a. interest.', 'Find x.', 'How many?']
    """
    spans, start = [], 0
    for gap in _BOUNDARY.finditer(text):
        initial = _INITIAL.match(text, max(0, gap.start() - 3))  # the first letter of p. a.
        if not initial and not _ABBREVIATED.search(text[: gap.start()]):
            spans.append((start, gap.start()))
            start = gap.end()
    return [*spans, (start, len(text))]


def break_lines(text: str) -> str | None:
    """Put each sentence on a line of its own."""
    spans = sentences(text)
    return "\n".join(text[start:end] for start, end in spans) if len(spans) > 1 else None


def add_after(text: str, rng: random.Random, sentences: Sequence[str] = HARMLESS) -> str | None:
    """Append a harmless sentence to a text that ends with a full stop or a question mark."""
    return f"{text.rstrip()} {rng.choice(sentences)}" if text.rstrip().endswith((".", "?", "!")) else None


def add_before(text: str, rng: random.Random, sentences: Sequence[str] = HARMLESS) -> str:
    """Put a harmless sentence before a text."""
    return f"{rng.choice(sentences)} {text.lstrip()}"


def question_sentence(text: str) -> str | None:
    """Return the last sentence if it is a question that makes sense by itself."""
    start, end = sentences(text)[-1]
    last = text[start:end].strip()
    whole = start > 0 and last.endswith("?") and _OPENS.match(last) and len(_WORD.findall(last)) > 4
    return last if whole else None


def append_question(text: str, rng: random.Random, donors: Sequence[str]) -> str | None:
    """Append a question of another problem that shares at most a third of its content words with this text's end."""
    if not text.rstrip().endswith((".", "?")):
        return None
    start, _ = sentences(text)[-1]
    own = _stems(text[start:])
    for donor in rng.sample(donors, min(50, len(donors))):
        other = _stems(donor)
        if other and 3 * len(own & other) <= len(other):
            return f"{text.rstrip()} {donor}"
    return None


def cut_between_words(text: str, rng: random.Random) -> str | None:
    """Cut the question off after a word, so that a content word of what is asked is gone."""
    asked = _asked(text)
    cuts = [word.start() for word in asked if _loses_content(text, word.start(), asked)]
    return text[: rng.choice(cuts)].rstrip() if cuts else None


def cut_in_word(text: str, rng: random.Random) -> str | None:
    """Cut the question off within a content word of what is asked, of which at most half is left."""
    asked = _asked(text)
    words = [word for word in asked if word[0].isalpha() and len(word[0]) > 3 and _is_content(word[0])]
    words = [word for word in words if not _UNITS.match(word[0]) and _new_content(text, word.start(), asked)]
    if not words:
        return None
    word = rng.choice(words)
    return text[: word.start() + rng.randint(2, len(word[0]) // 2)]


def _asked(text: str) -> list[re.Match[str]]:
    """Return the words of the last sentence from the word that asks, or nothing if it does not ask."""
    start, end = sentences(text)[-1]
    asks = _ASKS.search(text, start, end)
    return list(_WORD.finditer(text, asks.start(), end)) if asks else []


def _loses_content(text: str, cut: int, asked: Sequence[re.Match[str]]) -> bool:
    """Return True if a cut loses a content word that is not said before it, or one after a word that cannot end."""
    if _new_content(text, cut, asked):
        return True
    lost = any(word.start() >= cut and _is_content(word[0]) for word in asked)
    kept = _WORD.findall(text[:cut])
    return lost and bool(kept) and kept[-1].lower() in _OPEN


def _new_content(text: str, cut: int, asked: Sequence[re.Match[str]]) -> bool:
    """Return True if a cut leaves some text, but loses a content word that is not said before it."""
    lost = {_stem(word[0]) for word in asked if word.start() >= cut and _is_content(word[0])}
    return bool(text[:cut].strip() and lost - _stems(text[:cut]))


def _is_content(word: str) -> bool:
    return word.lower() not in _FUNCTION


def _stem(word: str) -> str:
    """Return the first letters of a word, in which *train* and *trains* agree."""
    return word.lower()[:5].rstrip("s") if word.isalpha() else word


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text) if _is_content(word)}

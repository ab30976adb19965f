"""Create pairs of different texts, and pairs in which the question of another text is appended."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from paraqd.lab.corpora.faulty_pairs import FaultyPair
from paraqd.lab.corpora.near_twins import likeness
from paraqd.reading import read
from paraqd.scoring.evidence.content_words import content_stems

_COMPARED = 60  # the size of the random sample from which `strangers` chooses the second question
_SAME = 70  # two questions with at least this similarity, from 0 to 100, may be the same problem
_MOST_SHARED = 0.34  # the largest share of an appended question's content words that may also be in the text
_ENDS = ("?", ".")


def strangers(texts: Sequence[str], *, count: int, seed: int) -> Iterator[FaultyPair]:
    """Yield pairs of different questions.

    In half of the pairs, the second question is random. In the other half, it is the most similar question in a random
    sample.

    >>> [(p.question, p.paraphrase) for p in strangers(["a cat", "two dogs"], count=1, seed=1)]
    [('a cat', 'two dogs')]
    """
    from rapidfuzz import fuzz

    rng = random.Random(seed)
    for number in range(count if len(set(texts)) > 1 else 0):
        one = rng.choice(texts)
        others = [text for text in rng.sample(texts, min(len(texts), _COMPARED)) if likeness(text, one) < _SAME]
        if others:
            other = max(others, key=lambda text: fuzz.token_set_ratio(text, one)) if number % 2 else others[0]
            spans = ((0, len(one)),), ((0, len(other)),)
            yield FaultyPair(f"stranger-{number}", one, other, 0, "content_lost", "strangers", *spans)


def appended_questions(texts: Sequence[str], *, count: int, seed: int) -> Iterator[FaultyPair]:
    """Yield pairs of a text and the same text with the question of another text at its end.

    The other question has at most a third of its content words in common with the text. ``count`` is the number of
    attempts; if two random texts do not fit together, no pair is created.

    >>> texts = ["Tom has 5 pens. How many pens has he?", "A car drives for 2 hours. How far does it drive?"]
    >>> [pair.paraphrase for pair in appended_questions(texts, count=1, seed=3)]
    ['Tom has 5 pens. How many pens has he? How far does it drive?']
    """
    rng = random.Random(f"{seed}|appended")
    for number in range(count if len(set(texts)) > 1 else 0):
        text, other = rng.choice(texts), read(rng.choice(texts))
        asked = other.question
        if asked is None or asked.start == 0 or not asked.text.endswith(_ENDS) or not text.rstrip().endswith(_ENDS):
            continue
        own, foreign = set(content_stems(read(text))[0]), set(content_stems(read(asked.text))[0])
        if not foreign or len(own & foreign) > _MOST_SHARED * len(foreign):
            continue
        sentence = asked.text[:1].upper() + asked.text[1:] if any(map(str.isupper, text)) else asked.text.lower()
        start = len(text.rstrip()) + 1
        spans = ((start, start + len(sentence)),)
        yield FaultyPair(
            f"appended-{number}", text, f"{text.rstrip()} {sentence}", 0, "question_changed", "appended", (), spans
        )

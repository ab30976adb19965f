"""Create pairs without labels, which only the teacher judges.

The small judge learns from the language-model judge how to judge them. They cover more kinds of text than the labelled
pairs: texts with two faults, faulty texts in place of the question, and questions with sentences from other texts. See
`sampled_pairs` for rewrites by a small language model.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from paraqd.lab.corpora.faulty_pairs import UNLABELLED, FaultyPair
from paraqd.lab.corpora.synthetic import SyntheticProblem
from paraqd.reading import read
from paraqd.reading.sentences import split_sentences

SOURCE = "unlabelled"
_LEAST_WORDS, _MOST_WORDS = 5, 28  # the length of an inserted sentence


def pairs_of_faulty_texts(problems: Iterable[SyntheticProblem]) -> Iterator[FaultyPair]:
    """Pair each faulty paraphrase, in place of the question, with the other texts of its problem.

    >>> from paraqd.lab.corpora.synthetic import InvalidParaphrase
    >>> faulty = InvalidParaphrase("Has Tom 6 pens?", "number_changed", (), ())
    >>> problem = SyntheticProblem("a-1", "Has Tom 5 pens?", ("Are 5 pens Tom's?",), (faulty,))
    >>> [(pair.question, pair.paraphrase, pair.label) for pair in pairs_of_faulty_texts([problem])]
    [('Has Tom 6 pens?', 'Has Tom 5 pens?', -1), ('Has Tom 6 pens?', "Are 5 pens Tom's?", -1)]
    """
    for problem in problems:
        faulty = [each.text for each in problem.invalid]
        sound = [problem.question, *problem.valid]
        for one, other in (*((one, other) for one in faulty for other in sound), *permutations(faulty, 2)):
            if one != other:
                yield unlabelled_pair(problem.id, one, other)


def harmless_sentences(problems: Iterable[SyntheticProblem]) -> list[str]:
    """Return the sentences of valid paraphrases that have no number and ask nothing, without duplicates."""
    found: dict[str, None] = {}
    for problem in problems:
        for text in problem.valid:
            for sentence in split_sentences(text)[:-1]:  # the last sentence is usually the question
                if _LEAST_WORDS <= len(sentence.text.split()) <= _MOST_WORDS and sentence.text[:1].isupper():
                    found[sentence.text.strip()] = None
    return [text for text in found if not (reading := read(text)).quantities and not reading.questions]


def with_inserted_sentences(
    questions: Sequence[tuple[str, str]], sentences: Sequence[str], *, count: int, seed: int
) -> Iterator[FaultyPair]:
    """Insert sentences from other texts into questions, given as (id, text). Most insertions do not change the problem.

    >>> [pair.paraphrase for pair in with_inserted_sentences([("a", "Find x.")], ["It rains."], count=1, seed=3)]
    ['Find x. It rains.']
    """
    rng = random.Random(f"{seed}|sentences")
    for _ in range(count if questions and sentences else 0):
        name, text = rng.choice(questions)
        starts = [sentence.start for sentence in split_sentences(text)]
        place = rng.choice([*starts, len(text)])
        added = rng.choice(sentences) if any(map(str.isupper, text)) else rng.choice(sentences).lower()
        yield unlabelled_pair(name, text, f"{text[:place].rstrip()} {added} {text[place:].lstrip()}".strip())


def without_labels(pairs: Iterable[FaultyPair]) -> Iterator[FaultyPair]:
    """Yield pairs without their labels and faults."""
    for pair in pairs:
        yield unlabelled_pair(pair.id, pair.question, pair.paraphrase)


def unlabelled_pair(name: str, question: str, paraphrase: str) -> FaultyPair:
    """Return a pair that only the teacher judges."""
    return FaultyPair(name, question, paraphrase, UNLABELLED, source=SOURCE, placed=False)

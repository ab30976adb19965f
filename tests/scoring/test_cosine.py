"""The cosine score: each distinct text is embedded once, and edge cases are exact."""

import numpy as np
import pytest

from paraqd.scoring.cosine import cosine_scores


class Toy:
    """Embeds a text by the letters a to d, and remembers what it was asked for."""

    def __init__(self):
        self.seen = []

    def __call__(self, texts):
        self.seen.extend(texts)
        counts = np.array([[text.count(letter) for letter in "abcd"] for text in texts], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def test_the_cosine_of_question_and_paraphrase():
    scores = cosine_scores(Toy(), [("ab", "ba"), ("a", "b"), ("a", "ab")])
    assert np.allclose(scores, [1, 0, 2**-0.5], atol=1e-6)


def test_distinct_texts_are_embedded_once():
    embed = Toy()
    cosine_scores(embed, [("ab", "a"), ("ab", "b"), ("a", "ab"), ("ccc", "ccc"), ("ddd", "")])
    assert sorted(embed.seen) == ["a", "ab", "b"]


def test_identical_texts_score_exactly_one_and_blank_paraphrases_minus_one():
    def rough(texts):
        return np.full((len(texts), 3), 0.5)  # not of unit length: the edges must not rest on it

    assert cosine_scores(rough, [("a", "a"), ("a", ""), ("a", " \n")]).tolist() == [1.0, -1.0, -1.0]


def test_rounding_cannot_leave_the_range():
    scores = cosine_scores(lambda texts: np.full((len(texts), 1), 1.0000001), [("a", "b")])
    assert scores.tolist() == [1.0]


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("", "a"), "pair 2: blank question"),
        ((5, "a"), "question is not text"),
        (("a", None), "paraphrase is not text"),
    ],
)
def test_what_cannot_be_scored(pair, message):
    with pytest.raises(ValueError, match=message):
        cosine_scores(Toy(), [("a", "b"), pair])


def test_no_pairs():
    assert cosine_scores(Toy(), []).shape == (0,)


def test_progress_ends_at_the_number_of_texts():
    seen = []
    pairs = [("a" * i, "b" * i) for i in range(1, 601)]
    scores = cosine_scores(Toy(), pairs, progress=lambda stage, done, total, note="": seen.append((done, total)))
    assert seen == [(512, 1200), (1024, 1200), (1200, 1200)]
    assert (scores == 0).all()

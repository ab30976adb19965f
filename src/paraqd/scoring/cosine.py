"""Score pairs with the paper's method, the cosine of two sentence embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ArgumentError
from paraqd.progress import Progress, silent
from paraqd.scoring.judge.bi_encoder import BiEncoder
from paraqd.scoring.verdict import Verdict, VerdictTerms
from paraqd.text_check import is_blank, pair_problem

Embed = Callable[[Sequence[str]], NDArray[np.floating]]

_AT_ONCE = 512  # texts; larger batches would need more memory and report progress less often


class CosineMethod:
    """The paper's scoring method. The score is the cosine of two embeddings, and there is no evidence."""

    def __init__(self, encoder: BiEncoder) -> None:
        self._encoder = encoder

    def begin(self, pairs: Sequence[tuple[str, str]], terms: VerdictTerms) -> Callable[[], list[Verdict]]:
        """Start embedding the texts of the pairs, and return a function that waits for the verdicts."""
        wait = _begin_cosines(self._encoder.begin, pairs)
        return lambda: [terms.verdict(float(score)) for score in wait()]


def cosine_scores(
    embed: Embed, pairs: Sequence[tuple[str, str]], *, progress: Progress = silent
) -> NDArray[np.float64]:
    """Return each pair's cosine similarity, from -1 to 1.

    Parameters
    ----------
    embed
        A function that takes texts and returns a matrix with one unit-length row per text.
    pairs
        Pairs of the form (question, paraphrase). Identical texts score exactly 1; a blank paraphrase scores exactly -1.
    progress
        A callback that receives the number of texts embedded so far.

    Raises
    ------
    ValueError
        If a question is blank or a text is not a string.

    Examples
    --------
    >>> import numpy as np
    >>> def letters(texts):  # a toy: one direction for vowels, one for the rest
    ...     counts = [(sum(c in "aeiou" for c in t), sum(c not in "aeiou" for c in t)) for t in texts]
    ...     return np.array(counts) / np.linalg.norm(counts, axis=1, keepdims=True)
    >>> cosine_scores(letters, [("aab", "aab"), ("aab", "abb"), ("aab", " ")]).round(3).tolist()
    [1.0, 0.8, -1.0]

    """
    return _begin_cosines(lambda texts: lambda: _embed_all(embed, texts, progress), pairs)()


def _begin_cosines(
    begin: Callable[[Sequence[str]], Callable[[], NDArray[np.floating]]], pairs: Sequence[tuple[str, str]]
) -> Callable[[], NDArray[np.float64]]:
    """Start embedding the texts of the pairs, and return a function that waits for the cosines."""
    scores = np.empty(len(pairs), dtype=np.float64)
    differing: list[int] = []
    for i, (question, paraphrase) in enumerate(pairs):
        if problem := pair_problem(question, paraphrase, longest=None, unicode=False):
            raise ArgumentError(f"pair {i + 1}: {problem}")
        if is_blank(paraphrase):
            scores[i] = -1.0
        elif question == paraphrase:
            scores[i] = 1.0
        else:
            differing.append(i)
    distinct = sorted(dict.fromkeys(text for i in differing for text in pairs[i]), key=len)
    place = {text: i for i, text in enumerate(distinct)}
    wait = begin(distinct) if distinct else None

    def finish() -> NDArray[np.float64]:
        if wait is not None:
            rows = np.asarray(wait(), dtype=np.float64)
            left, right = (rows[[place[pairs[i][side]] for i in differing]] for side in (0, 1))
            scores[differing] = np.clip(np.einsum("ij,ij->i", left, right), -1.0, 1.0)
        return scores

    return finish


def _embed_all(embed: Embed, texts: Sequence[str], progress: Progress) -> NDArray[np.floating]:
    """Embed texts, at most `_AT_ONCE` at a time, and report progress."""
    parts = []
    for start in range(0, len(texts), _AT_ONCE):
        parts.append(np.asarray(embed(texts[start : start + _AT_ONCE]), dtype=np.float64))
        progress("scoring", min(start + _AT_ONCE, len(texts)), len(texts))
    return np.concatenate(parts)

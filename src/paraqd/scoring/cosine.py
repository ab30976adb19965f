"""The paper's score: the cosine of two sentence embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from paraqd.text_check import is_blank, pair_problem

Embed = Callable[[Sequence[str]], NDArray[np.floating]]
Begin = Callable[[Sequence[str]], Callable[[], NDArray[np.floating]]]
OnProgress = Callable[[int, int], None]

_CHUNK = 512  # texts handed over at once: progress can be shown, and memory stays small


def cosine_scores(
    embed: Embed, pairs: Sequence[tuple[str, str]], *, on_progress: OnProgress | None = None
) -> NDArray[np.float64]:
    """Return the cosine of question and paraphrase for each pair, from -1 to 1.

    Parameters
    ----------
    embed
        Turns texts into rows of unit length.
    pairs
        (question, paraphrase). Identical texts score exactly 1, a blank paraphrase exactly -1.
    on_progress
        Called with the number of texts done and their total.

    Raises
    ------
    ValueError
        Where a question is blank, or something is not a string.

    Examples
    --------
    >>> import numpy as np
    >>> def letters(texts):  # a toy: one direction for vowels, one for the rest
    ...     counts = [(sum(c in "aeiou" for c in t), sum(c not in "aeiou" for c in t)) for t in texts]
    ...     return np.array(counts) / np.linalg.norm(counts, axis=1, keepdims=True)
    >>> cosine_scores(letters, [("aab", "aab"), ("aab", "abb"), ("aab", " ")]).round(3).tolist()
    [1.0, 0.8, -1.0]
    """

    def begin(texts: Sequence[str]) -> Callable[[], NDArray[np.floating]]:
        return lambda: _embedded(embed, texts, on_progress)

    return begin_cosines(begin, pairs)()


def begin_cosines(begin: Begin, pairs: Sequence[tuple[str, str]]) -> Callable[[], NDArray[np.float64]]:
    """Begin what `cosine_scores` does with an encoder that works meanwhile, and return what waits for the cosines."""
    scores = np.empty(len(pairs), dtype=np.float64)
    waiting: list[int] = []
    for i, (question, paraphrase) in enumerate(pairs):
        _check(i, question, paraphrase)
        if is_blank(paraphrase):
            scores[i] = -1.0
        elif question == paraphrase:
            scores[i] = 1.0
        else:
            waiting.append(i)
    distinct = sorted(dict.fromkeys(text for i in waiting for text in pairs[i]), key=len)
    place = {text: i for i, text in enumerate(distinct)}
    wait = begin(distinct) if distinct else None

    def finish() -> NDArray[np.float64]:
        if wait is not None:
            rows = np.asarray(wait(), dtype=np.float64)
            left, right = (rows[[place[pairs[i][side]] for i in waiting]] for side in (0, 1))
            scores[waiting] = np.clip(np.einsum("ij,ij->i", left, right), -1.0, 1.0)
        return scores

    return finish


def _check(number: int, question: object, paraphrase: object) -> None:
    if problem := pair_problem(question, paraphrase, longest=None, unicode=False):
        raise ValueError(f"pair {number + 1}: {problem}")


def _embedded(embed: Embed, texts: Sequence[str], on_progress: OnProgress | None) -> NDArray[np.floating]:
    """Embed texts, some hundred at a time."""
    parts = []
    for start in range(0, len(texts), _CHUNK):
        parts.append(np.asarray(embed(texts[start : start + _CHUNK]), dtype=np.float64))
        if on_progress is not None:
            on_progress(min(start + _CHUNK, len(texts)), len(texts))
    return np.concatenate(parts)

"""Delete the most important phrase (f5)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paraqd.lab.operators.wording.topic_rank import best_phrases
from paraqd.reading import Problem
from paraqd.reading.signs import POSSESSIVES
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import delete

Encoder = Callable[[Sequence[str]], "np.ndarray[Any, Any]"]
_LONGEST = 20_000  # characters; word problems are shorter, and parsing a longer text takes minutes


class ImportantPhraseDeletion(Operator):
    """Delete the phrase that contributes most to the meaning (f5).

    TopicRank proposes several important phrases. The operator deletes the phrase whose deletion most lowers the cosine
    similarity between the shortened text and the question.

    Parameters
    ----------
    k : int
        The number of phrases that TopicRank proposes.

    """

    name = "ImportantPhraseDeletion"
    paper_id = "f5"
    polarity = "invalid"
    fault = "content_lost"
    changes = frozenset({"wording"})
    needs = ("encoder", "parser")

    def __init__(self, *, k: int = 5) -> None:
        self.k = k

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Delete the most important phrase; return None if the text has no suitable phrase."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Delete the most important phrase of each problem; all problems are parsed and encoded together."""
        del rngs
        parser = resources.require("parser", needed_by=self.name)
        encoder: Encoder = resources.require("encoder", needed_by=self.name)
        texts = [problem.text if can_parse(problem.text) else "" for problem in problems]
        options = [self._shortened_texts(doc, p) for doc, p in zip(parser.pipe(texts), problems, strict=True)]
        batch = [text for text, found in zip(texts, options, strict=True) for text in ([text, *found] if found else [])]
        if not batch:
            return [None] * len(problems)
        vectors = encoder(batch)
        results: list[str | None] = []
        at = 0
        for found in options:
            if not found:
                results.append(None)
                continue
            cosines = vectors[at + 1 : at + 1 + len(found)] @ vectors[at]
            results.append(found[int(np.argmin(np.round(cosines.astype(np.float64), 5)))])
            at += 1 + len(found)
        return results

    def _shortened_texts(self, doc: Any, problem: Problem) -> list[str]:
        """Return one text for each of the best phrases, with all mentions of that phrase deleted.

        A possessive ending after a mention is also deleted.
        """
        shortened = []
        for phrase in best_phrases(doc, self.k):
            spans = [(s, e + 2 if problem.text[e : e + 2] in POSSESSIVES else e) for s, e in phrase.spans]
            shortened.append(delete(problem, spans).strip())
        return [option for option in shortened if option and option != problem.text]


def can_parse(text: str) -> bool:
    """Return True if the text is valid Unicode and short enough for parsing."""
    if len(text) > _LONGEST:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True

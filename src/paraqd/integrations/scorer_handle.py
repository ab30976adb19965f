"""Give other tools a scorer that can be sent to other processes, and verdicts in the form of table columns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from paraqd.runs.column_types import typed
from paraqd.runs.score import Model
from paraqd.runs.score_rows import ADDED_WITH_WHY, PairScorer, added_columns, as_record, score_rows, sentences
from paraqd.scoring.verdict import Verdict
from paraqd.tables.table import Columns

_COLUMNS = Columns(question="question", paraphrase="paraphrase")


class ScorerHandle:
    """A scorer that can be pickled. Each process loads its own copy at the first use.

    Two handles have the same pickled form only if their scorers have the same signature, so a tool that keeps results
    does not confuse the results of different models.

    Parameters
    ----------
    model : Model
        The settings with which the scorer is loaded.
    threads : int, optional
        The number of threads of the scorer (default: one per core).

    Examples
    --------
    >>> handle = ScorerHandle(Model("reading"))
    >>> handle.columns(["Ann has 5 pens. How many?"], ["Ann has 6 pens. How many?"])["why"]
    ['A number changed: "5" became "6".']

    """

    def __init__(self, model: Model, threads: int | None = None) -> None:
        self.model, self.threads = model, threads
        self._scorer: PairScorer | None = None
        self.signature = self.scorer.signature

    @property
    def scorer(self) -> PairScorer:
        """The scorer of this process."""
        if self._scorer is None:
            self._scorer = self.model.load(self.threads)
        return self._scorer

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scorer": None}

    def verdicts(self, questions: Iterable[Any], paraphrases: Iterable[Any]) -> list[Verdict | str]:
        """Return a verdict for each pair, or the reason why the pair cannot be scored."""
        pairs = zip(questions, paraphrases, strict=True)
        rows = [{"question": question, "paraphrase": paraphrase} for question, paraphrase in pairs]
        return score_rows(rows, _COLUMNS, self.scorer)

    def columns(self, questions: Iterable[Any], paraphrases: Iterable[Any]) -> dict[str, list[Any]]:
        """Return the columns that ``paraqd score`` adds to a table, and the column ``why``."""
        records = [as_record(verdict, self.scorer.threshold) for verdict in self.verdicts(questions, paraphrases)]
        rows = [added_columns(record, ADDED_WITH_WHY, self.signature) for record in records]
        return {name: [typed(row[name], kind) for row in rows] for name, kind in ADDED_WITH_WHY.items()}


cached_handle = lru_cache(maxsize=4)(ScorerHandle)  # a scorer is loaded once for the same settings


def is_valid(verdict: Verdict | str) -> bool:
    """Return True if a pair was scored and is valid."""
    return isinstance(verdict, Verdict) and verdict.valid


def reason_of(verdict: Verdict | str, threshold: float) -> str:
    """Return the evidence and the warnings in sentences, or the reason why a pair cannot be scored."""
    return sentences(as_record(verdict, threshold)) or "No fault was found."

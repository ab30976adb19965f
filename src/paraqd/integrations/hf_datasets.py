"""Score and filter a data set of the library ``datasets``.

::

    from datasets import load_dataset
    from paraqd.integrations.hf_datasets import KeepValid, ScorePairs

    pairs = load_dataset("csv", data_files="samples/pairs.csv", split="train")
    scored = pairs.map(ScorePairs(), batched=True, batch_size=256)
    valid = pairs.filter(KeepValid(), batched=True, batch_size=256)

Both functions can be sent to other processes (``num_proc=4``). With several processes, pass ``threads=1``. The library
keeps the results of a function; results of another model or version are not confused with them. This module does not
import ``datasets``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from paraqd.errors import ArgumentError
from paraqd.integrations.scorer_handle import ScorerHandle, is_valid
from paraqd.runs.score import Model


class _PairFunction:
    """A function of a row or a batch of rows.

    Parameters
    ----------
    model, mode, threshold, skip, judge, threads
        Passed to `paraqd.Scorer.load`.
    question_column, paraphrase_column : str
        The names of the columns that contain the questions and paraphrases.

    """

    def __init__(
        self,
        model: str | None = None,
        *,
        mode: str = "fused",
        threshold: float | None = None,
        skip: bool = True,
        judge: str | None = None,
        threads: int | None = None,
        question_column: str = "question",
        paraphrase_column: str = "paraphrase",
    ) -> None:
        self._handle = ScorerHandle(Model(model, mode, threshold, skip, judge), threads)
        self._columns = (question_column, paraphrase_column)

    def _pairs(self, rows: Mapping[str, Any]) -> tuple[list[Any], list[Any], bool]:
        """Return the questions, the paraphrases, and whether the rows are a batch."""
        missing = [name for name in self._columns if name not in rows]
        if missing:
            raise ArgumentError(
                f"the data set has no column {missing[0]!r}: its columns are {', '.join(rows)}; pass question_column "
                "and paraphrase_column"
            )
        first, second = (rows[name] for name in self._columns)
        if any(isinstance(each, str) or not isinstance(each, Iterable) for each in (first, second)):
            return [first], [second], False
        return list(first), list(second), True


class ScorePairs(_PairFunction):
    """A function for ``Dataset.map`` that adds the columns of ``paraqd score``, and the column ``why``.

    >>> score = ScorePairs("reading")
    >>> score({"question": ["Ann has 5 pens. How many?"], "paraphrase": ["Ann has 6 pens. How many?"]})["valid"]
    [False]
    """

    def __call__(self, rows: Mapping[str, Any]) -> dict[str, Any]:
        """Return the added columns of a row or of a batch of rows."""
        questions, paraphrases, batched = self._pairs(rows)
        columns = self._handle.columns(questions, paraphrases)
        # the library takes a column's type from the first rows, and None has no type
        columns["error"] = [error or "" for error in columns["error"]]
        columns["score"] = [float("nan") if score is None else score for score in columns["score"]]
        columns["valid"] = [bool(valid) for valid in columns["valid"]]
        return columns if batched else {name: values[0] for name, values in columns.items()}


class KeepValid(_PairFunction):
    """A function for ``Dataset.filter`` that keeps the pairs that are valid.

    >>> keep = KeepValid("reading")
    >>> keep({"question": "Ann has 5 pens. How many?", "paraphrase": "Ann has 6 pens. How many?"})
    False
    """

    def __call__(self, rows: Mapping[str, Any]) -> bool | list[bool]:
        """Return True for each valid pair of a row or of a batch of rows. A pair that cannot be scored is not kept."""
        questions, paraphrases, batched = self._pairs(rows)
        kept = [is_valid(verdict) for verdict in self._handle.verdicts(questions, paraphrases)]
        return kept if batched else kept[0]

"""Score batches of pairs in a Ray Data pipeline."""

from __future__ import annotations

from typing import Any

from paraqd.runs.column_types import typed
from paraqd.runs.score import Model
from paraqd.runs.score_rows import ADDED, ADDED_WITH_WHY, added_columns, as_record, score_rows
from paraqd.tables.table import Columns
from paraqd.tables.writers import arrow_schema


class ScoreBatches:
    """A callable class for ``Dataset.map_batches`` that adds the same columns as ``paraqd score``.

    Each Ray actor loads one scorer.

    ::

        pairs.map_batches(ScoreBatches, batch_format="pyarrow", batch_size=256, concurrency=4, num_cpus=1)

    Parameters
    ----------
    model, mode, threshold, skip, judge
        Passed to `paraqd.Scorer.load`.
    question_column, paraphrase_column : str
        The names of the columns that contain the questions and paraphrases.
    why : bool
        If True, add the column ``why``, which states the evidence and the warnings in sentences.
    threads : int
        The number of threads that the model uses.

    """

    def __init__(
        self,
        model: str | None = None,
        *,
        mode: str = "fused",
        threshold: float | None = None,
        question_column: str = "question",
        paraphrase_column: str = "paraphrase",
        why: bool = False,
        threads: int = 1,
        skip: bool = True,
        judge: str | None = None,
    ) -> None:
        self._scorer = Model(model, mode, threshold, skip, judge).load(threads)
        self._columns = Columns(question=question_column, paraphrase=paraphrase_column)
        self._added = ADDED_WITH_WHY if why else ADDED

    def __call__(self, batch: Any) -> Any:
        """Return the batch with the verdict columns. Existing columns with the same names are replaced."""
        import pyarrow as pa

        rows = batch.select([self._columns.question, self._columns.paraphrase]).to_pylist()
        verdicts = score_rows(rows, self._columns, self._scorer)
        records = [as_record(verdict, self._scorer.threshold) for verdict in verdicts]
        found = [added_columns(record, self._added, self._scorer.signature) for record in records]
        kept = batch.drop_columns([name for name in batch.column_names if name in self._added])
        for field in arrow_schema(self._added):
            values = [typed(row[field.name], self._added[field.name]) for row in found]
            kept = kept.append_column(field, pa.array(values, field.type))
        return kept

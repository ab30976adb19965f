"""A scorer for pipelines that are Ray Data's already."""

from __future__ import annotations

from typing import Any

from paraqd.data.tables import Columns
from paraqd.data.writers import arrow_schema
from paraqd.runs.column_types import typed
from paraqd.runs.score_folder import Model
from paraqd.runs.score_rows import ADDED, ADDED_WITH_WHY, judge


class ScoreBatches:
    """Adds the columns of ``paraqd score`` to batches: for ``Dataset.map_batches``, one scorer in each of its actors.

    ::

        pairs.map_batches(ScoreBatches, batch_format="pyarrow", batch_size=256, concurrency=4, num_cpus=1)

    Parameters
    ----------
    model, mode, threshold, skip
        As `paraqd.Scorer.load` takes them.
    question_column, paraphrase_column : str
        Where the texts are.
    why : bool
        Add the evidence in plain sentences, too.
    threads : int
        How many threads the learned part may use.

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
    ) -> None:
        self._scorer = Model(model, mode, threshold, skip).load(threads)
        self._columns = Columns(question=question_column, paraphrase=paraphrase_column)
        self._added = ADDED_WITH_WHY if why else ADDED

    def __call__(self, batch: Any) -> Any:
        """Return a table with the verdicts beside the rows; columns of their names are replaced."""
        import pyarrow as pa

        rows = batch.select([self._columns.question, self._columns.paraphrase]).to_pylist()
        found = [
            judged.columns(self._added, self._scorer.signature) for judged in judge(rows, self._columns, self._scorer)
        ]
        kept = batch.drop_columns([name for name in batch.column_names if name in self._added])
        for field in arrow_schema(self._added):
            values = [typed(row[field.name], self._added[field.name]) for row in found]
            kept = kept.append_column(field, pa.array(values, field.type))
        return kept

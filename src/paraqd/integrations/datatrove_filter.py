"""Drop invalid paraphrases in a datatrove pipeline, with the fault as the reason.

A document's text is the paraphrase. Its metadata contain the question.

::

    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from paraqd.integrations.datatrove_filter import ParaphraseFilter

    steps = [
        JsonlReader("pairs/", text_key="paraphrase"),
        ParaphraseFilter(exclusion_writer=JsonlWriter("dropped/")),
        JsonlWriter("valid/"),
    ]
    LocalPipelineExecutor(steps, tasks=4, workers=4).run()
"""

from __future__ import annotations

from typing import Any

from paraqd.extras import require_extra
from paraqd.integrations.faults import fault_of
from paraqd.integrations.scorer_handle import ScorerHandle, is_valid
from paraqd.runs.score import Model
from paraqd.scoring.verdict import Verdict

require_extra("datatrove", "the datatrove filter")
from datatrove.data import Document  # noqa: E402
from datatrove.pipeline.filters.base_filter import BaseFilter  # noqa: E402


class ParaphraseFilter(BaseFilter):  # type: ignore[misc]  # datatrove is not type-checked
    """A filter that keeps valid paraphrases.

    The score of each document is stored in its metadata, as ``paraqd_score``. The reason for a dropped document is the
    kind of evidence, such as ``number_lost``; it is counted in datatrove's statistics. A document that cannot be scored
    is dropped with the reason ``error``.

    Parameters
    ----------
    question_key : str
        The key of the question in a document's metadata.
    model, mode, threshold, skip, judge, threads
        Passed to `paraqd.Scorer.load`.
    exclusion_writer : DiskWriter, optional
        A writer that saves the dropped documents.
    batch_size : int
        The number of documents that are scored together.

    """

    name = "paraqd"

    def __init__(
        self,
        question_key: str = "question",
        *,
        model: str | None = None,
        mode: str = "fused",
        threshold: float | None = None,
        skip: bool = True,
        judge: str | None = None,
        threads: int = 1,
        exclusion_writer: Any = None,
        batch_size: int = 256,
    ) -> None:
        super().__init__(exclusion_writer, batch_size)
        self.question_key = question_key
        self._handle = ScorerHandle(Model(model, mode, threshold, skip, judge), threads)

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Return True for a valid paraphrase, otherwise False and the fault."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Return the result of `filter` for each document."""
        questions = [document.metadata.get(self.question_key) for document in batch]
        verdicts = self._handle.verdicts(questions, [document.text for document in batch])
        for document, verdict in zip(batch, verdicts, strict=True):
            if isinstance(verdict, Verdict):
                document.metadata["paraqd_score"] = round(verdict.score, 6)
            else:
                document.metadata["paraqd_error"] = verdict
        return [True if is_valid(verdict) else (False, fault_of(verdict)) for verdict in verdicts]

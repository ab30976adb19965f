"""Score the pieces of a scoring run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from paraqd.data.rows import LostRow
from paraqd.data.tables import Columns, Row
from paraqd.data.writers import Schema
from paraqd.runs.column_types import typed
from paraqd.runs.engines import OnRows, Result
from paraqd.runs.parts import Facts, Parts
from paraqd.runs.pieces import Piece, Reader, UnreadableError
from paraqd.runs.score_columns import ScoreColumns
from paraqd.runs.score_rows import (
    Counts,
    PairScorer,
    added_columns,
    as_record,
    in_chunks,
    is_wanted,
    scored_chunks,
)
from paraqd.scoring.decisions import Band
from paraqd.scoring.verdict import Verdict

Scored = list[Verdict | str]


@dataclass(frozen=True)
class Model:
    """The settings with which `score_file` and each of its workers load a scorer.

    Attributes
    ----------
    model : str, optional
        The name or folder of a model (default: the shipped model).
    mode : str
        ``fused``, or ``encoder`` for the cosine of a bi-encoder, as in the paper.
    threshold : float, optional
        A pair is valid if its score is greater than this threshold (default: the model's threshold).
    skip : bool
        Skip the judge for pairs that the rules alone decide.
    judge : str, optional
        ``small``, ``cascade`` or ``large``, as in `Scorer.load`.

    """

    model: str | None = None
    mode: str = "fused"
    threshold: float | None = None
    skip: bool = True
    judge: str | None = None

    def load(self, threads: int | None = None) -> PairScorer:
        """Load the scorer."""
        from paraqd.scoring.scorer import Scorer

        return Scorer.load(
            self.model,
            mode=self.mode,
            threshold=self.threshold,
            threads=threads,
            skip=self.skip,
            judge=self.judge,
        )


@dataclass(frozen=True)
class ScoredRow:
    """A scored input row: its number, its columns including those added by scoring, and its verdict or error."""

    number: int
    row: Row
    paraphrase: object
    verdict: Verdict | str


# called with scored rows, in input order, and the total number of rows
Show = Callable[[list[ScoredRow], int], None]


@dataclass(frozen=True)
class ScoreJob:
    """A job that scores pieces.

    The parts contain complete rows with the columns in ``schema``. If ``schema`` is None, the output is a file, and the
    parts contain only the verdicts. ``loaded`` is the scorer of this process. Other processes load ``model``.
    """

    reader: Reader
    parts: Parts
    columns: ScoreColumns
    schema: Schema | None
    renamed: Mapping[str, str]
    only: str | None
    model: Model | None
    identity: str
    loaded: PairScorer | None = None
    band: Band | None = None

    @property
    def signature(self) -> str:
        """The signature in the output, which also names the band for review."""
        return self.identity if self.band is None else f"{self.identity}|review:{self.band}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "loaded": None}

    def worker(self, *, threads: int | None = None) -> ScoreWorker:
        """Return a worker, and load the scorer if this process has not loaded it yet."""
        if self.loaded is not None:
            return ScoreWorker(self, self.loaded)
        assert self.model is not None
        return ScoreWorker(self, self.model.load(threads))

    def full_row(self, file: str, row: Row, record: Mapping[str, Any], signature: str) -> Row:
        """Return an input row with the columns that scoring adds. Columns from an earlier scoring run are replaced."""
        gone = self.columns.replaced(file)
        own = {self.renamed.get(name, name): value for name, value in row.items() if name not in gone}
        return {**own, **added_columns(record, self.columns.added, signature)}


@dataclass(frozen=True)
class Shown(Parts):
    """Parts whose rows are passed to ``show`` instead of being stored."""

    show: Show
    total: int

    @contextmanager
    def part(self, index: int) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield a writer that passes the rows to ``show``, and a dictionary for the counts."""
        yield self, {}

    def write(self, rows: list[ScoredRow]) -> None:
        """Pass rows to ``show``."""
        self.show(rows, self.total)


class ScoreWorker:
    """A worker that scores pieces."""

    def __init__(self, job: ScoreJob, scorer: PairScorer) -> None:
        self._job = job
        self._scorer = scorer
        self.identity = scorer.signature

    def work(self, pieces: Iterable[Piece], on_rows: OnRows) -> Iterator[Result]:
        """Score pieces, and yield their results. The next chunk of rows is read while a chunk is being scored."""
        unreadable: dict[int, UnreadableError] = {}
        chunks = scored_chunks(self._chunks(pieces, unreadable), self._columns, self._scorer)
        for piece, rows, verdicts in chunks:
            try:
                scored = _of_piece(piece, rows, verdicts, chunks)
                result = Result(piece, self._part(piece, scored, unreadable, on_rows))
            except UnreadableError as error:
                result = Result(piece, None, str(error))
            yield result

    def _columns(self, piece: Piece) -> Columns:
        return self._job.columns.of(self._job.reader.source.shown(piece.file))

    def _chunks(
        self, pieces: Iterable[Piece], unreadable: dict[int, UnreadableError]
    ) -> Iterator[tuple[Piece, list[Row]]]:
        for piece in pieces:
            try:
                yield from ((piece, chunk) for chunk in in_chunks(self._job.reader.rows(piece)))
            except UnreadableError as error:
                unreadable[piece.index] = error
                yield piece, []

    def _part(
        self,
        piece: Piece,
        scored: Iterable[tuple[list[Row], Scored]],
        unreadable: Mapping[int, UnreadableError],
        on_rows: OnRows,
    ) -> Facts:
        """Write the part for a piece, and return its counts."""
        job, scorer = self._job, self._scorer
        file = job.reader.source.shown(piece.file)
        paraphrase = job.columns.of(file).paraphrase
        counts, lost, damage = Counts(), 0, set()
        kept: list[Any]
        with job.parts.part(piece.index) as (writer, facts):
            for rows, verdicts in scored:
                kept = []
                for row, verdict in zip(rows, verdicts, strict=True):
                    record = as_record(verdict, scorer.threshold, job.band)
                    wanted = is_wanted(record, job.only)
                    counts.add(record, written=wanted)
                    if isinstance(row, LostRow):
                        lost += 1
                        damage |= {f"{row.why} ({row.reason})"} if row.reason else set()
                    if isinstance(job.parts, Shown):
                        if wanted:
                            full = job.full_row(file, row, record, job.signature)
                            kept.append(ScoredRow(piece.start + counts.rows, full, row.get(paraphrase), verdict))
                    elif job.schema is None:
                        kept.append(record)
                    elif wanted:
                        full = job.full_row(file, row, record, job.signature)
                        kept.append({name: typed(full.get(name), kind) for name, kind in job.schema.items()})
                writer.write(kept)
                if counts.rows < piece.rows:  # the run itself reports finished pieces
                    on_rows(counts.rows)
            if piece.index in unreadable:
                raise unreadable[piece.index]
            named = [(piece.start + row, why) for row, why in counts.error_rows]
            facts.update(counts.to_dict(), error_rows=named, lost=lost, damage=sorted(damage))
        return facts


def _of_piece(
    piece: Piece, rows: list[Row], verdicts: Scored, chunks: Iterator[tuple[Piece, list[Row], Scored]]
) -> Iterator[tuple[list[Row], Scored]]:
    """Yield the scored chunks of a piece. The first chunk is passed as ``rows`` and ``verdicts``.

    An empty chunk is the last chunk, because it means that the remaining rows cannot be read.
    """
    done = 0
    while True:
        yield rows, verdicts
        done += len(rows)
        if not rows or done >= piece.rows:
            return
        _, rows, verdicts = next(chunks)

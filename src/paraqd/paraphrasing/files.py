"""Paraphrase the questions in a file or in a folder of files. An interrupted run can be resumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from paraqd.errors import ArgumentError
from paraqd.parameters import named
from paraqd.paraphrasing.paraphraser import Settings, paraphrase_questions
from paraqd.paraphrasing.report import ParaphraseReport, Short, Unusable
from paraqd.paraphrasing.sources.base import CandidateSource, SourceError
from paraqd.paraphrasing.sources.loading import is_address, load_source
from paraqd.plural import counted
from paraqd.runs.column_types import encodable, fitted_row, fitted_schema, jsonable, typed
from paraqd.runs.engines import OnRows, PieceWorker
from paraqd.runs.locations import Location
from paraqd.runs.output import Output
from paraqd.runs.parts import NO_PARTS, Facts, Parts
from paraqd.runs.pieces import Piece, Reader
from paraqd.runs.run import (
    PieceRows,
    RunOptions,
    Work,
    carry_out,
    check_options,
    look_at,
    question_columns,
    say_spellings,
)
from paraqd.runs.score import Model
from paraqd.runs.score_rows import PairScorer
from paraqd.runs.survey import check_cells
from paraqd.tables.datasets import questions_file
from paraqd.tables.formats import Format, kind_of
from paraqd.tables.questions import Question, question_of
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row
from paraqd.tables.writers import Schema, output_dialect
from paraqd.version import __version__

# the columns that are added to those of the question
ADDED: Mapping[str, type] = {
    "paraphrase": str,
    "score": float,
    "valid": bool,
    "evidence": str,
    "source": str,
    "style": str,
    "edits": str,
    "repaired": str,
    "rank": int,
    "error": str,
    "signature": str,
}
_CHUNK = 16  # the number of rows in a part: an interruption loses a few seconds of work
_NAMED = 1000  # the report lists no more questions, and no more unusable rows


@dataclass(frozen=True)
class SourceSpec:
    """The settings from which each process loads its source."""

    source: str
    device: str | None = None
    endpoint: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> CandidateSource:
        """Load the source."""
        return load_source(self.source, device=self.device, **self.endpoint)


@dataclass(frozen=True)
class ParaphraseJob:
    """A job that paraphrases pieces.

    ``names`` maps each file to its column with the questions. ``source`` and ``scorer`` belong to this process; other
    processes load theirs.
    """

    reader: Reader
    names: Mapping[str, str]
    id_column: str
    settings: Settings
    schema: Schema
    identity: str
    spec: SourceSpec | None
    model: Model | None
    parts: Parts = NO_PARTS
    source: CandidateSource | None = None
    scorer: PairScorer | None = None
    json_parts: bool = True

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": None, "scorer": None}

    def worker(self, *, threads: int | None = None) -> ParaphraseWorker:
        """Return a worker, and load the source and the scorer if this process has not loaded them yet."""
        if self.source is not None and self.scorer is not None:
            return ParaphraseWorker(self, self.source, self.scorer)
        assert self.spec is not None and self.model is not None
        return ParaphraseWorker(self, self.spec.load(), self.model.load(threads))


class ParaphraseWorker(PieceWorker):
    """A worker that paraphrases the questions in each piece."""

    def __init__(self, job: ParaphraseJob, source: CandidateSource, scorer: PairScorer) -> None:
        self._job, self._source, self._scorer = job, source, scorer
        self.identity = _identity(source, scorer)

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Write the paraphrases for a piece, and return the counts."""
        job = self._job
        file = job.reader.source.shown(piece.file)
        columns = Columns(question=job.names[file], id=job.id_column)
        counts: Counter[str] = Counter()
        short: list[list[Any]] = []
        unusable: list[list[Any]] = []
        done = 0
        with job.parts.part(piece.index) as (writer, facts):
            for chunk in job.reader.chunks(piece, _CHUNK):
                rows = list(numbered(chunk, piece.start + done + 1))
                found = [question_of(row, columns) for _, row in rows]
                questions = [each for each in found if isinstance(each, Question)]
                made = iter(paraphrase_questions(questions, self._source, self._scorer, job.settings))
                for (number, row), question in zip(rows, found, strict=True):
                    if not isinstance(question, Question):
                        counts["skipped"] += 1
                        unusable.append([file, number, _own_id(row, columns), question])
                        writer.write(self._rows(row, [{"error": question, "signature": self._scorer.signature}]))
                        continue
                    result = next(made)
                    writer.write(self._rows(row, [each.to_dict() for each in result.paraphrases]))
                    counts.update(result.counts)
                    counts["questions"] += 1
                    counts["written"] += len(result.paraphrases)
                    counts["complete"] += not result.reason
                    counts["without"] += not result.paraphrases
                    if result.reason:
                        short.append([file, number, question.id, len(result.paraphrases), result.reason])
                done += len(chunk)
                if done < piece.rows:  # the run itself reports finished pieces
                    on_rows(done)
            facts.update(counts, short=short[:_NAMED], unusable=unusable[:_NAMED])
        return facts

    def _rows(self, row: Row, added: Sequence[Row]) -> Iterator[Row]:
        """Yield the columns of a question with added columns. A row without a usable question is kept, too."""
        own = {name: value for name, value in row.items() if name not in ADDED}
        for each in added:
            full = {**own, **dict.fromkeys(ADDED), **each}
            if self._job.json_parts:
                yield {name: jsonable(value) for name, value in full.items()}
            else:
                yield {name: typed(full.get(name), kind) for name, kind in self._job.schema.items()}


def paraphrase_file(
    source: str | Path,
    out: str | Path,
    *,
    settings: Settings | None = None,
    by: str | CandidateSource = "rules",
    scorer: PairScorer | Model | str | Path | None = None,
    judge: str | None = None,
    device: str | None = None,
    endpoint: Mapping[str, Any] | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    overwrite_columns: bool = False,
    **options: Unpack[RunOptions],
) -> ParaphraseReport:
    r"""Paraphrase every question in a file, or in a folder of files, and write one row for each paraphrase.

    A row has the columns of its question and the columns in `ADDED`. A row without a usable question is kept, with the
    reason in the column ``error``. With rules, or with a model on the same device, the same input, settings and version
    produce the same rows. An endpoint writes other texts each time; only its cache repeats answers. If a call is
    interrupted, even by ``kill -9``, repeat the call to resume the work.

    Parameters
    ----------
    source : str or Path
        Questions as CSV, TSV, JSONL, Excel or Parquet, a folder of such files, or the name of a data set of questions.
    out : str or Path
        A file, whose extension determines the format, or a folder (a name that ends in ``/``).
    settings : Settings, optional
        The number of paraphrases, the styles, the seed and more.
    by : str or CandidateSource
        The source of the candidates: ``rules``, a model's folder or name, or the address of an endpoint.
    scorer : Scorer, Model, str or Path, optional
        The gate: a loaded scorer, or the name or folder of a model (default: the shipped model).
    judge : str, optional
        ``small``, ``cascade`` or ``large``, as in `Scorer.load`. Only for a model's name or folder.
    device : str, optional
        The device for a model, such as ``cpu`` or ``cuda``.
    endpoint : mapping, optional
        The settings of an endpoint; see `EndpointSource`.
    columns : Columns
        The column names.
    overwrite_columns : bool
        Replace input columns whose names clash with the added columns.
    **options
        ``workers``, ``overwrite``, ``restart``, ``progress`` and others; see `RunOptions`.

    Raises
    ------
    TableError
        If a file cannot be read or written.
    SourceError
        If the source cannot be used. Finished parts are kept.
    RunInterrupted
        If the user presses Ctrl-C.

    """
    check_options(options)
    settings = settings or Settings()
    place = Location.at(questions_file(source))
    output = Output.at(place, out, **options)
    several = options.get("engine", "local") == "ray" or (options.get("workers") or 1) > 1
    if several and not (isinstance(by, str) and (scorer is None or isinstance(scorer, str | Path | Model))):
        raise ArgumentError("with several workers, each loads the source and the model itself: pass their names")
    if several and isinstance(by, str) and is_address(by):
        raise ArgumentError(
            f"{named('workers', options.get('workers'))}: an endpoint needs no workers, because several requests are "
            "sent at a time, and its limits hold for one process; leave the option out"
        )
    names: dict[str, str] = {}

    check = question_columns(columns, ADDED, names, overwrite=overwrite_columns)
    inputs = look_at(place, output, options, check=check, least=_CHUNK)
    say_spellings(names, columns.question, options)
    target = None if output.file is None else kind_of(output.file).format
    if target is Format.XLSX:
        check_cells(inputs)
    spec = SourceSpec(by, device, endpoint or {}) if isinstance(by, str) else None
    candidates = spec.load() if spec is not None else by
    assert not isinstance(candidates, str)
    model = _model(scorer, judge)
    gate = model.load() if isinstance(model, Model) else model
    schema = {**{name: kind for name, kind in inputs.types.items() if name not in ADDED}, **ADDED}
    schema = fitted_schema(schema, ADDED, target)
    job = ParaphraseJob(
        reader=inputs.reader,
        names=names,
        id_column=columns.id,
        settings=settings,
        schema=schema,
        identity=_identity(candidates, gate),
        spec=spec,
        model=model if isinstance(model, Model) else None,
        source=candidates,
        scorer=gate,
        json_parts=output.file is not None,
    )
    counts: Counter[str] = Counter()
    short: list[Short] = []
    unusable: list[Unusable] = []

    def count(piece: Piece, facts: Facts) -> None:
        counts.update({name: value for name, value in facts.items() if isinstance(value, int)})
        # pieces come in any order, so the lists are sorted before they are cut
        short[:] = sorted([*short, *(Short(*each) for each in facts["short"])])[:_NAMED]
        unusable[:] = sorted([*unusable, *(Unusable(*each) for each in facts["unusable"])])[:_NAMED]

    work = Work(
        command="paraphrase",
        stage="paraphrasing",
        inputs=inputs,
        settings={
            "columns": [columns.question, columns.id],
            "seed": settings.seed,
            "version": __version__,
            "set_of_models": {"source": candidates.identity, "gate": gate.signature},
            "settings_of_paraphrases": {name: value for name, value in settings.to_dict().items() if name != "seed"},
            "set_of_columns": list(schema),
            "encoding": options.get("encoding"),
        },
        schema=schema,
        metadata={"source": candidates.identity, "signature": gate.signature, "settings": settings.to_dict()},
        job=lambda parts: replace(job, parts=parts),
        count=count,
        totals=lambda: dict(counts),
        join=lambda pieces: _joined(pieces, schema, target),
        dialect=output_dialect(inputs.table),
    )
    try:
        outcome = carry_out(work, output, options)
    except SourceError as error:
        kept = "" if output.parts is None or not output.parts.names() else output.parts.given
        raise SourceError(_stopped(error, kept, sum(counts[name] for name in ("questions", "skipped")))) from None
    return ParaphraseReport(
        source=place.given,
        out=str(out),
        signature=gate.signature,
        rows=inputs.rows,
        **{name: counts[name] for name in _COUNTED},
        short=tuple(short),
        unusable=tuple(unusable),
        resumed=outcome.resumed,
        problems=outcome.problems,
    )


_COUNTED = ("questions", "skipped", "written", "complete", "without", "candidates", "passed", "mended", "repaired")


def _own_id(row: Row, columns: Columns) -> str:
    given = row.get(columns.id)
    return "" if given is None else encodable(str(given).strip())


def _stopped(error: SourceError, kept: str, rows: int) -> str:
    """Return the message of an error that stopped a run, with what is kept."""
    if not kept or not rows:
        return str(error)
    return f"{error}; {counted(rows, 'row')} finished before are kept in {kept}: run the same command again to continue"


def _identity(source: CandidateSource, scorer: PairScorer) -> str:
    return f"paraqd:{__version__} {source.identity} {scorer.signature}"


def _model(scorer: PairScorer | Model | str | Path | None, judge: str | None) -> PairScorer | Model:
    if scorer is None or isinstance(scorer, str | Path):
        return Model(None if scorer is None else str(scorer), judge=judge)
    if judge is not None:
        raise ArgumentError("judge cannot be combined with a loaded scorer or a Model, which has its own")
    return scorer


def _joined(pieces: PieceRows, schema: Schema, target: Format | None) -> Iterator[Row]:
    """Yield the rows of the output file."""
    for _, rows in pieces:
        for row in rows:
            yield fitted_row(row, schema, target)

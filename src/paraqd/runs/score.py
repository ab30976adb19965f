"""Score the pairs in a file or in a folder of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from paraqd.model_folder import is_shipped
from paraqd.parameters import named
from paraqd.runs.column_types import fitted_row, fitted_schema
from paraqd.runs.failed_rows import ErrorRow, FailedRows
from paraqd.runs.locations import Location
from paraqd.runs.output import Output
from paraqd.runs.parts import NO_PARTS, Facts
from paraqd.runs.run import (
    Outcome,
    PieceRows,
    RunOptions,
    Work,
    carry_out,
    check_options,
    check_threads,
    ignore,
    look_at,
    several_workers,
)
from paraqd.runs.score_columns import ScoreColumns
from paraqd.runs.score_job import Model, ScoredRow, ScoreJob, Show, Shown
from paraqd.runs.score_rows import (
    CHUNK,
    RECORD,
    VERDICTS,
    Counts,
    PairScorer,
)
from paraqd.runs.survey import Inputs, check_cells
from paraqd.scoring.decisions import Band, Review, band_for
from paraqd.tables.formats import Format, TableError, kind_of
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row
from paraqd.tables.writers import Schema, output_dialect

__all__ = ["ErrorRow", "Model", "ScoreReport", "ScoredRow", "score_file"]


@dataclass(frozen=True)
class ScoreReport:
    """The result of scoring a file or a folder.

    ``rows`` is the number of pairs, ``written`` is the number of rows in the output, and ``warned`` is the number of
    pairs with warnings. ``review`` is the number of pairs for review, which count neither as valid nor as invalid, and
    ``band`` is their band. ``empty_cells`` is the number of cells that were skipped because they have no paraphrase.
    ``faults`` counts the invalid pairs by kind of evidence, the most common kind first. ``error_rows`` lists up to a
    thousand rows that could not be scored. ``damage`` contains one line for each row group that cannot be read, and
    ``problems`` one line for each file that cannot be read to its end. ``resumed`` is the number of rows that an
    earlier run had already finished.
    """

    source: str
    out: str
    signature: str
    threshold: float
    rows: int
    written: int
    valid: int
    invalid: int
    errors: int
    warned: int
    faults: Mapping[str, int]
    review: int = 0
    band: Band | None = None
    error_rows: tuple[ErrorRow, ...] = ()
    damage: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    parts: int = 0
    resumed: int = 0
    empty_files: int = 0
    empty_cells: int = 0
    paraphrase_columns: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary."""
        return {
            "source": self.source,
            "out": self.out,
            "rows": self.rows,
            "written": self.written,
            "valid": self.valid,
            "invalid": self.invalid,
            "review": self.review,
            "errors": self.errors,
            "warned": self.warned,
            "empty_cells": self.empty_cells,
            "paraphrase_columns": list(self.paraphrase_columns),
            "faults": dict(self.faults),
            "parts": self.parts,
            "resumed": self.resumed,
            "damage": list(self.damage),
            "problems": list(self.problems),
            "empty_files": self.empty_files,
            "threshold": self.threshold,
            "band": None if self.band is None else [self.band.low, self.band.high],
            "signature": self.signature,
        }


def score_file(
    source: str | Path,
    out: str | Path | None,
    *,
    show: Show | None = None,
    scorer: PairScorer | Model | str | Path | None = None,
    mode: str | None = None,
    judge: str | None = None,
    threshold: float | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    paraphrase_columns: Sequence[str] = (),
    wide: bool = False,
    only: str | None = None,
    review: Review = None,
    why: bool | None = None,
    for_excel: bool = False,
    threads: int | None = None,
    keep_going: bool = False,
    overwrite_columns: bool = False,
    **options: Unpack[RunOptions],
) -> ScoreReport:
    r"""Score every pair in a file, or in a folder of files, and write the rows with their verdicts.

    The rows and their order are unchanged; if a row has several paraphrases, it is repeated for each of them. The
    columns ``score``, ``valid``, ``evidence``, ``warnings``, ``error`` and ``signature`` are added. A file output is
    written atomically when all rows have been scored. A folder output consists of Parquet files, its parts. If a call
    is interrupted, even by ``kill -9``, repeat the call to resume the work. The output does not depend on the engine or
    the number of workers.

    Parameters
    ----------
    source : str or Path
        A CSV, TSV, JSONL, Excel or Parquet file, or a folder of such files; ``-`` reads JSONL from standard input.
    out : str or Path, or None
        A file, whose extension determines the format, or a folder (a name that ends in ``/``). If None, nothing is
        written.
    show : callable, optional
        A function that receives the scored rows if ``out`` is None. It is called for each chunk of rows, with the rows
        and the total number of rows.
    scorer : Scorer, Model, str or Path, optional
        The name or folder of a model, a loaded scorer, or a `Model` with further settings (default: the shipped model).
        With several workers, a loaded scorer is not accepted, because each worker loads the model itself.
    mode : str, optional
        ``fused`` (the default), or ``encoder`` for the cosine of a bi-encoder. Only for a model's name or folder.
    judge : str, optional
        ``small``, ``cascade`` or ``large``, as in `Scorer.load`. Only for a model's name or folder.
    threshold : float, optional
        A pair is valid if its score is greater than this threshold (default: the model's threshold). Only for a model's
        name or folder.
    columns : Columns
        The column names. The ids are used only in messages.
    paraphrase_columns : sequence of str
        The columns with the paraphrases if a row has several: names, lists such as ``V1,V2``, or patterns such as
        ``V*``. The column ``paraphrase_column`` then says which column holds the paraphrase. Empty cells are skipped.
    wide : bool
        Keep one row for all paraphrases, and write the verdicts beside each of them: ``V1_score``, ``V1_decision`` and
        ``V1_why``.
    only : str, optional
        Write only the rows with this verdict: ``valid``, ``invalid`` or, with a band, ``review``. With ``wide``, one
        such paraphrase is enough.
    review : bool, Band or (low, high), optional
        Add the column ``decision``, which is ``review`` if the score lies in a band of uncertain scores, and otherwise
        ``valid`` or ``invalid``. True takes the band that was measured for the shipped model. The scores do not change.
    why : bool, optional
        Add the column ``why``, which states the evidence and the warnings in sentences (default: only in Excel files).
    for_excel : bool
        Write a CSV file that opens correctly in Excel: with a byte-order mark, and without texts that look like
        formulas. This is the default if the input has such a form.
    threads : int, optional
        The number of threads for the model if this process does the work (default: one per core).
    keep_going : bool
        Score the readable rows of damaged text files.
    overwrite_columns : bool
        Replace input columns whose names clash with the added columns.
    **options
        ``workers``, ``engine``, ``overwrite``, ``restart``, ``progress`` and others; see `RunOptions`.

    Raises
    ------
    TableError
        If a file cannot be read or written. The one-line message explains how to fix the problem.
    RunInterrupted
        If the user presses Ctrl-C.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "pairs.csv").write_text("question,paraphrase\nTom has 5 pens. How many?,Tom has 6. How many?\n")
    >>> report = score_file(folder / "pairs.csv", folder / "scored.csv", scorer="reading")
    >>> report.rows, report.invalid, dict(report.faults)
    (1, 1, {'number_changed': 1})

    """
    check_options(options)
    if only not in (None, *VERDICTS):
        raise TableError(f"{named('only', only)}: choose valid, invalid or review")
    if only == "review" and review in (None, False):
        raise TableError(f"{named('only', only)} needs {named('review')}")
    if isinstance(paraphrase_columns, str):
        paraphrase_columns = (paraphrase_columns,)
    if wide and out is None:
        raise TableError(f"{named('wide')} needs an output: pass {named('out', 'NAME.xlsx')} or another file or folder")
    place = Location.at(source)
    output = Output.at(place, out, **options)
    several = several_workers(options)
    check_threads(threads, options)
    if out is None and place.kind == "folder":
        raise TableError(f"{place.given} is a folder: pass {named('out', 'NAME/')} to choose the folder for the parts")
    if out is None and several:
        raise TableError(f"several workers need an output: pass {named('out', 'NAME.csv')} or another file or folder")
    model, loaded = _loaded(_model(scorer, mode, judge, threshold), threads, several=several)
    band = band_for(review, loaded, loaded.threshold)
    target = None if output.file is None else kind_of(output.file).format
    why = target is Format.XLSX if why is None else why
    columns = replace(columns, paraphrase=paraphrase_columns[0]) if len(paraphrase_columns) == 1 else columns
    patterns = tuple(paraphrase_columns)
    names = ScoreColumns(columns, why, overwrite_columns, band is not None, paraphrases=patterns, wide=wide)
    inputs = look_at(place, output, options, check=names.check, least=CHUNK, keep_going=keep_going, offer=True)
    if target is Format.XLSX:
        check_cells(inputs)
    for line in names.notes():
        options.get("say", ignore)(line)
    counts = _Sums()
    schema = fitted_schema(names.schema(inputs), names.added, target)
    texts = [columns.question, *(paraphrase_columns or [columns.paraphrase])]
    settings: dict[str, Any] = {"columns": texts, "model": loaded.signature}
    if target is None:
        settings |= {"choice_of_rows": only or "all", "set_of_columns": list(schema)}
    else:  # the parts of a file output contain only verdicts
        settings |= {"form_of_verdicts": list(RECORD)}
    settings |= {} if band is None else {"band_for_review": str(band)}
    if any(found.several for found in names.found.values()):  # empty cells are skipped, so the parts are different
        settings |= {"choice_to_skip_empty_cells": True}
    settings |= {"encoding": options.get("encoding"), **({"choice_to_keep_going": True} if keep_going else {})}
    job = ScoreJob(
        reader=replace(inputs.reader, lenient=True),
        parts=NO_PARTS,
        columns=names,
        added=names.added,
        schema=None if output.folder is None else schema,
        renamed=names.renamed(inputs),
        only=only,
        model=model,
        identity=loaded.signature,
        loaded=loaded,
        band=band,
    )
    work = Work(
        command="score",
        stage="scoring",
        inputs=inputs,
        settings=settings,
        schema=schema,
        metadata={"signature": job.signature},
        job=lambda parts: replace(job, parts=Shown(show, inputs.rows) if out is None and show else parts),
        count=lambda piece, facts: counts.include(place.shown(piece.file), facts),
        totals=lambda: {**counts.to_dict(), "signature": job.signature},
        problems=lambda: counts.failed.unread,
        join=lambda pieces: counts.counting(_joined(job, pieces, schema, inputs, target, job.signature)),
        dialect=output_dialect(inputs.table, for_excel=for_excel),
        summary=lambda: {**counts.to_dict(), "threshold": loaded.threshold},
    )
    outcome = carry_out(work, output, options)
    return _report(counts, outcome, place.given, str(out or ""), loaded.threshold, job)


def _report(counts: _Sums, outcome: Outcome, source: str, out: str, threshold: float, job: ScoreJob) -> ScoreReport:
    return ScoreReport(
        source=source,
        out=out,
        signature=job.signature,
        threshold=threshold,
        band=job.band,
        **counts.to_dict(),
        error_rows=tuple(sorted(counts.failed.rows)),
        damage=tuple(sorted(counts.failed.damage)),
        problems=outcome.problems,
        parts=outcome.parts,
        resumed=outcome.resumed,
        empty_files=len(outcome.empty),
        paraphrase_columns=job.columns.used,
    )


def _model(
    scorer: PairScorer | Model | str | Path | None, mode: str | None, judge: str | None, threshold: float | None
) -> PairScorer | Model:
    """Return a loaded scorer or a `Model` unchanged, or the `Model` for a name or folder."""
    if scorer is None or isinstance(scorer, str | Path):
        name = str(scorer.expanduser().absolute()) if isinstance(scorer, Path) else scorer
        return Model(name, mode or "fused", threshold, judge=judge)
    if (mode, judge, threshold) != (None, None, None):
        raise TableError(
            "mode, judge and threshold cannot be combined with a loaded scorer or a Model, which has its own"
        )
    return scorer


def _loaded(scorer: PairScorer | Model, threads: int | None, *, several: bool) -> tuple[Model | None, PairScorer]:
    """Return the settings with which workers load the scorer (None for a loaded scorer), and the loaded scorer."""
    if not isinstance(scorer, Model):
        if several:
            raise TableError("with several workers, each loads the model itself: pass its name or folder, not a scorer")
        return None, scorer
    if scorer.model is not None and not is_shipped(scorer.model):
        folder = Path(scorer.model).expanduser()
        if folder.exists():  # workers may have another current folder
            scorer = replace(scorer, model=str(folder.absolute()))
    return scorer, scorer.load(threads)


@dataclass
class _Sums(Counts):
    """The total counts over all parts, and the rows that could not be scored."""

    failed: FailedRows = field(default_factory=FailedRows)

    def include(self, file: str, facts: Facts) -> None:
        """Add the counts of a part."""
        self.failed.include(file, facts)
        for name in ("rows", "written", "valid", "invalid", "review", "errors", "warned", "empty_cells"):
            setattr(self, name, getattr(self, name) + facts.get(name, 0))
        self.faults.update(facts["faults"])

    def counting(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield the rows of the output, and count them."""
        self.written = 0
        for row in rows:
            self.written += 1
            yield row


# --- a file as output -----------------------------------------------------------------------------


def _joined(
    job: ScoreJob, pieces: PieceRows, schema: Schema, inputs: Inputs, target: Format | None, signature: str
) -> Iterator[Row]:
    """Yield the rows of the output file: the input rows, which are read again, with the verdicts from the parts."""
    from_parquet = inputs.table is None  # values from JSONL need no conversion for JSONL
    for piece, records in pieces:
        file = job.reader.source.shown(piece.file)
        names = job.columns.of(file)
        for row in job.reader.rows(piece):
            found = list(islice(records, len(names.filled(row))))
            for full in job.output_rows(file, row, found, signature):
                yield fitted_row(full, schema, target, convert=from_parquet)
        if next(records, None) is not None:
            raise RuntimeError(f"a part has more verdicts than {file} has pairs")

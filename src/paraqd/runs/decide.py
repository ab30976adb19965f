"""Decide about scored pairs again, with another threshold or another band for review, without scoring them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from paraqd.errors import ArgumentError
from paraqd.parameters import named
from paraqd.runs.column_types import fitted_row, fitted_schema, typed
from paraqd.runs.decide_columns import (
    ERROR,
    SCORE,
    ScoreGroup,
    decision_before,
    evidence_in,
    groups_in,
    placed,
    score_in,
)
from paraqd.runs.engines import OnRows, PieceWorker
from paraqd.runs.locations import Location
from paraqd.runs.output import Output
from paraqd.runs.parts import NO_PARTS, Facts, Parts
from paraqd.runs.pieces import Piece, Reader
from paraqd.runs.run import PieceRows, RunOptions, Work, carry_out, check_options, look_at
from paraqd.runs.score_rows import CHUNK, DECISION, NAMED_ROWS, VERDICTS, Counts, decision_of
from paraqd.runs.survey import Inputs, check_cells
from paraqd.scoring.decisions import Band, Review, band_for, decide
from paraqd.scoring.signature import decided_again, parts_of
from paraqd.scoring.verdict import THRESHOLD
from paraqd.tables.formats import Format, TableError, kind_of
from paraqd.tables.rows import numbered
from paraqd.tables.table import Row, Table
from paraqd.tables.writers import Schema, output_dialect
from paraqd.version import __version__

_COUNTED = (*VERDICTS, "errors")


@dataclass(frozen=True)
class DecideReport:
    """The result of deciding again.

    ``pairs`` is the number of pairs, of which a row of a wide file has several, and ``changed`` is the number of pairs
    with another decision than before. ``faults`` counts the invalid pairs by kind of evidence. ``error_rows`` lists the
    file, row number and reason for up to a thousand pairs without a usable score.
    """

    source: str
    out: str
    threshold: float
    band: Band | None
    rows: int
    pairs: int
    valid: int
    invalid: int
    review: int
    errors: int
    changed: int
    faults: Mapping[str, int]
    error_rows: tuple[tuple[str, int, str], ...] = ()
    problems: tuple[str, ...] = ()
    resumed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary."""
        return {
            "source": self.source,
            "out": self.out,
            "rows": self.rows,
            "pairs": self.pairs,
            "valid": self.valid,
            "invalid": self.invalid,
            "review": self.review,
            "errors": self.errors,
            "changed": self.changed,
            "faults": dict(self.faults),
            "resumed": self.resumed,
            "problems": list(self.problems),
            "threshold": self.threshold,
            "band": None if self.band is None else [self.band.low, self.band.high],
        }


def decide_file(
    source: str | Path,
    out: str | Path,
    *,
    threshold: float | None = None,
    review: Review = None,
    score_column: str = SCORE,
    **options: Unpack[RunOptions],
) -> DecideReport:
    r"""Decide about the pairs of a scored file, or of a folder of such files, again.

    The columns ``valid`` and ``decision`` are replaced, and the column ``signature`` names the new threshold and band.
    Everything else is copied. In a file with several paraphrases per row, ``V1_decision`` follows from ``V1_score``.

    Parameters
    ----------
    source : str or Path
        A file or a folder that `score_file` wrote.
    out : str or Path
        Another file, whose extension determines the format, or a folder if the input is a folder.
    threshold : float, optional
        A pair is valid if its score is greater than this threshold (default: the threshold in the signature).
    review : bool, Band or (low, high), optional
        The band for review, as in `score_file`. Without it, no pair is left for review.
    score_column : str
        The column with the scores.
    **options
        ``overwrite``, ``restart``, ``encoding``, ``workers``, ``progress`` and others; see `RunOptions`.

    Raises
    ------
    TableError, ArgumentError
        If a file, the threshold or the band cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "scored.csv").write_text("id,score,valid\na,0.9,true\nb,0.6,true\nc,-0.8,false\n")
    >>> report = decide_file(folder / "scored.csv", folder / "again.csv", threshold=0.7)
    >>> report.valid, report.invalid, report.changed
    (1, 2, 1)

    """
    check_options(options)
    if threshold is not None and not -1 <= threshold <= 1:  # this condition also rejects NaN
        raise ArgumentError(f"the threshold must be a number from -1 to 1, not {threshold}")
    place = Location.at(source)
    output = Output.at(place, out, **options)
    groups: dict[str, tuple[ScoreGroup, ...]] = {}

    def check(table: Table) -> None:
        groups[table.name] = groups_in(table, score_column)

    inputs = look_at(place, output, options, check=check, least=CHUNK)
    _check_decisions(inputs, (group for each in groups.values() for group in each))
    if threshold is None or review is True:
        signature = _signature(inputs, place.given)
        threshold = threshold if threshold is not None else _threshold_in(signature)
        if review is True and not signature:
            raise ArgumentError(
                f"{place.given} does not name the model of the scores: pass {named('review', 'LOW,HIGH')}, such as "
                "0.2,0.8"
            )
        band = band_for(review, signature, threshold)
    else:
        band = band_for(review, "", threshold)
    target = None if output.file is None else kind_of(output.file).format
    if target is Format.XLSX:
        check_cells(inputs)
    schema = _schema(inputs, groups, band)
    added = {name: kind for each in groups.values() for group in each for name, kind in group.types.items()}
    schema = fitted_schema(schema, added, target)
    job = DecideJob(
        reader=inputs.reader,
        groups=groups,
        threshold=threshold,
        band=band,
        schema=None if output.folder is None else schema,
    )
    sums = _Sums()
    work = Work(
        command="decide",
        stage="deciding",
        inputs=inputs,
        settings={
            "columns": [score_column],
            "threshold": threshold,
            "band_for_review": str(band or ""),
            "encoding": options.get("encoding"),
            "version": __version__,
        },
        schema=schema,
        metadata={"threshold": threshold, **({} if band is None else {"review": str(band)})},
        job=lambda parts: replace(job, parts=parts),
        count=lambda piece, facts: sums.include(place.shown(piece.file), facts),
        totals=sums.to_dict,
        summary=lambda: {"rows": sums.counts["rows"], **sums.to_dict()},
        join=lambda pieces: _joined(job, pieces, schema, inputs, target),
        dialect=output_dialect(inputs.table),
    )
    outcome = carry_out(work, output, options)
    return DecideReport(
        source=place.given,
        out=str(out),
        threshold=threshold,
        band=band,
        rows=outcome.rows,
        **sums.to_dict(),
        error_rows=tuple(sorted(sums.error_places)),
        problems=outcome.problems,
        resumed=outcome.resumed,
    )


# --- the columns --------------------------------------------------------------------------------------


def _schema(inputs: Inputs, groups: Mapping[str, Sequence[ScoreGroup]], band: Band | None) -> Schema:
    every = list(dict.fromkeys(group for each in groups.values() for group in each))
    kinds = {**inputs.types, **{name: kind for group in every for name, kind in group.types.items()}}
    return {name: kinds[name] for name in placed(list(inputs.types), every, decided=band is not None)}


def _check_decisions(inputs: Inputs, groups: Iterable[ScoreGroup]) -> None:
    """Raise a TableError if a column that would be replaced contains other words than scoring writes."""
    words = {name: known for group in groups for name, known in group.words.items() if name in inputs.types}
    if not words:
        return
    for piece in inputs.pieces:
        for row in inputs.reader.rows(piece, list(words)):
            for name, known in words.items():
                value = row.get(name)
                given = "" if value is None else str(value).strip()
                if given and given.lower() not in known:
                    raise TableError(
                        f"the column {name!r} of {inputs.source.shown(piece.file)} contains {given!r}, which scoring "
                        "does not write: rename the column, because it would be replaced"
                    )


def _signature(inputs: Inputs, source: str) -> str:
    """Return the signature of the scores, or "" if there is none; raise an ArgumentError if there are several."""
    found: dict[str, str] = {}
    for piece in inputs.pieces:
        for row in inputs.reader.rows(piece, ["signature"]):
            if line := str(row.get("signature") or ""):
                found.setdefault(line, line)
        if len(found) > 1:
            raise ArgumentError(
                f"{source} has scores of several models or thresholds: pass {named('threshold', 'T')} and, for a band, "
                f"{named('review', 'LOW,HIGH')}"
            )
    return next(iter(found), "")


def _threshold_in(signature: str) -> float:
    try:
        return float(parts_of(signature).get("threshold", THRESHOLD))
    except ValueError:
        return THRESHOLD


# --- the work -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DecideJob:
    """A job that decides about the pairs of pieces.

    The parts contain complete rows with the columns in ``schema``. If ``schema`` is None, the output is a file, and the
    parts contain only the columns that change.
    """

    reader: Reader
    groups: Mapping[str, tuple[ScoreGroup, ...]]
    threshold: float
    band: Band | None
    schema: Schema | None
    parts: Parts = NO_PARTS
    identity: str = __version__

    def worker(self, *, threads: int | None = None) -> DecideWorker:
        """Return a worker."""
        del threads
        return DecideWorker(self)

    def decided(self, file: str, row: Row, counts: _Pairs) -> dict[str, Any]:
        """Return the columns of a row that change, and count its pairs."""
        cells: dict[str, Any] = {}
        for group in self.groups[file]:
            score, problem = score_in(row, group)
            if score is None and group.wide and not problem:
                continue  # an empty cell
            record: dict[str, Any] = {"error": problem or None, "warnings": (), "evidence": evidence_in(row)}
            if score is not None:
                record |= {"valid": score > self.threshold, DECISION: decide(score, self.threshold, self.band).value}
                cells[group.score] = score
            counts.pair(record, decision_before(row, group))
            if not group.wide or group.valid in row:
                cells[group.valid] = record.get("valid")
            if group.wide or self.band is not None or group.decision in row:
                cells[group.decision] = record.get(DECISION) or (ERROR if group.wide else None)
        if signature := row.get("signature"):
            cells["signature"] = decided_again(str(signature), self.threshold, str(self.band or ""))
        return cells


class DecideWorker(PieceWorker):
    """A worker that decides about the pairs of pieces."""

    def __init__(self, job: DecideJob) -> None:
        self.identity = job.identity
        self._job = job

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Decide about the pairs of a piece, write its part, and return the counts."""
        job, counts = self._job, _Pairs()
        file = job.reader.source.shown(piece.file)
        with job.parts.part(piece.index) as (writer, facts):
            for done, (number, row) in enumerate(numbered(job.reader.rows(piece), piece.start + 1), start=1):
                counts.row = number
                cells = job.decided(file, row, counts)
                if job.schema is None:
                    writer.write([cells])
                else:
                    full = {**row, **cells}
                    writer.write([{name: _typed(full.get(name), kind) for name, kind in job.schema.items()}])
                if done % CHUNK == 0 and done < piece.rows:
                    on_rows(done)
            facts.update(counts.to_dict(), changed=counts.changed, error_rows=counts.error_rows)
        return facts


@dataclass
class _Pairs(Counts):
    """The counts of a part. ``changed`` is the number of pairs with another decision, and ``row`` the row's number."""

    changed: int = 0
    row: int = 0

    def pair(self, record: Mapping[str, Any], before: str) -> None:
        """Count a pair, given its decision before."""
        self.add(record, self.row)
        self.written += 1
        now = decision_of(record)
        self.changed += now is not None and before not in ("", now)


@dataclass
class _Sums:
    """The total counts over all parts."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    error_places: list[tuple[str, int, str]] = field(default_factory=list)

    def include(self, file: str, facts: Facts) -> None:
        """Add the counts of a part."""
        for name in ("rows", "changed", *_COUNTED):
            self.counts[name] += facts[name]
        self.faults.update(facts["faults"])
        room = NAMED_ROWS - len(self.error_places)
        self.error_places += [(file, row, why) for row, why, _ in facts["error_rows"][:room]]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, with the most common fault first."""
        faults = dict(sorted(self.faults.items(), key=lambda item: (-item[1], item[0])))
        counted = {name: self.counts[name] for name in ("changed", *_COUNTED)}
        return {"pairs": self.counts["rows"], **counted, "faults": faults}


def _typed(value: Any, kind: Any) -> Any:
    """Return a value converted to the type of its Parquet column. A score or a verdict that is only a text is lost."""
    return None if kind in (float, bool) and isinstance(value, str) else typed(value, kind)


def _joined(job: DecideJob, pieces: PieceRows, schema: Schema, inputs: Inputs, target: Format | None) -> Iterator[Row]:
    """Yield the rows of the output file: the input rows, which are read again, with the columns that change."""
    from_parquet = inputs.table is None
    for piece, records in pieces:
        for row, cells in zip(job.reader.rows(piece), records, strict=True):
            full = {**row, **cells}
            if target is Format.PARQUET:
                yield {name: _typed(full.get(name), kind) for name, kind in schema.items()}
            else:
                yield fitted_row({name: full.get(name) for name in schema}, schema, target, convert=from_parquet)

"""A file of augmented pairs checked row by row, in one process or several; memory does not grow with the file."""

from __future__ import annotations

import multiprocessing
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from paraqd.annotation.purity.check import NO_PROMISES, check_pair
from paraqd.annotation.purity.pair import Finding, Promise
from paraqd.data.formats import STANDARD_INPUT, Format, TableError
from paraqd.data.tables import (
    DEFAULT_COLUMNS,
    Columns,
    Row,
    Table,
    check_writable,
    default_id,
    open_table,
    open_writer,
    replacing,
)
from paraqd.runs.child_processes import begin_child

Progress = Callable[[str, int, int | None], None]
Results = Generator[tuple[list["Item"], list[Finding]], None, None]

# what is written of an offending row, in this order
OFFENDERS: Mapping[str, type] = {
    "id": str,
    "operator": str,
    "label": int,
    "reason": str,
    "suspicious": bool,
    "question": str,
    "paraphrase": str,
    "note": str,
}
UNNAMED = "(no operator)"
_CHUNK = 512
_AHEAD = 2  # chunks under way for each worker: enough to keep it busy, few enough to keep memory flat
_NAMED_ROWS = 100  # rows without a usable pair that a report names one by one
_LABELS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0, "valid": 1, "invalid": 0}


class Item(NamedTuple):
    """One row of the file, as far as the check needs it."""

    id: str
    question: str
    paraphrase: str
    operator: str
    label: int
    note: str


@dataclass(frozen=True)
class Offender:
    """A pair that breaks its operator's promise, or that looks odd (``finding.suspicious``)."""

    item: Item
    finding: Finding


@dataclass(frozen=True)
class OperatorPurity:
    """What was found about one operator's pairs; ``n`` is the sum of pure, impure and consistent renamings."""

    name: str
    label: int
    n: int
    impure: int
    suspicious: int
    consistent_renamings: int
    reasons: dict[str, int]
    doubts: dict[str, int]
    examples: tuple[Offender, ...]

    @property
    def pure(self) -> int:
        """How many pairs keep the promise, consistent renamings apart."""
        return self.n - self.impure - self.consistent_renamings

    @property
    def purity(self) -> float:
        """The share of pure pairs, consistent renamings left out; 1 where there is nothing else."""
        judged = self.pure + self.impure
        return self.pure / judged if judged else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a program."""
        return {
            "label": self.label,
            "n": self.n,
            "pure": self.pure,
            "impure": self.impure,
            "suspicious": self.suspicious,
            "consistent_renamings": self.consistent_renamings,
            "purity": self.purity,
            "reasons": self.reasons,
            "doubts": self.doubts,
        }


@dataclass(frozen=True)
class PurityReport:
    """What was found in a file: one entry for each operator, in the order in which they first occur."""

    source: str
    operators: tuple[OperatorPurity, ...]
    skipped: int = 0
    skipped_rows: tuple[tuple[int, str], ...] = ()

    @property
    def n(self) -> int:
        """How many pairs were checked."""
        return sum(operator.n for operator in self.operators)

    @property
    def purity(self) -> float:
        """The share of pure pairs over all operators."""
        pure = sum(operator.pure for operator in self.operators)
        judged = pure + sum(operator.impure for operator in self.operators)
        return pure / judged if judged else 1.0

    @property
    def lowest(self) -> float:
        """The purity of the worst operator."""
        return min((operator.purity for operator in self.operators), default=1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a program."""
        return {
            "source": self.source,
            "n": self.n,
            "purity": self.purity,
            "lowest": self.lowest,
            "skipped": self.skipped,
            "operators": {operator.name: operator.to_dict() for operator in self.operators},
        }


@dataclass
class _Tally:
    label: int
    n: int = 0
    impure: int = 0
    suspicious: int = 0
    consistent: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    doubts: Counter[str] = field(default_factory=Counter)
    bad: list[Offender] = field(default_factory=list)
    odd: list[Offender] = field(default_factory=list)


class Collector:
    """Adds findings up to a report."""

    def __init__(self, *, examples: int = 3) -> None:
        self._examples = examples
        self._tallies: dict[str, _Tally] = {}

    def add(self, item: Item, finding: Finding) -> None:
        """Count one finding."""
        tally = self._tallies.setdefault(item.operator, _Tally(item.label))
        tally.n += 1
        if not finding.ok:
            tally.impure += 1
            tally.reasons[finding.reason] += 1
            if len(tally.bad) < self._examples:
                tally.bad.append(Offender(item, finding))
            return
        tally.consistent += finding.consistent_renaming
        if finding.suspicious:
            tally.suspicious += 1
            tally.doubts[finding.reason] += 1
            if len(tally.odd) < self._examples:
                tally.odd.append(Offender(item, finding))

    def operators(self) -> tuple[OperatorPurity, ...]:
        """Return what was counted."""
        return tuple(
            OperatorPurity(
                name=name,
                label=tally.label,
                n=tally.n,
                impure=tally.impure,
                suspicious=tally.suspicious,
                consistent_renamings=tally.consistent,
                reasons=dict(tally.reasons.most_common()),
                doubts=dict(tally.doubts.most_common()),
                examples=tuple([*tally.bad, *tally.odd][: self._examples]),
            )
            for name, tally in self._tallies.items()
        )


def check_file(
    source: str | Path,
    *,
    promises: Mapping[str, Promise] = NO_PROMISES,
    offenders: str | Path | None = None,
    examples: int = 3,
    workers: int = 1,
    columns: Columns = DEFAULT_COLUMNS,
    encoding: str | None = None,
    progress: Progress | None = None,
) -> PurityReport:
    """Check every pair of a file that `paraqd augment` made, or any file with the columns of pairs.

    Parameters
    ----------
    source : str or Path
        CSV, TSV, JSONL or Parquet with question, paraphrase, label and, where known, operator, note and id. Without an
        operator a pair is judged by its label alone.
    promises : mapping of str to Promise
        The promise of each operator by name: ``paraqd.operators.declarations()``. A pair of an operator that is not
        among them is judged by its label alone.
    offenders : str or Path, optional
        Where the rows go that break their promise or look odd; the format by its name.
    examples : int
        How many offending rows of each operator the report holds.
    workers : int
        Processes. A script that gives more than one must guard its entry with ``if __name__ == "__main__":``.
    columns, encoding
        What the columns are called, and the encoding of a text file that is not UTF-8.
    progress : callable, optional
        Called with (stage, rows done, rows in all or None).

    """
    if offenders is not None and Path(offenders).exists() and str(source) != STANDARD_INPUT:
        if Path(source).exists() and Path(offenders).samefile(source):
            raise TableError(f"{offenders} is the input itself; choose another file for the offenders")
    kind = check_writable(offenders) if offenders is not None else None
    table = open_table(source, encoding=encoding)
    table.require(columns, ("question", "paraphrase", "label"))
    skipped: list[tuple[int, str]] = []
    collector = Collector(examples=examples)
    total = _rows_of(table)
    done = 0
    with ExitStack() as stack:
        writer = None
        if offenders is not None:
            temporary = stack.enter_context(replacing(Path(offenders)))
            writer = stack.enter_context(open_writer(temporary, OFFENDERS, kind=kind))
        chunks = _chunks(table, columns, skipped)
        results = stack.enter_context(
            closing(_in_process(chunks, promises) if workers <= 1 else _in_workers(chunks, promises, workers))
        )
        for items, findings in results:
            for item, finding in zip(items, findings, strict=True):
                collector.add(item, finding)
            if writer is not None:
                writer.write(_offending(items, findings))
            done += len(items)
            if progress is not None:
                progress("checking", done + len(skipped), total)
    return PurityReport(
        source=table.name,
        operators=collector.operators(),
        skipped=len(skipped),
        skipped_rows=tuple(skipped[:_NAMED_ROWS]),
    )


def _offending(items: Iterable[Item], findings: Iterable[Finding]) -> Iterator[Row]:
    for item, finding in zip(items, findings, strict=True):
        if not finding.ok or finding.suspicious:
            yield {**item._asdict(), "reason": finding.reason, "suspicious": finding.suspicious}


def _rows_of(table: Table) -> int | None:
    """Return the number of rows where that is known without reading them."""
    if table.kind.format is not Format.PARQUET:
        return None
    import pyarrow.parquet as pq

    with pq.ParquetFile(table.path) as file:
        return int(file.metadata.num_rows)


def _chunks(table: Table, columns: Columns, skipped: list[tuple[int, str]]) -> Iterator[list[Item]]:
    wanted = [columns.question, columns.paraphrase, columns.label, columns.id, "operator", "note"]
    number = 0
    for rows in table.chunks(_CHUNK, wanted):
        items = []
        for row in rows:
            number += 1
            item = _item(row, columns)
            if isinstance(item, Item):
                items.append(item)
            else:
                skipped.append((number, item))
        yield items


def _item(row: Row, columns: Columns) -> Item | str:
    """Return the row as an `Item`, or say why it is none."""
    question, paraphrase = row.get(columns.question), row.get(columns.paraphrase)
    label = _LABELS.get(str(row.get(columns.label)).strip().lower())
    if not isinstance(question, str) or not question.strip():
        return "no question"
    if not isinstance(paraphrase, str):
        return "no paraphrase"
    if label is None:
        return "no label 1 or 0"
    name, note = str(row.get("operator") or UNNAMED), str(row.get("note") or "")
    try:
        (question + paraphrase).encode("utf-8")
    except UnicodeEncodeError:
        return "not valid Unicode"
    given = row.get(columns.id)
    key = default_id(question) if given is None or not str(given).strip() else str(given)
    return Item(key, question, paraphrase, name, label, note)


# --- one process or several ---------------------------------------------------------------------


def check_items(items: Sequence[Item], promises: Mapping[str, Promise]) -> list[Finding]:
    """Check some rows."""
    return [
        check_pair(item.question, item.paraphrase, item.operator, item.label, item.note, promises=promises)
        for item in items
    ]


def _in_process(chunks: Iterator[list[Item]], promises: Mapping[str, Promise]) -> Results:
    for items in chunks:
        yield items, check_items(items, promises)


def _in_workers(chunks: Iterator[list[Item]], promises: Mapping[str, Promise], workers: int) -> Results:
    context = multiprocessing.get_context("spawn")  # a fork would copy threads and locks of the caller's libraries
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=begin_child)
    waiting: deque[tuple[list[Item], Future[list[Finding]]]] = deque()
    try:
        for items in chunks:
            waiting.append((items, pool.submit(check_items, items, promises)))
            if len(waiting) >= workers * _AHEAD:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    except BrokenProcessPool:
        raise TableError("a worker process died (out of memory?); run it again with fewer --workers") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)

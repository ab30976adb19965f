"""The pairs of many files scored, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paraqd.data.rows import LostRow
from paraqd.data.tables import Columns, Table, TableError
from paraqd.runs.column_types import typed
from paraqd.runs.engines import Engine, OnRows, here
from paraqd.runs.folder_run import OnProgress, Outcome, Work, carry_out, of_files
from paraqd.runs.pieces import Inputs, Piece, Reader, survey
from paraqd.runs.score_rows import (
    ADDED,
    ADDED_WITH_WHY,
    NAMED_ROWS,
    WHY,
    Counts,
    PairScorer,
    in_chunks,
    judged_chunks,
    wanted,
)
from paraqd.runs.stores import Store
from paraqd.runs.target import Facts, Sink


@dataclass(frozen=True)
class Model:
    """How a scorer is loaded; small, and sent to each worker."""

    model: str | None = None
    mode: str = "fused"
    threshold: float | None = None
    skip: bool = True

    def load(self, threads: int | None = None) -> PairScorer:
        """Load the scorer."""
        from paraqd.scoring.scorer import Scorer

        return Scorer.load(self.model, mode=self.mode, threshold=self.threshold, threads=threads, skip=self.skip)


@dataclass
class FolderCounts(Counts):
    """Counts over many files: a row that could not be scored is named by its file, too."""

    error_places: list[tuple[str, int, str]] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)  # row groups that cannot be read, each in a line
    _sound: Counter[str] = field(default_factory=Counter)  # rows of each file that could be read

    @property
    def unread(self) -> list[str]:
        """The files of which no row could be read, each in a line."""
        return [f"{file}: none of its rows can be read" for file, rows in self._sound.items() if not rows]

    def include(self, file: str, facts: Facts) -> None:
        """Add what was counted in a part."""
        self._sound[file] += facts["rows"] - facts.get("lost", 0)
        told = [f"{file}, {each}" for each in facts.get("damage", ())]
        self.damage += [line for line in told if line not in self.damage and len(self.damage) < NAMED_ROWS]
        for name in ("rows", "written", "valid", "invalid", "errors"):
            setattr(self, name, getattr(self, name) + facts[name])
        self.faults.update(facts["faults"])
        room = NAMED_ROWS - len(self.error_places)
        self.error_places += [(file, row, why) for row, why in facts["error_rows"][:room]]


@dataclass(frozen=True)
class ScoreJob:
    """Scores the rows of a piece and writes them with their verdicts."""

    reader: Reader
    sink: Sink
    columns: Columns
    model: Model
    added: Mapping[str, type]
    only: str | None
    others: Mapping[str, Columns] = field(default_factory=dict)  # of files that write them in another case
    renamed: Mapping[str, str] = field(default_factory=dict)  # and how the rest of the files writes them
    scored: frozenset[str] = frozenset()  # files with sentences of an earlier scoring
    threads: int | None = None  # of this process alone; another worker has one core

    def worker(self, *, threads: int | None = None) -> ScoreWorker:
        """Load the scorer."""
        return ScoreWorker(self, self.model.load(threads or self.threads))


class ScoreWorker:
    """A loaded scorer at work on pieces."""

    def __init__(self, job: ScoreJob, scorer: PairScorer) -> None:
        self._job = job
        self._scorer = scorer
        self.identity = scorer.signature

    def work(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Score the rows of a piece."""
        job, signature = self._job, self._scorer.signature
        counts = Counts()
        file = job.reader.store.shown(piece.file)
        columns = job.others.get(file, job.columns)
        gone = {WHY} if file in job.scored else set()
        lost, damage = 0, set()
        with job.sink.part(piece.index) as (writer, facts):
            for chunk, found in judged_chunks(in_chunks(job.reader.rows(piece)), columns, self._scorer):
                kept = []
                for row, judged in zip(chunk, found, strict=True):
                    keep = wanted(judged, job.only)
                    counts.add(judged, written=keep)
                    if isinstance(row, LostRow):
                        lost += 1
                        damage |= {f"{row.why} ({row.reason})"} if row.reason else set()
                    if keep:
                        own = {job.renamed.get(name, name): value for name, value in row.items() if name not in gone}
                        full = {**own, **judged.columns(job.added, signature)}
                        kept.append({name: typed(full.get(name), held) for name, held in job.sink.schema.items()})
                writer.write(kept)
                on_rows(counts.rows)
            rows = [(piece.start + row, why) for row, why in counts.error_rows]
            facts.update(counts.to_dict(), error_rows=rows, lost=lost, damage=sorted(damage))
        return facts


def score_folder(
    source: Store,
    out: Store,
    model: Model,
    *,
    columns: Columns,
    only: str | None = None,
    why: bool = False,
    encoding: str | None = None,
    part_rows: int | None = None,
    keep_going: bool = False,
    overwrite: bool = False,
    restart: bool = False,
    overwrite_columns: bool = False,
    threads: int | None = None,
    signature: str,
    engine: Engine = here,
    progress: OnProgress,
    say: Callable[[str], None],
    foretell: Callable[[str], None] | None = None,
) -> tuple[FolderCounts, Outcome]:
    """Score the pairs of every file of a folder, and write them to another, as parts in the same order.

    What is written of a row does not depend on the engine. ``signature`` is the scorer's. Of files on this machine the
    rows of a damaged row group come out with an error, and with ``keep_going`` so do lines of text that cannot be read.
    """
    added = ADDED_WITH_WHY if why else ADDED

    others: dict[str, Columns] = {}
    scored: set[str] = set()
    noted: set[str] = set()

    def check(table: Table) -> None:
        meant = as_written(table, columns)
        check_columns(table, meant, added, overwrite_columns=overwrite_columns)
        if meant != columns:
            others[table.name] = meant
        if WHY in table.columns and WHY not in added:
            (scored if stale(table.columns, meant) else noted).add(table.name)

    inputs = survey(
        source,
        encoding=encoding,
        part_rows=part_rows,
        keep_going=keep_going,
        offer=True,
        check=check,
        progress=progress,
    )
    for line in _taken(columns, others):
        say(line)
    if scored:
        say(of_files(left_out(min(scored)), len(scored)))
    replaced = {*added, *({WHY} if scored and not noted else ())}
    renamed = _one_name(inputs, columns, others)
    own = {renamed.get(name, name): held for name, held in inputs.types.items() if name not in replaced}
    schema = {**own, **added}
    reader = replace(inputs.reader, lenient=True)
    counts = FolderCounts()
    settings = {
        "columns": [columns.question, columns.paraphrase],
        "model": signature,
        "choice_of_rows": only or "all",
        "set_of_columns": list(schema),
        "encoding": encoding,
        **({"choice_to_keep_going": True} if keep_going else {}),
    }
    work = Work(
        command="score",
        stage="scoring",
        inputs=inputs,
        settings=settings,
        schema=schema,
        metadata={"signature": signature},
        job=lambda sink: ScoreJob(
            reader, sink, columns, model, added, only, others, renamed, frozenset(scored), threads
        ),
        count=lambda piece, facts: counts.include(source.shown(piece.file), facts),
        totals=lambda: {**counts.to_dict(), "signature": signature},
        problems=lambda: counts.unread,
    )
    outcome = carry_out(
        work, out, engine=engine, overwrite=overwrite, restart=restart, progress=progress, say=say, foretell=foretell
    )
    return counts, outcome


def _one_name(inputs: Inputs, columns: Columns, others: Mapping[str, Columns]) -> dict[str, str]:
    """Return the columns that some files write in another case than the rest, each with its name in the rest."""
    rest = {
        name for file in inputs.files if inputs.store.shown(file.entry.name) not in others for name in file.types or ()
    }
    meant = [(each.question, columns.question) for each in others.values()]
    meant += [(each.paraphrase, columns.paraphrase) for each in others.values()]
    return {written: named for written, named in meant if written != named and named in rest and written not in rest}


def stale(names: Sequence[str], columns: Columns) -> bool:
    """Whether a file has the sentences of an earlier scoring: beside new verdicts they would tell of others.

    >>> stale(("question", "score", "valid", "why", "evidence"), Columns())
    True
    >>> stale(("question", "why", "score", "valid", "evidence"), Columns())  # somebody's own
    False
    """
    place = names.index(WHY) if WHY in names else 0
    ours = place and tuple(names[place - 1 : place + 2]) == ("valid", WHY, "evidence")
    return bool(ours) and WHY not in (columns.question, columns.paraphrase)


def left_out(name: str) -> str:
    """Say that the sentences of an earlier scoring are left out."""
    return f"{name} has the column {WHY!r} of an earlier scoring; it is left out (--why makes it anew)"


def as_written(table: Table, columns: Columns) -> Columns:
    """Return the columns' names in the case in which the file has them."""
    question, paraphrase = table.written_as(columns.question), table.written_as(columns.paraphrase)
    return replace(columns, question=question, paraphrase=paraphrase)


def other_names(name: str, columns: Columns, meant: Columns) -> list[str]:
    """Say which columns of a file are taken for those that were named."""
    both = ((columns.question, meant.question), (columns.paraphrase, meant.paraphrase))
    return [f"{name} has no column {wanted!r}; taking {taken!r}" for wanted, taken in both if wanted != taken]


def _taken(columns: Columns, others: dict[str, Columns]) -> list[str]:
    """Say the same of many files: of the first of each sort, and how many there are."""
    alike = Counter(others.values())
    first = {meant: name for name, meant in reversed(others.items())}
    return [
        of_files(line, count) for meant, count in alike.items() for line in other_names(first[meant], columns, meant)
    ]


def check_columns(table: Table, columns: Columns, added: Mapping[str, Any], *, overwrite_columns: bool) -> None:
    """Raise a TableError where a column is missing, or scoring would write over one unasked."""
    table.require(columns, ("question", "paraphrase"))
    if columns.question == columns.paraphrase:
        raise TableError(f"the question and the paraphrase cannot both be the column {columns.question!r}")
    for role in ("question", "paraphrase"):
        if (name := getattr(columns, role)) in added:
            raise TableError(f"the column {name!r} of {table.name} cannot be the {role}: scoring writes it; rename it")
    clash = [name for name in added if name in table.columns]
    if clash and not overwrite_columns:
        which = f"the column {clash[0]!r}" if len(clash) == 1 else f"the columns {', '.join(clash)}"
        them = "it" if len(clash) == 1 else "them"
        raise TableError(f"{table.name} has {which} already; give --overwrite-columns to replace {them}")

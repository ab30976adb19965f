"""A run over many files, from the first look at them to the last part, by whichever engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from paraqd.data.writers import Schema
from paraqd.runs.engines import Engine, Job, here
from paraqd.runs.pieces import Inputs, Piece
from paraqd.runs.stores import Store
from paraqd.runs.target import Facts, Sink, hold_target

OnProgress = Callable[[str, int, int | None], None]


class RunInterrupted(KeyboardInterrupt):  # it is an interrupt, not an error
    """Ctrl-C: the parts of ``rows`` of ``total`` rows are kept, and the same call goes on from there."""

    def __init__(self, rows: int, total: int) -> None:
        super().__init__(rows, total)
        self.rows, self.total = rows, total


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is to be done: the input that was looked at, what the results depend on, and what does it.

    ``metadata`` is kept in each part; ``job`` makes the job for the place that parts go to; ``count`` is called with
    every piece that is done and what was counted in it, in no certain order; ``totals`` tells at the end what all of it
    comes to, and ``problems`` what stands in the way of calling it finished.
    """

    command: str
    stage: str
    inputs: Inputs
    settings: Mapping[str, Any]
    schema: Schema
    metadata: Mapping[str, Any]
    job: Callable[[Sink], Job]
    count: Callable[[Piece, Facts], None]
    totals: Callable[[], Facts]
    problems: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True)
class Outcome:
    """How a run ended: rows done before it and by it, parts, what could not be read, each in a line, empty files."""

    rows: int
    resumed: int
    parts: int
    problems: tuple[str, ...]
    empty: tuple[str, ...] = ()


def of_files(line: str, count: int) -> str:
    """Return a line about the first of some files, with how many it holds of.

    >>> of_files("in/a.csv is empty", 1), of_files("in/a.csv is empty", 3000)
    ('in/a.csv is empty', 'in/a.csv is empty (the same in 3,000 files)')
    """
    return f"{line} (the same in {count:,} files)" if count > 1 else line


def carry_out(
    work: Work,
    out: Store,
    *,
    engine: Engine = here,
    overwrite: bool = False,
    restart: bool = False,
    progress: OnProgress,
    say: Callable[[str], None],
    foretell: Callable[[str], None] | None = None,
) -> Outcome:
    """Work on every piece whose part is not there yet.

    Parts are written in one step and known by their piece: a run that was broken off, even by ``kill -9`` and on
    whatever machine, goes on with the parts that are missing, and no row is lost or doubled. What is known to be wrong
    before the work begins is told to ``foretell``, too.
    """
    inputs, total = work.inputs, work.inputs.rows
    with hold_target(out, inputs.store) as target:
        run = target.begin(work.command, work.settings, inputs, overwrite=overwrite, restart=restart)
        sink = Sink(out, run, max(5, len(str(len(inputs.pieces) - 1))), work.schema, work.metadata)
        left = {piece.index: piece for piece in inputs.pieces}
        rows = 0
        for index, facts in target.done(sink, inputs):
            rows += left[index].rows
            work.count(left.pop(index), facts)
        if empty := inputs.empty:
            say(of_files(f"{empty[0]} is empty", len(empty)))
        if resumed := rows:
            say(f"going on after {rows:,} rows that were finished before")
        problems = [f"{name}: {why}" if name not in why else why for name, why in inputs.unreadable]
        if foretell is not None:
            for problem in problems:
                foretell(problem)
        progress(work.stage, rows, total)
        try:
            todo = list(left.values())
            with closing(engine(work.job(sink), todo, lambda more: progress(work.stage, rows + more, total))) as found:
                for result in found if todo else ():
                    if result.facts is None:
                        problems.append(f"{sink.name(result.piece.index)} is missing: {result.problem}")
                        continue
                    work.count(result.piece, result.facts)
                    rows += result.piece.rows
                    progress(work.stage, rows, total)
        except KeyboardInterrupt:
            raise RunInterrupted(rows, total) from None
        problems += work.problems()
        if not problems:
            if rows != sum(file.rows for file in inputs.files):  # a flaw of ours must not look like a finished run
                raise RuntimeError(f"{rows} rows were counted, and the input has others: parts are missing")
            target.succeed(work.totals())
    return Outcome(rows, resumed, len(inputs.pieces), tuple(sorted(problems)), inputs.empty)

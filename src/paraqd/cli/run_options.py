"""Share options, progress and messages between the commands that work on files and folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import note, say, stderr, stdout
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.progress import Progress
    from paraqd.runs.run import RunOptions

SPEED = "Speed"
_LINES = 20  # problems that are listed one by one
_INTERRUPTED = 130


class EngineName(StrEnum):
    """The engine that does the work."""

    local = "local"
    ray = "ray"


OVERWRITE: Any = typer.Option(False, "--overwrite", help="Replace a finished output.")
RESTART: Any = typer.Option(False, "--restart", help="Discard an unfinished run and start again.")
ENGINE: Any = typer.Option(
    EngineName.local, "--engine", help="local: this machine; ray: a Ray cluster.", rich_help_panel=SPEED
)
WORKERS: Any = typer.Option(
    None,
    "--workers",
    help="Processes of one core each. The output does not depend on it. Default: this process (local) or all cores.",
    rich_help_panel=SPEED,
)
ADDRESS: Any = typer.Option(
    None,
    "--address",
    help="HOST:PORT of a Ray cluster, or auto. Default: $RAY_ADDRESS, or a new cluster on this machine.",
    rich_help_panel=SPEED,
)
PART_ROWS: Any = typer.Option(
    None,
    "--part-rows",
    min=1,
    help="The largest number of rows in a part. An interruption loses at most the unfinished parts. Default: depends "
    "on the size of the input.",
    rich_help_panel=SPEED,
)
VERBOSE: Any = typer.Option(False, "--verbose", help="Show the messages of Ray.", rich_help_panel=SPEED)


def run_options(
    progress: Progress,
    *,
    engine: EngineName,
    workers: int | None,
    address: str | None,
    part_rows: int | None,
    verbose: bool,
    overwrite: bool,
    restart: bool,
    quiet: bool,
) -> RunOptions:
    """Return the options in the form that the functions of runs take."""
    options: RunOptions = {
        "engine": engine.value,
        "workers": workers,
        "address": address,
        "part_rows": part_rows,
        "verbose": verbose,
        "overwrite": overwrite,
        "restart": restart,
        "progress": progress,
        "say": note,
    }
    return options if quiet else {**options, "warn": note}


@contextmanager
def running(*, quiet: bool, rows_on_terminal: bool = False) -> Iterator[Progress]:
    """Show the progress of a run, and say how to continue it after Ctrl-C.

    Progress is a bar on a terminal, and a line every half minute elsewhere. Rows that appear on the terminal are
    progress enough.
    """
    from paraqd.cli.progress import Bar, Lines
    from paraqd.runs.run import RunInterrupted

    shown = not quiet and not (rows_on_terminal and stdout().is_terminal)
    try:
        with Bar(shown=shown) if quiet or stderr().is_terminal else Lines() as bar:
            yield bar.update
    except RunInterrupted as interrupt:
        say(stopped(interrupt))
        raise typer.Exit(_INTERRUPTED) from None


def stopped(interrupt: Any) -> str:
    """Say how much of a run is finished, and how to continue it."""
    line = f"stopped: {interrupt.rows:,} of {counted(interrupt.total, 'row')} finished"
    if not interrupt.kept or not interrupt.rows:
        return line
    return f"{line} and kept in {interrupt.kept}; run the same command again to continue"


def say_problems(problems: Sequence[str]) -> None:
    """Say what could not be read, a line for each problem."""
    for problem in problems[:_LINES]:
        say(problem)
    if len(problems) > _LINES:
        say(f"and {counted(len(problems) - _LINES, 'more problem')}")

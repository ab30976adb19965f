"""Define the options, progress display and messages shared by the commands that process files and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, cast, get_type_hints

import typer

from paraqd.cli.console import note, say, stderr, stdout
from paraqd.cli.options import SPEED, Encoding
from paraqd.interrupts import EXIT_CODE
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.runs.run import RunOptions

_LINES = 20  # the maximum number of problems that are listed one by one


class EngineName(StrEnum):
    """The engine that runs the work."""

    local = "local"
    ray = "ray"


_OVERWRITE = (
    "Replace a finished output. A file is replaced when the new file is complete. The parts in a folder are removed "
    "when all checks have passed and the work begins."
)
# the options that all runs share: the type and command-line definition of each option, and its default value
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "overwrite": (Annotated[bool, typer.Option("--overwrite", help=_OVERWRITE)], False),
    "restart": (Annotated[bool, typer.Option("--restart", help="Discard an unfinished run and start again.")], False),
    "encoding": (Encoding, None),
    "engine": (
        Annotated[
            EngineName,
            typer.Option(help="local for this machine, or ray for a Ray cluster.", rich_help_panel=SPEED),
        ],
        EngineName.local,
    ),
    "workers": (
        Annotated[
            int | None,
            typer.Option(
                help="The number of worker processes, with one core each. The output does not depend on this number. "
                "Default: no worker processes (local), or one per core (ray).",
                rich_help_panel=SPEED,
            ),
        ],
        None,
    ),
    "address": (
        Annotated[
            str | None,
            typer.Option(
                metavar="HOST:PORT",
                help="The address of a Ray cluster, or auto. Default: $RAY_ADDRESS, or a new cluster on this machine.",
                rich_help_panel=SPEED,
            ),
        ],
        None,
    ),
    "part_rows": (
        Annotated[
            int | None,
            typer.Option(
                min=1,
                help="The maximum number of rows in a part. If a run is interrupted, finished parts are kept. Default: "
                "a number that depends on the size of the input.",
                rich_help_panel=SPEED,
            ),
        ],
        None,
    ),
    "verbose": (Annotated[bool, typer.Option("--verbose", help="Show Ray's messages.", rich_help_panel=SPEED)], False),
}


def run_command(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared run options to a command. The command receives their values in the dictionary ``run``."""
    types = get_type_hints(command, include_extras=True)
    own = [
        each.replace(annotation=types[name]) for name, each in signature(command).parameters.items() if name != "run"
    ]
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in _OPTIONS.items()
    ]

    @wraps(command)
    def wrapped(**given: Any) -> None:
        run = {name: given.pop(name) for name in _OPTIONS}
        command(**given, run=run)

    vars(wrapped)["__signature__"] = Signature([*own, *more])
    wrapped.__annotations__ = {each.name: each.annotation for each in (*own, *more)}
    return wrapped


@contextmanager
def running(run: dict[str, Any], *, quiet: bool, rows_on_terminal: bool = False) -> Iterator[RunOptions]:
    """Yield the options for a run, and show the run's progress. After Ctrl-C, explain how to resume the run.

    Progress is shown as a bar in a terminal, or as a line every half minute in a log. No bar is shown if the rows
    themselves are shown in the terminal.
    """
    from paraqd.cli.progress import Bar, Lines
    from paraqd.runs.run import RunInterrupted

    shown = not quiet and not (rows_on_terminal and stdout().is_terminal)
    try:
        with Bar(shown=shown) if quiet or stderr().is_terminal else Lines() as bar:
            options = {**run, "engine": run["engine"].value, "progress": bar.update, "say": note}
            yield cast("RunOptions", options if quiet else {**options, "warn": note})
    except RunInterrupted as interrupt:
        say(stopped(interrupt))
        raise typer.Exit(EXIT_CODE) from None


def stopped(interrupt: Any) -> str:
    """Return a message that states how much of a run is finished and how to resume it."""
    line = f"stopped: {interrupt.rows:,} of {counted(interrupt.total, 'row')}"
    if not interrupt.kept or not interrupt.rows:
        return f"{line} finished"
    parts = f"{interrupt.parts:,} of {counted(interrupt.total_parts, 'part')}"
    return f"{line} ({parts}) finished and kept in {interrupt.kept}; run the same command again to continue"


def say_problems(problems: Sequence[str]) -> None:
    """Print one line for each problem, up to a limit."""
    for problem in problems[:_LINES]:
        say(problem)
    if len(problems) > _LINES:
        say(f"and {counted(len(problems) - _LINES, 'more problem')}")

"""Share options, progress and messages between the commands that work on files and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, cast, get_type_hints

import typer

from paraqd.cli.console import note, say, stderr, stdout
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.runs.run import RunOptions

SPEED = "Speed"
_LINES = 20  # problems that are listed one by one
_INTERRUPTED = 130


class EngineName(StrEnum):
    """The engine that does the work."""

    local = "local"
    ray = "ray"


# the options of runs: their types, and how they are given
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "overwrite": (bool, typer.Option(False, "--overwrite", help="Replace a finished output.")),
    "restart": (bool, typer.Option(False, "--restart", help="Discard an unfinished run and start again.")),
    "encoding": (
        str | None,
        typer.Option(
            None,
            "--encoding",
            help="The encoding of text files that are not UTF-8, such as cp1252.",
            rich_help_panel="Files",
        ),
    ),
    "engine": (
        EngineName,
        typer.Option(
            EngineName.local, "--engine", help="local: this machine; ray: a Ray cluster.", rich_help_panel=SPEED
        ),
    ),
    "workers": (
        int | None,
        typer.Option(
            None,
            "--workers",
            help="Processes of one core each. The output does not depend on it. Default: this process (local) or all "
            "cores.",
            rich_help_panel=SPEED,
        ),
    ),
    "address": (
        str | None,
        typer.Option(
            None,
            "--address",
            help="HOST:PORT of a Ray cluster, or auto. Default: $RAY_ADDRESS, or a new cluster on this machine.",
            rich_help_panel=SPEED,
        ),
    ),
    "part_rows": (
        int | None,
        typer.Option(
            None,
            "--part-rows",
            min=1,
            help="The largest number of rows in a part. An interruption loses at most the unfinished parts. Default: "
            "depends on the size of the input.",
            rich_help_panel=SPEED,
        ),
    ),
    "verbose": (bool, typer.Option(False, "--verbose", help="Show the messages of Ray.", rich_help_panel=SPEED)),
}


def run_command(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of runs to a command, which receives them as one dictionary ``run``."""
    types = get_type_hints(command)
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
    """Give the options for a run, show its progress, and say how to continue it after Ctrl-C.

    Progress is a bar on a terminal, and a line every half minute elsewhere. Rows that appear on the terminal are
    progress enough.
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

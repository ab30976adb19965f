"""What commands share that work on folders: their options, the engine, and what is said at the end."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import say

if TYPE_CHECKING:
    from paraqd.runs.engines import Engine
    from paraqd.runs.folder_run import RunInterrupted
    from paraqd.runs.stores import Store

_PANEL = "Folders"
PERIOD = 600.0  # seconds: parts come in rarely, and a rate over the last few would jump
_NAMED = 20  # lines for what could not be read


class EngineName(StrEnum):
    """Who does the work."""

    local = "local"
    ray = "ray"


ENGINE: Any = typer.Option(
    EngineName.local, "--engine", help="local: this machine; ray: a Ray cluster, folders only.", rich_help_panel=_PANEL
)
WORKERS: Any = typer.Option(
    None,
    "--workers",
    min=1,
    help="Workers of one core each. local: this process unless given; ray: all cores unless given.",
    rich_help_panel=_PANEL,
)
ADDRESS: Any = typer.Option(
    None,
    "--address",
    help="HOST:PORT of a Ray cluster, or auto; else $RAY_ADDRESS; else one is started on this machine.",
    rich_help_panel=_PANEL,
)
PART_ROWS: Any = typer.Option(
    None,
    "--part-rows",
    min=1,
    help="Rows of a part at most; by the number of all rows unless given.",
    rich_help_panel=_PANEL,
)
VERBOSE: Any = typer.Option(False, "--verbose", help="Let Ray say what it does.", rich_help_panel=_PANEL)


@dataclass(frozen=True)
class Folders:
    """A run from a folder, or a file, to a folder."""

    source: Store
    out: Store
    engine: EngineName
    workers: int | None
    address: str | None
    part_rows: int | None
    verbose: bool

    @classmethod
    def wanted(
        cls,
        source: str,
        out: str | None,
        engine: EngineName,
        workers: int | None,
        address: str | None,
        part_rows: int | None,
        verbose: bool,
        *,
        workers_without: bool = False,
    ) -> Folders | None:
        """Return the run where a folder is to be read or written, else None.

        Options that make no sense are refused; ``workers_without`` says that a run without folders has workers, too.
        """
        from paraqd.runs.stores import Store, is_uri
        from paraqd.runs.target import is_folder

        if engine is EngineName.local and address is not None:
            raise typer.BadParameter("--address is that of a Ray cluster: give --engine ray, too")
        many = is_uri(source) or Path(source).is_dir()
        if not (many or engine is EngineName.ray or (out is not None and is_folder(out))):
            alone = "part_rows" if part_rows else "workers" if workers and not workers_without else ""
            if alone:
                option = f"--{alone.replace('_', '-')}"
                raise typer.BadParameter(f"{option} is for folders: give -o NAME/ for a folder of parts")
            return None
        if source == "-":
            raise typer.BadParameter("standard input cannot be cut into parts: save it as a file first")
        why = f"{source} is a folder" if many else f"--engine {engine.value} writes a folder"
        if out is None:
            raise typer.BadParameter(f"{why}: say where the parts go with -o NAME/")
        if Path(out).suffix and not is_folder(out) and not Path(out).is_dir():
            raise typer.BadParameter(
                f"{why}, and {out} is a file's name: give -o {Path(out).stem}/ for a folder of parts"
            )
        address = address or os.environ.get("RAY_ADDRESS") or None
        return cls(Store.at(source), Store.at(out), engine, workers, address, part_rows, verbose)

    def made_engine(self) -> Engine:
        """Return who does the work."""
        from paraqd.runs.engines import here, in_processes

        if self.engine is EngineName.local:
            return here if self.workers in (None, 1) else in_processes(self.workers or 1)
        import ray  # noqa: F401  # said now if it is missing, before any work is done

        from paraqd.runs.ray_engine import on_ray

        return on_ray(address=self.address, workers=self.workers, verbose=self.verbose)


def say_problems(problems: Sequence[str]) -> None:
    """Say what could not be read, a line for each."""
    for problem in problems[:_NAMED]:
        say(problem)
    if len(problems) > _NAMED:
        say(f"and {len(problems) - _NAMED:,} more")


def stopped(interrupt: RunInterrupted, out: str) -> str:
    """Say how far a run came that was stopped, and how to go on."""
    done = f"stopped: {interrupt.rows:,} of {interrupt.total:,} rows are finished"
    return f"{done} and kept in {out}; run the same command again to go on"

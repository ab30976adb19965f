"""``paraqd score`` from folder to folder."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from paraqd.cli.console import named_rows, note, say, stderr, write_json
from paraqd.cli.folders import PERIOD, say_problems, stopped

if TYPE_CHECKING:
    from paraqd.cli.folders import Folders
    from paraqd.cli.options import Mode
    from paraqd.data.tables import Columns
    from paraqd.runs.score_folder import FolderCounts

_FILES_NAMED = 5


def score_folders(
    folders: Folders,
    *,
    model: tuple[str | None, Mode, float | None],
    skip: bool,
    threads: int | None,
    columns: Columns,
    only: str | None,
    why: bool,
    keep_going: bool,
    overwrite: bool,
    restart: bool,
    overwrite_columns: bool,
    encoding: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Score the files of a folder, show the counts and end with the exit code."""
    from paraqd.cli.options import load_scorer
    from paraqd.cli.progress import Bar, Lines
    from paraqd.cli.score import show_counts
    from paraqd.model_folder import find_model_folder
    from paraqd.runs.folder_run import RunInterrupted
    from paraqd.runs.score_folder import Model, score_folder

    scorer = load_scorer(*model, skip=skip)
    engine = folders.made_engine()
    name, mode, threshold = model
    # a name means the model that is installed on each machine, a folder the same folder
    place = name if name is None or not Path(name).expanduser().exists() else str(find_model_folder(name).absolute())
    out = folders.out.given
    try:
        with Bar(shown=not quiet, period=PERIOD) if quiet or stderr().is_terminal else Lines() as bar:
            counts, outcome = score_folder(
                folders.source,
                folders.out,
                Model(place, mode.value, threshold, skip),
                columns=columns,
                only=only,
                why=why,
                encoding=encoding,
                part_rows=folders.part_rows,
                keep_going=keep_going,
                overwrite=overwrite,
                restart=restart,
                overwrite_columns=overwrite_columns,
                threads=threads,
                signature=scorer.signature,
                engine=engine,
                progress=bar.update,
                say=note,
                foretell=None if quiet else note,
            )
    except RunInterrupted as interrupt:
        say(stopped(interrupt, out))
        raise typer.Exit(130) from None
    if as_json:
        write_json(
            {
                "source": folders.source.given,
                "out": out,
                **counts.to_dict(),
                "parts": outcome.parts,
                "resumed": outcome.resumed,
                "problems": list(outcome.problems),
                "empty_files": len(outcome.empty),
                "threshold": scorer.threshold,
                "signature": scorer.signature,
            }
        )
    elif not quiet:
        show_counts(counts, out, only, scorer, on_stderr=False)
    for line in counts.damage:
        say(line)
    if counts.errors:
        say(f"could not score {counts.errors:,} of {counts.rows:,} rows ({_places(counts)})")
    say_problems(outcome.problems)
    if counts.errors or outcome.problems:
        raise typer.Exit(1)


def _places(counts: FolderCounts) -> str:
    """Name the rows that could not be scored, file by file."""
    by_file = groupby(sorted(counts.error_places), key=lambda place: place[0])
    files = [f"{file}: {named_rows((row, why) for _, row, why in rows)}" for file, rows in by_file]
    more = counts.errors - len(counts.error_places)
    told = files[:_FILES_NAMED] + ([f"and in {len(files) - _FILES_NAMED} files more"] if files[_FILES_NAMED:] else [])
    return "; ".join(told) + (f"; and {more:,} rows more" if more else "")

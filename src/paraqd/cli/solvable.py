"""Provide the command ``paraqd solvable``, which checks whether questions have all that a solver needs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import listed_error_rows, say, stdout, write_json
from paraqd.cli.options import OUTPUT, SPEED, IdColumn, Output, QuestionColumn, Quiet
from paraqd.cli.run_options import run_command, running, say_problems
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.runs.solvable import SolvableReport

EXAMPLE = "Example: paraqd solvable questions.csv -o checked.csv"


class Size(StrEnum):
    """The model that checks the questions."""

    small = "small"
    large = "large"


class Only(StrEnum):
    """The verdict of the rows to keep."""

    solvable = "solvable"
    unsolvable = "unsolvable"


@run_command
def solvable(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="Questions: a .csv, .tsv, .jsonl (also .gz or .zst), .xlsx or .parquet file, a folder, or - for JSONL "
            "on standard input.",
        ),
    ],
    out: Output,
    only: Annotated[Only | None, typer.Option(help="Keep only the rows with this verdict.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=-1,
            max=1,
            help="A question is solvable if its score is above this threshold. Default: the model's threshold (0.5).",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(metavar="NAME|DIR", help="The folder of a model of your own, or solvable for paraqd's models."),
    ] = "solvable",
    judge: Annotated[
        Size | None,
        typer.Option(
            help="small: the model of paraqd; large: that of paraqd-solvable-lm. Default: large if that package is "
            "installed, unless PARAQD_JUDGE is small.",
        ),
    ] = None,
    overwrite_columns: Annotated[
        bool,
        typer.Option("--overwrite-columns", help="Replace input columns that have the same names as added columns."),
    ] = False,
    question_column: QuestionColumn = "question",
    id_column: IdColumn = "id",
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.", rich_help_panel=OUTPUT)] = False,
    quiet: Quiet = False,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The number of threads for the model in this process. Default: one per core.",
            rich_help_panel=SPEED,
        ),
    ] = None,
    *,
    run: dict[str, Any],
) -> None:
    """Check whether questions have all that a solver needs: a question, all numbers and facts, and a complete text.

    The output has the same rows in the same order (or those that --only keeps), with the new columns score (from -1 to
    1), solvable, evidence and warnings (JSON), error and signature. To resume an interrupted run, repeat the command.
    """
    from paraqd.cli.options import checked_threshold
    from paraqd.runs.solvable import solvable_file
    from paraqd.tables.table import Columns

    with running(run, quiet=quiet) as options:
        report = solvable_file(
            source,
            out,
            model=model,
            judge=judge.value if judge else None,
            threshold=checked_threshold(threshold),
            columns=Columns(question=question_column, id=id_column),
            only=only.value if only else None,
            threads=threads,
            overwrite_columns=overwrite_columns,
            **options,
        )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(report, only)
    for line in report.damage:
        say(line)
    if report.errors:
        listed = listed_error_rows(report.source, report.errors, report.error_rows)
        say(f"could not check {report.errors:,} of {counted(report.rows, 'row')} ({listed})")
    say_problems(report.problems)
    if report.errors or report.problems:
        raise typer.Exit(1)


def _show(report: SolvableReport, only: str | None) -> None:
    """Print the number of questions for each verdict and each kind of fault."""
    from rich.table import Table
    from rich.text import Text

    console = stdout()
    grid = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    grid.add_column("", no_wrap=True)
    for _ in range(2):
        grid.add_column("", justify="right", no_wrap=True)

    def add(name: str, number: int, style: str) -> None:
        grid.add_row(Text(name, style=style), f"{number:,}", f"{number / max(1, report.rows):.1%}")

    add("solvable", report.solvable, "green")
    add("unsolvable", report.unsolvable, "red")
    for kind, number in report.faults.items():
        grid.add_row(Text(f"  {kind}", style="dim"), f"{number:,}", "")
    if report.errors:
        add("not checked", report.errors, "yellow")
    if report.warned:
        add("with warnings", report.warned, "yellow")
    console.print(grid)
    which = counted(report.written, f"{only} row" if only else "row")
    console.print(f"{which} → {report.out}", soft_wrap=True)
    console.print(Text(report.signature, style="dim"), soft_wrap=True)

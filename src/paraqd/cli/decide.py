"""Provide the command ``paraqd decide``, which decides about scored pairs again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import say, stdout, write_json
from paraqd.cli.options import FILES, OUTPUT, Output, Quiet, Review
from paraqd.cli.run_options import run_command, running, say_problems
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.runs.decide import DecideReport

EXAMPLE = "Example: paraqd decide scored.csv -o stricter.csv --threshold 0.7 --review 0.5,0.9"


@run_command
def decide(
    source: Annotated[
        str, typer.Argument(metavar="SCORED", help="Scored pairs: a file or a folder that paraqd score wrote.")
    ],
    out: Output,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=-1,
            max=1,
            help="A pair is valid if its score is above this threshold. Default: the threshold of the file.",
        ),
    ] = None,
    review: Review = None,
    score_column: Annotated[
        str, typer.Option(metavar="NAME", help="The column with the scores.", rich_help_panel=FILES)
    ] = "score",
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.", rich_help_panel=OUTPUT)] = False,
    quiet: Quiet = False,
    *,
    run: dict[str, Any],
) -> None:
    """Decide about scored pairs with another threshold or band for review, without scoring them again.

    The columns valid and decision are replaced, and the signature names the new threshold. Scores and evidence stay. In
    a file with several paraphrases per row, V1_decision follows from V1_score.
    """
    from paraqd.cli.options import checked_threshold, review_of
    from paraqd.runs.decide import decide_file

    wanted_review = review_of(review)
    with running(run, quiet=quiet) as options:
        report = decide_file(
            source,
            out,
            threshold=checked_threshold(threshold),
            review=wanted_review,
            score_column=score_column,
            **options,
        )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(report)
    if report.errors:
        first = "; ".join(f"{file}, row {row}: {why}" for file, row, why in report.error_rows[:3])
        more = f"; and {report.errors - 3:,} more" if report.errors > 3 else ""
        say(f"{counted(report.errors, 'pair')} of {report.pairs:,} without a score ({first}{more})")
    say_problems(report.problems)
    if report.errors or report.problems:
        raise typer.Exit(1)


def _show(report: DecideReport) -> None:
    """Print the number of pairs for each decision and each kind of fault."""
    from rich.table import Table
    from rich.text import Text

    console = stdout()
    grid = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    grid.add_column("", no_wrap=True)
    for _ in range(2):
        grid.add_column("", justify="right", no_wrap=True)

    def add(name: str, number: int, style: str) -> None:
        grid.add_row(Text(name, style=style), f"{number:,}", f"{number / max(1, report.pairs):.1%}")

    add("valid", report.valid, "green")
    add("invalid", report.invalid, "red")
    for kind, number in report.faults.items():
        grid.add_row(Text(f"  {kind}", style="dim"), f"{number:,}", "")
    if report.band is not None:
        add("review", report.review, "yellow")
    if report.errors:
        add("not scored", report.errors, "yellow")
    console.print(grid)
    band = "" if report.band is None else f", review from {report.band.low:g} to {report.band.high:g}"
    console.print(f"threshold {report.threshold:g}{band}; {counted(report.changed, 'decision')} changed")
    console.print(f"{counted(report.rows, 'row')} → {report.out}", soft_wrap=True)

"""Provide the command ``paraqd calibrate``, which suggests a threshold and a band from an editor's decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paraqd.cli.console import stdout, write_json
from paraqd.cli.options import FILES, AsJson, Encoding, ParaphraseColumn, QuestionColumn, Quiet
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.runs.calibrate import CalibrationReport

EXAMPLE = "Example: paraqd calibrate decided.xlsx --label-column accepted"


def calibrate(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="DECISIONS...",
            help="Scored files with a column of decisions: accept or reject, 1 or 0, yes or no. Empty cells are open.",
        ),
    ],
    threshold: Annotated[
        float | None,
        typer.Option(min=-1, max=1, help="The current threshold. Default: the threshold of the file, or 0.5."),
    ] = None,
    right: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of the pairs outside the band that should be right.")
    ] = 0.95,
    label_column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A column with decisions. Repeat it for several reviewers; pairs on which they differ do not count. "
            "Default: label, status, accepted or decision.",
            rich_help_panel=FILES,
        ),
    ] = None,
    score_column: Annotated[
        str, typer.Option(metavar="NAME", help="The column with the scores.", rich_help_panel=FILES)
    ] = "score",
    question_column: QuestionColumn = "question",
    paraphrase_column: ParaphraseColumn = "paraphrase",
    encoding: Encoding = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Suggest a threshold and a band for review from your own decisions about scored pairs.

    The threshold moves only if the decisions clearly ask for it. The figures after the change come from decisions that
    were left out, so that they hold for new pairs too. With too few decisions, nothing is suggested.
    """
    from paraqd.cli.options import checked_threshold
    from paraqd.runs.calibrate import calibrate_file
    from paraqd.tables.table import Columns

    report = calibrate_file(
        sources,
        label_columns=label_column or (),
        score_column=score_column,
        columns=Columns(question=question_column, paraphrase=paraphrase_column),
        threshold=checked_threshold(threshold),
        right=right,
        encoding=encoding,
    )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(report)


def _show(report: CalibrationReport) -> None:
    """Print the suggestion, what it changes, and the command that applies it."""
    from rich.table import Table

    found, console = report.suggestion, stdout()
    left_out = [
        f"{number:,} {what}"
        for number, what in (
            (report.undecided, "without a decision"),
            (report.disputed, "with contradictory decisions"),
            (report.repeated, "further copies"),
            (report.unscored, "without a score"),
        )
        if number
    ]
    counts = f"{found.accepted:,} accept, {found.decided - found.accepted:,} reject"
    console.print(f"{counted(found.decided, 'decision')} in {', '.join(report.columns)}: {counts}", soft_wrap=True)
    if left_out:
        console.print(f"not counted: {', '.join(left_out)}")
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("", "threshold", "review", "right", "95 % interval", "for review"):
        grid.add_column(name, justify="left" if not name else "right")
    grid.add_row(
        "now",
        f"{found.current:g}",
        "–",
        f"{found.right_before:.1%}",
        "{:.0%}–{:.0%}".format(*found.interval_before),
        "0.0%",
    )
    if found.enough:
        grid.add_row(
            "suggested",
            f"{found.threshold:g}",
            "–" if found.band is None else str(found.band),
            f"{found.right_after:.1%}",
            "{:.0%}–{:.0%}".format(*found.interval_after),
            f"{found.review_share:.1%}",
        )
    console.print()
    console.print(grid)
    if found.note:
        console.print(f"\n{found.note}", soft_wrap=True)
    if found.enough and (found.band is not None or found.threshold != found.current):
        band = "" if found.band is None else f" --review {found.band}"
        console.print(f"\nTo use it: paraqd decide SCORED -o OUT --threshold {found.threshold:g}{band}", soft_wrap=True)

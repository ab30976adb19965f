"""Provide the command ``paraqd score``, which scores every pair in a file or a folder."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import listed_error_rows, say, stderr, stdout, write_json
from paraqd.cli.options import (
    FILES,
    OUTPUT,
    SPEED,
    IdColumn,
    JudgeName,
    Mode,
    ModelName,
    ModeName,
    PairsInput,
    ParaphraseColumns,
    QuestionColumn,
    Review,
    Threshold,
)
from paraqd.cli.run_options import EngineName, run_command, running, say_problems
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.runs.score import ScoredRow, ScoreReport
    from paraqd.scoring.verdict import Verdict
    from paraqd.tables.table import Columns

EXAMPLE = "Example: paraqd score pairs.csv -o scored.csv"

_VERDICT_WIDTH = len("not scored")
_STYLES = {"valid": "green", "invalid": "red", "review": "yellow", "not scored": "yellow", "with warnings": "yellow"}


class Only(StrEnum):
    """The verdict of the rows to keep."""

    valid = "valid"
    invalid = "invalid"
    review = "review"


@run_command
def score(
    source: PairsInput,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE|DIR/",
            help="The output: a file, whose extension sets the format, or a folder (with a slash at the end). Default: "
            "show the rows.",
        ),
    ] = None,
    model: ModelName = None,
    mode: ModeName = Mode.fused,
    judge: JudgeName = None,
    threshold: Threshold = None,
    review: Review = None,
    only: Annotated[Only | None, typer.Option(help="Keep only the rows with this verdict.")] = None,
    report_file: Annotated[
        str | None,
        typer.Option(
            "--report",
            metavar="FILE.html",
            help="Also write an HTML report on the output: a summary with plots, and all pairs with the evidence "
            "marked.",
        ),
    ] = None,
    why: Annotated[
        bool | None,
        typer.Option(
            "--why/--no-why",
            help="Add a column with the evidence and warnings in sentences. Default: only in .xlsx files.",
            show_default=False,
        ),
    ] = None,
    wide: Annotated[
        bool,
        typer.Option(
            "--wide",
            help="Keep one row for all its paraphrases, with the score, the decision and the reasons beside each.",
        ),
    ] = False,
    overwrite_columns: Annotated[
        bool,
        typer.Option("--overwrite-columns", help="Replace input columns that have the same names as added columns."),
    ] = False,
    question_column: QuestionColumn = "question",
    paraphrase_column: ParaphraseColumns = None,
    id_column: IdColumn = "id",
    for_excel: Annotated[
        bool,
        typer.Option(
            "--for-excel",
            help="Write a CSV file that opens correctly in Excel. Default: only if the input has the form of such a "
            "file.",
            rich_help_panel=FILES,
        ),
    ] = False,
    keep_going: Annotated[
        bool,
        typer.Option(
            "--keep-going",
            help="Score the readable rows of damaged text files. The exit code is 1 if some rows are unreadable.",
            rich_help_panel=FILES,
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON: the counts or, without -o, one line per row.", rich_help_panel=OUTPUT),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Hide the progress and the counts.", rich_help_panel=OUTPUT)
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The number of threads for the model in this process. Default: one per core.",
            rich_help_panel=SPEED,
        ),
    ] = None,
    skip: Annotated[
        bool,
        typer.Option(
            "--skip/--no-skip",
            help="Skip the model for pairs that can be decided without it, or use it for every pair.",
            rich_help_panel=SPEED,
        ),
    ] = True,
    *,
    run: dict[str, Any],
) -> None:
    """Score every pair in a file from -1 to 1, and list the evidence against each paraphrase.

    The output has the same rows in the same order, with the new columns score, valid, evidence and warnings (JSON),
    error and signature. In an Excel file (.xlsx), the verdicts are coloured. To resume an interrupted run, repeat the
    command. If the input is a folder, the output is a folder of Parquet parts.
    """
    from paraqd.cli.options import checked_threshold, load_scorer, review_of
    from paraqd.runs.score import Model, score_file
    from paraqd.tables.table import Columns

    wanted_review = review_of(review)
    if only is Only.review and not wanted_review:
        raise typer.BadParameter("--only review needs --review")
    if out == "-":
        raise typer.BadParameter("-o - is not a file: to print JSON lines, pass --json without -o")
    several = (run["workers"] or 1) > 1 or run["engine"] is EngineName.ray
    if several and out is None:
        raise typer.BadParameter("--workers and --engine need an output file or folder: pass -o")
    if report_file is not None:
        _check_report(report_file, source, out, wide=wide, overwrite=run["overwrite"])
    scorer: Any
    if several:
        scorer = Model(model, mode.value, checked_threshold(threshold), skip, judge and judge.value)
    else:
        scorer = load_scorer(model, mode, threshold, threads=threads, skip=skip, judge=judge)
    columns = Columns(question=question_column, id=id_column)
    show = _json_lines if as_json else _Grid(review=bool(wanted_review))
    with running(run, quiet=quiet, rows_on_terminal=out is None) as options:
        report = score_file(
            source,
            out,
            show=show,
            scorer=scorer,
            columns=columns,
            paraphrase_columns=paraphrase_column or (),
            wide=wide,
            only=only.value if only else None,
            review=wanted_review,
            why=why,
            for_excel=for_excel,
            threads=threads,
            keep_going=keep_going,
            overwrite_columns=overwrite_columns,
            **options,
        )
    unwritten = ""
    if report_file is not None and out is not None:
        single = replace(columns, paraphrase=report.paraphrase_columns[0])
        unwritten = _write_report(report_file, out, single, only)
    if as_json and out is not None:
        write_json(report.to_dict() | ({"report": report_file} if report_file and not unwritten else {}))
    elif not quiet:
        show_counts(report, only, on_stderr=as_json)
        if report_file and not unwritten:
            stdout().print(f"report → {report_file}", soft_wrap=True)
    for line in report.damage:
        say(line)
    if report.errors:
        listed = listed_error_rows(report.source, report.errors, report.error_rows)
        say(f"could not score {report.errors:,} of {counted(report.rows, _noun(report))} ({listed})")
    say_problems(report.problems)
    if unwritten:
        say(f"{out} is written, but not the report: {unwritten}")
    if report.errors or report.problems or unwritten:
        raise typer.Exit(1)


def _check_report(report_file: str, source: str, out: str | None, *, wide: bool, overwrite: bool) -> None:
    """Raise an error before the scoring begins if the report cannot be written."""
    from pathlib import Path

    from paraqd.runs.locations import Location, is_uri
    from paraqd.runs.report import check_report

    if wide:
        raise typer.BadParameter("--report needs one row for each pair: omit --wide")
    if out is None:
        raise typer.BadParameter("--report needs an output file, from which the report is made: pass -o")
    if out.endswith("/") or is_uri(out) or Path(out).is_dir() or Location.at(source).kind == "folder":
        raise typer.BadParameter("--report needs a file as output, not a folder: pass -o NAME.csv")
    check_report(report_file, [source, out], overwrite=overwrite)


def _write_report(report_file: str, out: str, columns: Columns, only: Only | None) -> str:
    """Write the report on the output. Return a line that says why it cannot be written, or an empty string."""
    from paraqd.runs.report import write_report
    from paraqd.tables.formats import TableError

    notes = [f"This file contains only the pairs with the verdict {only.value}."] if only else []
    try:
        write_report(out, report_file, columns=columns, notes=notes, overwrite=True)
    except TableError as error:
        return str(error)
    return ""


def _noun(report: ScoreReport) -> str:
    """Return the word for what was scored: a row can have several pairs."""
    return "row" if len(report.paraphrase_columns) == 1 else "pair"


# --- rows shown as they are scored ---------------------------------------------------------------


def _json_lines(rows: list[ScoredRow], total: int) -> None:
    from paraqd.runs.column_types import jsonable
    from paraqd.tables.writers import json_text

    # write to the original stream, because a visible progress bar replaces sys.stdout
    file = getattr(sys.stdout, "rich_proxied_file", sys.stdout)
    for each in rows:
        plain = {name: jsonable(value) for name, value in each.row.items()}
        file.write(json_text(plain, encoding=file.encoding or "utf-8") + "\n")
    file.flush()


class _Grid:
    """A table that is printed in several blocks with the same column widths."""

    def __init__(self, *, review: bool) -> None:
        self._begun = False
        self._review = review

    def __call__(self, rows: list[ScoredRow], total: int) -> None:
        from rich.table import Table
        from rich.text import Text

        console = stdout()
        digits = max(3, len(str(total)), len(str(rows[-1].number)) if rows else 0)
        grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_header=not self._begun)
        grid.add_column("row", justify="right", width=digits)
        grid.add_column("score", justify="right", width=5)
        grid.add_column("verdict", width=_VERDICT_WIDTH)
        room = max(10, console.width - digits - 5 - _VERDICT_WIDTH - 3 * 2)
        grid.add_column("paraphrase and evidence", width=room)
        for each in rows:
            name = _verdict_name(each.verdict)
            if self._review and name != "not scored":
                name = str(each.row["decision"])
            score = "" if isinstance(each.verdict, str) else f"{each.verdict.score:.2f}"
            text = _texts(each, room, _STYLES[name])
            grid.add_row(str(each.number), score, Text(name, style=_STYLES[name]), text)
        if grid.row_count:
            self._begun = True
            console.print(grid)


def _verdict_name(verdict: Verdict | str) -> str:
    if isinstance(verdict, str):
        return "not scored"
    return "valid" if verdict.valid else "invalid"


def _texts(scored: ScoredRow, room: int, style: str) -> Any:
    """Return the beginning of the paraphrase, followed by lines with the first piece of evidence and the warnings."""
    from rich.text import Text

    from paraqd.terminal_text import visible

    paraphrase, verdict = scored.paraphrase, scored.verdict
    given = "" if paraphrase is None else visible(" ".join(str(paraphrase)[:1000].split()))
    text = Text(f"{visible(scored.column)}: ", style="dim") if scored.column else Text()
    text.append(given, style="none") if given else text.append("(blank)", style="italic")
    text.truncate(room, overflow="ellipsis")
    messages = [verdict] if isinstance(verdict, str) else [piece.message for piece in verdict.evidence]
    if messages:
        more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
        text.append(f"\n{visible(messages[0])}{more}", style=style)
    for warning in () if isinstance(verdict, str) else verdict.warnings:
        text.append(f"\n{visible(warning)}", style="yellow")
    return text


# --- the counts --------------------------------------------------------------------------------------


def show_counts(report: ScoreReport, only: str | None, *, on_stderr: bool) -> None:
    """Print the number of rows for each verdict and each kind of fault."""
    from rich.table import Table
    from rich.text import Text

    console = stderr() if on_stderr else stdout()
    grid = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    grid.add_column("", no_wrap=True)
    grid.add_column("", justify="right", no_wrap=True)
    grid.add_column("", justify="right", no_wrap=True)

    def add(name: str, number: int) -> None:
        grid.add_row(Text(name, style=_STYLES[name]), f"{number:,}", f"{number / max(1, report.rows):.1%}")

    add("valid", report.valid)
    add("invalid", report.invalid)
    for kind, number in report.faults.items():
        grid.add_row(Text(f"  {kind}", style="dim"), f"{number:,}", "")
    if report.band is not None:
        add("review", report.review)
    if report.errors:
        add("not scored", report.errors)
    if report.warned:
        add("with warnings", report.warned)
    if report.empty_cells:
        grid.add_row(Text(f"{counted(report.empty_cells, 'empty cell')} skipped", style="dim"), "", "")
    console.print()
    console.print(grid)
    if report.out:
        which = counted(report.written, f"{only} row" if only else "row")
        console.print(f"{which} → {report.out}", soft_wrap=True)
    console.print(Text(report.signature, style="dim"), soft_wrap=True)

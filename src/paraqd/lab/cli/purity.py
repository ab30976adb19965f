"""Provide the command ``paraqd lab purity``, which checks the labels of augmented pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import listed_rows, say, stdout, write_json
from paraqd.cli.options import OUTPUT, AsJson, LabelColumn, PairsInput, ParaphraseColumn, QuestionColumn, Quiet
from paraqd.cli.run_options import run_command, running, say_problems
from paraqd.plural import counted

if TYPE_CHECKING:
    from rich.padding import Padding

    from paraqd.lab.annotation.purity import PurityReport

EXAMPLE = "Example: paraqd lab purity pairs.parquet --offenders offenders.csv --workers 4"


@run_command
def purity(
    source: PairsInput,
    offenders: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DIR/",
            help="Write the offending rows to a file, whose extension sets the format, or to a folder (with a slash "
            "at the end).",
        ),
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Exit with code 1 if any operator's purity is lower than this value, such as 0.999."
        ),
    ] = None,
    question_column: QuestionColumn = "question",
    paraphrase_column: ParaphraseColumn = "paraphrase",
    label_column: LabelColumn = "label",
    examples: Annotated[
        int, typer.Option(min=0, help="The number of examples to show for each operator.", rich_help_panel=OUTPUT)
    ] = 2,
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    run: dict[str, Any],
) -> None:
    """Check the labels of augmented pairs, independently of the operators' code.

    A pair from a valid operator must keep the quantities, units, names and question, apart from changes that the
    operator declares. A pair from an invalid operator must be a different problem. Consistent renamings are counted
    separately. With --offenders, repeat the command to resume an interrupted run.
    """
    from paraqd.lab.annotation.purity import check_file
    from paraqd.lab.operators import declarations
    from paraqd.tables.table import Columns

    with running(run, quiet=quiet) as options:
        report = check_file(
            source,
            promises=declarations(),
            offenders=offenders,
            examples=examples,
            columns=Columns(question=question_column, paraphrase=paraphrase_column, label=label_column),
            **options,
        )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(report)
    if report.skipped:
        say(f"could not check {counted(report.skipped, 'row')} ({listed_rows(report.skipped_rows)})")
    say_problems(report.problems)
    too_low = fail_under is not None and report.lowest < fail_under
    if too_low:
        names = [operator.name for operator in report.operators if operator.purity < (fail_under or 0)]
        say(f"the purity is below {fail_under:g} for {', '.join(names)}")
    if too_low or report.skipped or report.problems:
        raise typer.Exit(1)


def _show(report: PurityReport) -> None:
    from rich.table import Table
    from rich.text import Text

    from paraqd.lab.annotation.purity.files import UNNAMED

    console = stdout()
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for title in ("operator", "label"):
        table.add_column(title, no_wrap=True)
    for title in ("pairs", "pure", "impure", "odd", "renamed"):
        table.add_column(title, justify="right", no_wrap=True)
    for operator in report.operators:
        colour = "green" if operator.purity >= 0.999 else "yellow" if operator.purity >= 0.99 else "red"
        table.add_row(
            operator.name,
            "" if operator.name == UNNAMED else "valid" if operator.label else "invalid",
            f"{operator.n:,}",
            Text(f"{operator.purity:.2%}", style=colour),
            f"{operator.impure:,}",
            f"{operator.suspicious:,}",
            f"{operator.consistent_renamings:,}" if operator.consistent_renamings else "",
        )
    console.print(table)
    console.print(
        Text("odd: pure, but suspicious; renamed: renamed consistently, and not counted in the purity", style="dim")
    )
    for operator in report.operators:
        if not operator.examples:
            continue
        console.print(Text(f"\n{operator.name}", style="bold"))
        for title, counts in (("impure", operator.reasons), ("odd", operator.doubts)):
            for reason, times in counts.items():
                console.print(Text(f"  {times:,} {title}: {reason}"))
        for offender in operator.examples:
            item, finding = offender.item, offender.finding
            console.print(Text(f"  {item.id}: {finding.reason}", style="yellow"))
            console.print(_difference(item.question, item.paraphrase, marked=console.color_system is None))


def _difference(question: str, paraphrase: str, *, marked: bool) -> Padding:
    """Return a view that combines both texts, with changes in colour, or in brackets if ``marked`` is True."""
    from rich.padding import Padding
    from rich.text import Text

    from paraqd.reading.word_difference import differences

    styles = {"=": "dim", "-": "red strike", "+": "green"}
    marks = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
    text = Text()
    for segment in differences(question, paraphrase):
        before, after = marks[segment.sign] if marked else ("", "")
        text.append(f"{before}{segment.text}{after}", style=styles[segment.sign])
    return Padding(text, (0, 0, 0, 4))

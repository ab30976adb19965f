"""Print the report of ``paraqd lab augment`` in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from paraqd.cli.console import named_rows, rows_by_reason, say, stdout
from paraqd.plural import counted
from paraqd.reading.word_difference import differences

if TYPE_CHECKING:
    from rich.console import Console

    from paraqd.lab.corpora.augment_report import AugmentReport, Example, OperatorReport

_AROUND = 24  # unchanged characters shown on each side of a change
_LINE = 220
_STYLES = {"=": "dim", "-": "red strike", "+": "green"}
_MARKS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}


def show(report: AugmentReport, *, examples: int = 3, table: Table | None = None) -> None:
    """Print the report. ``table`` replaces the default table of operators."""
    console = stdout()
    console.print(table or _table(report))
    console.print(Text("distance: mean edit distance, normalised (and in characters)", style="dim"))
    for operator in report.operators:
        for remark in _remarks(operator):
            console.print(Text(f"{operator.name}: {remark}", style="dim"), soft_wrap=True)
    if examples:
        console.print()
        for operator in report.operators:
            _show_examples(console, operator, examples)
    pace = report.questions / report.seconds if report.seconds and not report.resumed else 0
    rate = f", {pace:,.0f} questions/s" if pace >= 1 else ""
    before = f" ({counted(report.resumed, 'row')} finished earlier)" if report.resumed else ""
    console.print(
        Text(
            f"{counted(report.questions, 'question')} → {counted(report.written, 'pair')} in {report.out}"
            f"  [{report.seconds:,.1f} s{rate}]{before}",
            style="bold",
        ),
        soft_wrap=True,
    )


def say_left_out(report: AugmentReport) -> None:
    """Print one line for each skipped operator, each group of skipped rows and each failure."""
    for name, why in report.left_out.items():
        say(f"skipped the operator {name}: {why}")
    for why, rows in rows_by_reason(report.skipped_rows).items():
        say(f"skipped {counted(len(rows), 'row')} without a usable question ({why}): {named_rows(rows)}")
    if report.skipped > len(report.skipped_rows):
        say(f"skipped {counted(report.skipped - len(report.skipped_rows), 'more row')}")
    for operator in report.operators:
        for why, times in operator.failed.items():
            say(f"{operator.name} failed on {counted(times, 'question')}: {why}")


def _table(report: AugmentReport) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("operator", "paper", "label"):
        table.add_column(title, no_wrap=True)
    for title in ("applied", "pairs", "distance"):
        table.add_column(title, no_wrap=True, justify="right")
    for operator in report.operators:
        applied = (f"{operator.applied_percent:.1f} %", f"{operator.applied:,}")
        table.add_row(operator.name, operator.paper_id, label_text(operator), *applied, distance(operator))
    return table


def label_text(operator: OperatorReport) -> Text:
    """Return the label that an operator declares for its outputs."""
    return Text("valid", style="green") if operator.label else Text("invalid", style="yellow")


def distance(operator: OperatorReport) -> str:
    """Return the mean distance between an operator's outputs and their questions, or "" if there are no outputs."""
    if operator.edit_distance is None:
        return ""
    return f"{operator.edit_distance:.2f} ({operator.edit_characters:.0f})"


def _remarks(operator: OperatorReport) -> list[str]:
    """Return the remarks on an operator's stand-in, dropped outputs and notes."""
    remarks = [f"stand-in {operator.source_model}"] if operator.stand_in else []
    remarks += [f"dropped {n:,}: {why}" for why, n in operator.dropped.items()]
    remarks += [f"noted {n:,}: {note}" for note, n in operator.notes.items()]
    return remarks


def _show_examples(console: Console, operator: OperatorReport, count: int) -> None:
    shown = [example for example in operator.examples if example.question != example.paraphrase][:count]
    if not shown:
        return
    console.print(Text(operator.name, style="bold"))
    for example in shown:
        console.print(Text("  ") + _changes(example, marked=console.color_system is None), soft_wrap=True)


def _changes(example: Example, *, marked: bool) -> Text:
    """Return the changes between an example's two texts, each with some unchanged text on both sides."""
    line = Text()
    segments = differences(example.question, example.paraphrase)
    for i, (sign, text) in enumerate(segments):
        text = " ".join(text.split(" ")).replace("\n", " ")
        if sign == "=":
            first, last = i == 0, i == len(segments) - 1
            text = _shortened(text, head=0 if first else _AROUND, tail=0 if last else _AROUND)
        before, after = _MARKS[sign] if marked else ("", "")
        line.append(f"{before}{text}{after}", style=_STYLES[sign])
    line.truncate(_LINE, overflow="ellipsis")
    return line


def _shortened(text: str, *, head: int, tail: int) -> str:
    if len(text) <= head + tail + 3:
        return text
    return f"{text[:head]}…{text[len(text) - tail :]}"

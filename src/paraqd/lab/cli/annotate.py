"""Provide the command ``paraqd lab annotate``, with which annotators label pairs and merge their labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from paraqd.cli.console import named_rows, say, stderr, stdout, write_json
from paraqd.cli.options import (
    FILES,
    AsJson,
    Encoding,
    IdColumn,
    LabelColumn,
    Overwrite,
    ParaphraseColumn,
    QuestionColumn,
    Quiet,
)
from paraqd.interrupts import EXIT_CODE
from paraqd.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paraqd.lab.annotation.journals import Session
    from paraqd.lab.annotation.merging import Merged, MergeReport
    from paraqd.lab.annotation.operator_statistics import OperatorStatistics
    from paraqd.lab.annotation.pairs_to_label import PairsToLabel
    from paraqd.tables.table import Columns

EXAMPLE = "Example: paraqd lab annotate pairs.csv --annotator ann"

_DEFAULT = "label"

_Pairs = Annotated[
    str,
    typer.Argument(
        metavar="PAIRS", help="The pairs that paraqd lab testset wrote: a .csv, .tsv, .jsonl, .xlsx or .parquet file."
    ),
]
_Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label-column",
        metavar="NAME",
        help="The column with the labels in tables. May be repeated if a table has several annotators. Default: label.",
        rich_help_panel=FILES,
    ),
]


class _PairsFirst(TyperGroup):
    """A group that reads ``annotate PAIRS`` as ``annotate label PAIRS``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_PairsFirst, no_args_is_help=True)


@app.callback(epilog=EXAMPLE)
def annotate() -> None:
    """Label pairs by hand, and merge the labels of several annotators.

    1. paraqd lab annotate PAIRS --annotator NAME: label pairs at the terminal. Repeat the command to continue.
    2. paraqd lab annotate PAIRS --annotator NAME --resolve A --resolve B: settle the disagreements between A and B.
    3. paraqd lab annotate merge PAIRS A B -o MERGED: compute Cohen's κ and write one file.
    4. paraqd lab annotate stats MERGED: compare the operators' intended labels with the merged labels.
    """


@app.command(_DEFAULT, epilog=EXAMPLE)
def label(
    source: _Pairs,
    annotator: Annotated[
        str | None, typer.Option("--annotator", "-a", metavar="NAME", help="Your name. Default: your login name.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Your journal. Default: a file beside the pairs, such as pairs.ann.jsonl.",
        ),
    ] = None,
    resolve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="The journal or table of another annotator. Repeat the option to show only the pairs on which these "
            "annotators disagree.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The random seed for the order of the pairs. Default: 3407.")] = None,
    question_column: QuestionColumn = "question",
    paraphrase_column: ParaphraseColumn = "paraphrase",
    id_column: IdColumn = "id",
    label_column: _Labels = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label pairs at the terminal, with one key per pair. Every decision is saved immediately.

    Keys: v or 1 valid, i or 0 invalid, s skip, u undo, n note, ? definition of valid, q quit. Repeat the command to
    continue. If standard input is not a terminal, keys are read from it, one per line.
    """
    from paraqd.lab.annotation.journals import Session, annotator_name, journal_path, open_journal
    from paraqd.lab.annotation.merging import check_labelled, disagreements, read_annotators
    from paraqd.lab.cli.annotate_screen import annotate_pairs
    from paraqd.lab.cli.keys import open_keys

    name = _login() if annotator is None else annotator_name(annotator)
    pairs = _read(source, question_column, paraphrase_column, id_column, encoding)
    journal = Path(out) if out is not None else journal_path(source, name)
    scope, resolves = None, []
    if resolve:
        judges = read_annotators(resolve, pairs, label_columns=label_column or ["label"], encoding=encoding)
        check_labelled(judges, pairs)
        scope, resolves = disagreements(judges), [judge.name for judge in judges]
        if not scope:
            raise _error(f"{' and '.join(resolves)} agree on every pair that they labelled; there is nothing to settle")
    with open_journal(journal, pairs, annotator=name, seed=seed, resolves=resolves) as opened:
        session = Session(opened, pairs, scope=scope)
        try:
            with open_keys() as keys:
                annotate_pairs(session, keys, stderr())
        except KeyboardInterrupt:
            _summary(session, as_json=as_json, quiet=quiet)
            say("stopped; run the same command again to continue")
            raise typer.Exit(EXIT_CODE) from None
        _summary(session, as_json=as_json, quiet=quiet)


@app.command("merge", epilog="Example: paraqd lab annotate merge pairs.csv pairs.ann.jsonl bob.csv -o merged.csv")
def merge(
    source: _Pairs,
    annotated: Annotated[
        list[str], typer.Argument(metavar="FILE", help="The annotators' journals, or tables with a label column.")
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The file for the merged pairs. Its extension sets the format."
        ),
    ],
    disagreements: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write the pairs on which annotators disagree.")
    ] = None,
    drop_open: Annotated[
        bool, typer.Option("--drop-open", help="Omit pairs that are not labelled or are still in dispute.")
    ] = False,
    overwrite: Overwrite = False,
    question_column: QuestionColumn = "question",
    paraphrase_column: ParaphraseColumn = "paraphrase",
    id_column: IdColumn = "id",
    label_column: _Labels = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Merge the annotators' labels into one label for each pair, and compute Cohen's κ between annotators.

    If the annotators disagree on a pair, the annotator who used --resolve decides. If nobody used --resolve, the
    majority decides. In case of a tie, the pair has no label. Every annotator must have labelled at least one pair.
    """
    from paraqd.lab.annotation.merging import merge_files

    report = merge_files(
        source,
        annotated,
        out,
        disagreements=disagreements,
        drop_open=drop_open,
        overwrite=overwrite,
        columns=_columns(source, question_column, paraphrase_column, id_column),
        label_columns=label_column or ["label"],
        encoding=encoding,
    )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show_merged(report)
    _list_unsettled(report.unsettled, dropped=drop_open)
    if report.unsettled and not drop_open:
        raise typer.Exit(1)


@app.command("export", epilog="Example: paraqd lab annotate export pairs.csv --annotator bob -o bob.csv")
def export(
    source: _Pairs,
    annotator: Annotated[
        str,
        typer.Option(
            "--annotator", "-a", metavar="NAME", help="The annotator's name, which determines the order of the pairs."
        ),
    ],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The sheet to write, such as bob.csv.")],
    seed: Annotated[int, typer.Option(help="The random seed for the order of the pairs.")] = 3407,
    overwrite: Overwrite = False,
    question_column: QuestionColumn = "question",
    paraphrase_column: ParaphraseColumn = "paraphrase",
    id_column: IdColumn = "id",
    encoding: Encoding = None,
    quiet: Quiet = False,
) -> None:
    """Write the pairs for an annotator who labels in a spreadsheet, with an empty column for the labels."""
    from paraqd.lab.annotation.journals import annotator_name, shuffled
    from paraqd.lab.annotation.merging import write_sheet
    from paraqd.tables.writers import check_outputs

    check_outputs([out], [source], overwrite=overwrite)
    pairs = _read(source, question_column, paraphrase_column, id_column, encoding)
    write_sheet(out, pairs, shuffled(pairs, annotator=annotator_name(annotator), seed=seed))
    if not quiet:
        say(f"{counted(len(pairs.pairs), 'pair')} in {out}; write 1 (valid) or 0 (invalid) in the column label")


@app.command("stats", epilog="Example: paraqd lab annotate stats aquarat.csv sawp.csv")
def stats(
    sources: Annotated[list[str], typer.Argument(metavar="FILE", help="Merged files, one for each data set.")],
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Also write a plot to a .png or .svg file.")] = None,
    label_column: LabelColumn = "label",
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """Compare the test operators' intended labels with the annotated labels, as in the paper."""
    from paraqd.evaluation.errors import EvaluationError
    from paraqd.lab.annotation.operator_statistics import PAPER_AVERAGES, average_statistics, operator_statistics
    from paraqd.tables.rows import NumberedRow, numbered
    from paraqd.tables.table import open_table

    found: dict[str, OperatorStatistics] = {}
    for source in sources:
        table = open_table(source, encoding=encoding)
        absent = [name for name in ("operator", "intended", label_column) if name not in table.columns]
        if absent:
            raise _error(
                f"{table.name} has no column {absent[0]!r} (it has: {', '.join(table.columns)}); use a file that "
                "paraqd lab annotate merge wrote for pairs from paraqd lab testset"
            )
        try:
            found[source] = operator_statistics(
                NumberedRow({**row, "label": row.get(label_column)}, number) for number, row in numbered(table.rows())
            )
        except EvaluationError as error:
            raise _error(f"{table.name}: {error}") from None
    if plot is not None:
        from paraqd.evaluation.plots import operator_plot

        operator_plot({Path(source).stem: statistics.matrix for source, statistics in found.items()}, plot)
    average = average_statistics(list(found.values()))
    if as_json:
        files = {source: statistics.to_dict() for source, statistics in found.items()}
        write_json({"files": files, "average": average, "paper": dict(PAPER_AVERAGES)})
    else:
        _show_statistics(found, average)


# --- helpers ------------------------------------------------------------------------------------


def _error(message: str) -> Exception:
    from paraqd.lab.annotation.pairs_to_label import AnnotationError

    return AnnotationError(message)


def _login() -> str:
    """Return the login name, with underscores for characters that an annotator's name must not contain."""
    import getpass
    import re

    try:
        return re.sub(r"[^\w-]+", "_", getpass.getuser()) or "annotator"
    except (OSError, KeyError, ImportError):  # there is no login name
        return "annotator"


def _read(source: str, question: str, paraphrase: str, name: str, encoding: str | None) -> PairsToLabel:
    from paraqd.lab.annotation.pairs_to_label import read_pairs_to_label

    return read_pairs_to_label(source, columns=_columns(source, question, paraphrase, name), encoding=encoding)


def _columns(source: str, question: str, paraphrase: str, name: str) -> Columns:
    """Return the column names; raise an AnnotationError if the pairs would be read from standard input."""
    from paraqd.tables.table import Columns

    if source == "-":
        raise _error("PAIRS must be a file, because the keys are read from standard input")
    return Columns(question=question, paraphrase=paraphrase, id=name)


def _summary(session: Session, *, as_json: bool, quiet: bool) -> None:
    journal = session.journal
    labels = list(journal.decisions.labels.values())
    if as_json:
        write_json(
            {
                "annotator": journal.header.annotator,
                "journal": str(journal.path),
                "pairs": session.total,
                "labelled": session.labelled,
                "valid": labels.count(1),
                "invalid": labels.count(0),
                "skipped": session.skipped,
            }
        )
    elif not quiet:
        skipped = f", {session.skipped:,} skipped" if session.skipped else ""
        stdout().print(
            f"{journal.header.annotator}: {session.labelled:,} of {session.total:,} labelled ({labels.count(1):,} "
            f"valid, {labels.count(0):,} invalid){skipped}; saved in {journal.path}",
            soft_wrap=True,
        )


def _show_merged(report: MergeReport) -> None:
    from rich.table import Table

    console, agreements = stdout(), report.agreements
    if agreements:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for title in ("annotators", "pairs", "agree", "Cohen's κ", "95 % interval"):
            table.add_column(title, no_wrap=True, justify="left" if title == "annotators" else "right")
        for first, second, found in agreements:
            kappa = "not defined" if found.kappa is None else f"{found.kappa:.2f} ({found.word})"
            interval = "" if found.low is None else f"{found.low:.2f} to {found.high:.2f}"
            table.add_row(f"{first}, {second}", f"{found.n:,}", f"{found.observed:.1%}", kappa, interval)
        console.print(table)
        for first, second, found in agreements:
            (neither, second_only), (first_only, both) = found.table
            console.print(
                f"{first} and {second}: {both:,} valid for both, {first_only:,} only for {first}, {second_only:,} only "
                f"for {second}, {neither:,} for neither",
                soft_wrap=True,
            )
    labelled = ", ".join(f"{name} {times:,}" for name, times in report.annotators.items())
    if agreements:
        agreement = f"annotators disagreed on {report.disagreed:,}"
    elif len(report.annotators) == 1:
        agreement = "one annotator only, so there is no agreement to measure"
    else:
        agreement = "no pair was labelled by two annotators, so there is no agreement to measure"
    console.print(f"pairs labelled by each annotator: {labelled}", soft_wrap=True)
    console.print(
        f"{counted(report.pairs, 'pair')}: {report.valid:,} valid, {report.invalid:,} invalid, "
        f"{len(report.unsettled):,} open; {agreement}; {report.written:,} written to {report.out}",
        soft_wrap=True,
    )


def _list_unsettled(unsettled: Sequence[Merged], *, dropped: bool) -> None:
    """List the pairs without a merged label by row number, with the reason."""
    tied = [item.pair.number for item in unsettled if item.agreed is False]
    bare = [item.pair.number for item in unsettled if item.agreed is not False]
    done = "omitted" if dropped else "kept without a label"
    if tied:
        say(
            f"{counted(len(tied), 'pair')} in dispute ({done}): {named_rows(tied)}; to settle disputes, run paraqd "
            "lab annotate PAIRS with --resolve"
        )
    if bare:
        say(f"{counted(len(bare), 'pair')} not labelled by anyone ({done}): {named_rows(bare)}")


def _show_statistics(found: dict[str, OperatorStatistics], average: dict[str, float]) -> None:
    from rich.table import Table

    from paraqd.lab.annotation.operator_statistics import PAPER_AVERAGES

    console = stdout()
    for source, statistics in found.items():
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", title=source, title_justify="left")
        for title in ("operator", "paper", "intended"):
            table.add_column(title, no_wrap=True)
        for title in ("pairs", "valid", "invalid", "as intended"):
            table.add_column(title, no_wrap=True, justify="right")
        for count in statistics.operators:
            intended = "valid" if count.intended else "invalid"
            numbers = [f"{number:,}" for number in (count.n, count.valid, count.invalid)]
            table.add_row(count.operator, count.paper_id, intended, *numbers, f"{count.accuracy:.1%}")
        console.print(table)
        if statistics.unlabelled:
            console.print(f"skipped {counted(statistics.unlabelled, 'row')} without a label")
        console.print(_figures(statistics.to_dict()), soft_wrap=True)
    if len(found) > 1:
        console.print(f"average over {len(found)} files: {_figures(average)}", soft_wrap=True)
    console.print(f"the paper's average over three data sets: {_figures(PAPER_AVERAGES)}", soft_wrap=True)


def _figures(numbers: Any) -> str:
    return ", ".join(f"{name} {numbers[name]:.2f}" for name in ("precision", "recall", "accuracy"))

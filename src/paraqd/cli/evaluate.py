"""Provide the command ``paraqd evaluate``, which compares scores with labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from paraqd.cli.console import say, stderr, stdout, write_json
from paraqd.cli.options import FILES, AsJson, DataDir, Device, Encoding, JudgeName, Quiet
from paraqd.scoring.verdict import THRESHOLD

if TYPE_CHECKING:
    from paraqd.evaluation.report import Report
    from paraqd.evaluation.tables import Table

EXAMPLE = "Example: paraqd evaluate scored.csv --compare other.csv --plots figures --table-out results.md"


def evaluate(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN|NAME",
            help="Labelled pairs: a file, - for JSONL on standard input, or the name of a data set, such as aquarat.",
        ),
    ],
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|MODEL", help="A second file of scores for the same pairs, or a second model to compare."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="Score the pairs with this model: default, the name of an encoder, or a model folder.",
        ),
    ] = None,
    judge: JudgeName = None,
    threshold: Annotated[float, typer.Option(help="A pair is valid if its score is above this threshold.")] = THRESHOLD,
    intervals: Annotated[
        bool, typer.Option("--intervals/--no-intervals", help="Calculate 95 % intervals by resampling the questions.")
    ] = True,
    scores_out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the pairs with their scores, for use with --compare.")
    ] = None,
    plots: Annotated[str | None, typer.Option(metavar="DIR", help="Write plots to this folder.")] = None,
    table_out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the tables to a .md, .tex or .json file.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file of scores.")] = False,
    data_dir: DataDir = None,
    question_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column with the questions. Default: question, or the data set's own column.",
            rich_help_panel=FILES,
        ),
    ] = None,
    paraphrase_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column with the paraphrases. Default: paraphrase, or the data set's own column.",
            rich_help_panel=FILES,
        ),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column with the labels. Default: label, or the data set's own column.",
            rich_help_panel=FILES,
        ),
    ] = None,
    score_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The column with the scores. Default: score, if it exists.", rich_help_panel=FILES
        ),
    ] = None,
    encoding: Encoding = None,
    device: Device = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare scores with labels, and report precision, recall, F1, separation, AUC and calibration with intervals.

    The scores are read from the column score if it exists. Otherwise, the pairs are scored with the default scorer or
    with --model. The score from an encoder such as all-MiniLM-L6-v2 is the cosine similarity.
    """
    from dataclasses import replace

    from paraqd.cli.progress import Bar
    from paraqd.evaluation.report import report_tables, write_plots
    from paraqd.evaluation.tables import table_format, write_tables
    from paraqd.extras import require_extra
    from paraqd.runs.evaluate import evaluate_file
    from paraqd.runs.run import ignore
    from paraqd.tables.datasets import columns_of

    if plots is not None:  # fail now rather than after the work
        require_extra("train", "plots", "matplotlib")
    if table_out is not None:
        table_format(table_out)
    names = {"question": question_column, "paraphrase": paraphrase_column, "label": label_column}
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        report = evaluate_file(
            source,
            model=model,
            compare=compare,
            judge=judge,
            threshold=threshold,
            intervals=intervals,
            scores_out=scores_out,
            overwrite=overwrite,
            data_dir=data_dir,
            columns=replace(columns_of(source), **{role: name for role, name in names.items() if name is not None}),
            score_column=score_column,
            encoding=encoding,
            device=device,
            say=ignore if quiet else say,
            progress=bar.update,
        )
    tables = report_tables(report, dataset=source)
    if table_out is not None:
        write_tables(tables, table_out)
    if scores_out is not None and not quiet:
        say(f"wrote {len(report.scored.scores):,} scores of {report.scored.name} to {scores_out}")
    if plots is not None:
        files = write_plots(report, plots)
        if not quiet:
            say(f"wrote {', '.join(path.name for path in files)} to {plots}")
    _warn(report, threshold)
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(tables, report.scored.signature)


def _warn(report: Report, threshold: float) -> None:
    """Warn about scores or a threshold outside -1 to 1, which are allowed but probably mistakes."""
    for each in filter(None, (report.scored, report.other)):
        beyond = sum(not -1 <= score <= 1 for score in each.scores)
        if beyond:
            lowest, highest = min(each.scores), max(each.scores)
            say(
                f"warning: {beyond:,} of {len(each.scores):,} scores of {each.name} are outside -1 to 1 (from "
                f"{lowest:g} to {highest:g}); there is no calibration, and --threshold must match their scale"
            )
    if not -1 <= threshold <= 1:
        say(f"warning: --threshold {threshold:g} is outside -1 to 1, the scale of paraqd's scores")


def _show(tables: Sequence[Table], signature: str) -> None:
    """Print the tables and, once at the end, the signature."""
    from rich.table import Table as Grid
    from rich.text import Text

    from paraqd.evaluation.intervals import Estimate
    from paraqd.evaluation.tables import shown

    console = stdout()
    for table in tables:
        console.print(Text(table.title, style="bold"))
        grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column in table.columns:
            numeric = any(isinstance(row.get(column.key), int | float | Estimate) for row in table.rows)
            grid.add_column(column.title, justify="right" if numeric else "left")
        for row in table.rows:
            grid.add_row(*(Text(shown(row.get(column.key), column.decimals)) for column in table.columns))
        console.print(grid)
        for note in table.notes:
            if note != signature:
                console.print(Text(note, style="dim"))
        console.print()
    console.print(signature, soft_wrap=True)

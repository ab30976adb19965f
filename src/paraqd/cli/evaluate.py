"""``paraqd evaluate``: how good scores are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from paraqd.cli.console import say, stderr, stdout, write_json

if TYPE_CHECKING:
    from paraqd.evaluation.report import Scored
    from paraqd.evaluation.tables import Table

EXAMPLE = "Example: paraqd evaluate scored.csv --compare other.csv --plots figures --table-out results.md"

_FILES, _SHOWN = "Files", "What is shown"
_NO_COLUMN = "\0"  # a name that no column has


def evaluate(
    source: str = typer.Argument(
        ..., metavar="IN|NAME", help="Labelled pairs in a file (- is JSONL), or a data set by name, such as aquarat."
    ),
    compare: str | None = typer.Option(
        None, "--compare", metavar="OTHER", help="A second file of scores over the same pairs, or a model."
    ),
    model: str | None = typer.Option(
        None, "--model", help="Score with it: default (paraqd's own scorer), an encoder's name, or a folder."
    ),
    threshold: float = typer.Option(0.5, "--threshold", help="A pair is accepted where its score is greater."),
    intervals: bool = typer.Option(True, "--intervals/--no-intervals", help="Bootstrap intervals over questions."),
    scores_out: str | None = typer.Option(
        None, "--scores-out", metavar="FILE", help="Write the pairs with their scores, for --compare; format by name."
    ),
    plots: str | None = typer.Option(None, "--plots", metavar="DIR", help="Draw figures into this folder."),
    table_out: str | None = typer.Option(
        None, "--table-out", metavar="FILE", help="Write the tables as .md, .tex or .json."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace a file of scores that is there."),
    data_dir: str | None = typer.Option(
        None, "--data-dir", envvar="PARAQD_DATA_DIR", help="Where data sets lie.", rich_help_panel=_FILES
    ),
    question_column: str | None = typer.Option(None, "--question-column", rich_help_panel=_FILES),
    paraphrase_column: str | None = typer.Option(None, "--paraphrase-column", rich_help_panel=_FILES),
    label_column: str | None = typer.Option(None, "--label-column", rich_help_panel=_FILES),
    score_column: str | None = typer.Option(
        None, "--score-column", help="score unless given; one that is given must be there.", rich_help_panel=_FILES
    ),
    encoding: str | None = typer.Option(
        None, "--encoding", help="Of a text file that is not UTF-8, such as cp1252.", rich_help_panel=_FILES
    ),
    device: str | None = typer.Option(None, "--device", help="For an encoder: cpu, cuda.", rich_help_panel=_FILES),
    as_json: bool = typer.Option(False, "--json", help="Write JSON for a program.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no table.", rich_help_panel=_SHOWN),
) -> None:
    """Compare scores with labels: precision, recall, F1, separation, AUC, calibration, and how sure they are.

    The column score is used if there is one. Else the pairs are scored: by the
    scorer that comes with the package unless --model names another, or an
    encoder such as all-MiniLM-L6-v2, whose cosine is the score.
    """
    from paraqd.cli import evaluate_scores as scores
    from paraqd.cli.options import check_outputs
    from paraqd.cli.progress import Bar
    from paraqd.data.datasets import load_pairs
    from paraqd.data.pairs import both_classes
    from paraqd.evaluation.report import build_report, report_tables, write_plots
    from paraqd.evaluation.tables import table_format, write_tables

    if plots is not None:  # what would fail at the end fails here
        import matplotlib  # noqa: F401
    if table_out is not None:
        table_format(table_out)
    if source == "-" == compare:
        raise typer.BadParameter("standard input can be read once: give --compare a file")
    if scores_out is not None:
        check_outputs([scores_out], scores.inputs(source, compare, data_dir), overwrite=overwrite)
    columns = scores.columns_of(source, question_column, paraphrase_column, label_column)
    reading = scores.Reading(columns=columns, encoding=encoding, score_column=score_column, threshold=threshold)
    pairs = load_pairs(
        source,
        data_dir=data_dir,
        columns=columns,
        encoding=encoding,
        # with --model the file's own scores need not be sound, so they are not read
        score_column=(score_column or scores.SCORE) if model is None else _NO_COLUMN,
        scored=score_column is not None and model is None,
    )
    both_classes(pairs, source)
    found = scores.find_scores(source, pairs, reading, model=model, compare=compare)
    models = scores.load_models(found, device=device, threshold=threshold)
    if found.unasked and not quiet:
        say(f"no column {scores.SCORE!r}: scoring with {found.unasked}")
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        scored, other = scores.make_scores(found, models, pairs, on_progress=bar.update)
        if scores_out is not None:  # at once: whatever comes after it, the scores are not lost
            scores.write_scores(scores_out, source, pairs, scored, encoding)
        report = build_report(scored, threshold=threshold, other=other, intervals=intervals, progress=bar.update)
    tables = report_tables(report, dataset=source)
    if table_out is not None:
        write_tables(tables, table_out)
    if scores_out is not None and not quiet:
        say(f"{len(pairs):,} scores of {scored.name} are in {scores_out}")
    if plots is not None:
        files = write_plots(report, plots)
        if not quiet:
            say(f"drew {', '.join(path.name for path in files)} in {plots}")
    _warn([scored] if other is None else [scored, other], threshold)
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(tables, scored.signature)


def _warn(scored: Sequence[Scored], threshold: float) -> None:
    """Say what lies outside the scale of scores: it can be evaluated, but seldom is what was meant."""
    for each in scored:
        beyond = sum(not -1 <= score <= 1 for score in each.scores)
        if beyond:
            lowest, highest = min(each.scores), max(each.scores)
            say(
                f"warning: {beyond:,} of {len(each.scores):,} scores of {each.name} lie outside -1 to 1 (they go from "
                f"{lowest:g} to {highest:g}): there is no calibration, and --threshold must fit them"
            )
    if not -1 <= threshold <= 1:
        say(f"warning: --threshold {threshold:g} lies outside -1 to 1, the scale of paraqd's scores")


def _show(tables: Sequence[Table], signature: str) -> None:
    """Show the tables; the signature, which every written table carries, once."""
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
    console.print(signature, markup=False, soft_wrap=True)

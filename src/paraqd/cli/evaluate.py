"""Implement ``paraqd evaluate``, which compares scores with labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from paraqd.cli.console import say, stderr, stdout, write_json
from paraqd.scoring.verdict import THRESHOLD

if TYPE_CHECKING:
    from paraqd.evaluation.report import Scored
    from paraqd.evaluation.tables import Table

EXAMPLE = "Example: paraqd evaluate scored.csv --compare other.csv --plots figures --table-out results.md"

_FILES, _SHOWN = "Files", "Output"
_NO_COLUMN = "\0"  # no column can have this name


def evaluate(
    source: str = typer.Argument(
        ...,
        metavar="IN|NAME",
        help="A file of labelled pairs (- is standard input), or a data set such as aquarat.",
    ),
    compare: str | None = typer.Option(
        None, "--compare", metavar="OTHER", help="A second file of scores for the same pairs, or a model."
    ),
    model: str | None = typer.Option(
        None, "--model", help="Score with this model: default, the name of an encoder, or a model folder."
    ),
    threshold: float = typer.Option(THRESHOLD, "--threshold", help="Accept pairs with a score greater than this."),
    intervals: bool = typer.Option(True, "--intervals/--no-intervals", help="Show bootstrap intervals over questions."),
    scores_out: str | None = typer.Option(
        None, "--scores-out", metavar="FILE", help="Write the pairs with their scores, for --compare."
    ),
    plots: str | None = typer.Option(None, "--plots", metavar="DIR", help="Write plots to this folder."),
    table_out: str | None = typer.Option(
        None, "--table-out", metavar="FILE", help="Write the tables as .md, .tex or .json."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an existing file of scores."),
    data_dir: str | None = typer.Option(
        None, "--data-dir", envvar="PARAQD_DATA_DIR", help="The folder with data sets.", rich_help_panel=_FILES
    ),
    question_column: str | None = typer.Option(None, "--question-column", rich_help_panel=_FILES),
    paraphrase_column: str | None = typer.Option(None, "--paraphrase-column", rich_help_panel=_FILES),
    label_column: str | None = typer.Option(None, "--label-column", rich_help_panel=_FILES),
    score_column: str | None = typer.Option(
        None,
        "--score-column",
        help="The score column. Default: score, if it exists.",
        rich_help_panel=_FILES,
    ),
    encoding: str | None = typer.Option(
        None,
        "--encoding",
        help="The encoding of a file that is not UTF-8, such as cp1252.",
        rich_help_panel=_FILES,
    ),
    device: str | None = typer.Option(None, "--device", help="For an encoder: cpu or cuda.", rich_help_panel=_FILES),
    as_json: bool = typer.Option(False, "--json", help="Write JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Show no progress and no tables.", rich_help_panel=_SHOWN),
) -> None:
    """Compare scores with labels: precision, recall, F1, separation, AUC and calibration, with intervals.

    The scores are read from the column score if it exists. Otherwise the pairs
    are scored with the default scorer or with --model. The score of an encoder
    such as all-MiniLM-L6-v2 is the cosine similarity.
    """
    from paraqd.cli import evaluate_scores as scores
    from paraqd.cli.options import check_outputs
    from paraqd.cli.progress import Bar
    from paraqd.data.datasets import load_pairs
    from paraqd.data.pairs import both_classes
    from paraqd.evaluation.report import build_report, report_tables, write_plots
    from paraqd.evaluation.tables import table_format, write_tables
    from paraqd.extras import require_extra

    if plots is not None:  # fail now rather than after the work
        require_extra("train", "plots", "matplotlib")
    if table_out is not None:
        table_format(table_out)
    if source == "-" == compare:
        raise typer.BadParameter("standard input can be read only once; pass a file to --compare")
    if scores_out is not None:
        check_outputs([scores_out], scores.inputs(source, compare, data_dir), overwrite=overwrite)
    columns = scores.columns_of(source, question_column, paraphrase_column, label_column)
    reading = scores.Reading(columns=columns, encoding=encoding, score_column=score_column, threshold=threshold)
    pairs = load_pairs(
        source,
        data_dir=data_dir,
        columns=columns,
        encoding=encoding,
        # with --model, the scores in the file are not used, so errors in them do not matter
        score_column=(score_column or scores.SCORE) if model is None else _NO_COLUMN,
        scored=score_column is not None and model is None,
    )
    both_classes(pairs, source)
    found = scores.find_scores(source, pairs, reading, model=model, compare=compare)
    models = scores.load_models(found, device=device, threshold=threshold)
    if found.implied and not quiet:
        say(f"no column {scores.SCORE!r}; scoring with {found.implied}")
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        scored, other = scores.make_scores(found, models, pairs, progress=bar.update)
        if scores_out is not None:  # write the scores now, so that a later error does not lose them
            scores.write_scores(scores_out, source, pairs, scored, encoding)
        report = build_report(scored, threshold=threshold, other=other, intervals=intervals, progress=bar.update)
    tables = report_tables(report, dataset=source)
    if table_out is not None:
        write_tables(tables, table_out)
    if scores_out is not None and not quiet:
        say(f"{len(pairs):,} scores of {scored.name} written to {scores_out}")
    if plots is not None:
        files = write_plots(report, plots)
        if not quiet:
            say(f"wrote {', '.join(path.name for path in files)} to {plots}")
    _warn([scored] if other is None else [scored, other], threshold)
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(tables, scored.signature)


def _warn(scored: Sequence[Scored], threshold: float) -> None:
    """Warn about scores and thresholds outside -1 to 1, which can be evaluated but are probably mistakes."""
    for each in scored:
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
    """Print the tables, and the signature only once."""
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

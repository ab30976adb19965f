"""Provide the command ``paraqd pseudo-label``, which labels pairs for the baselines with an untrained encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import named_rows, say, stdout, write_json
from paraqd.cli.run_options import run_command, running, say_problems
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.runs.pseudo_labels import PseudoLabelReport

EXAMPLE = "Example: paraqd pseudo-label uda.parquet -o uda_labelled.parquet --threshold 0.8"

_FILES, _SHOWN = "Files", "Output"


@run_command
def pseudo_label(
    source: str = typer.Argument(
        ...,
        metavar="AUGMENTED",
        help="Pairs: a .csv, .tsv, .jsonl (also .gz or .zst) or .parquet file, a folder, or - for JSONL on stdin.",
    ),
    out: str = typer.Option(
        ..., "--out", "-o", help="The output: a file, whose extension sets the format, or NAME/ for a folder."
    ),
    threshold: float | None = typer.Option(
        None, "--threshold", min=-1, max=1, help="A pair is valid if its cosine is above this threshold. Default: 0.8."
    ),
    encoder: str | None = typer.Option(
        None, "--encoder", help="The folder of an untrained encoder. Default: all-MiniLM-L6-v2."
    ),
    device: str | None = typer.Option(None, "--device", help="The device for the encoder: cpu or cuda."),
    question_column: str = typer.Option("question", "--question-column", rich_help_panel=_FILES),
    paraphrase_column: str = typer.Option("paraphrase", "--paraphrase-column", rich_help_panel=_FILES),
    id_column: str = typer.Option("id", "--id-column", rich_help_panel=_FILES),
    as_json: bool = typer.Option(False, "--json", help="Print the statistics as JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Hide the progress and the table.", rich_help_panel=_SHOWN),
    *,
    run: dict[str, Any],
) -> None:
    """Replace each pair's label with valid if an encoder rates the two texts as similar, otherwise with invalid.

    This command is for the baselines, whose operators label every pair as valid. The column cosine holds the
    similarity behind each label. To resume an interrupted run, repeat the command.
    """
    from paraqd.data.tables import Columns
    from paraqd.generators.encoder import DEFAULT_ENCODER
    from paraqd.runs.pseudo_labels import THRESHOLD, pseudo_label_file

    with running(run, quiet=quiet) as options:
        report = pseudo_label_file(
            source,
            out,
            encoder=encoder or DEFAULT_ENCODER,
            threshold=THRESHOLD if threshold is None else threshold,
            device=device,
            columns=Columns(question=question_column, paraphrase=paraphrase_column, id=id_column),
            **options,
        )
    if report.replaced and not quiet:
        say(
            f"{report.source} has labels that no operator gave (it has no column 'operator'): {report.out} holds the "
            "labels of the encoder instead"
        )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(report)
    if report.skipped:
        say(f"left out {counted(report.skipped, 'row')} without a usable pair ({named_rows(report.skipped_rows)})")
    say_problems(report.problems)
    if report.skipped or report.problems:
        raise typer.Exit(1)


def _show(report: PseudoLabelReport) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("operator", no_wrap=True)
    for title in ("pairs", "valid %", "invalid %"):
        table.add_column(title, justify="right", no_wrap=True)
    statistics = report.statistics
    for operator in (*statistics.operators, statistics.overall):
        table.add_row(
            operator.name, f"{operator.total:,}", f"{operator.positive_pct:.2f}", f"{operator.negative_pct:.2f}"
        )
    console = stdout()
    console.print(table)
    console.print(f"cosine above {report.threshold:g} by {report.encoder} → {report.out}", markup=False, soft_wrap=True)

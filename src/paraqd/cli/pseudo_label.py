"""``paraqd pseudo-label``: let an untrained encoder label the baselines' pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from paraqd.cli.console import named_rows, say, stderr, stdout, write_json

if TYPE_CHECKING:
    from paraqd.runs.pseudo_labels import PseudoLabelReport

EXAMPLE = "Example: paraqd pseudo-label uda.parquet -o uda_labelled.parquet --threshold 0.8"

_FILES, _SHOWN = "Files", "What is shown"


def pseudo_label(
    source: str = typer.Argument(
        ..., metavar="AUGMENTED", help="Pairs: .csv, .tsv, .jsonl (each also .gz or .zst) or .parquet; - is JSONL."
    ),
    out: str = typer.Option(..., "--out", "-o", help="Where the pairs go; the format by its name."),
    threshold: float = typer.Option(0.8, "--threshold", min=-1, max=1, help="Valid is a cosine above it."),
    encoder: str | None = typer.Option(
        None, "--encoder", help="A folder; all-MiniLM-L6-v2 unless given. It should be untrained."
    ),
    device: str | None = typer.Option(None, "--device", help="cpu, cuda."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace a finished output."),
    question_column: str = typer.Option("question", "--question-column", rich_help_panel=_FILES),
    paraphrase_column: str = typer.Option("paraphrase", "--paraphrase-column", rich_help_panel=_FILES),
    id_column: str = typer.Option("id", "--id-column", rich_help_panel=_FILES),
    encoding: str | None = typer.Option(
        None, "--encoding", help="Of a text file that is not UTF-8, such as cp1252.", rich_help_panel=_FILES
    ),
    as_json: bool = typer.Option(False, "--json", help="Write the statistics as JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no table.", rich_help_panel=_SHOWN),
) -> None:
    """Label each pair anew: valid where the encoder finds question and paraphrase alike, else invalid.

    For the baselines, whose pairs are all called valid when they are made. The column cosine says what each label
    rests on.
    """
    from paraqd.cli.progress import Bar
    from paraqd.data.tables import Columns
    from paraqd.generators.encoder import DEFAULT_ENCODER
    from paraqd.runs.pseudo_labels import pseudo_label_file

    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        report = pseudo_label_file(
            source,
            out,
            encoder=encoder or DEFAULT_ENCODER,
            threshold=threshold,
            device=device,
            columns=Columns(question=question_column, paraphrase=paraphrase_column, id=id_column),
            encoding=encoding,
            overwrite=overwrite,
            progress=bar.update,
        )
    if report.replaced and not quiet:
        say(
            f"{report.source} has labels that no operator gave (it has no column 'operator'): in {report.out} the "
            "encoder's replace them"
        )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(report)
    if report.skipped:
        say(f"left out {report.skipped:,} rows without a usable pair ({named_rows(report.skipped_rows)})")
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

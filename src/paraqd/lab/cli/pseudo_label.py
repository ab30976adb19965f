"""Provide the command ``paraqd lab pseudo-label``, which labels pairs for the baselines by similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import listed_rows, say, stdout, write_json
from paraqd.cli.options import AsJson, Device, IdColumn, Output, PairsInput, ParaphraseColumn, QuestionColumn, Quiet
from paraqd.cli.run_options import run_command, running, say_problems
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.lab.corpora.pseudo_labels import PseudoLabelReport

EXAMPLE = "Example: paraqd lab pseudo-label uda.parquet -o uda_labelled.parquet --threshold 0.8"


@run_command
def pseudo_label(
    source: PairsInput,
    out: Output,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=-1, max=1, help="A pair is valid if its cosine similarity is above this threshold. Default: 0.8."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="The folder of an untrained encoder. Default: all-MiniLM-L6-v2."),
    ] = None,
    device: Device = None,
    question_column: QuestionColumn = "question",
    paraphrase_column: ParaphraseColumn = "paraphrase",
    id_column: IdColumn = "id",
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    run: dict[str, Any],
) -> None:
    """Label each pair as valid or invalid by the similarity of its two texts, measured with an untrained encoder.

    This command is for the baselines, whose operators label every pair as valid. The similarities
    are written to a new column named "cosine". To resume an interrupted run, repeat the command.
    """
    from paraqd.lab.corpora.pseudo_labels import THRESHOLD, pseudo_label_file
    from paraqd.scoring.torch_encoder import DEFAULT_ENCODER
    from paraqd.tables.table import Columns

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
            f"the labels in {report.source} do not come from operators (there is no column 'operator'); {report.out} "
            "contains the encoder's labels instead"
        )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(report)
    if report.skipped:
        say(f"skipped {counted(report.skipped, 'row')} without a usable pair ({listed_rows(report.skipped_rows)})")
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
    console.print(
        f"valid: cosine similarity above {report.threshold:g} with {report.encoder}; written to {report.out}",
        soft_wrap=True,
    )

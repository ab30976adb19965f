"""Provide the command ``paraqd lab augment``, which creates labelled pairs from questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import write_json
from paraqd.cli.options import (
    MODELS,
    OUTPUT,
    AsJson,
    Device,
    Entities,
    Examples,
    Generators,
    IdColumn,
    Output,
    QuestionColumn,
    QuestionsInput,
    Quiet,
    Seed,
    Skip,
    names_in,
)
from paraqd.cli.run_options import run_command, running, say_problems

if TYPE_CHECKING:
    from paraqd.lab.corpora.augment_report import AugmentReport

EXAMPLE = "Example: paraqd lab augment questions.csv -o pairs.parquet --recipe paper --stand-ins --workers 4"


@run_command
def augment(
    source: QuestionsInput,
    out: Output,
    recipe: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE", help="A recipe, such as extended, paper or test, or a .toml file with your own recipe."
        ),
    ] = "extended",
    operators: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Operators to use instead of a recipe, separated by commas, such as f3,NumberChange.",
        ),
    ] = None,
    skip: Skip = None,
    seed: Seed = 3407,
    question_column: QuestionColumn = "question",
    id_column: IdColumn = "id",
    stand_ins: Annotated[
        bool,
        typer.Option(
            "--stand-ins", help="Use rules or small models instead of the paper's models.", rich_help_panel=MODELS
        ),
    ] = False,
    generator: Generators = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="The folder of the encoder for f5. Default: all-MiniLM-L6-v2.", rich_help_panel=MODELS
        ),
    ] = None,
    language_model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="A language model that helps Synonyms to choose, such as SmolLM2-135M-Instruct.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    entities: Entities = "light",
    device: Device = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write the report as an HTML page.", rich_help_panel=OUTPUT),
    ] = None,
    examples: Examples = 3,
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    run: dict[str, Any],
) -> None:
    """Create labelled pairs by applying every operator in a recipe to every question in a file.

    To resume an interrupted run, repeat the command. If the input is a folder, the output is a folder of Parquet parts.
    """
    from paraqd.lab.cli.augment_report import say_left_out, show
    from paraqd.lab.corpora.augment import augment as make_pairs
    from paraqd.lab.operators.plan import models_in
    from paraqd.scoring.torch_encoder import DEFAULT_ENCODER
    from paraqd.tables.table import Columns

    if report is not None:
        _check_report(report, source, out)
    with running(run, quiet=quiet) as options:
        result = make_pairs(
            source,
            out,
            recipe=recipe,
            operators=names_in(operators),
            skip=names_in(skip) or (),
            seed=seed,
            stand_ins=stand_ins,
            generators=models_in(generator),
            encoder=encoder or DEFAULT_ENCODER,
            language_model=language_model,
            entities=entities,
            device=device,
            columns=Columns(question=question_column, id=id_column),
            **options,
        )
    if report is not None:
        _write_page(result, Path(report))
    if as_json:
        write_json(result.to_dict())
    elif not quiet:
        show(result, examples=examples)
    say_left_out(result)
    say_problems(result.problems)
    if result.skipped or result.failed or result.problems:
        raise typer.Exit(1)


def _check_report(report: str, source: str, out: str) -> None:
    """Raise a TableError if the report page cannot be written or would replace the input or the output."""
    from paraqd.tables.formats import TableError
    from paraqd.tables.writers import check_place

    page = Path(report)
    check_place(page)
    if page.suffix.lower() not in {".html", ".htm"}:
        raise TableError(f"--report {report}: the name of the page must end in .html")
    if page.resolve() in {Path(source).resolve(), Path(out).resolve()}:
        raise TableError(f"--report {report}: this is the input or the output; choose another name")


def _write_page(result: AugmentReport, path: Path) -> None:
    from paraqd.lab.corpora.augment_report_page import report_html
    from paraqd.tables.formats import TableError, reason

    try:
        path.write_text(report_html(result), encoding="utf-8")
    except OSError as error:
        raise TableError(f"{result.out} is written, but {path} cannot be written: {reason(error)}") from None

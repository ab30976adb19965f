"""Provide the command ``paraqd augment``, which creates labelled pairs from questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import write_json
from paraqd.cli.options import models_in, names_in, say_left_out
from paraqd.cli.run_options import run_command, running, say_problems

if TYPE_CHECKING:
    from paraqd.runs.augment_report import AugmentReport

EXAMPLE = "Example: paraqd augment questions.csv -o pairs.parquet --recipe paper --stand-ins --workers 4"

_FILES, _MODELS, _SHOWN = "Files", "Models", "Output"


@run_command
def augment(
    source: str = typer.Argument(
        ...,
        metavar="IN",
        help="Questions: a .csv, .tsv, .jsonl (also .gz or .zst) or .parquet file, a folder, or - for JSONL on stdin.",
    ),
    out: str = typer.Option(
        ..., "--out", "-o", help="The output: a file, whose extension sets the format, or NAME/ for a folder."
    ),
    recipe: str = typer.Option(
        "extended", "--recipe", help="The name of a recipe, such as extended, paper or test, or a .toml file."
    ),
    operators: str | None = typer.Option(
        None, "--operators", help="Operators to use instead of a recipe, separated by commas, such as f3,NumberChange."
    ),
    skip: str | None = typer.Option(None, "--skip", help="Operators to skip, separated by commas."),
    seed: int = typer.Option(3407, "--seed", help="The random seed; the same seed yields the same pairs."),
    question_column: str = typer.Option("question", "--question-column", rich_help_panel=_FILES),
    id_column: str = typer.Option("id", "--id-column", rich_help_panel=_FILES),
    stand_ins: bool = typer.Option(
        False,
        "--stand-ins",
        help="Use rules or small models in place of the paper's models.",
        rich_help_panel=_MODELS,
    ),
    generator: list[str] = typer.Option(
        [], "--generator", metavar="ID=MODEL", help="A model for an operator, such as f9=DIR.", rich_help_panel=_MODELS
    ),
    encoder: str | None = typer.Option(
        None, "--encoder", help="The folder of the encoder for f5. Default: all-MiniLM-L6-v2.", rich_help_panel=_MODELS
    ),
    entities: str = typer.Option(
        "light", "--entities", help="How names are recognised: light or spacy.", rich_help_panel=_MODELS
    ),
    device: str | None = typer.Option(
        None, "--device", help="The device for the models: cpu or cuda.", rich_help_panel=_MODELS
    ),
    report: str | None = typer.Option(
        None, "--report", help="Also write the report as an HTML page.", rich_help_panel=_SHOWN
    ),
    examples: int = typer.Option(
        3, "--examples", min=0, max=3, help="The number of examples shown for each operator.", rich_help_panel=_SHOWN
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the report as JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(
        False, "--quiet", "-q", help="Hide the progress and the report.", rich_help_panel=_SHOWN
    ),
    *,
    run: dict[str, Any],
) -> None:
    """Create labelled pairs by applying every operator in a recipe to every question in a file.

    To resume an interrupted run, repeat the command. If the input is a folder, the output is a folder of Parquet parts.
    """
    from paraqd.data.tables import Columns
    from paraqd.generators.encoder import DEFAULT_ENCODER
    from paraqd.runs.augment import augment as make_pairs

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
        from paraqd.cli.augment_report import show

        show(result, examples=examples)
    say_left_out(result)
    say_problems(result.problems)
    if result.skipped or result.failed or result.problems:
        raise typer.Exit(1)


def _check_report(report: str, source: str, out: str) -> None:
    """Raise a TableError if the page cannot be written or would replace the input or the output."""
    from paraqd.data.formats import TableError

    page = Path(report)
    if not page.parent.is_dir():
        raise TableError(f"cannot write {report}: there is no folder {page.parent}")
    if page.is_dir():
        raise TableError(f"cannot write {report}: it is a folder")
    if page.suffix.lower() not in {".html", ".htm"}:
        raise TableError(f"--report {report}: the name of the page must end in .html")
    if page.resolve() in {Path(source).resolve(), Path(out).resolve()}:
        raise TableError(f"--report {report}: this is the input or the output; choose another name")


def _write_page(result: AugmentReport, path: Path) -> None:
    from paraqd.data.formats import TableError, reason
    from paraqd.runs.augment_report_page import report_html

    try:
        path.write_text(report_html(result), encoding="utf-8")
    except OSError as error:
        raise TableError(f"{result.out} is written, but {path} cannot be written: {reason(error)}") from None

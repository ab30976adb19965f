"""``paraqd augment``: make labelled pairs of a file of questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import note, say, stderr, write_json
from paraqd.cli.folders import ADDRESS, ENGINE, PART_ROWS, PERIOD, VERBOSE, EngineName
from paraqd.cli.options import models_in, names_in, say_left_out

if TYPE_CHECKING:
    from paraqd.runs.augment_report import AugmentReport

EXAMPLE = "Example: paraqd augment questions.csv -o pairs.parquet --recipe paper --stand-ins --workers 4"

_FILES, _MODELS, _SHOWN = "Files", "Models", "What is shown"


def augment(
    source: str = typer.Argument(
        ...,
        metavar="IN",
        help="Questions: .csv, .tsv, .jsonl (each also .gz or .zst) or .parquet; - is JSONL. Or a folder of them.",
    ),
    out: str = typer.Option(..., "--out", "-o", help="Where the pairs go; the format by its name, NAME/ a folder."),
    recipe: str = typer.Option("extended", "--recipe", help="extended, paper, test, uda, ssmba, or a .toml file."),
    operators: str | None = typer.Option(
        None, "--operators", help="These instead of the recipe's, with commas: f3,NumberChange."
    ),
    skip: str | None = typer.Option(None, "--skip", help="Operators to leave out, with commas."),
    seed: int = typer.Option(3407, "--seed", help="The same seed gives the same pairs."),
    workers: int | None = typer.Option(
        None,
        "--workers",
        help="Processes, one unless given; with --engine ray all cores. The output does not depend on it.",
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace a finished output."),
    restart: bool = typer.Option(False, "--restart", help="Throw an unfinished run away and start again."),
    question_column: str = typer.Option("question", "--question-column", rich_help_panel=_FILES),
    id_column: str = typer.Option("id", "--id-column", rich_help_panel=_FILES),
    encoding: str | None = typer.Option(
        None, "--encoding", help="Of a text file that is not UTF-8, such as cp1252.", rich_help_panel=_FILES
    ),
    stand_ins: bool = typer.Option(
        False,
        "--stand-ins",
        help="Let rules or small models stand in for the paper's.",
        rich_help_panel=_MODELS,
    ),
    generator: list[str] = typer.Option(
        [], "--generator", metavar="ID=MODEL", help="A folder or name: f9=DIR.", rich_help_panel=_MODELS
    ),
    encoder: str | None = typer.Option(
        None, "--encoder", help="A folder, for f5; all-MiniLM-L6-v2 unless given.", rich_help_panel=_MODELS
    ),
    entities: str = typer.Option(
        "light", "--entities", help="How names are found: light or spacy.", rich_help_panel=_MODELS
    ),
    device: str | None = typer.Option(None, "--device", help="For models: cpu, cuda.", rich_help_panel=_MODELS),
    report: str | None = typer.Option(
        None, "--report", help="Also write the report as an HTML page.", rich_help_panel=_SHOWN
    ),
    examples: int = typer.Option(3, "--examples", min=0, max=3, help="Shown per operator.", rich_help_panel=_SHOWN),
    as_json: bool = typer.Option(False, "--json", help="The report as JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no report.", rich_help_panel=_SHOWN),
    engine: EngineName = ENGINE,
    address: str | None = ADDRESS,
    part_rows: int | None = PART_ROWS,
    verbose: bool = VERBOSE,
) -> None:
    """Make labelled pairs: apply every operator of a recipe to every question of a file.

    Run the same command again after an interruption: it goes on where it was. A folder of files is made into a folder
    of Parquet parts, here or on a Ray cluster.
    """
    from paraqd.cli.folders import Folders, say_problems, stopped
    from paraqd.cli.progress import Bar
    from paraqd.data.tables import Columns
    from paraqd.generators.encoder import DEFAULT_ENCODER
    from paraqd.operators.plan import AugmentError
    from paraqd.runs.augment import AugmentInterrupted
    from paraqd.runs.augment import augment as run
    from paraqd.runs.augment_folder import augment_folder
    from paraqd.runs.folder_run import RunInterrupted

    if report is not None:
        _check_report(report, source, out)
    if workers is not None and workers < 1:
        raise AugmentError(f"--workers {workers}: at least one is needed")
    folders = Folders.wanted(source, out, engine, workers, address, part_rows, verbose, workers_without=True)
    settings: dict[str, Any] = {
        "recipe": recipe,
        "operators": names_in(operators),
        "skip": names_in(skip) or (),
        "seed": seed,
        "stand_ins": stand_ins,
        "generators": models_in(generator),
        "encoder": encoder or DEFAULT_ENCODER,
        "entities": entities,
        "device": device,
        "columns": Columns(question=question_column, id=id_column),
        "encoding": encoding,
        "overwrite": overwrite,
        "restart": restart,
    }
    result: AugmentReport
    problems: Sequence[str] = ()
    interrupted = False
    try:
        with Bar(shown=not quiet and stderr().is_terminal, period=30 if folders is None else PERIOD) as bar:
            if folders is None:
                result = run(source, out, workers=workers or 1, progress=bar.update, **settings)
            else:
                result, outcome = augment_folder(
                    folders.source,
                    folders.out,
                    engine=folders.made_engine(),
                    part_rows=folders.part_rows,
                    progress=bar.update,
                    say=note,
                    **settings,
                )
                problems = outcome.problems
    except AugmentInterrupted as interrupt:
        result, interrupted = interrupt.report, True
    except RunInterrupted as interrupt:
        say(stopped(interrupt, out))
        raise typer.Exit(130) from None
    except KeyboardInterrupt:
        say("stopped; run the same command again to go on")
        raise typer.Exit(130) from None
    if report is not None:
        _write_page(result, Path(report))
    if as_json:
        write_json(result.to_dict())
    elif not quiet:
        from paraqd.cli.augment_report import show

        show(result, examples=examples)
    say_left_out(result)
    say_problems(problems)
    if interrupted:
        say(
            f"stopped: {out} holds the {result.questions:,} questions finished so far (of {result.rows:,} "
            "rows); run the same command again to go on"
        )
        raise typer.Exit(130)
    if result.skipped or result.failed or problems:
        raise typer.Exit(1)


def _check_report(report: str, source: str, out: str) -> None:
    """Refuse a page that could not be written, or that would be written over the questions or the pairs."""
    from paraqd.data.formats import TableError

    page = Path(report)
    if not page.parent.is_dir():
        raise TableError(f"cannot write {report}: there is no folder {page.parent}")
    if page.is_dir():
        raise TableError(f"cannot write {report}: it is a folder")
    if page.suffix.lower() not in {".html", ".htm"}:
        raise TableError(f"--report {report}: the page's name must end in .html")
    if page.resolve() in {Path(source).resolve(), Path(out).resolve()}:
        raise TableError(f"--report {report}: that is the input or the output; choose another name")


def _write_page(result: AugmentReport, path: Path) -> None:
    from paraqd.data.formats import TableError, reason
    from paraqd.runs.augment_report_page import report_html

    try:
        path.write_text(report_html(result), encoding="utf-8")
    except OSError as error:
        raise TableError(f"{result.out} is written, but not {path}: {reason(error)}") from None

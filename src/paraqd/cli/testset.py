"""``paraqd testset``: make pairs to be annotated, one valid and one invalid for each question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from paraqd.cli.console import say, stderr, write_json
from paraqd.cli.options import models_in, names_in, say_left_out

if TYPE_CHECKING:
    from paraqd.corpus.testset import MadeTestset

EXAMPLE = "Example: paraqd testset questions.csv -o pairs.csv --generator fb=models/fb --generator fe=models/fe"

_FILES, _MODELS, _SHOWN = "Files", "Models", "What is shown"
_NAMED = 20  # ids of questions that lack a side


def testset(
    source: str = typer.Argument(
        ..., metavar="QUESTIONS", help="Questions: .csv, .tsv, .jsonl (each also .gz) or .parquet; - is JSONL."
    ),
    out: str = typer.Option(..., "--out", "-o", metavar="PAIRS", help="Where the pairs go; the format by its name."),
    recipe: str = typer.Option("test", "--recipe", help="test (fa to fe), another recipe, or a .toml file."),
    skip: str | None = typer.Option(None, "--skip", help="Operators to leave out, with commas."),
    seed: int = typer.Option(3407, "--seed", help="The same seed gives the same pairs."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace a finished output."),
    restart: bool = typer.Option(False, "--restart", help="Throw an unfinished run away and start again."),
    question_column: str = typer.Option("question", "--question-column", rich_help_panel=_FILES),
    id_column: str = typer.Option("id", "--id-column", rich_help_panel=_FILES),
    encoding: str | None = typer.Option(
        None, "--encoding", help="Of a text file that is not UTF-8, such as cp1252.", rich_help_panel=_FILES
    ),
    stand_ins: bool = typer.Option(
        False, "--stand-ins", help="Do not look for the paper's models.", rich_help_panel=_MODELS
    ),
    generator: list[str] = typer.Option(
        [], "--generator", metavar="ID=MODEL", help="A folder or name: fb=DIR.", rich_help_panel=_MODELS
    ),
    entities: str = typer.Option(
        "light", "--entities", help="How names are found: light or spacy.", rich_help_panel=_MODELS
    ),
    device: str | None = typer.Option(None, "--device", help="For models: cpu, cuda.", rich_help_panel=_MODELS),
    examples: int = typer.Option(2, "--examples", min=0, max=3, help="Shown per operator.", rich_help_panel=_SHOWN),
    as_json: bool = typer.Option(False, "--json", help="The report as JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no report.", rich_help_panel=_SHOWN),
) -> None:
    """Make a test set to be annotated: for each question one valid and one invalid operator, drawn at random.

    The label is left empty for paraqd annotate; what the operator is meant to make stands in the column intended.
    Operators whose model cannot be had are left out. Run the same command again after an interruption.
    """
    from paraqd.cli.progress import Bar
    from paraqd.corpus.tables import Columns
    from paraqd.corpus.testset import make_testset

    try:
        with Bar(shown=not quiet and stderr().is_terminal) as bar:
            result = make_testset(
                source,
                out,
                recipe=recipe,
                skip=names_in(skip) or (),
                seed=seed,
                stand_ins=stand_ins,
                generators=models_in(generator),
                entities=entities,
                device=device,
                columns=Columns(question=question_column, id=id_column),
                encoding=encoding,
                overwrite=overwrite,
                restart=restart,
                progress=bar.update,
            )
    except KeyboardInterrupt:
        say("stopped; run the same command again to go on")
        raise typer.Exit(130) from None
    if as_json:
        write_json(result.to_dict())
    elif not quiet:
        from paraqd.cli.augment_report import show

        show(result, examples=examples)
    say_left_out(result)
    _name_lacking(result)
    if result.skipped or result.failed or any(result.lacking.values()):
        raise typer.Exit(1)


def _name_lacking(result: MadeTestset) -> None:
    """Name the questions for which no operator of a side gave anything."""
    for side, ids in result.lacking.items():
        if ids:
            more = f" and {len(ids) - _NAMED:,} more (--json names all)" if len(ids) > _NAMED else ""
            say(f"no {side} paraphrase for {len(ids):,} questions: {', '.join(ids[:_NAMED])}{more}")

"""Provide the command ``paraqd lab testset``, which creates pairs for annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import say, write_json
from paraqd.cli.options import (
    MODELS,
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
from paraqd.plural import counted

if TYPE_CHECKING:
    from rich.table import Table

    from paraqd.lab.annotation.testset import MadeTestset

EXAMPLE = "Example: paraqd lab testset questions.csv -o pairs.csv --generator fb=models/fb --generator fe=models/fe"

_NAMED = 20  # the maximum number of questions without a valid or an invalid pair that are listed
_RULES = "extended"  # a recipe that needs no model


@run_command
def testset(
    source: QuestionsInput,
    out: Output,
    recipe: Annotated[
        str,
        typer.Option(metavar="NAME|FILE", help="test (operators fa to fe), another recipe, or a .toml file."),
    ] = "test",
    skip: Skip = None,
    seed: Seed = 3407,
    question_column: QuestionColumn = "question",
    id_column: IdColumn = "id",
    stand_ins: Annotated[
        bool,
        typer.Option(
            "--stand-ins",
            help="Do not use the paper's models: fa uses rules, and fb and fe run only with --generator.",
            rich_help_panel=MODELS,
        ),
    ] = False,
    generator: Generators = None,
    entities: Entities = "light",
    device: Device = None,
    examples: Examples = 2,
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    run: dict[str, Any],
) -> None:
    """Create a test set for annotators by applying a random valid and a random invalid operator to each question.

    The column label is empty, and annotators fill it with paraqd lab annotate. The column intended contains the label
    that the operator declares.

    The default recipe has the operators fa to fe. fb and fe each need a model, and are skipped if it is missing.
    Without fb, few questions get a valid pair. To train a model for fb, run paraqd lab generator train fb --data DIR
    --out DIR on a GPU, and pass --generator fb=DIR. With --recipe extended, which needs no model, nearly all questions
    get a valid pair.

    To resume an interrupted run, repeat the command.
    """
    from paraqd.lab.annotation.testset import make_testset
    from paraqd.lab.cli.augment_report import say_left_out, show
    from paraqd.lab.operators.plan import models_in
    from paraqd.tables.table import Columns

    with running(run, quiet=quiet) as options:
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
            **options,
        )
    if as_json:
        write_json(result.to_dict())
    elif not quiet:
        show(result, examples=examples, table=_operator_table(result))
    say_left_out(result)
    _say_lacking(result)
    _say_too_few(result)
    say_problems(result.problems)
    if result.skipped or result.failed or result.problems or any(result.lacking.values()):
        raise typer.Exit(1)


def _operator_table(result: MadeTestset) -> Table:
    """Return a table that lists the operators and shows how often each operator was tried and applied."""
    from rich.table import Table

    from paraqd.lab.cli.augment_report import distance, label_text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("operator", overflow="fold")  # in a narrow terminal, only this column shrinks
    for title in ("paper", "label"):
        table.add_column(title, no_wrap=True)
    for title in ("tried", "applied", "pairs", "distance"):
        table.add_column(title, no_wrap=True, justify="right")
    for operator in result.operators:
        applied = f"{operator.applied_percent:.1f} %" if operator.questions else ""
        counts = (f"{operator.questions:,}", applied, f"{result.pairs[operator.name]:,}")
        table.add_row(operator.name, operator.paper_id, label_text(operator), *counts, distance(operator))
    return table


def _say_lacking(result: MadeTestset) -> None:
    """List the questions for which no valid or no invalid operator produced an output."""
    for side, ids in result.lacking.items():
        if ids:
            more = f" and {len(ids) - _NAMED:,} more (--json lists all)" if len(ids) > _NAMED else ""
            say(f"no {side} paraphrase for {counted(len(ids), 'question')}: {', '.join(ids[:_NAMED])}{more}")


def _say_too_few(result: MadeTestset) -> None:
    """If fewer than half of the questions have a valid pair, print the reason and a remedy."""
    paired = result.questions - len(result.lacking["valid"])
    if 2 * paired >= result.questions:
        return
    tried = " and ".join(operator.name for operator in result.operators if operator.label)
    absent, models = _skipped_valid(result)
    skipped = f" and {' and '.join(absent)} {'was' if len(absent) == 1 else 'were'} skipped" if absent else ""
    advice = f"use --recipe {_RULES}, whose operators need no model"
    for key in models:
        advice += f", or train a model with paraqd lab generator train {key} --data DIR --out DIR (on a GPU) and pass "
        advice += f"--generator {key}=DIR"
    if result.recipe == _RULES:
        advice = "write your own recipe with valid operators that suit these questions, and pass --recipe FILE.toml"
    say(
        f"only {paired:,} of {counted(result.questions, 'question')} have a valid pair, because {tried} produced no "
        f"output for the others{skipped}; {advice}"
    )


def _skipped_valid(result: MadeTestset) -> tuple[list[str], list[str]]:
    """Return the valid operators that were skipped, and the trainable models that they need."""
    from typing import get_args

    from paraqd.lab.generators.train import Kind
    from paraqd.lab.operators import get

    names: list[str] = []
    models: list[str] = []
    for name in result.left_out:
        try:
            operator = get(name)
        except ModuleNotFoundError:  # another message reports the missing package
            continue
        if operator.polarity == "valid":
            names.append(operator.name)
            needed = [need.removeprefix("generator.") for need in operator.needs]
            models += [key for key in needed if key in get_args(Kind)]
    return names, models

"""Provide the command ``paraqd lab experiment``, which reproduces the paper's tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import say, stderr, stdout, write_json
from paraqd.cli.options import (
    MODELS,
    OUTPUT,
    TRAINING,
    AsJson,
    DataDir,
    Device,
    Generators,
    Quiet,
    check_choice,
)
from paraqd.interrupts import EXIT_CODE

if TYPE_CHECKING:
    from paraqd.evaluation.tables import Table
    from paraqd.lab.experiments.run import ExperimentOutcome

EXAMPLE = "Example: paraqd lab experiment main loss --scale full --data-dir data/ --out runs/paper"

_MAIN = ("macro_f1_paper", "weighted_f1_paper", "separation", "macro_f1", "auc")  # the columns shown in the terminal


def experiment(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            help="main, operators, loss, encoder, seed, train-operators, pseudo-labels, recipes, leak, fallback, "
            "deletion, sources, more-questions, optimisation, margin, collapse, test-operators, examples, or all.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="DIR", help="The output folder. If it contains an unfinished run, the run continues."
        ),
    ],
    scale: Annotated[
        str,
        typer.Option(metavar="full|smoke", help="full, or smoke for a trial of a few minutes with the sample files."),
    ] = "full",
    epochs: Annotated[
        int | None, typer.Option(help="The number of epochs for each model.", rich_help_panel=TRAINING)
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="The number of triplets in a batch.", rich_help_panel=TRAINING)
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(help="The learning rate.", rich_help_panel=TRAINING)] = None,
    seed: Annotated[int | None, typer.Option(help="The random seed for training.", rich_help_panel=TRAINING)] = None,
    questions: Annotated[
        int | None,
        typer.Option(help="The number of training questions. Default: 30,000.", rich_help_panel=TRAINING),
    ] = None,
    ablation_questions: Annotated[
        int | None,
        typer.Option(
            help="The number of training questions in the experiments operators and seed.", rich_help_panel=TRAINING
        ),
    ] = None,
    ablation_epochs: Annotated[
        int | None,
        typer.Option(help="The number of epochs in the experiments operators and seed.", rich_help_panel=TRAINING),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR", help="The encoder to train. Default: all-MiniLM-L6-v2.", rich_help_panel=MODELS
        ),
    ] = None,
    data_dir: DataDir = None,
    samples: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="With --scale smoke: a folder with questions.csv and pairs.csv.",
            rich_help_panel=MODELS,
        ),
    ] = "samples",
    generator: Generators = None,
    stand_ins: Annotated[
        bool,
        typer.Option(
            "--stand-ins/--no-stand-ins",
            help="Use rules or small models instead of models that are not available.",
            rich_help_panel=MODELS,
        ),
    ] = True,
    device: Device = None,
    workers: Annotated[
        int, typer.Option(help="The number of processes that apply operators.", rich_help_panel=MODELS)
    ] = 1,
    train: Annotated[
        bool,
        typer.Option(
            "--train/--no-train",
            help="Train models that have no scores yet, or use only the scores in the output folder.",
            rich_help_panel=TRAINING,
        ),
    ] = True,
    figures: Annotated[
        bool, typer.Option("--figures/--no-figures", help="Create the plots.", rich_help_panel=OUTPUT)
    ] = True,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments, and write scores, tables, plots and report.html to a folder.

    To resume an interrupted run, repeat the command. Finished parts are kept. Parts that cannot run because data or
    weights are missing are listed with the reason.
    """
    from dataclasses import replace

    from paraqd.cli.progress import Bar
    from paraqd.lab.experiments.run import run_experiments, with_settings
    from paraqd.lab.experiments.scales import SCALES
    from paraqd.lab.operators.plan import models_in

    check_choice("--scale", scale, list(SCALES))
    chosen = with_settings(SCALES[scale], epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, seed=seed)
    changes: dict[str, Any] = {
        "questions": questions,
        "ablation_questions": ablation_questions,
        "ablation_epochs": ablation_epochs,
        "encoder": encoder,
    }
    chosen = replace(chosen, **{key: value for key, value in changes.items() if value is not None})
    try:
        with Bar(shown=not quiet and stderr().is_terminal) as bar:
            outcomes = run_experiments(
                names,
                out,
                scale=chosen,
                data_dir=data_dir,
                samples=samples,
                generators=models_in(generator),
                stand_ins=stand_ins,
                device=device,
                workers=workers,
                figures=figures,
                train=train,
                progress=bar.update,
            )
    except KeyboardInterrupt:
        say(f"stopped; run the same command again to continue in {out}")
        raise typer.Exit(EXIT_CODE) from None
    _show(outcomes, as_json=as_json, quiet=quiet)
    if not quiet:
        say(f"{out}/report.html is ready")


def _show(outcomes: list[ExperimentOutcome], *, as_json: bool, quiet: bool) -> None:
    if as_json:
        write_json(
            [
                {
                    "experiment": outcome.experiment.name,
                    "tables": [table.to_dict() for table in outcome.tables],
                    "not_run": outcome.not_run,
                }
                for outcome in outcomes
            ]
        )
    elif not quiet:
        for outcome in outcomes:
            for table in outcome.tables:
                _print(table)
        notes = dict.fromkeys(note for outcome in outcomes for table in outcome.tables for note in table.notes)
        for note in notes:
            stdout().print(note, style="dim")
    if not quiet:
        for outcome in outcomes:
            reasons: dict[str, list[str]] = {}
            for what, why in outcome.not_run.items():
                reasons.setdefault(why, []).append(what)
            for why, things in reasons.items():
                say(f"not run ({outcome.experiment.name}): {'; '.join(things)}: {why}")


def _print(table: Table) -> None:
    """Print a table's main figures. The files and the report contain all figures with their intervals."""
    from rich.table import Table as Grid
    from rich.text import Text

    from paraqd.evaluation.tables import METRIC_COLUMNS, shown, value

    columns = [column for column in table.columns if column.key not in METRIC_COLUMNS or column.key in _MAIN]
    grid = Grid(title=table.title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for column in columns:
        numeric = any(value(row.get(column.key)) is not None for row in table.rows)
        grid.add_column(column.title, justify="right" if numeric else "left", header_style="dim")
    for row in table.rows:
        cells = [(row.get(column.key), column.decimals) for column in columns]
        grid.add_row(*(Text(shown(cell if isinstance(cell, str) else value(cell), places)) for cell, places in cells))
    stdout().print(grid)
    stdout().print()

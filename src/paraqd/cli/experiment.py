"""Provide the command ``paraqd experiment``, which reproduces the paper's tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import say, stderr, stdout, write_json
from paraqd.interrupts import EXIT_CODE

if TYPE_CHECKING:
    from paraqd.evaluation.tables import Table
    from paraqd.experiments.run import Outcome

EXAMPLE = "Example: paraqd experiment main loss --scale full --data-dir data/ --out runs/paper"

_MAIN = ("macro_f1_paper", "weighted_f1_paper", "separation", "macro_f1", "auc")  # the columns shown in the terminal
_TRAINING, _MODELS, _SHOWN = "Training", "Models and data", "Output"


def experiment(
    names: list[str] = typer.Argument(
        ...,
        metavar="NAME...",
        help="main, operators, loss, encoder, seed, train-operators, pseudo-labels, recipes, leak, deletion, sources, "
        "optimisation, margin, collapse, test-operators, examples, or all.",
    ),
    out: str = typer.Option(..., "--out", "-o", help="The output folder; an unfinished run in this folder is resumed."),
    scale: str = typer.Option("full", "--scale", help="full, or smoke for a trial of a few minutes on the samples."),
    epochs: int | None = typer.Option(
        None, "--epochs", help="The number of epochs for each training.", rich_help_panel=_TRAINING
    ),
    batch_size: int | None = typer.Option(
        None, "--batch-size", help="The number of triplets in a batch.", rich_help_panel=_TRAINING
    ),
    learning_rate: float | None = typer.Option(
        None, "--learning-rate", help="The learning rate.", rich_help_panel=_TRAINING
    ),
    seed: int | None = typer.Option(None, "--seed", help="The random seed for training.", rich_help_panel=_TRAINING),
    questions: int | None = typer.Option(
        None, "--questions", help="The number of training questions. Default: 30,000.", rich_help_panel=_TRAINING
    ),
    ablation_questions: int | None = typer.Option(
        None,
        "--ablation-questions",
        help="The number of training questions for operators and seed.",
        rich_help_panel=_TRAINING,
    ),
    ablation_epochs: int | None = typer.Option(
        None, "--ablation-epochs", help="The number of epochs for operators and seed.", rich_help_panel=_TRAINING
    ),
    encoder: str | None = typer.Option(
        None, "--encoder", help="The name or folder of an encoder. Default: all-MiniLM-L6-v2.", rich_help_panel=_MODELS
    ),
    data_dir: str | None = typer.Option(
        None,
        "--data-dir",
        envvar="PARAQD_DATA_DIR",
        help="The folder that contains the data sets.",
        rich_help_panel=_MODELS,
    ),
    samples: str = typer.Option(
        "samples", "--samples", help="For smoke: a folder with questions.csv and pairs.csv.", rich_help_panel=_MODELS
    ),
    generator: list[str] = typer.Option(
        [], "--generator", metavar="ID=MODEL", help="A model for an operator, such as f9=DIR.", rich_help_panel=_MODELS
    ),
    stand_ins: bool = typer.Option(
        True,
        "--stand-ins/--no-stand-ins",
        help="Use smaller models or rules in place of models that are not available.",
        rich_help_panel=_MODELS,
    ),
    device: str | None = typer.Option(None, "--device", help="cpu or cuda.", rich_help_panel=_MODELS),
    workers: int = typer.Option(
        1, "--workers", help="The number of processes for augmentation.", rich_help_panel=_MODELS
    ),
    train: bool = typer.Option(
        True,
        "--train/--no-train",
        help="Train models that have no scores yet. Without: make tables from the scores in the folder.",
        rich_help_panel=_TRAINING,
    ),
    figures: bool = typer.Option(True, "--figures/--no-figures", help="Create the plots.", rich_help_panel=_SHOWN),
    as_json: bool = typer.Option(False, "--json", help="Print the tables as JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(
        False, "--quiet", "-q", help="Hide the progress and the tables.", rich_help_panel=_SHOWN
    ),
) -> None:
    """Run the paper's experiments, and write scores, tables, plots and report.html to a folder.

    To resume after an interruption, repeat the command; finished parts are not repeated. Parts that cannot run because
    data or weights are missing are listed with the reason.
    """
    from dataclasses import replace

    from paraqd.cli.options import models_in
    from paraqd.cli.progress import Bar
    from paraqd.experiments.errors import ExperimentError
    from paraqd.experiments.run import run_experiments, with_settings
    from paraqd.experiments.scales import SCALES

    if scale not in SCALES:
        raise ExperimentError(f"--scale {scale}: choose one of {', '.join(SCALES)}")
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


def _show(outcomes: list[Outcome], *, as_json: bool, quiet: bool) -> None:
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
            stdout().print(note, style="dim", markup=False)
    if not quiet:
        for outcome in outcomes:
            reasons: dict[str, list[str]] = {}
            for what, why in outcome.not_run.items():
                reasons.setdefault(why, []).append(what)
            for why, things in reasons.items():
                say(f"not run ({outcome.experiment.name}): {'; '.join(things)}: {why}")


def _print(table: Table) -> None:
    """Print the main figures of a table; the files and the report contain all figures with their intervals."""
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

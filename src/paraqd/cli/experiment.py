"""``paraqd experiment``: the tables and figures of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import say, stderr, stdout, write_json

if TYPE_CHECKING:
    from paraqd.evaluation.tables import Table
    from paraqd.experiments.run import Outcome

EXAMPLE = "Example: paraqd experiment main loss --scale full --data-dir data/ --out runs/paper"

_MAIN = ("macro_f1_paper", "weighted_f1_paper", "separation", "macro_f1", "auc")  # what the terminal shows
_TRAINING, _MODELS, _SHOWN = "Training", "Models and data", "What is shown"


def experiment(
    names: list[str] = typer.Argument(
        ...,
        metavar="NAME...",
        help="main, operators, loss, encoder, seed, train-operators, pseudo-labels, examples, or all.",
    ),
    out: str = typer.Option(..., "--out", "-o", help="The run's folder; the same one goes on where it was."),
    scale: str = typer.Option("full", "--scale", help="full, or smoke: minutes, on the samples, to see it run."),
    epochs: int | None = typer.Option(None, "--epochs", rich_help_panel=_TRAINING),
    batch_size: int | None = typer.Option(None, "--batch-size", help="Triplets.", rich_help_panel=_TRAINING),
    learning_rate: float | None = typer.Option(None, "--learning-rate", rich_help_panel=_TRAINING),
    seed: int | None = typer.Option(None, "--seed", rich_help_panel=_TRAINING),
    questions: int | None = typer.Option(
        None, "--questions", help="Train on so many; 30,000 unless given.", rich_help_panel=_TRAINING
    ),
    ablation_questions: int | None = typer.Option(
        None, "--ablation-questions", help="Fewer for operators and seed.", rich_help_panel=_TRAINING
    ),
    ablation_epochs: int | None = typer.Option(
        None, "--ablation-epochs", help="Fewer for operators and seed.", rich_help_panel=_TRAINING
    ),
    encoder: str | None = typer.Option(
        None, "--encoder", help="A name or a folder; all-MiniLM-L6-v2 unless given.", rich_help_panel=_MODELS
    ),
    data_dir: str | None = typer.Option(
        None, "--data-dir", envvar="PARAQD_DATA_DIR", help="Where the data sets lie.", rich_help_panel=_MODELS
    ),
    samples: str = typer.Option(
        "samples", "--samples", help="For smoke: a folder with questions.csv and pairs.csv.", rich_help_panel=_MODELS
    ),
    generator: list[str] = typer.Option(
        [], "--generator", metavar="ID=MODEL", help="A folder or name: f9=DIR.", rich_help_panel=_MODELS
    ),
    stand_ins: bool = typer.Option(
        True, "--stand-ins/--no-stand-ins", help="Let others stand in for the paper's models.", rich_help_panel=_MODELS
    ),
    device: str | None = typer.Option(None, "--device", help="cpu, cuda.", rich_help_panel=_MODELS),
    workers: int = typer.Option(1, "--workers", help="Processes for augmenting.", rich_help_panel=_MODELS),
    figures: bool = typer.Option(True, "--figures/--no-figures", help="Draw the plots.", rich_help_panel=_SHOWN),
    as_json: bool = typer.Option(False, "--json", help="The tables as JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables.", rich_help_panel=_SHOWN),
) -> None:
    """Run experiments of the paper into a folder with scores, tables, plots and report.html.

    Run the same command again after an interruption: what is finished is not run again. What cannot run for want of
    data or weights is listed with the reason.
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
                progress=bar.update,
            )
    except KeyboardInterrupt:
        say(f"stopped; run the same command again to go on in {out}")
        raise typer.Exit(130) from None
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
    """Show a table with its main figures; the files and the report have the others, with their intervals."""
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

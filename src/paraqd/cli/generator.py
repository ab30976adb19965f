"""``paraqd generator``: make the models that must be trained."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, get_args

import typer

from paraqd.cli.console import say, stderr, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLE = "Example: paraqd generator train f9 --data data/ --out models/f9"

app = typer.Typer(help="Make the models that must be trained.", no_args_is_help=True)


@app.callback()
def generator() -> None:
    """Make the models that must be trained."""


@app.command("train", epilog=EXAMPLE)
def train(
    kind: str = typer.Argument(..., metavar="KIND", help="f9, fb, fe or ssmba."),
    out: str = typer.Option(..., "--out", "-o", help="The folder to write."),
    data: str | None = typer.Option(
        None, "--data", envvar="PARAQD_DATA_DIR", help="The folder with the training data."
    ),
    base_model: str | None = typer.Option(
        None, "--base-model", help="A folder or name; a small packaged model unless given."
    ),
    scale: str = typer.Option("full", "--scale", help="full, or smoke for a few steps that only show it works."),
    seed: int = typer.Option(3407, "--seed"),
    device: str | None = typer.Option(None, "--device", help="cpu, cuda."),
    as_json: bool = typer.Option(False, "--json", help="Write the model's card as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Train the generator of an operator and write it as a model folder.

    Run the same command again after an interruption: it goes on from its last checkpoint.
    """
    from paraqd.cli.progress import Bar
    from paraqd.generators.loading import read_card
    from paraqd.generators.train import Kind, Scale, train_generator

    _one_of("KIND", kind, get_args(Kind))
    _one_of("--scale", scale, get_args(Scale))
    if data is None or not os.path.isdir(data):
        where = "none was given" if data is None else f"there is no folder {data}"
        raise typer.BadParameter(f"the training data are needed ({where}): give --data DIR or set PARAQD_DATA_DIR")
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        folder = train_generator(
            kind,  # type: ignore[arg-type]  # checked above
            data,
            out,
            scale=scale,  # type: ignore[arg-type]
            seed=seed,
            device=device,
            base_model=base_model,
            pairs=_pairs(kind, data, seed),
            progress=bar.update,
        )
    card: dict[str, Any] = read_card(folder)
    if as_json:
        write_json(card)
    elif not quiet:
        say(f"{folder} is ready (loss {card.get('loss')}); use it with --generator {kind}={folder}")


def _one_of(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise typer.BadParameter(f"{what} is {value!r}; choose one of {', '.join(choices)}")


def _pairs(kind: str, data: str, seed: int) -> Iterable[tuple[str, str]] | None:
    """Return what fb learns from, which its operator makes; the other kinds read their own."""
    if kind != "fb":
        return None
    from paraqd.generators.training_data import read_questions
    from paraqd.operators.models.corrupted_reconstruction import training_pairs

    return training_pairs(read_questions(data), seed=seed)

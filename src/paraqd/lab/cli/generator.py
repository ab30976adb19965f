"""Provide the command ``paraqd lab generator``, which trains the models that write text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from paraqd.cli.console import say, stderr, write_json
from paraqd.cli.options import AsJson, Device, ModelOutput, Quiet, Seed, check_choice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paraqd.progress import Progress

EXAMPLE = "Example: paraqd lab generator train f9 --data data/ --out models/f9"

app = typer.Typer(help="Train the models that write text.", no_args_is_help=True)


@app.callback()
def generator() -> None:
    """Train the models that write text."""


@app.command("train", epilog=EXAMPLE)
def train(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="The generator to train: f9, fb, fe, ssmba or paraphrase.")
    ],
    out: ModelOutput,
    data: Annotated[
        str | None,
        typer.Option(envvar="PARAQD_DATA_DIR", metavar="DIR", help="The folder with the training data."),
    ] = None,
    base_model: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="The model to start from. Default: a small model from the package."),
    ] = None,
    scale: Annotated[
        str, typer.Option(metavar="full|smoke", help="full, or smoke for a trial with a few steps.")
    ] = "full",
    seed: Seed = 3407,
    device: Device = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a generator for an operator, or a paraphraser, and write its model folder.

    To resume an interrupted training run from the last checkpoint, repeat the command.
    """
    from paraqd.cli.progress import Bar
    from paraqd.lab.generators.train import Kind, Scale, train_generator
    from paraqd.paraphrasing.text_models.loading import read_card

    check_choice("KIND", kind, get_args(Kind))
    check_choice("--scale", scale, get_args(Scale))
    if data is None or not os.path.isdir(data):
        found = "no folder was passed" if data is None else f"{data} is not a folder"
        raise typer.BadParameter(f"training needs data, but {found}: pass --data DIR or set PARAQD_DATA_DIR")
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        folder = train_generator(
            cast(Kind, kind),
            data,
            out,
            scale=cast(Scale, scale),
            seed=seed,
            device=device,
            base_model=base_model,
            pairs=_pairs(kind, data, out, seed, scale, bar.update),
            progress=bar.update,
        )
    card: dict[str, Any] = read_card(folder)
    if as_json:
        write_json(card)
    elif not quiet:
        use = f"paraqd paraphrase --source {folder}" if kind == "paraphrase" else f"--generator {kind}={folder}"
        say(f"{folder} is ready (loss {card.get('loss')}); use it with {use}")


def _pairs(
    kind: str, data: str, out: str, seed: int, scale: str, progress: Progress
) -> Iterable[tuple[str, str]] | None:
    """Return the training pairs of fb or of the paraphraser, or None for generators that read their own data."""
    if kind == "fb":
        from paraqd.lab.generators.training_data import read_questions
        from paraqd.lab.operators.models.corrupted_reconstruction import training_pairs

        return training_pairs(read_questions(data), seed=seed)
    if kind == "paraphrase":
        from paraqd.lab.generators.train import check_out
        from paraqd.lab.training.paraphraser_pairs import data_digest, kept_pairs
        from paraqd.model_runtime import require_extra

        require_extra(("torch", "transformers", "safetensors", "gguf"))
        check_out(out)
        # a repeated command finds the pairs in this file; other data have another file
        path = Path(out).with_name(f"{Path(out).name}.pairs_{scale}_{data_digest(data)}.jsonl.gz")
        return kept_pairs(path, data, scale=scale, workers=os.cpu_count() or 1, progress=progress)
    return None

"""Provide the command ``paraqd lab train``, which trains a model from a recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import say, stderr, write_json
from paraqd.cli.options import (
    FILES,
    MODELS,
    TRAINING,
    AsJson,
    DataDir,
    Device,
    Encoding,
    Generators,
    IdColumn,
    LabelColumn,
    ModelOutput,
    ParaphraseColumn,
    QuestionColumn,
    Quiet,
    names_in,
)
from paraqd.interrupts import EXIT_CODE
from paraqd.model_folder import is_shipped
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.cli.progress import Bar
    from paraqd.lab.training.recipe_training import TrainedFromRecipe
    from paraqd.lab.training.recipes import BiEncoderRecipe

EXAMPLE = "Example: paraqd lab train pairs.csv --validation other.csv --out models/paraqd --epochs 9"

# the panels whose options apply to one kind of model only
_BI_ENCODERS, _JUDGES = "Bi-encoders (recipe paper)", "Judges (recipes default and solvable)"
_NOT_SINGLE = ("without", "questions", "generator", "teacher", "small", "weights_only")  # for pairs only
_SIZES = _SMALL, _LARGE = "small", "large"


def _one_message(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that only the first process on each machine reports an error that occurs in all processes."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from paraqd.errors import ParaqdError
        from paraqd.lab.training.processes import reports_errors

        try:
            command(*args, **kwargs)
        except Exception as error:
            if reports_errors() or not isinstance(error, (ParaqdError, typer.BadParameter)):
                raise
            raise typer.Exit(2) from None

    return wrapped


@_one_message
def train(
    ctx: typer.Context,
    out: ModelOutput,
    pairs: list[str] = typer.Argument(
        None, metavar="AUGMENTED", help="Files that paraqd lab augment wrote. Default: pairs that the recipe creates."
    ),
    recipe: str = typer.Option(
        "paper",
        metavar="NAME|FILE",
        help="paper for the paper's bi-encoder, default for a scorer like the one in the package, solvable for the "
        "model of paraqd solvable, a list of operators (uda or ssmba), or a .toml file.",
    ),
    values: list[str] = typer.Option(
        [],
        "--set",
        metavar="KEY=VALUE",
        help="Replace a value in the recipe, such as data.questions=100. Write the value in TOML syntax. May be "
        "repeated.",
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace a model from another training run."),
    restart: bool = typer.Option(False, "--restart", help="Discard an unfinished training run with other settings."),
    encoder: str | None = typer.Option(
        None,
        metavar="NAME|DIR",
        help="The encoder to train, such as all-MiniLM-L12-v1 or paraphrase-mpnet-base-v2. Default: all-MiniLM-L6-v2.",
        rich_help_panel=MODELS,
    ),
    without: str | None = typer.Option(
        None,
        metavar="NAMES",
        help="Operators to skip, separated by commas, such as f9. For a judge: sets of pairs, such as rules,strangers.",
        rich_help_panel=MODELS,
    ),
    questions: int | None = typer.Option(
        None, help="The number of questions to which operators are applied.", rich_help_panel=MODELS
    ),
    data_seed: int | None = typer.Option(
        None,
        help="The random seed for choosing questions, applying operators and building triplets.",
        rich_help_panel=MODELS,
    ),
    data_dir: DataDir = None,
    generator: Generators = None,
    epochs: int | None = typer.Option(
        None, help="The number of epochs. For a judge: the number in every stage.", rich_help_panel=TRAINING
    ),
    learning_rate: float | None = typer.Option(None, help="The learning rate.", rich_help_panel=TRAINING),
    weight_decay: float | None = typer.Option(None, help="The weight decay.", rich_help_panel=TRAINING),
    warmup: float | None = typer.Option(
        None, help="The fraction of the steps during which the learning rate rises.", rich_help_panel=TRAINING
    ),
    seed: int | None = typer.Option(None, help="The random seed for training.", rich_help_panel=TRAINING),
    device: Device = None,
    workers: int = typer.Option(0, help="The number of processes that apply operators.", rich_help_panel=TRAINING),
    question_column: QuestionColumn = "question",
    paraphrase_column: ParaphraseColumn = "paraphrase",
    label_column: LabelColumn = "label",
    id_column: IdColumn = "id",
    encoding: Encoding = None,
    validation: str | None = typer.Option(
        None,
        metavar="FILE",
        help="Augmented pairs from other questions, on which the model is measured after each epoch.",
        rich_help_panel=_BI_ENCODERS,
    ),
    in_batch: bool = typer.Option(
        False,
        "--in-batch",
        help="Use the other questions in a batch as negatives, as UDA and SSMBA require.",
        rich_help_panel=_BI_ENCODERS,
    ),
    loss: str | None = typer.Option(
        None, metavar="triplet|mnrl", help="The loss function.", rich_help_panel=_BI_ENCODERS
    ),
    distance: str | None = typer.Option(
        None,
        metavar="cosine|euclidean",
        help="The distance in the triplet loss. The paper's public code uses euclidean.",
        rich_help_panel=_BI_ENCODERS,
    ),
    margin: float | None = typer.Option(
        None,
        help="The margin of the triplet loss. Default: 2 for cosine, 5 for euclidean.",
        rich_help_panel=_BI_ENCODERS,
    ),
    batch_size: int | None = typer.Option(
        None, help="The number of triplets in a batch, over all processes.", rich_help_panel=_BI_ENCODERS
    ),
    search_seeds: str | None = typer.Option(
        None,
        metavar="SEEDS",
        help="Seeds to compare on 20 % of the data, such as 0,1,2,3,4. The model is trained with the best seed.",
        rich_help_panel=_BI_ENCODERS,
    ),
    max_length: int | None = typer.Option(
        None,
        help="The maximum number of tokens read from a text. Default: the encoder's limit.",
        rich_help_panel=_BI_ENCODERS,
    ),
    precision: str | None = typer.Option(
        None, metavar="auto|fp32|bf16", help="The numerical precision.", rich_help_panel=_BI_ENCODERS
    ),
    layers: int | None = typer.Option(
        None, help="Keep only this many of the encoder's first layers, for a quick run.", rich_help_panel=_BI_ENCODERS
    ),
    teacher: list[str] = typer.Option(
        [],
        metavar="NAME",
        help="A teacher to use instead of the recipe's teachers: language_judge, an encoder, SmolLM2-135M-Instruct, or "
        "none. May be repeated.",
        rich_help_panel=_JUDGES,
    ),
    judge: str = typer.Option(
        _SMALL,
        metavar="|".join(_SIZES),
        help="The judge to train: the small judge, or the language-model judge that is asked where the small one is "
        "unsure.",
        rich_help_panel=_JUDGES,
    ),
    small: str | None = typer.Option(
        None,
        metavar="MODEL",
        help="With --judge large: the exported scorer with the small judge. Default: the one in the package.",
        rich_help_panel=_JUDGES,
    ),
    work: str | None = typer.Option(
        None,
        metavar="DIR",
        help="The folder for pairs, tokens and checkpoints. Both judges can share it. Default: OUT.work.",
        rich_help_panel=_JUDGES,
    ),
    prepare_only: bool = typer.Option(
        False,
        "--prepare-only",
        help="Create the pairs and tokens in the work folder, and stop. Training then needs no data sets.",
        rich_help_panel=_JUDGES,
    ),
    weights_only: bool = typer.Option(
        False,
        "--weights-only",
        help="With --judge large: train the weights in the work folder, and stop before the model is exported.",
        rich_help_panel=_JUDGES,
    ),
    start: str | None = typer.Option(
        None,
        metavar="DIR",
        help="The folder of a trained or exported judge, or default, from which training starts. With "
        "--judge large: the folder OUT.work/language/weights of an earlier run.",
        rich_help_panel=_JUDGES,
    ),
    batch_tokens: int | None = typer.Option(
        None, help="The maximum number of tokens in a batch.", rich_help_panel=_JUDGES
    ),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a model from a recipe and write its folder.

    The recipe paper trains a bi-encoder on triplets: valid paraphrases move closer to the question, and invalid
    paraphrases move away from it. The recipe default runs the steps that produced the package's scorer or, with
    --judge large, the language-model judge. It needs a GPU, and the weights will differ from the published weights.
    Options replace values in the recipe.

    A checkpoint is written every minute. To resume an interrupted training run from the last checkpoint, repeat the
    command. The weights will be the same as without the interruption. On several GPUs, use: accelerate launch
    --multi_gpu --num_processes 4 -m paraqd lab train ...
    """
    from paraqd.lab.cli.train_judges import prepare_judge, train_judge, train_solvable_model, train_weights
    from paraqd.lab.operators.plan import models_in
    from paraqd.lab.training.recipes import BiEncoderRecipe, JudgeRecipe, load_recipe, parse_overrides, teacher_entry
    from paraqd.lab.training.recipes.solvable import SolvableRecipe
    from paraqd.lab.training.settings import TrainingError

    plain = load_recipe(recipe)
    is_judge, is_single = not isinstance(plain, BiEncoderRecipe), isinstance(plain, SolvableRecipe)
    if is_judge and pairs:
        raise TrainingError(f"--recipe {recipe} creates its own pairs: omit {pairs[0]}, or use --recipe paper")
    panels = (FILES, _BI_ENCODERS) if is_judge else (_JUDGES,)
    _refuse_options(ctx, panels, f"--recipe {recipe}", names=_NOT_SINGLE if is_single else ())
    if judge not in _SIZES:
        raise TrainingError(f"there is no judge {judge!r}: use {' or '.join(_SIZES)}")
    is_large = judge == _LARGE
    _refuse_options(
        ctx, (), f"--judge {judge}", names=("encoder", "teacher") if is_large else ("small", "weights_only")
    )
    if prepare_only and weights_only:
        raise TrainingError("--prepare-only and --weights-only are different steps: pass one of them")
    settings = {
        "epochs": epochs,
        "learning_rate": learning_rate,
        "weight_decay": weight_decay,
        "warmup_share": warmup,
        "seed": seed,
        "batch_tokens": batch_tokens,
        "loss": loss,
        "distance": distance,
        "margin": margin,
        "batch_size": batch_size,
        "max_length": max_length,
        "precision": precision,
    }
    if is_judge and encoder is not None and start is None:
        start = ""  # the shipped judge, with which the recipe starts, has another encoder
    section = "language_judge.training" if is_large else "judge.stages" if is_judge else "training"
    given: dict[str, Any] = {
        "encoder": encoder,
        "data.questions": questions,
        "data.seed": data_seed,
        "language_judge.start" if is_large else "start": start,
        "teachers": [teacher_entry(name) for name in teacher if name != "none"] if teacher else None,
        **{f"{section}.{name}": value for name, value in settings.items()},
    }
    overrides = {name: value for name, value in given.items() if value is not None}
    loaded = load_recipe(recipe, {**overrides, **parse_overrides(values)})
    skipped = names_in(without) or ()
    common: dict[str, Any] = {
        "data_dir": data_dir,
        "generators": models_in(generator),
        "device": device,
        "overwrite": overwrite,
        "restart": restart,
    }
    if isinstance(loaded, SolvableRecipe):
        del common["generators"]
        common |= {"workers": max(1, workers), "work": work}
        common |= {"large": is_large, "prepare_only": prepare_only, "as_json": as_json, "quiet": quiet}
        train_solvable_model(loaded, Path(out), **common)
        return
    if isinstance(loaded, JudgeRecipe):
        common |= {"workers": max(1, workers), "work": work}
        if is_large:
            common["small"] = small or "default"
        step = prepare_judge if prepare_only else train_weights if weights_only else train_judge
        step(loaded.without(skipped), Path(out), large=is_large, as_json=as_json, quiet=quiet, **common)
        return
    from paraqd.tables.table import Columns

    _train_bi_encoder(
        loaded,
        Path(out),
        as_json=as_json,
        quiet=quiet,
        files=pairs or [],
        seeds=_seeds(search_seeds),
        layers=layers,
        workers=max(1, workers),
        validation=validation,
        without=skipped,
        in_batch=in_batch,
        encoding=encoding,
        columns=Columns(question=question_column, paraphrase=paraphrase_column, label=label_column, id=id_column),
        **common,
    )


def _train_bi_encoder(recipe: BiEncoderRecipe, out: Path, *, as_json: bool, quiet: bool, **options: Any) -> None:
    """Train a bi-encoder and report the result in the main process."""
    from paraqd.cli.progress import Bar
    from paraqd.lab.training.processes import is_main, leave
    from paraqd.lab.training.recipe_training import train_from_recipe

    quiet = quiet or not is_main()
    try:
        with Bar(shown=not quiet and stderr().is_terminal) as bar:
            progress = _Shown(bar, silent=quiet).update
            done = train_from_recipe(recipe, out, say=say, progress=progress, **options)
    except KeyboardInterrupt:
        if is_main():
            say("stopped; run the same command again to continue")
        raise typer.Exit(EXIT_CODE) from None
    leave()
    if as_json and is_main():
        write_json({"out": str(done.model.folder), "reused": done.model.reused, **done.model.facts})
    elif not quiet:
        _say_done(done)


def _refuse_options(ctx: typer.Context, panels: Sequence[str], choice: str, *, names: Sequence[str] = ()) -> None:
    """Raise a usage error if the command line has an option that a recipe or a judge does not use."""
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        panel = getattr(parameter, "rich_help_panel", None)
        refused = panel in panels or parameter.name in names
        if refused and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{parameter.opts[0]} cannot be used with {choice}", ctx=ctx)


def _seeds(text: str | None) -> list[int]:
    from paraqd.lab.training.settings import TrainingError

    try:
        return [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        raise TrainingError(f"--search-seeds {text}: write numbers separated by commas, such as 0,1,2,3,4") from None


def _say_done(done: TrainedFromRecipe) -> None:
    model = done.model
    for why, count in done.pairs.triplets.skipped.items():
        say(f"{counted(count, 'question')}: {why}")
    overlap = model.facts.get("validation_overlap")
    if overlap:
        say(f"{overlap:,} of the validation questions are also training questions, so the metrics are too optimistic")
    found = model.validation
    measured = "" if found is None else f"; validation separation {found.separation:.3f}, accuracy {found.accuracy:.3f}"
    state = "was trained before" if model.reused else "is trained"
    loss = model.facts.get("loss")
    last = "" if loss is None else f"; last loss {loss:.3f}"
    several = model.facts.get("processes", 1)
    where = f" in {several} processes" if several > 1 else ""
    say(f"{model.folder} {state}{where}: {model.facts['data']['triplets']:,} triplets{last}{measured}")
    path = f"./{model.folder}" if is_shipped(str(model.folder)) else model.folder
    say(f"to evaluate it: paraqd evaluate PAIRS --model {path}")


class _Shown:
    """A progress callback that updates the bar and reports the step from which an interrupted run resumes."""

    def __init__(self, bar: Bar, *, silent: bool) -> None:
        self._bar, self._silent, self._seen = bar, silent, set[str]()

    def update(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        """Show the progress of a stage."""
        if stage.endswith("training") and stage not in self._seen:
            self._seen.add(stage)
            if done and not self._silent:
                say(f"{stage}: resuming from step {done:,} of {total or 0:,}")
        self._bar.update(stage, done, total, note)

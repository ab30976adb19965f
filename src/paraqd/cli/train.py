"""Run ``paraqd train``: train a model from a recipe."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import say, stderr, write_json
from paraqd.interrupts import EXIT_CODE
from paraqd.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paraqd.cli.progress import Bar
    from paraqd.progress import Progress
    from paraqd.training.bi_encoder import Trained
    from paraqd.training.recipe_corpus import TrainingPairs
    from paraqd.training.recipes import BiEncoderRecipe, JudgeRecipe

EXAMPLE = "Example: paraqd train pairs.csv --validation other.csv --out models/paraqd --epochs 9"

_BI_ENCODER_ONLY = (
    "validation",
    "in_batch",
    "question_column",
    "paraphrase_column",
    "label_column",
    "id_column",
    "encoding",
    "loss",
    "distance",
    "margin",
    "batch_size",
    "search_seeds",
    "max_length",
    "precision",
    "layers",
)
_JUDGE_ONLY = ("batch_tokens", "teacher", "start")
_DATA, _TRAINING, _OUTPUT = "Data", "Training", "Output"


def _one_message(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that only the first process on each machine reports an error that occurs in all processes."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from paraqd.errors import ParaqdError
        from paraqd.training.processes import reports_errors

        try:
            command(*args, **kwargs)
        except Exception as error:
            if reports_errors() or not isinstance(error, (ParaqdError, FileExistsError, typer.BadParameter)):
                raise
            raise typer.Exit(2) from None

    return wrapped


@_one_message
def train(
    ctx: typer.Context,
    pairs: list[str] = typer.Argument(
        None,
        metavar="[AUGMENTED]...",
        help="Files that paraqd augment wrote. Default: data that the recipe creates.",
    ),
    out: str = typer.Option(..., "--out", "-o", help="The model folder to write."),
    recipe: str = typer.Option(
        "paper",
        "--recipe",
        help="The recipe: paper trains the paper's bi-encoder, and default trains a scorer like the one in the "
        "package. A list of operators (uda or ssmba) or a .toml file is also accepted.",
    ),
    values: list[str] = typer.Option(
        [],
        "--set",
        metavar="KEY=VALUE",
        help="Replace a value in the recipe, for example data.questions=100. Values are written in TOML syntax. May be "
        "repeated.",
    ),
    encoder: str | None = typer.Option(
        None,
        "--encoder",
        help="The name or folder of the encoder to train, for example all-MiniLM-L12-v1 or all-mpnet-base-v2. Default: "
        "all-MiniLM-L6-v2.",
    ),
    validation: str | None = typer.Option(
        None,
        "--validation",
        help="A file of augmented pairs from other questions, on which the model is measured after each epoch.",
        rich_help_panel=_DATA,
    ),
    without: str | None = typer.Option(
        None,
        "--without",
        help="Operators to skip, separated by commas, for example f9. With the recipe default, sets of pairs to skip, "
        "for example rules,fluent.",
        rich_help_panel=_DATA,
    ),
    in_batch: bool = typer.Option(
        False,
        "--in-batch",
        help="Use the other questions in a batch as negatives, as UDA and SSMBA require.",
        rich_help_panel=_DATA,
    ),
    questions: int | None = typer.Option(
        None, "--questions", help="The number of questions to which operators are applied.", rich_help_panel=_DATA
    ),
    data_seed: int | None = typer.Option(
        None,
        "--data-seed",
        help="The seed for drawing questions, for the operators and for choosing each triplet's valid text.",
        rich_help_panel=_DATA,
    ),
    question_column: str = typer.Option("question", "--question-column", rich_help_panel=_DATA),
    paraphrase_column: str = typer.Option("paraphrase", "--paraphrase-column", rich_help_panel=_DATA),
    label_column: str = typer.Option("label", "--label-column", rich_help_panel=_DATA),
    id_column: str = typer.Option("id", "--id-column", rich_help_panel=_DATA),
    encoding: str | None = typer.Option(
        None, "--encoding", help="The encoding of a text file that is not UTF-8, such as cp1252.", rich_help_panel=_DATA
    ),
    data_dir: str | None = typer.Option(
        None,
        "--data-dir",
        envvar="PARAQD_DATA_DIR",
        help="The folder that contains the data sets.",
        rich_help_panel=_DATA,
    ),
    generator: list[str] = typer.Option(
        [],
        "--generator",
        metavar="ID=MODEL",
        help="A model for an operator, for example f9=DIR. May be repeated.",
        rich_help_panel=_DATA,
    ),
    teacher: list[str] = typer.Option(
        [],
        "--teacher",
        metavar="NAME",
        help="With the recipe default: a teacher that replaces the recipe's teachers. Pass an encoder, "
        "SmolLM2-135M-Instruct, or none. May be repeated.",
        rich_help_panel=_TRAINING,
    ),
    start: str | None = typer.Option(
        None,
        "--start",
        help="With the recipe default: the folder of a trained judge from which training starts.",
        rich_help_panel=_TRAINING,
    ),
    loss: str | None = typer.Option(None, "--loss", help="The loss: triplet or mnrl.", rich_help_panel=_TRAINING),
    distance: str | None = typer.Option(
        None,
        "--distance",
        help="The distance in the triplet loss: cosine, or euclidean as in the paper's public code.",
        rich_help_panel=_TRAINING,
    ),
    margin: float | None = typer.Option(
        None,
        "--margin",
        help="The margin of the triplet loss. Default: 2 for cosine, 5 for euclidean.",
        rich_help_panel=_TRAINING,
    ),
    epochs: int | None = typer.Option(
        None,
        "--epochs",
        help="The number of epochs. With the recipe default, the number in every stage.",
        rich_help_panel=_TRAINING,
    ),
    batch_size: int | None = typer.Option(
        None,
        "--batch-size",
        help="The number of triplets in a batch, over all processes.",
        rich_help_panel=_TRAINING,
    ),
    batch_tokens: int | None = typer.Option(
        None,
        "--batch-tokens",
        help="With the recipe default: the maximum number of tokens in a batch.",
        rich_help_panel=_TRAINING,
    ),
    learning_rate: float | None = typer.Option(None, "--learning-rate", rich_help_panel=_TRAINING),
    weight_decay: float | None = typer.Option(None, "--weight-decay", rich_help_panel=_TRAINING),
    warmup: float | None = typer.Option(
        None, "--warmup", help="The fraction of the steps in which the learning rate rises.", rich_help_panel=_TRAINING
    ),
    seed: int | None = typer.Option(
        None,
        "--seed",
        help="The random seed for training. With the recipe default, the seed for every stage.",
        rich_help_panel=_TRAINING,
    ),
    search_seeds: str | None = typer.Option(
        None,
        "--search-seeds",
        help="Try these seeds on 20 % of the data and train with the best seed, for example 0,1,2,3,4.",
        rich_help_panel=_TRAINING,
    ),
    max_length: int | None = typer.Option(
        None,
        "--max-length",
        help="The maximum number of tokens read from a text. Default: the encoder's limit.",
        rich_help_panel=_TRAINING,
    ),
    precision: str | None = typer.Option(
        None, "--precision", help="The precision: auto, fp32 or bf16.", rich_help_panel=_TRAINING
    ),
    layers: int | None = typer.Option(
        None,
        "--layers",
        help="Keep only this many of the encoder's first layers, for a quick run.",
        rich_help_panel=_TRAINING,
    ),
    device: str | None = typer.Option(
        None, "--device", help="The device, for example cpu or cuda.", rich_help_panel=_TRAINING
    ),
    workers: int = typer.Option(
        0,
        "--workers",
        help="The number of processes that apply operators and prepare batches.",
        rich_help_panel=_TRAINING,
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace a model from another training run."),
    restart: bool = typer.Option(False, "--restart", help="Discard an unfinished training run with other settings."),
    as_json: bool = typer.Option(False, "--json", help="Write the model's facts as JSON.", rich_help_panel=_OUTPUT),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Do not show progress.", rich_help_panel=_OUTPUT),
) -> None:
    """Train a model from a recipe and write its folder.

    The recipe paper trains a bi-encoder on triplets, so that valid paraphrases move closer to the question and invalid
    paraphrases move away from it. The recipe default runs the steps that produced the package's scorer, from the data
    to the model folder. It needs a GPU, and the weights will differ from the package's weights. Options replace values
    in the recipe. A checkpoint is written every minute. If training is interrupted, run the same command again to
    resume from the last checkpoint and end with the same weights. On several GPUs, use:
    accelerate launch --multi_gpu --num_processes 4 -m paraqd train ...
    """
    from paraqd.cli.options import models_in, names_in
    from paraqd.training.recipes import JudgeRecipe, load_recipe, parse_overrides, teacher_entry
    from paraqd.training.settings import TrainingError

    given: dict[str, Any] = {
        "encoder": encoder,
        "data.questions": questions,
        "data.seed": data_seed,
    }
    settings: dict[str, Any] = {
        "epochs": epochs,
        "learning_rate": learning_rate,
        "weight_decay": weight_decay,
        "warmup_share": warmup,
        "seed": seed,
    }
    common: dict[str, Any] = {
        "device": device,
        "overwrite": overwrite,
        "restart": restart,
        "as_json": as_json,
        "quiet": quiet,
    }
    if isinstance(load_recipe(recipe), JudgeRecipe):
        if pairs:
            raise TrainingError(f"--recipe {recipe} creates its own pairs: omit {pairs[0]}, or use --recipe paper")
        _refuse(ctx, _BI_ENCODER_ONLY, f"--recipe {recipe}")
        settings["batch_tokens"] = batch_tokens
        given |= {
            "start": start,
            "teachers": [teacher_entry(name) for name in teacher if name != "none"] if teacher else None,
        }
        given |= {f"judge.stages.{name}": value for name, value in settings.items()}
        loaded = load_recipe(recipe, {**_known(given), **parse_overrides(values)})
        assert isinstance(loaded, JudgeRecipe)
        _train_judge(
            loaded.without(names_in(without) or ()),
            Path(out),
            data_dir=data_dir,
            generators=models_in(generator),
            workers=max(1, workers),
            **common,
        )
        return
    _refuse(ctx, _JUDGE_ONLY, f"--recipe {recipe}")
    settings |= {
        "loss": loss,
        "distance": distance,
        "margin": margin,
        "batch_size": batch_size,
        "max_length": max_length,
        "precision": precision,
    }
    given |= {f"training.{name}": value for name, value in settings.items()}
    other = load_recipe(recipe, {**_known(given), **parse_overrides(values)})
    assert not isinstance(other, JudgeRecipe)
    _train_bi_encoder(
        other,
        Path(out),
        files=pairs or [],
        seeds=_seeds(search_seeds),
        reading={
            "validation": validation,
            "without": names_in(without) or (),
            "in_batch": in_batch,
            "encoding": encoding,
            "data_dir": data_dir,
            "generators": models_in(generator),
        },
        column_names={
            "question": question_column,
            "paraphrase": paraphrase_column,
            "label": label_column,
            "id": id_column,
        },
        layers=layers,
        workers=workers,
        **common,
    )


def _train_judge(recipe: JudgeRecipe, out: Path, *, as_json: bool, quiet: bool, **options: Any) -> None:
    """Train a scorer with a judge and report the result."""
    from paraqd.cli.progress import Bar
    from paraqd.training.fused_scorer import train_scorer

    try:
        with Bar(shown=not quiet and stderr().is_terminal) as bar:
            done = train_scorer(recipe, out, progress=bar.update, **options)
    except KeyboardInterrupt:
        say("stopped; run the same command again to continue")
        raise typer.Exit(EXIT_CODE) from None
    if as_json:
        write_json({"out": str(done.folder), **done.facts})
    elif not quiet:
        for name, found in done.facts["validation"].items():
            say(f"validation, {name}: macro F1 {found['macro_f1']:.3f}, AUC {found['auc']:.3f}")
        say(f"{done.folder} is trained; to use it for scoring, export it: paraqd export {done.folder} -o DIR")


def _train_bi_encoder(
    recipe: BiEncoderRecipe,
    out: Path,
    *,
    files: Sequence[str],
    seeds: list[int],
    reading: dict[str, Any],
    column_names: dict[str, str],
    layers: int | None,
    device: str | None,
    workers: int,
    overwrite: bool,
    restart: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read the pairs, train a bi-encoder and report the result."""
    from paraqd.cli.progress import Bar
    from paraqd.data.tables import Columns
    from paraqd.training.processes import check_shares, join, leave, refuse_several
    from paraqd.training.recipe_corpus import read_pairs_for_training
    from paraqd.training.saving import check_out

    if seeds:
        refuse_several("--search-seeds")
    crew = join(device)
    check_shares(recipe.settings.batch_size, crew.size)
    crew.by_main(lambda: check_out(out))
    quiet, as_json = quiet or not crew.is_main, as_json and crew.is_main
    try:
        with Bar(shown=not quiet and stderr().is_terminal) as bar:
            corpus = crew.main_first(
                lambda: read_pairs_for_training(
                    files,
                    recipe=recipe.operators,
                    questions=recipe.questions,
                    seed=recipe.data_seed,
                    columns=Columns(**column_names),
                    device=device,
                    progress=bar.update,
                    **reading,
                )
            )
            options = {"encoder": recipe.encoder, "layers": layers, "device": device, "workers": workers}
            progress = _Shown(bar, silent=quiet).update
            recipe = _with_best_seed(recipe, corpus, out, seeds, options, progress)
            done = _train(recipe, corpus, out, progress, overwrite=overwrite, restart=restart, **options)
    except KeyboardInterrupt:
        if crew.is_main:
            say("stopped; run the same command again to continue")
        raise typer.Exit(EXIT_CODE) from None
    leave()
    if as_json:
        write_json({"out": str(done.folder), "reused": done.reused, **done.facts})
    elif not quiet:
        _say_done(done, corpus)


def _with_best_seed(
    recipe: BiEncoderRecipe,
    corpus: TrainingPairs,
    out: Path,
    seeds: list[int],
    options: dict[str, Any],
    progress: Progress,
) -> BiEncoderRecipe:
    """Return the recipe with the best of the given seeds, or unchanged if there are no seeds."""
    from dataclasses import replace

    from paraqd.training.seed_search import search_seed
    from paraqd.training.settings import TrainingError

    if not seeds:
        return recipe
    if corpus.validation is None:
        raise TrainingError("--search-seeds needs validation pairs: pass --validation FILE")
    place = out.with_name(f"{out.name}.seeds")
    found = search_seed(
        corpus.triplets, corpus.validation, place, settings=recipe.settings, seeds=seeds, progress=progress, **options
    )
    for seed, measured in found.tried.items():
        say(f"seed {seed}: separation {measured.separation:.3f}" + (" (best)" if seed == found.best else ""))
    return replace(recipe, settings=replace(recipe.settings, seed=found.best))


def _train(recipe: BiEncoderRecipe, corpus: TrainingPairs, out: Path, progress: Progress, **options: Any) -> Trained:
    from paraqd.training.bi_encoder import train_bi_encoder

    return train_bi_encoder(
        corpus.triplets,
        out,
        settings=recipe.settings,
        validation=corpus.validation,
        recipe=corpus.recipe,
        stand_ins=corpus.stand_ins,
        left_out=corpus.left_out,
        progress=progress,
        **options,
    )


def _refuse(ctx: typer.Context, names: Sequence[str], recipe: str) -> None:
    """Raise `typer.BadParameter` if the command line has an option that the recipe does not use."""
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{parameter.opts[0]} cannot be used with {recipe}", ctx=ctx)


def _known(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _seeds(text: str | None) -> list[int]:
    from paraqd.training.settings import TrainingError

    try:
        return [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        raise TrainingError(f"--search-seeds {text}: write numbers separated by commas, such as 0,1,2,3,4") from None


def _say_done(done: Trained, corpus: TrainingPairs) -> None:
    for why, count in corpus.triplets.skipped.items():
        say(f"{counted(count, 'question')}: {why}")
    overlap = done.facts.get("validation_overlap")
    if overlap:
        say(f"{overlap:,} of the validation questions are also training questions, so the metrics are too optimistic")
    found = done.validation
    measured = "" if found is None else f"; validation separation {found.separation:.3f}, accuracy {found.accuracy:.3f}"
    state = "was trained before" if done.reused else "is trained"
    loss = done.facts.get("loss")
    last = "" if loss is None else f"; last loss {loss:.3f}"
    several = done.facts.get("processes", 1)
    where = f" in {several} processes" if several > 1 else ""
    say(f"{done.folder} {state}{where}: {done.facts['data']['triplets']:,} triplets{last}{measured}")
    say(f"to evaluate it: paraqd evaluate PAIRS --model {done.folder}")


class _Shown:
    """A progress callback that updates the bar and reports once from which step an interrupted run resumes."""

    def __init__(self, bar: Bar, *, silent: bool) -> None:
        self._bar, self._silent, self._seen = bar, silent, set[str]()

    def update(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        """Show the progress of a stage."""
        if stage.endswith("training") and stage not in self._seen:
            self._seen.add(stage)
            if done and not self._silent:
                say(f"{stage}: resuming from step {done:,} of {total or 0:,}")
        self._bar.update(stage, done, total, note)

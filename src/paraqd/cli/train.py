"""``paraqd train``: train an encoder on triplets of labelled pairs."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import say, stderr, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paraqd.cli.progress import Bar
    from paraqd.training.recipe_corpus import TrainingPairs
    from paraqd.training.settings import TrainSettings
    from paraqd.training.train import Trained

EXAMPLE = "Example: paraqd train pairs.parquet --validation other.parquet --out models/paraqd --epochs 9"

_PAPER_ONLY = (
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
_DATA, _TRAINING, _SHOWN = "Data", "Training", "What is shown"


def _in_one_voice(command: Callable[..., None]) -> Callable[..., None]:
    """Let the first process of a machine say what is wrong for all of them."""

    @wraps(command)
    def spoken(*args: Any, **kwargs: Any) -> None:
        from paraqd.errors import ParaqdError
        from paraqd.training.processes import speaks

        try:
            command(*args, **kwargs)
        except Exception as error:
            if speaks() or not isinstance(error, (ParaqdError, FileExistsError, typer.BadParameter)):
                raise
            raise typer.Exit(2) from None

    return spoken


@_in_one_voice
def train(
    ctx: typer.Context,
    pairs: list[str] = typer.Argument(
        None, metavar="[AUGMENTED]...", help="What paraqd augment wrote; without, the recipe's corpus is made first."
    ),
    out: str = typer.Option(..., "--out", "-o", help="The model folder."),
    recipe: str = typer.Option(
        "paper",
        "--recipe",
        help="Where no file is given: paper makes its corpus and trains its bi-encoder, extended the fused scorer.",
    ),
    encoder: str | None = typer.Option(
        None,
        "--encoder",
        help="A name or a folder; all-MiniLM-L6-v2 unless given. Also all-MiniLM-L12-v1, all-mpnet-base-v2.",
    ),
    validation: str | None = typer.Option(
        None,
        "--validation",
        help="Augmented pairs of other questions, measured after each epoch.",
        rich_help_panel=_DATA,
    ),
    without: str | None = typer.Option(
        None,
        "--without",
        help="Operators to leave out, with commas: f9; of the recipe extended sets of pairs: written,composed.",
        rich_help_panel=_DATA,
    ),
    in_batch: bool = typer.Option(
        False,
        "--in-batch",
        help="Negatives are the other questions of a batch, as for UDA and SSMBA.",
        rich_help_panel=_DATA,
    ),
    questions: int | None = typer.Option(
        None,
        "--questions",
        help="How many the recipe's corpus has: 30000; of the recipe extended 14000 beside the written ones.",
        rich_help_panel=_DATA,
    ),
    data_seed: int = typer.Option(
        3407, "--data-seed", help="Draws questions, outputs and the valid text of a triplet.", rich_help_panel=_DATA
    ),
    question_column: str = typer.Option("question", "--question-column", rich_help_panel=_DATA),
    paraphrase_column: str = typer.Option("paraphrase", "--paraphrase-column", rich_help_panel=_DATA),
    label_column: str = typer.Option("label", "--label-column", rich_help_panel=_DATA),
    id_column: str = typer.Option("id", "--id-column", rich_help_panel=_DATA),
    encoding: str | None = typer.Option(
        None, "--encoding", help="Of a text file that is not UTF-8, such as cp1252.", rich_help_panel=_DATA
    ),
    data_dir: str | None = typer.Option(
        None, "--data-dir", envvar="PARAQD_DATA_DIR", help="Where the data sets lie.", rich_help_panel=_DATA
    ),
    generator: list[str] = typer.Option(
        [], "--generator", metavar="ID=MODEL", help="For the recipe's operators: f9=DIR.", rich_help_panel=_DATA
    ),
    teacher: list[str] = typer.Option(
        [],
        "--teacher",
        metavar="NAME",
        help="Of the recipe extended, several times: judges to learn from: an encoder, SmolLM2-135M-Instruct.",
        rich_help_panel=_TRAINING,
    ),
    loss: str = typer.Option("triplet", "--loss", help="triplet or mnrl.", rich_help_panel=_TRAINING),
    distance: str = typer.Option(
        "cosine",
        "--distance",
        help="Of the triplet loss: cosine, or euclidean as the public code has it.",
        rich_help_panel=_TRAINING,
    ),
    margin: float | None = typer.Option(
        None, "--margin", help="2 for cosine, 5 for euclidean unless given.", rich_help_panel=_TRAINING
    ),
    epochs: int | None = typer.Option(None, "--epochs", help="9; of the recipe extended 5.", rich_help_panel=_TRAINING),
    batch_size: int = typer.Option(
        16, "--batch-size", help="Triplets; of several processes all together.", rich_help_panel=_TRAINING
    ),
    batch_tokens: int = typer.Option(
        16384, "--batch-tokens", help="Of the recipe extended: tokens in a batch.", rich_help_panel=_TRAINING
    ),
    learning_rate: float | None = typer.Option(
        None, "--learning-rate", help="2e-5; of the recipe extended 3e-4.", rich_help_panel=_TRAINING
    ),
    weight_decay: float = typer.Option(0.01, "--weight-decay", rich_help_panel=_TRAINING),
    warmup: float | None = typer.Option(
        None, "--warmup", help="Share of the steps: 0.1; of the recipe extended 0.06.", rich_help_panel=_TRAINING
    ),
    seed: int = typer.Option(3407, "--seed", rich_help_panel=_TRAINING),
    search_seeds: str | None = typer.Option(
        None,
        "--search-seeds",
        help="Try these on 20 % of the data and train with the best: 0,1,2,3,4.",
        rich_help_panel=_TRAINING,
    ),
    max_length: int | None = typer.Option(
        None, "--max-length", help="Tokens of a text; the encoder's limit unless given.", rich_help_panel=_TRAINING
    ),
    precision: str = typer.Option("auto", "--precision", help="auto, fp32 or bf16.", rich_help_panel=_TRAINING),
    layers: int | None = typer.Option(
        None, "--layers", help="Keep the encoder's first layers only, for a quick run.", rich_help_panel=_TRAINING
    ),
    device: str | None = typer.Option(None, "--device", help="cpu, cuda.", rich_help_panel=_TRAINING),
    workers: int = typer.Option(0, "--workers", help="Processes that lay out batches.", rich_help_panel=_TRAINING),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace a model of another training."),
    restart: bool = typer.Option(False, "--restart", help="Throw away an unfinished training with other settings."),
    as_json: bool = typer.Option(False, "--json", help="What was done as JSON.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress.", rich_help_panel=_SHOWN),
) -> None:
    """Train an encoder so that valid paraphrases come close and invalid ones go away.

    The defaults are the paper's. With --recipe extended and no file the default scorer is trained anew: a judge that
    reads both texts together, and the weights of the evidence. Run the same command again after an interruption: it
    goes on from its last checkpoint (one a minute) to the same weights. Several GPUs share every batch where it is
    started with: accelerate launch --multi_gpu --num_processes 4 -m paraqd train ...
    """
    from paraqd.cli.options import models_in, names_in
    from paraqd.cli.progress import Bar
    from paraqd.data.tables import Columns
    from paraqd.generators.encoder import DEFAULT_ENCODER
    from paraqd.training.model_folder import check_out
    from paraqd.training.processes import check_shares, join, leave, refuse_several
    from paraqd.training.recipe_corpus import read_pairs_for_training
    from paraqd.training.settings import TrainSettings

    if recipe == "extended" and not pairs:
        _refuse(ctx, _PAPER_ONLY, "--recipe extended")
        given = {"epochs": epochs, "learning_rate": learning_rate, "warmup_share": warmup}
        _extended(
            Path(out),
            {"batch_tokens": batch_tokens, "weight_decay": weight_decay, "seed": seed}
            | {name: value for name, value in given.items() if value is not None},
            {
                "encoder": encoder or DEFAULT_ENCODER,
                "data_dir": data_dir,
                "questions": 14_000 if questions is None else questions,
                "data_seed": data_seed,
                "generators": models_in(generator),
                "without": names_in(without) or (),
                "teachers": teacher,
                "device": device,
                "workers": max(1, workers),
                "overwrite": overwrite,
                "restart": restart,
            },
            as_json=as_json,
            quiet=quiet,
        )
        return
    _refuse(ctx, ("batch_tokens", "teacher"), "the paper's training")
    settings = TrainSettings(
        loss=loss,  # type: ignore[arg-type]  # checked there
        distance=distance,  # type: ignore[arg-type]
        margin=margin,
        epochs=9 if epochs is None else epochs,
        batch_size=batch_size,
        learning_rate=2e-5 if learning_rate is None else learning_rate,
        weight_decay=weight_decay,
        warmup_share=0.1 if warmup is None else warmup,
        seed=seed,
        max_length=max_length,
        precision=precision,  # type: ignore[arg-type]
    )
    seeds = _seeds(search_seeds)
    if seeds:
        refuse_several("--search-seeds")
    crew = join(device)
    check_shares(batch_size, crew.size)
    crew.by_main(lambda: check_out(Path(out), overwrite=overwrite))
    quiet, as_json = quiet or not crew.is_main, as_json and crew.is_main
    options: dict[str, Any] = {
        "encoder": encoder or DEFAULT_ENCODER,
        "layers": layers,
        "device": device,
        "workers": workers,
    }
    try:
        with Bar(shown=not quiet and stderr().is_terminal) as bar:
            columns = Columns(question=question_column, paraphrase=paraphrase_column, label=label_column, id=id_column)
            corpus = crew.main_first(
                lambda: read_pairs_for_training(
                    pairs or [],
                    recipe=recipe,
                    validation=validation,
                    without=names_in(without) or (),
                    in_batch=in_batch,
                    questions=30_000 if questions is None else questions,
                    seed=data_seed,
                    columns=columns,
                    encoding=encoding,
                    data_dir=data_dir,
                    generators=models_in(generator),
                    device=device,
                    progress=bar.update,
                )
            )
            shown = _Shown(bar, silent=quiet)
            options |= {"overwrite": overwrite, "restart": restart}
            done = _train(corpus, Path(out), settings, seeds, options, progress=shown.update)
    except KeyboardInterrupt:
        if crew.is_main:
            say("stopped; run the same command again to go on")
        raise typer.Exit(130) from None
    leave()
    if as_json:
        write_json({"out": str(done.folder), "reused": done.reused, **done.facts})
    elif not quiet:
        _say_done(done, corpus)


def _extended(out: Path, settings: dict[str, Any], options: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Train the fused scorer."""
    from paraqd.cli.progress import Bar
    from paraqd.training.fused_scorer import train_extended
    from paraqd.training.settings import JudgeSettings

    try:
        with Bar(shown=not quiet and stderr().is_terminal) as bar:
            done = train_extended(out, settings=JudgeSettings(**settings), progress=bar.update, **options)
    except KeyboardInterrupt:
        say("stopped; run the same command again to go on")
        raise typer.Exit(130) from None
    if as_json:
        write_json({"out": str(done.folder), **done.facts})
    elif not quiet:
        for name, found in done.facts["validation"].items():
            say(f"validation, {name}: macro F1 {found['macro_f1']:.3f}, AUC {found['auc']:.3f}")
        say(f"{done.folder} is trained; write it in the form that scores: paraqd export {done.folder} -o DIR")


def _refuse(ctx: typer.Context, names: Sequence[str], what: str) -> None:
    """Say so where an option is given that would not be heeded."""
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{parameter.opts[0]} does not go with {what}", ctx=ctx)


def _seeds(text: str | None) -> list[int]:
    from paraqd.training.settings import TrainingError

    try:
        return [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        raise TrainingError(f"--search-seeds {text}: write numbers with commas, such as 0,1,2,3,4") from None


def _train(
    corpus: TrainingPairs,
    out: Path,
    settings: TrainSettings,
    seeds: list[int],
    options: dict[str, Any],
    *,
    progress: Callable[[str, int, int, str], None],
) -> Trained:
    from dataclasses import replace

    from paraqd.training.seed_search import search_seed
    from paraqd.training.settings import TrainingError
    from paraqd.training.train import train as run

    if seeds:
        if corpus.validation is None:
            raise TrainingError("--search-seeds chooses by validation: give --validation FILE")
        place = out.with_name(f"{out.name}.seeds")
        models = {key: value for key, value in options.items() if key not in ("overwrite", "restart")}
        found = search_seed(
            corpus.triplets, corpus.validation, place, settings=settings, seeds=seeds, progress=progress, **models
        )
        for seed, measured in found.tried.items():
            say(f"seed {seed}: separation {measured.separation:.3f}" + (" (best)" if seed == found.best else ""))
        settings = replace(settings, seed=found.best)
    return run(
        corpus.triplets,
        out,
        settings=settings,
        validation=corpus.validation,
        recipe=corpus.recipe,
        stand_ins=corpus.stand_ins,
        left_out=corpus.left_out,
        progress=progress,
        **options,
    )


def _say_done(done: Trained, corpus: TrainingPairs) -> None:
    for why, count in corpus.triplets.skipped.items():
        say(f"{count:,} questions: {why}")
    overlap = done.facts.get("validation_overlap")
    if overlap:
        say(f"{overlap:,} of the validation questions were trained on, too: the figures flatter")
    found = done.validation
    measured = "" if found is None else f"; validation separation {found.separation:.3f}, accuracy {found.accuracy:.3f}"
    state = "was trained before" if done.reused else "is trained"
    loss = done.facts.get("loss")
    last = "" if loss is None else f"; last loss {loss:.3f}"
    several = done.facts.get("processes", 1)
    where = f" in {several} processes" if several > 1 else ""
    say(f"{done.folder} {state}{where}: {done.facts['data']['triplets']:,} triplets{last}{measured}")
    say(f"score pairs with it: paraqd evaluate PAIRS --model {done.folder}")


class _Shown:
    """Passes progress on to the bar, and says once where a run that was broken off goes on."""

    def __init__(self, bar: Bar, *, silent: bool) -> None:
        self._bar, self._silent, self._begun = bar, silent, set[str]()

    def update(self, stage: str, done: int, total: int, remark: str) -> None:
        if stage.endswith("training") and stage not in self._begun:
            self._begun.add(stage)
            if done and not self._silent:
                say(f"{stage}: going on from step {done:,} of {total:,}")
        self._bar.update(stage, done, total, remark)

"""Train a scorer with a learned judge from a recipe.

Training creates the pairs, trains the teachers and the judge, fits the fusion and writes the model folder. Intermediate
results are stored in a work folder, so an interrupted training run can be resumed.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.faulty_pairs import read_faults
from paraqd.lab.training.exported_weights import load_exported
from paraqd.lab.training.fusion_fitting import fit_and_measure
from paraqd.lab.training.judge_model import HEADS_FILE, KINDS, load_judge, make_judge, save_judge
from paraqd.lab.training.judge_tokens import JudgeTokens, join_tokens
from paraqd.lab.training.judge_training import judge_scores, train_judge
from paraqd.lab.training.model_cards import judge_card
from paraqd.lab.training.pair_files import PairFiles
from paraqd.lab.training.processes import refuse_several
from paraqd.lab.training.recipes import JudgeRecipe
from paraqd.lab.training.recipes.solvable import SolvableRecipe
from paraqd.lab.training.saving import check_new, save_model_folder
from paraqd.lab.training.settings import JudgeSettings, TrainingError, require_judge_training
from paraqd.lab.training.teachers import mean_odds, teacher_odds
from paraqd.lab.training.torch_state import reproducible
from paraqd.lab.training.work_folder import (
    TOKENS,
    begin_training,
    recipe_pairs,
    store_all_tokens,
    token_digest,
    tokenized,
    work_folder,
)
from paraqd.model_folder import ONNX_FILE, find_model_folder
from paraqd.model_runtime import pick_device, quiet
from paraqd.progress import Progress, silent
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, encoder_folder
from paraqd.scoring.verdict import THRESHOLD


@dataclass(frozen=True)
class TrainedJudge:
    """The result of training a scorer: the model folder and the contents of its ``paraqd.json``."""

    folder: Path
    facts: dict[str, Any]


def train_scorer(
    recipe: JudgeRecipe,
    out: str | Path,
    *,
    work: str | Path | None = None,
    data_dir: str | Path | None = None,
    generators: Mapping[str, str] | None = None,
    device: str | None = None,
    workers: int = 1,
    overwrite: bool = False,
    restart: bool = False,
    progress: Progress = silent,
) -> TrainedJudge:
    """Run all steps of a recipe: create the pairs, train the models, fit the fusion and write the model folder.

    Parameters
    ----------
    out : str or Path
        The model folder.
    work : str or Path, optional
        The folder for pairs, tokens and checkpoints (default: ``OUT.work``).
    generators : mapping, optional
        The folders of trained generators, keyed by the generator's kind. By default, the generator that the recipe
        needs is trained first.
    workers : int
        The number of processes that apply the operators.
    overwrite : bool
        Replace the folder if it already contains a model.
    restart : bool
        Discard an unfinished training run with different settings.

    """
    require_judge_training()
    refuse_several("the training of a judge")
    folder = Path(out)
    check_new(folder, overwrite=overwrite)
    place = work_folder(folder, work)
    _check_models(recipe, place)
    files = recipe_pairs(
        recipe,
        place,
        data_dir=data_dir,
        generators=generators,
        workers=workers,
        device=device,
        progress=progress,
    )
    return train_on_pairs(files, recipe, folder, work=place, device=device, restart=restart, progress=progress)


def prepare_scorer(recipe: JudgeRecipe, work: Path, *, progress: Progress = silent, **options: Any) -> None:
    """Create a recipe's pairs and their tokens in the work folder. Training then needs no data sets.

    The set ``sampled`` is written when training begins. ``options`` are passed to `work_folder.recipe_pairs`.
    """
    _check_models(recipe)
    files = recipe_pairs(recipe, work, complete=False, progress=progress, **options)
    store_all_tokens(recipe, files, work, progress=progress)


def train_on_pairs(
    files: PairFiles,
    recipe: JudgeRecipe,
    folder: Path,
    *,
    work: Path,
    device: str | None = None,
    restart: bool = False,
    progress: Progress = silent,
) -> TrainedJudge:
    """Train the teachers and the judge on existing files of pairs, fit the fusion, and write the model folder.

    Intermediate results are stored in the folder ``work``.
    """
    import torch
    from transformers import AutoTokenizer

    device = pick_device(device)
    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(str(encoder_folder(recipe.encoder)))

        def tokens_of(name: str, tokenizer: Any = tokenizer, place: Path = work / TOKENS) -> JudgeTokens:
            weight = recipe.data.train[name].weight
            return tokenized(files.train[name], tokenizer, place, weight, progress=progress)

        tokens = {name: tokens_of(name) for name in files.train}
        facts: dict[str, Any] = {
            "recipe": recipe.name,
            "encoder": recipe.encoder,
            "start": Path(recipe.start).name,
            "teachers": [teacher.name for teacher in recipe.teachers],
            "settings": asdict(recipe.stages[-1]),
            "stages": [asdict(stage) for stage in recipe.stages],
            "data": {name: {"pairs": len(found), "sha256": token_digest(found)} for name, found in tokens.items()},
        }
        taught = [dict(teacher.settings) for teacher in recipe.teachers]
        begin_training(work, {**facts, "taught": taught}, restart=restart)
        odds = [
            teacher_odds(
                teacher,
                list(tokens),
                tokens_of,
                work=work,
                settings=recipe.stages[-1],
                number=number,
                device=device,
                progress=progress,
            )
            for number, teacher in enumerate(recipe.teachers, start=1)
        ]
        joined = join_tokens(list(tokens.values()))
        if any(len(each) != len(joined) for each in odds):
            raise TrainingError(f"a teacher in {work} has judged other pairs: delete its answers, or train it again")
        judge = _train_stages(
            recipe,
            joined,
            tokenizer,
            work=work,
            device=device,
            teacher=mean_odds(odds) if odds else None,
            progress=progress,
        )
        validation = {
            name: (list(read_faults(path)), tokenized(path, tokenizer, work / TOKENS, 1.0, progress=progress))
            for name, path in files.validation.items()
        }
        progress("fitting the fusion", 0, None)
        scored = {name: (pairs, judge_scores(judge, made, device=device)) for name, (pairs, made) in validation.items()}
        facts = {"name": folder.name, "kind": "fused", "threshold": THRESHOLD, "kinds": list(KINDS), **facts}
        facts |= fit_and_measure(scored, recipe.fusion)
        facts["versions"] = {"torch": torch.__version__.partition("+")[0]}
        written = save_model_folder(
            folder,
            facts,
            card=judge_card(facts),
            write_weights=lambda place: save_judge(judge.cpu(), tokenizer, place),
        )
    for name in ("checkpoints", "stages"):
        shutil.rmtree(work / name, ignore_errors=True)
    return TrainedJudge(folder, written)


def _train_stages(
    recipe: JudgeRecipe, tokens: JudgeTokens, tokenizer: Any, *, work: Path, progress: Progress, **options: Any
) -> Any:
    """Train the judge in all stages, and return the judge. Stages that an interrupted run has finished are skipped."""
    start, judge = start_folder(recipe), None
    for number, settings in enumerate(recipe.stages, start=1):
        finished = work / "stages" / str(number)
        if not (finished / HEADS_FILE).is_file():
            stage = "training" if len(recipe.stages) == 1 else f"training, stage {number} of {len(recipe.stages)}"
            with reproducible(settings.seed):
                judge = load_start(start, settings, recipe.encoder)
                checkpoints = work / "checkpoints" / str(number)
                train_judge(
                    judge,
                    tokens,
                    settings=settings,
                    checkpoints=checkpoints,
                    stage=stage,
                    progress=progress,
                    **options,
                )
            save_judge(judge, tokenizer, finished)  # writes the file of heads last, which marks the stage as finished
            shutil.rmtree(checkpoints, ignore_errors=True)
        start = finished
    return judge or load_judge(start)


def start_folder(recipe: JudgeRecipe | SolvableRecipe) -> Path:
    """Return the folder with whose weights training starts: an earlier judge, or the encoder."""
    return find_model_folder(recipe.start) if recipe.start else encoder_folder(recipe.encoder)


def load_start(folder: Path, settings: JudgeSettings, encoder: str) -> Any:
    """Load the judge in a folder, or build an untrained judge if the folder contains an encoder."""
    if (folder / HEADS_FILE).is_file():
        return load_judge(folder, inner=settings.inner, exact=True)
    if (folder / ONNX_FILE).is_file():
        return load_exported(folder, encoder_folder(encoder), inner=settings.inner)
    return make_judge(folder, inner=settings.inner)


def _check_models(recipe: JudgeRecipe, work: Path | None = None) -> None:
    """Raise an exception if a model is missing, or if the recipe has no training set or no validation set.

    A trained language-model judge is needed only if ``work`` is passed.
    """
    if not (encoder_folder(recipe.encoder) / "config.json").is_file():
        raise TrainingError(
            f"encoder {recipe.encoder}: no such model on this machine; use {DEFAULT_ENCODER} or a model folder"
        )
    if recipe.start and not any((start_folder(recipe) / name).is_file() for name in (HEADS_FILE, ONNX_FILE)):
        raise TrainingError(f"{recipe.start} has no judge to start from: it has no {HEADS_FILE} and no {ONNX_FILE}")
    for teacher in recipe.teachers:
        teacher.check(work)
    if not recipe.data.validation:
        raise TrainingError("a recipe for a judge needs a validation set, to which the fusion is fitted")
    if not recipe.data.train:
        raise TrainingError("a recipe for a judge needs a training set")

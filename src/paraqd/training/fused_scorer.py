"""Train a scorer with a learned judge from a recipe.

Training creates the pairs, trains the teachers and the judge, fits the fusion and writes the model folder. Intermediate
results are stored in the folder ``OUT.work``, so an interrupted training run can be resumed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraqd.data.datasets import find
from paraqd.data.faulty_pairs import read_faults
from paraqd.data.writers import replace_json
from paraqd.files import sha256_of
from paraqd.generators.encoder import DEFAULT_ENCODER, encoder_folder
from paraqd.generators.runtime import pick_device, quiet
from paraqd.generators.train import train_generator
from paraqd.generators.training_data import PARAPHRASES
from paraqd.model_folder import FACTS_FILE
from paraqd.progress import Progress, silent
from paraqd.scoring.verdict import THRESHOLD
from paraqd.training.fusion_fitting import fit_and_measure
from paraqd.training.judge_corpus import PairFiles, make_judge_pairs, pair_weights
from paraqd.training.judge_model import HEADS_FILE, KINDS, load_judge, make_judge, save_judge
from paraqd.training.judge_tokens import (
    PREPARATION,
    JudgeTokens,
    join_tokens,
    read_tokens,
    tokenize_pairs,
    write_tokens,
)
from paraqd.training.judge_training import judge_scores, train_judge
from paraqd.training.model_cards import judge_card
from paraqd.training.processes import refuse_several
from paraqd.training.recipes import JudgeRecipe
from paraqd.training.saving import check_out, save_model_folder
from paraqd.training.settings import JudgeSettings, TrainingError, require_training
from paraqd.training.teachers import mean_odds, teacher_odds
from paraqd.training.torch_state import reproducible


@dataclass(frozen=True)
class TrainedJudge:
    """The result of training a scorer: the model folder and the contents of its ``paraqd.json``."""

    folder: Path
    facts: dict[str, Any]


def train_scorer(
    recipe: JudgeRecipe,
    out: str | Path,
    *,
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
        The model folder. Pairs, tokens and checkpoints are stored in the folder ``OUT.work``.
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
    require_training()
    refuse_several("the training of a judge")
    folder = Path(out)
    if (folder / FACTS_FILE).is_file() and not overwrite:
        raise TrainingError(f"{folder} already has a model: choose another --out, or pass --overwrite")
    check_out(folder)
    _check_models(recipe)
    work = folder.with_name(f"{folder.name}.work")
    generators = dict(generators or {})
    if "fluent" in recipe.data.train and recipe.data.generator.kind not in generators:
        generators |= _train_generator(recipe, work, data_dir, device, progress)
    files = make_judge_pairs(
        work / "pairs",
        recipe.data,
        data_dir=data_dir,
        generators=generators,
        workers=workers,
        device=device,
        progress=progress,
    )
    return train_on_pairs(files, recipe, folder, work=work, device=device, restart=restart, progress=progress)


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

        def tokens_of(name: str, tokenizer: Any = tokenizer, place: Path = work / "tokens") -> JudgeTokens:
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
            "data": {name: {"pairs": len(found), "sha256": _digest(found)} for name, found in tokens.items()},
        }
        _begin(work, {**facts, "taught": [dict(teacher.settings) for teacher in recipe.teachers]}, restart=restart)
        odds = [
            teacher_odds(
                teacher,
                list(files.train),
                tokens_of,
                work=work,
                settings=recipe.stages[-1],
                number=number,
                device=device,
                progress=progress,
            )
            for number, teacher in enumerate(recipe.teachers, start=1)
        ]
        judge = _train_stages(
            recipe,
            join_tokens(list(tokens.values())),
            tokenizer,
            work=work,
            device=device,
            teacher=mean_odds(odds) if odds else None,
            progress=progress,
        )
        validation = {
            name: (list(read_faults(path)), tokenized(path, tokenizer, work / "tokens", 1.0, progress=progress))
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


def tokenized(path: Path, tokenizer: Any, folder: Path, weight: float, *, progress: Progress) -> JudgeTokens:
    """Return a file's pairs in tokenised form. The tokens are stored in ``folder``, and later calls reuse them."""
    rules = hashlib.sha256(f"{PREPARATION}|{tokenizer.backend_tokenizer.to_str()}".encode()).hexdigest()[:8]
    stored = folder / f"{path.name.partition('.')[0]}-{sha256_of(path)[:12]}-{rules}-{weight:g}.npz"
    if not stored.is_file():
        pairs = list(read_faults(path))
        progress(f"tokenising {path.name}", 0, len(pairs))
        stored.parent.mkdir(parents=True, exist_ok=True)
        write_tokens(tokenize_pairs(pairs, tokenizer, weights=pair_weights(pairs, weight)), stored)
    return read_tokens(stored)


def _train_stages(
    recipe: JudgeRecipe, tokens: JudgeTokens, tokenizer: Any, *, work: Path, progress: Progress, **options: Any
) -> Any:
    """Train the judge in all stages, and return the judge. Stages that an interrupted run has finished are skipped."""
    start, judge = Path(recipe.start) if recipe.start else encoder_folder(recipe.encoder), None
    for number, settings in enumerate(recipe.stages, start=1):
        finished = work / "stages" / str(number)
        if not (finished / HEADS_FILE).is_file():
            stage = "training" if len(recipe.stages) == 1 else f"training, stage {number} of {len(recipe.stages)}"
            with reproducible(settings.seed):
                judge = _start_from(start, settings)
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


def _start_from(folder: Path, settings: JudgeSettings) -> Any:
    """Load the judge in a folder, or build an untrained judge if the folder contains an encoder."""
    if (folder / HEADS_FILE).is_file():
        return load_judge(folder, inner=settings.inner, exact=True)
    return make_judge(folder, inner=settings.inner)


def _check_models(recipe: JudgeRecipe) -> None:
    """Raise an exception if a model is missing, or if the recipe has no training set or no validation set."""
    if not (encoder_folder(recipe.encoder) / "config.json").is_file():
        raise TrainingError(
            f"encoder {recipe.encoder}: no such model on this machine; use {DEFAULT_ENCODER} or a model folder"
        )
    if recipe.start and not (Path(recipe.start) / HEADS_FILE).is_file():
        raise TrainingError(f"{recipe.start} has no judge to start from: it has no {HEADS_FILE}")
    for teacher in recipe.teachers:
        teacher.check()
    if not recipe.data.validation:
        raise TrainingError("a recipe for a judge needs a validation set, to which the fusion is fitted")
    if not recipe.data.train:
        raise TrainingError("a recipe for a judge needs a training set")


def _train_generator(
    recipe: JudgeRecipe, work: Path, data_dir: str | Path | None, device: str | None, progress: Progress
) -> dict[str, str]:
    """Train the recipe's generator, and return a dictionary that maps its kind to its folder."""
    made = recipe.data.generator
    source = find("questions", data_dir).parent
    if not (source / PARAPHRASES).is_file():
        raise TrainingError(
            f"the set fluent needs {PARAPHRASES} in {source} to train its generator: add the file, pass --generator "
            f"{made.kind}=DIR, or skip the set with --without fluent"
        )
    folder = train_generator(
        made.kind,  # type: ignore[arg-type]  # train_generator checks the kind
        source,
        work / "generators" / made.kind,
        scale=made.scale,  # type: ignore[arg-type]
        seed=made.seed,
        device=device,
        progress=progress,
    )
    return {made.kind: str(folder)}


def _digest(tokens: JudgeTokens) -> str:
    digest = hashlib.sha256(tokens.ids.tobytes())
    digest.update(tokens.labels.tobytes())
    return digest.hexdigest()


def _begin(work: Path, facts: Mapping[str, Any], *, restart: bool) -> None:
    """Prepare the work folder.

    Checkpoints and stages from a training run with the same data and settings are kept. Others are discarded if
    ``restart`` is True; otherwise, `TrainingError` is raised.
    """
    manifest, wanted = work / "training.json", json.loads(json.dumps(facts))
    if manifest.is_file() and json.loads(manifest.read_text("utf-8")) == wanted:
        return
    unfinished: Sequence[Path] = [work / "checkpoints", work / "stages"]
    if any(path.is_dir() and any(path.iterdir()) for path in unfinished) and not restart:
        raise TrainingError(
            f"{work} has an unfinished training run with other settings: use those settings, or pass --restart"
        )
    for path in unfinished:
        shutil.rmtree(path, ignore_errors=True)
    replace_json(manifest, wanted)

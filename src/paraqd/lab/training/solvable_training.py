"""Train the model that tells whether a question is solvable.

Training makes two judges. The *measured* judge does not see the held-out families of faults, so it can be measured on
faults that it does not know; its folder is ``measured`` in the work folder. The other judge sees all families and
becomes the model. Texts, tokens and checkpoints are kept in the work folder, too. A machine that trains needs only the
folder ``tokens`` of it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.corpora.question_texts import FAMILIES, KINDS, read_texts
from paraqd.lab.training.fused_scorer import TrainedJudge
from paraqd.lab.training.judge_model import resize_kinds
from paraqd.lab.training.judge_training import judge_scores, train_judge
from paraqd.lab.training.model_cards import solvable_card
from paraqd.lab.training.pair_files import check_manifest
from paraqd.lab.training.processes import refuse_several
from paraqd.lab.training.question_tokens import (
    QuestionTokens,
    balanced,
    join_questions,
    read_question_tokens,
    tokenize_texts,
    write_question_tokens,
)
from paraqd.lab.training.recipes.solvable import SolvableRecipe
from paraqd.lab.training.saving import check_new, save_model_folder
from paraqd.lab.training.settings import JudgeSettings, TrainingError, require_judge_training
from paraqd.lab.training.solvable_corpus import PARTS, make_question_texts, text_settings
from paraqd.lab.training.solvable_models import LargeModel, Odds, QuestionModel, SmallModel
from paraqd.lab.training.torch_state import reproducible
from paraqd.lab.training.work_folder import TOKENS, begin_training, token_digest, work_folder
from paraqd.model_folder import FACTS_FILE, TOKENIZER_FILE, read_model_folder
from paraqd.model_runtime import pick_device, quiet
from paraqd.progress import Progress, silent
from paraqd.scoring.torch_encoder import encoder_folder
from paraqd.scoring.verdict import THRESHOLD
from paraqd.tables.writers import replacing

MEASURED = "measured"  # the sub-folder for the model that was trained without the held-out families
LARGE = "solvable-large"  # the sub-folder for the large model
_CHECKPOINTS = "checkpoints"


def train_solvable(
    recipe: SolvableRecipe,
    out: str | Path,
    *,
    large: bool = False,
    work: str | Path | None = None,
    data_dir: str | Path | None = None,
    device: str | None = None,
    workers: int = 1,
    overwrite: bool = False,
    restart: bool = False,
    progress: Progress = silent,
) -> TrainedJudge:
    """Run all steps of a recipe: create the texts, train the measured judge and the judge, and write the model folder.

    Parameters
    ----------
    out : str or Path
        The model folder.
    large : bool
        Train the large model instead of the small one.
    work : str or Path, optional
        The folder for texts, tokens, checkpoints and the measured judge (default: ``OUT.work``). Both models can share
        it.
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
    model: QuestionModel = LargeModel(recipe) if large else SmallModel(recipe)
    model.check()
    place = work_folder(folder, work)
    prepare_solvable(recipe, place, data_dir=data_dir, workers=workers, progress=progress)
    train, validation = stored_tokens(recipe, place)
    own = place / LARGE if large else place
    own.mkdir(exist_ok=True)
    families = recipe.data.held_out_families
    settings = {**training_facts(recipe, model, train), "held_out_families": families}
    begin_training(own, settings, restart=restart, results=(_CHECKPOINTS,))
    run = _Run(recipe, model, validation, own, pick_device(device), progress)
    with quiet():
        fewer = train.without(families)
        measured = run.measured_odds(fewer)
        judge, odds = run.trained("final", train)
        facts = solvable_facts(recipe, model, train, validation, measured=measured, final=odds)
        written = run.save(judge, odds, folder, facts)
    shutil.rmtree(own / _CHECKPOINTS, ignore_errors=True)
    return TrainedJudge(folder, written)


@dataclass(frozen=True)
class _Run:
    """The training of the measured judge and of the final judge."""

    recipe: SolvableRecipe
    model: QuestionModel
    validation: Mapping[str, QuestionTokens]
    work: Path
    device: str
    progress: Progress

    def trained(self, name: str, rows: QuestionTokens) -> tuple[Any, Odds]:
        """Train a judge, and return it with its log-odds for the validation texts."""
        stages = self.model.stages
        with reproducible(stages[-1].seed):
            judge = self.model.untrained()
            kept = self.work / _CHECKPOINTS / name
            train_texts(judge, stages, rows, device=self.device, stage=name, checkpoints=kept, progress=self.progress)
        self.model.settle(judge)
        return judge, {
            each: judge_scores(judge, texts.tokens, device=self.device) for each, texts in self.validation.items()
        }

    def measured_odds(self, rows: QuestionTokens) -> Odds:
        """Return the log-odds of the measured judge, which is trained unless an earlier run has trained it."""
        folder, answers = self.work / MEASURED, self.work / f"{MEASURED}.npz"
        if answers.is_file() and _was_trained(folder, training_facts(self.recipe, self.model, rows)):
            with np.load(answers, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        answers.unlink(missing_ok=True)
        judge, odds = self.trained(MEASURED, rows)
        facts = solvable_facts(self.recipe, self.model, rows, self.validation, measured=odds, final=odds)
        self.save(judge, odds, folder, {**facts, "left_out_families": list(self.recipe.data.held_out_families)})
        with replacing(answers) as temporary, open(temporary, "wb") as file:
            np.savez(file, **odds)  # type: ignore[arg-type]  # the names of sets are not those of parameters
        return odds

    def save(self, judge: Any, odds: Odds, target: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Write the folder of a judge, and return the contents of ``paraqd.json``."""
        import torch

        whole = {"name": target.name, **facts, "versions": {"torch": torch.__version__.partition("+")[0]}}

        def write(folder: Path) -> None:
            self.model.write(judge, folder)
            rows = {name: each.tokens for name, each in self.validation.items()}
            whole.update(self.model.compared(folder, rows, odds))

        return save_model_folder(target, whole, card=lambda: solvable_card(whole), write_weights=write)


def prepare_solvable(
    recipe: SolvableRecipe,
    work: Path,
    *,
    data_dir: str | Path | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> None:
    """Create a recipe's texts and their tokens in the work folder. Existing files are kept."""
    from tokenizers import Tokenizer

    if not recipe.data.train or not recipe.data.validation:
        raise TrainingError("a recipe for solvable questions needs a training set and a validation set")
    set_weights = {name: each.weight for name, each in recipe.data.train.items()}
    check_manifest(work / TOKENS, {**text_settings(recipe.data), "weights": set_weights})
    tokens = _token_files(recipe, work)
    if all(path.is_file() for path in tokens.values()):
        return
    files = make_question_texts(work / "texts", recipe.data, data_dir=data_dir, workers=workers, progress=progress)
    tokenizer = Tokenizer.from_file(str(encoder_folder(recipe.encoder) / TOKENIZER_FILE))
    texts = {("train", name): path for name, path in files.train.items()}
    texts |= {("validation", name): path for name, path in files.validation.items()}
    for key, path in tokens.items():
        rows = list(read_texts(texts[key]))
        progress(f"tokenising {path.stem}", 0, len(rows))
        weight = set_weights[key[1]] if key[0] == "train" else 1.0
        weights = [1.0 if text.source in recipe.data.operators else weight for text in rows]
        write_question_tokens(tokenize_texts(rows, tokenizer, weights), path)


def stored_tokens(recipe: SolvableRecipe, work: Path) -> tuple[QuestionTokens, dict[str, QuestionTokens]]:
    """Return the tokens for training, and those of each set for validation."""
    files = _token_files(recipe, work)
    train = [read_question_tokens(path) for (part, _), path in files.items() if part == "train"]
    validation = {name: read_question_tokens(path) for (part, name), path in files.items() if part == "validation"}
    return join_questions(train), validation


def train_texts(
    judge: Any,
    stages: Sequence[JudgeSettings],
    tokens: QuestionTokens,
    *,
    device: str = "cpu",
    stage: str = "training",
    checkpoints: Path | None = None,
    progress: Progress = silent,
) -> Any:
    """Train a judge on single texts in all stages, and resume from the checkpoints that are there.

    Each stage has a folder in ``checkpoints``, which the caller deletes at the end.
    """
    rows = balanced(tokens.tokens)
    resize_kinds(judge, len(KINDS))
    for number, settings in enumerate(stages, start=1):
        train_judge(
            judge,
            rows,
            settings=settings,
            device=device,
            checkpoints=None if checkpoints is None else checkpoints / str(number),
            stage=stage if len(stages) == 1 else f"{stage}, stage {number}",
            progress=progress,
        )
    return judge


def training_facts(recipe: SolvableRecipe, model: QuestionModel, train: QuestionTokens) -> dict[str, Any]:
    """Return the facts that determine the weights: settings and data."""
    return {
        "recipe": recipe.name,
        "encoder": recipe.encoder,
        **model.origin,
        "stages": [asdict(stage) for stage in model.stages],
        "data": {"texts": len(train), "solvable": int(train.tokens.labels.sum()), "sha256": token_digest(train.tokens)},
    }


def solvable_facts(
    recipe: SolvableRecipe,
    model: QuestionModel,
    train: QuestionTokens,
    validation: Mapping[str, QuestionTokens],
    *,
    measured: Odds,
    final: Odds,
) -> dict[str, Any]:
    """Return the facts about a trained model: settings, data, calibration and figures."""
    joined = join_questions(list(validation.values()))
    odds = np.concatenate([final[name] for name in validation])
    scale, offset = fit_platt(odds, joined.tokens.labels)
    return {
        "kind": "solvable",
        "threshold": THRESHOLD,
        "kinds": list(KINDS),
        **training_facts(recipe, model, train),
        "calibration": {"scale": scale, "offset": offset},
        "held_out_families": list(recipe.data.held_out_families),
        "measured": family_figures(joined, np.concatenate([measured[name] for name in validation])),
        "validation": family_figures(joined, odds),
        "sets": {name: round(_auc(final[name], each.tokens.labels), 6) for name, each in validation.items()},
    }


def family_figures(questions: QuestionTokens, odds: NDArray[np.float32]) -> dict[str, dict[str, float]]:
    """Return the AUC of each family of faults against all solvable texts, and the number of its broken texts."""
    solvable = questions.tokens.labels == 1
    found = {}
    for family in FAMILIES:
        broken = (questions.families == family) & ~solvable
        if broken.any():
            rows = solvable | broken
            auc = _auc(odds[rows], questions.tokens.labels[rows])
            found[family] = {"texts": int(broken.sum()), "auc": round(auc, 6)}
    return found


def fit_platt(odds: NDArray[np.float32], labels: NDArray[np.float32], *, steps: int = 50) -> tuple[float, float]:
    """Fit the scale and the offset that turn log-odds into calibrated log-odds, if both classes are equally common.

    >>> scale, offset = fit_platt(np.array([-2, -1, 1, 2] * 50, dtype="f4"), np.array([0, 1, 0, 1] * 50, dtype="f4"))
    >>> round(scale, 2), abs(round(offset, 2))
    (0.42, 0.0)
    """
    given = np.stack([odds.astype(np.float64), np.ones(len(odds))], axis=1)
    weights = np.where(labels == 1, 0.5 / max(1.0, labels.sum()), 0.5 / max(1.0, (1 - labels).sum()))
    found = np.array([1.0, 0.0])
    for _ in range(steps):  # Newton's method
        p = 1 / (1 + np.exp(-np.clip(given @ found, -500, 500)))
        gradient = given.T @ (weights * (p - labels))
        curvature = (given * (weights * p * (1 - p))[:, None]).T @ given + 1e-6 * np.eye(2)
        found -= np.linalg.solve(curvature, gradient)
    return float(found[0]), float(found[1])


def _auc(odds: NDArray[np.float32], labels: NDArray[np.float32]) -> float:
    from paraqd.evaluation.metrics import evaluate

    return float(evaluate(labels.astype(int), odds).auc)


def _token_files(recipe: SolvableRecipe, work: Path) -> dict[tuple[str, str], Path]:
    """Return the files of the tokens, keyed by the part and the name of the set."""
    sets = [(part, name) for part in PARTS for name in getattr(recipe.data, part)]
    return {(part, name): work / TOKENS / f"{name}_{part}.npz" for part, name in sets}


def _was_trained(folder: Path, facts: Mapping[str, Any]) -> bool:
    """Return True if a folder has a model that was trained with the given settings and data."""
    if not (folder / FACTS_FILE).is_file():
        return False
    there = read_model_folder(folder).facts
    return all(there.get(name) == value for name, value in json.loads(json.dumps(facts)).items())

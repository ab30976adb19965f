"""Train the language-model judge, export it, fit the cascade and write the model folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.training.cascade_fitting import SmallScorer, fit_cascade
from paraqd.lab.training.fused_scorer import TrainedJudge
from paraqd.lab.training.judge_model import KINDS
from paraqd.lab.training.judge_tokens import JudgeTokens, read_tokens
from paraqd.lab.training.language_judge import (
    Prepared,
    prepare_language_judge,
    small_opinions,
    train_language_weights,
    training_facts,
    training_parts,
    validation_odds,
)
from paraqd.lab.training.language_onnx import write_language_judge
from paraqd.lab.training.language_weights import read_weights, shape_of
from paraqd.lab.training.model_cards import language_judge_card
from paraqd.lab.training.recipes import JudgeRecipe
from paraqd.lab.training.saving import check_new, save_model_folder
from paraqd.lab.training.settings import TrainingError
from paraqd.lab.training.work_folder import work_folder
from paraqd.model_folder import LANGUAGE_MODEL, TOKENIZER_FILE
from paraqd.progress import Progress, silent
from paraqd.scoring.judge.language_model import LanguageModel

_COMPARED = 48  # validation pairs per set on which the exported judge is compared with the trained one
_MOST_MOVED = 0.05  # the largest mean change in the probability; larger changes occur only if the export is wrong


def train_language_judge(
    recipe: JudgeRecipe,
    out: str | Path,
    *,
    small: str | Path = "default",
    work: str | Path | None = None,
    data_dir: str | Path | None = None,
    generators: Mapping[str, str] | None = None,
    device: str | None = None,
    workers: int = 1,
    overwrite: bool = False,
    restart: bool = False,
    progress: Progress = silent,
) -> TrainedJudge:
    """Run all steps: prepare the tokens, train the weights, export them, fit the cascade and write the model folder.

    Steps whose results are in the work folder are skipped. If only ``small`` has changed, the cascade is fitted again,
    and the judge is not trained again.

    Parameters
    ----------
    out : str or Path
        The model folder.
    small : str or Path
        The exported scorer whose small judge asks the language-model judge for a second opinion.
    work : str or Path, optional
        The folder for pairs, tokens, checkpoints and weights (default: ``OUT.work``).

    The other parameters are those of `fused_scorer.train_scorer`.

    """
    folder = Path(out)
    check_new(folder, overwrite=overwrite)
    place = work_folder(folder, work)
    prepared = prepare_language_judge(
        recipe,
        place,
        small=small,
        data_dir=data_dir,
        generators=generators,
        device=device,
        workers=workers,
        progress=progress,
    )
    train_language_weights(recipe, place, device=device, restart=restart, progress=progress)
    return finish_language_judge(recipe, folder, prepared, work=place, small=small, progress=progress)


def finish_language_judge(
    recipe: JudgeRecipe,
    folder: Path,
    prepared: Prepared,
    *,
    work: Path,
    small: str | Path = "default",
    progress: Progress = silent,
) -> TrainedJudge:
    """Export trained weights, fit the cascade and write the model folder."""
    import torch
    import transformers

    assert recipe.cascade is not None  # a recipe has both sections or neither
    scorer, odds = SmallScorer.load(small), validation_odds(work)
    progress("fitting the cascade", 0, None)
    fitted = fit_cascade(small_opinions(work, scorer), odds, scorer.fusion, recipe.cascade, recipe.fusion)
    weights = prepared.folder / "weights"
    facts: dict[str, Any] = {
        "name": folder.name,
        "kind": LANGUAGE_MODEL,
        "kinds": list(KINDS),
        **training_facts(recipe, training_parts(recipe, prepared)),
        "cascade": {"model": scorer.name, **fitted["cascade"]},
        "validation": fitted["validation"],
        "versions": {
            "torch": torch.__version__.partition("+")[0],
            "transformers": transformers.__version__,
        },
    }

    def write(place: Path) -> None:
        place.mkdir()
        shutil.copyfile(weights / TOKENIZER_FILE, place / TOKENIZER_FILE)
        progress("exporting", 0, None)
        write_language_judge(read_weights(weights), shape_of(weights), place)
        rows = {name: read_tokens(path) for name, path in prepared.validation.items()}
        facts["export"] = compare_export(place, rows, odds)

    written = save_model_folder(folder, facts, card=lambda: language_judge_card(facts), write_weights=write)
    return TrainedJudge(folder, written)


def compare_export(
    folder: Path, rows: Mapping[str, JudgeTokens], odds: Mapping[str, NDArray[np.float32]]
) -> dict[str, Any]:
    """Compare an exported judge with the trained one on some validation pairs, and return how far they differ.

    Raise `TrainingError` if the difference is so large that the export must be wrong.
    """
    session = LanguageModel(folder).session
    moved: list[float] = []
    for name, tokens in rows.items():
        for row in np.linspace(0, len(tokens) - 1, min(_COMPARED, len(tokens))).astype(int):
            place = slice(tokens.offsets[row], tokens.offsets[row + 1])
            given = {
                "input_ids": tokens.ids[place][None].astype(np.int64),
                "token_type_ids": tokens.types[place][None].astype(np.int64),
            }
            found = float(session.run(["valid"], given)[0][0])
            moved.append(abs(_probability(found) - _probability(float(odds[name][row]))))
    mean = float(np.mean(moved)) if moved else 0.0
    if mean > _MOST_MOVED:
        raise TrainingError(
            f"the exported judge differs from the trained one: on {len(moved)} pairs, the probability changes by "
            f"{mean:.3f} on average, and the limit is {_MOST_MOVED:g}"
        )
    return {"pairs": len(moved), "mean": round(mean, 5), "most": round(max(moved, default=0.0), 5)}


def _probability(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))

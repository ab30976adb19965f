"""Define the two models for single questions: how each is built, settled after training, and written.

The small model is an encoder with six layers. The large model is the language-model judge for pairs, trained further.
Both read the same tokens.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.training import fused_scorer
from paraqd.lab.training.judge_model import save_judge
from paraqd.lab.training.judge_tokens import JudgeTokens
from paraqd.lab.training.language_folder import compare_export
from paraqd.lab.training.language_onnx import Shape, write_language_judge
from paraqd.lab.training.language_weights import (
    load_weights,
    replace_weights,
    source_digest,
    source_files,
    start_folder,
)
from paraqd.lab.training.quantisation_aware import exact_weights, start_rounding
from paraqd.lab.training.recipes.solvable import SolvableRecipe
from paraqd.lab.training.settings import JudgeSettings
from paraqd.model_folder import TOKENIZER_FILE, read_model_folder
from paraqd.scoring.torch_encoder import encoder_folder

Rows = Mapping[str, JudgeTokens]
Odds = Mapping[str, NDArray[np.float32]]


class QuestionModel(Protocol):
    """A model for single questions that can be trained."""

    @property
    def stages(self) -> tuple[JudgeSettings, ...]:
        """The settings of the stages of training."""
        ...

    @property
    def origin(self) -> dict[str, Any]:
        """The facts that determine the weights with which training starts."""
        ...

    def check(self) -> None:
        """Raise an exception if the weights with which training starts are missing."""
        ...

    def untrained(self) -> Any:
        """Return the judge with which training starts."""
        ...

    def settle(self, judge: Any) -> None:
        """Change a trained judge in place so that it computes what the written model computes."""
        ...

    def write(self, judge: Any, folder: Path) -> None:
        """Write a settled judge to a new folder."""
        ...

    def compared(self, folder: Path, rows: Rows, odds: Odds) -> dict[str, Any]:
        """Return facts on how far the written model differs from the trained judge, if it can differ."""
        ...


@dataclass(frozen=True)
class SmallModel:
    """The small model. ``paraqd lab export`` rounds it further."""

    recipe: SolvableRecipe

    @property
    def stages(self) -> tuple[JudgeSettings, ...]:
        """The settings of the stages of training."""
        return self.recipe.stages

    @property
    def origin(self) -> dict[str, Any]:
        """The facts that determine the weights with which training starts."""
        return {"start": Path(self.recipe.start).name}

    def check(self) -> None:
        """Do nothing, because the small judge ships with the package."""

    def untrained(self) -> Any:
        """Return the judge with which training starts."""
        return fused_scorer.load_start(
            fused_scorer.start_folder(self.recipe), self.recipe.stages[0], self.recipe.encoder
        )

    def settle(self, judge: Any) -> None:
        """Do nothing, because training has rounded the weights."""

    def write(self, judge: Any, folder: Path) -> None:
        """Write a judge to a new folder."""
        from transformers import AutoTokenizer

        save_judge(judge.cpu(), AutoTokenizer.from_pretrained(str(encoder_folder(self.recipe.encoder))), folder)

    def compared(self, folder: Path, rows: Rows, odds: Odds) -> dict[str, Any]:
        """Return nothing, because the written weights are exact."""
        del folder, rows, odds
        return {}


@dataclass(frozen=True)
class LargeModel:
    """The large model. It is written in the form in which it is used, with 4-bit weights."""

    recipe: SolvableRecipe

    @property
    def stages(self) -> tuple[JudgeSettings, ...]:
        """The settings of the only stage of training."""
        return (self.recipe.language_judge.training,)

    @cached_property
    def origin(self) -> dict[str, Any]:
        """The facts that determine the weights with which training starts."""
        start = self.recipe.language_judge.start
        base = read_model_folder(start_folder(start)).facts.get("base", "")
        return {"start": Path(start).name, "base": base, "start_sha256": source_digest("", start)}

    def check(self) -> None:
        """Raise an exception if there is no language-model judge to start from."""
        source_files("", self.recipe.language_judge.start)

    def untrained(self) -> Any:
        """Return the judge with which training starts."""
        return load_weights(start_folder(self.recipe.language_judge.start))

    def settle(self, judge: Any) -> None:
        """Round a trained judge's weights as the written model's."""
        halves = {name: value.half().float().numpy() for name, value in exact_weights(judge).items()}
        replace_weights(judge, halves)
        start_rounding(judge)

    def write(self, judge: Any, folder: Path) -> None:
        """Write a judge to a new folder."""
        config = judge.body.config
        shape = Shape(heads=int(config.num_attention_heads), epsilon=float(config.layer_norm_eps))
        folder.mkdir()
        write_language_judge({name: value.numpy() for name, value in exact_weights(judge).items()}, shape, folder)
        shutil.copyfile(start_folder(self.recipe.language_judge.start) / TOKENIZER_FILE, folder / TOKENIZER_FILE)

    def compared(self, folder: Path, rows: Rows, odds: Odds) -> dict[str, Any]:
        """Return how far the written model differs from the trained judge. Raise `TrainingError` if it is wrong."""
        return {"export": compare_export(folder, rows, odds)}

"""Define the scales at which experiments run: a quick trial on the samples, and the paper's scale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from paraqd.evaluation.intervals import SAMPLES
from paraqd.lab.corpora.mixture import PAPER_QUESTIONS
from paraqd.lab.experiments.errors import ExperimentError
from paraqd.lab.training.seed_search import SEEDS
from paraqd.lab.training.settings import TrainSettings
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A scale at which experiments run: the encoder, the training settings and the amounts of data.

    Attributes
    ----------
    questions : int, optional
        The number of training questions (default: all).
    ablation_questions, ablation_epochs : int, optional
        Smaller numbers of questions and epochs for the experiments that train many models (operators, seed).
    arm_questions, arm_few_questions, arm_epochs, arm_batch_size, arm_seeds
        The settings of the experiments on the gap between our results and the paper's. ``arm_few_questions`` is the
        number of questions for slow trainers.
    arm_sources : pair of str
        The prefixes of question ids that identify the two corpora to compare.
    arm_triplets : int
        The number of triplets from each of the two corpora.
    fallback_questions, fallback_epochs
        The number of questions and epochs in the experiment on the public code's fallback.
    arm_more_questions, arm_more_count
        The name of the data set that adds further training questions, and the largest number of its questions that
        are added (near-duplicates of held-out questions are left out). The name ``other_samples`` stands for the
        samples that are not among the training questions.
    layers : int, optional
        The number of encoder layers to keep (default: all).
    note : str
        A note that is added to every table.

    """

    name: str
    settings: TrainSettings = field(default_factory=TrainSettings)
    encoder: str = DEFAULT_ENCODER
    questions: int | None = None
    ablation_questions: int | None = None
    ablation_epochs: int | None = None
    arm_questions: int = 10_000
    arm_few_questions: int = 3_000
    arm_epochs: int = 3
    arm_batch_size: int = 192
    arm_seeds: tuple[int, ...] = (1, 2, 3)
    arm_sources: tuple[str, str] = ("aqua", "mathqa")
    arm_triplets: int = 27_000
    fallback_questions: int = 4_000
    fallback_epochs: int = 7
    arm_more_questions: str = "em_questions"
    arm_more_count: int = 7_420
    layers: int | None = None
    seeds: tuple[int, ...] = SEEDS
    generators: Literal["smoke", "full"] = "full"
    test_sets: tuple[str, ...] = ("aquarat", "em_math", "sawp", "pawp")
    first_set: str = "aquarat"
    train_operator_set: str = "aquarat_train_operators"
    bootstrap_samples: int = SAMPLES
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("questions", "ablation_questions", "ablation_epochs", "layers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ExperimentError(f"{name} must be at least 1, not {value}")


SMOKE = Scale(
    name="smoke",
    settings=TrainSettings(epochs=1, learning_rate=1e-4, max_length=48),
    questions=12,
    ablation_questions=8,
    arm_questions=6,
    arm_few_questions=4,
    arm_epochs=1,
    arm_batch_size=24,
    arm_seeds=(1,),
    arm_sources=("s03", "s05"),
    arm_triplets=12,
    fallback_questions=4,
    arm_more_questions="other_samples",
    arm_more_count=6,
    layers=1,
    seeds=(0, 1),
    generators="smoke",
    test_sets=("samples",),
    first_set="samples",
    train_operator_set="samples",
    bootstrap_samples=200,
    note="smoke scale: the encoder's first layer, one epoch over the samples, generators of a few steps; "
    "it shows that everything runs, but says nothing about quality",
)
FULL = Scale(name="full", questions=PAPER_QUESTIONS)
SCALES = {scale.name: scale for scale in (SMOKE, FULL)}

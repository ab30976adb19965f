"""Define the settings for training bi-encoders, training judges and fitting the fusion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from paraqd.errors import ParaqdError
from paraqd.extras import require_extra
from paraqd.scoring.judge.pair_tokens import LONGEST

Loss = Literal["triplet", "mnrl"]
Distance = Literal["cosine", "euclidean"]
Precision = Literal["auto", "fp32", "bf16"]
Batches = Literal["shuffled", "grouped"]

SEED = 3407  # the paper's seed
CHECKPOINT_SECONDS = 60.0  # the time between two checkpoints
REPORT_SECONDS = 0.5  # the time between two progress reports

# The paper does not state a margin. Two cosine distances differ by at most 2. With a margin of 2, the loss therefore
# pushes valid pairs towards a score of 1 and invalid pairs towards -1, which matches the paper's published scores.
MARGINS: dict[Distance, float] = {"cosine": 2.0, "euclidean": 5.0}
_PACKAGES = ("torch", "transformers", "sentence_transformers", "accelerate")
_JUDGE_PACKAGES = ("torch", "transformers", "onnx", "scipy")


class TrainingError(ParaqdError, ValueError):
    """Raised when a model cannot be trained as requested. The one-line message states the reason."""


class TrainingStopped(KeyboardInterrupt):  # an interrupt, not an error
    """Raised when Ctrl-C has stopped training. Training can resume from the checkpoint."""


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """The settings for training a bi-encoder. The defaults are the paper's settings and our margin.

    Parameters
    ----------
    loss : {"triplet", "mnrl"}
        The triplet loss or the multiple negatives ranking loss (MNRL).
    distance : {"cosine", "euclidean"}
        The distance in the triplet loss. The paper describes the cosine distance, but its public code uses the
        Euclidean distance.
    margin : float, optional
        The margin of the triplet loss (default: 2 for the cosine distance, 5 for the Euclidean distance).
    batch_size : int
        The number of triplets in a batch.
    batches : {"shuffled", "grouped"}
        Shuffle the triplets over all questions, as in the paper, or keep the triplets of a question and texts of
        similar length together, which is faster.
    scale : float
        The factor by which MNRL multiplies the cosines.
    max_length : int, optional
        The maximum number of tokens read from a text (default: the encoder's own limit).

    Examples
    --------
    >>> TrainSettings().margin
    2.0
    >>> TrainSettings(distance="euclidean").margin
    5.0

    """

    loss: Loss = "triplet"
    distance: Distance = "cosine"
    margin: float | None = None
    epochs: int = 9
    learning_rate: float = 2e-5
    weight_decay: float = 0.01
    warmup_share: float = 0.1
    batch_size: int = 16
    batches: Batches = "shuffled"
    scale: float = 20.0
    seed: int = SEED
    max_length: int | None = None
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        if self.margin is None:
            object.__setattr__(self, "margin", MARGINS.get(self.distance))
        kinds = (("loss", Loss), ("distance", Distance), ("precision", Precision), ("batches", Batches))
        for name, options in kinds:
            if getattr(self, name) not in get_args(options):
                known = ", ".join(get_args(options))
                raise TrainingError(f"unknown {name} {getattr(self, name)!r}: use one of {known}")
        _check(self, *((name, getattr(self, name) >= 1, "at least 1") for name in ("epochs", "batch_size")))
        if self.loss == "mnrl" and self.batch_size < 2:
            raise TrainingError("mnrl takes its negatives from the batch: batch_size must be at least 2")
        _check(
            self,
            ("learning_rate", 0 < self.learning_rate < 1, "between 0 and 1"),
            ("weight_decay", 0 <= self.weight_decay < 1, "from 0 to below 1"),
            ("warmup_share", 0 <= self.warmup_share < 1, "a fraction of the steps, from 0 to below 1"),
            ("seed", 0 <= self.seed < 2**32, "from 0 to below 2**32"),
            ("max_length", self.max_length is None or self.max_length >= 8, "at least 8 tokens"),
            ("margin", self.margin is None or 0 < self.margin < 1e6, "above 0"),
            ("scale", 0 < self.scale < 1e6, "above 0"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that affect the trained model as a JSON-serialisable dictionary."""
        found = asdict(self)
        if self.batches == "grouped":  # older records, which lack this key, have grouped batches
            del found["batches"]
        if self.loss == "mnrl":
            del found["distance"], found["margin"]
        else:
            del found["scale"]
        return found


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    """The settings for training a judge.

    Parameters
    ----------
    batch_tokens : int
        The maximum number of tokens in a batch, including padding.
    kind_share, place_share : float
        The weights of the losses for a fault's kind and position. The loss for validity has the weight 1.
    smoothing : float
        The label smoothing: the target for a valid pair is 1 minus this value, and the target for an invalid pair is
        this value.
    teacher_share : float
        If there are teachers, the weight of their prediction in a pair's target. The label has the remaining weight.
    rounded_share : float
        The fraction of the steps in which weights and inputs are rounded. These steps are at the end of training.
    beta2 : float
        The decay rate of the optimizer's mean of squared gradients.
    inner : int, optional
        The number of inner (feed-forward) units to keep in each layer. The units with the smallest weights are removed
        (default: keep all units).

    """

    epochs: int = 5
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    warmup_share: float = 0.06
    batch_tokens: int = 16384
    kind_share: float = 0.3
    place_share: float = 1.0
    smoothing: float = 0.02
    teacher_share: float = 0.7
    rounded_share: float = 0.35
    beta2: float = 0.999
    inner: int | None = None
    seed: int = SEED

    def __post_init__(self) -> None:
        _check(
            self,
            ("epochs", self.epochs >= 1, "at least 1"),
            ("batch_tokens", self.batch_tokens >= LONGEST, f"at least {LONGEST}, the longest pair"),
            ("learning_rate", 0 < self.learning_rate < 1, "between 0 and 1"),
            ("weight_decay", 0 <= self.weight_decay < 1, "from 0 to below 1"),
            ("smoothing", 0 <= self.smoothing < 0.5, "from 0 to below 0.5"),
            ("teacher_share", 0 <= self.teacher_share <= 1, "a fraction from 0 to 1"),
            ("rounded_share", 0 <= self.rounded_share <= 1, "a fraction of the steps, from 0 to 1"),
            ("beta2", 0 < self.beta2 < 1, "between 0 and 1"),
            ("inner", self.inner is None or self.inner >= 1, "at least 1"),
            ("warmup_share", 0 <= self.warmup_share < 1, "a fraction of the steps, from 0 to below 1"),
            ("seed", 0 <= self.seed < 2**32, "from 0 to below 2**32"),
        )


@dataclass(frozen=True, kw_only=True)
class Prior:
    """A prior for a finding's weight.

    ``weight`` is the expected weight. ``pairs`` is the strength of the prior, expressed as a number of pairs.
    """

    weight: float
    pairs: float


@dataclass(frozen=True, kw_only=True)
class FusionSettings:
    """The settings for fitting the fusion.

    Parameters
    ----------
    folds : int
        The number of folds in the cross-validation.
    prior, reliable_prior : Prior
        The priors for ordinary findings and for reliable findings. The weight of a rare finding stays close to the
        prior.
    reliable : frozenset of str
        The features of reliable findings, which rarely occur in valid pairs.
    judge_penalty : float
        The strength of the penalty on the judge's weight.

    """

    folds: int
    prior: Prior
    reliable_prior: Prior
    reliable: frozenset[str]
    judge_penalty: float


@dataclass(frozen=True, kw_only=True)
class LanguageJudgeSettings:
    """The settings for training a language-model judge.

    Parameters
    ----------
    model : str
        The name or the folder of an MPNet model.
    start : str
        The folder with the weights of an earlier language-model judge, or the name of the judge package, from which
        training starts. If the string is empty, training starts from ``model``.
    pairs : int
        The number of pairs to which ``shares`` refers.
    shares : mapping
        For each set of pairs, the share of ``pairs`` that every epoch draws from the set. Other sets are used whole.
    training : JudgeSettings
        The settings of the training loop.

    """

    model: str
    start: str
    pairs: int
    shares: Mapping[str, float]
    training: JudgeSettings

    def __post_init__(self) -> None:
        _check(
            self,
            ("model", bool(self.model), "the name or the path of a language model"),
            ("pairs", self.pairs >= 1, "at least 1"),
            ("shares", all(0 <= share <= 1 for share in self.shares.values()), "fractions from 0 to 1"),
        )


@dataclass(frozen=True, kw_only=True)
class CascadeSettings:
    """The settings for combining a small judge with a language-model judge.

    Parameters
    ----------
    first_share : tuple of float
        Candidates for the weight of the small judge's log-odds, relative to the larger judge's.
    low, high : float
        The larger judge is asked if the small judge's verdict has log-odds between these values.

    """

    first_share: tuple[float, ...]
    low: float
    high: float

    def __post_init__(self) -> None:
        candidates = bool(self.first_share) and all(0 <= each <= 100 for each in self.first_share)
        _check(
            self,
            ("first_share", candidates, "a list of numbers from 0 to 100"),
            ("low", self.low < self.high, f"below high, which is {self.high}"),
        )


def _check(settings: Any, *conditions: tuple[str, bool, str]) -> None:
    """Raise `TrainingError` for the first condition that is not met.

    Each condition consists of a setting's name, a flag that is True if the condition is met, and a description of the
    requirement.
    """
    for name, met, requirement in conditions:
        if not met:
            raise TrainingError(f"{name} must be {requirement}, not {getattr(settings, name)}")


def require_training() -> None:
    """Raise `MissingExtraError` if a package that training needs is not installed."""
    require_extra("train", "training", *_PACKAGES)


def require_judge_training() -> None:
    """Raise `MissingExtraError` if a package that the training of a judge needs is not installed."""
    require_extra("train", "training", *_JUDGE_PACKAGES)

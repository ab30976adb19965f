"""How a bi-encoder is trained: the paper's settings unless others are given."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from paraqd.errors import ParaqdError
from paraqd.extras import require_extra

Loss = Literal["triplet", "mnrl"]
Distance = Literal["cosine", "euclidean"]
Precision = Literal["auto", "fp32", "bf16"]

# The paper gives no margin. Cosine distances differ by at most 2: with this margin the loss falls until a valid
# pair is at 1 and an invalid one at -1, which is where the published scores are.
MARGINS: dict[Distance, float] = {"cosine": 2.0, "euclidean": 5.0}
_PACKAGES = ("torch", "transformers", "sentence_transformers", "accelerate", "datasets")


class EncoderTrainingError(ParaqdError, ValueError):
    """Training cannot be done as asked; the message is one line that says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """How to train; the defaults are the paper's.

    Parameters
    ----------
    loss : {"triplet", "mnrl"}
        The triplet loss, or multiple negatives ranking loss.
    distance : {"cosine", "euclidean"}
        Of the triplet loss. The paper writes the first; its public code uses the second.
    margin : float, optional
        Of the triplet loss: 2 for cosine distance and 5 for Euclidean unless given.
    batch_size : int
        Triplets in a batch.
    scale : float
        What cosines are multiplied with in MNRL.
    max_length : int, optional
        Tokens of a text that are read; the encoder's own limit unless given.

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
    scale: float = 20.0
    seed: int = 3407
    max_length: int | None = None
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        if self.margin is None:
            object.__setattr__(self, "margin", MARGINS.get(self.distance))
        for name, options in (("loss", Loss), ("distance", Distance), ("precision", Precision)):
            if getattr(self, name) not in get_args(options):
                known = ", ".join(get_args(options))
                raise EncoderTrainingError(f"{name} {getattr(self, name)!r} is not known: use one of {known}")
        for name in ("epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise EncoderTrainingError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.loss == "mnrl" and self.batch_size < 2:
            raise EncoderTrainingError("mnrl takes its negatives from the batch: batch_size must be at least 2")
        for name, good, what in (
            ("learning_rate", 0 < self.learning_rate < 1, "between 0 and 1"),
            ("weight_decay", 0 <= self.weight_decay < 1, "from 0 to below 1"),
            ("warmup_share", 0 <= self.warmup_share < 1, "a share of the steps, from 0 to below 1"),
            ("seed", 0 <= self.seed < 2**32, "from 0 to below 2**32"),
            ("max_length", self.max_length is None or self.max_length >= 8, "at least 8 tokens"),
            ("margin", self.margin is None or 0 < self.margin < 1e6, "above 0"),
            ("scale", 0 < self.scale < 1e6, "above 0"),
        ):
            if not good:
                raise EncoderTrainingError(f"{name} must be {what}, not {getattr(self, name)}")

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the result, for a fingerprint and for the model card."""
        found = asdict(self)
        if self.loss == "mnrl":
            del found["distance"], found["margin"]
        else:
            del found["scale"]
        return found


def require_training() -> None:
    """Raise `MissingExtraError` if a package that training needs is not installed."""
    require_extra("train", "training", *_PACKAGES)

"""Train an encoder with sentence-transformers' ``fit``, as in the paper's public code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paraqd.lab.training.encoders import load_trainable
from paraqd.lab.training.settings import TrainSettings
from paraqd.lab.training.torch_state import reproducible

if TYPE_CHECKING:
    from paraqd.lab.corpora.triplets import TripletSet


def fit(
    triplets: TripletSet,
    *,
    settings: TrainSettings,
    encoder: str,
    layers: int | None = None,
    device: str | None = None,
) -> tuple[Any, int]:
    """Train an encoder, and return the encoder and the number of training steps.

    The triplets are shuffled, and each batch is tokenised in the training loop. The computation is in single
    precision, and each triplet's three texts are encoded even if they occur in other triplets of the batch.
    """
    from sentence_transformers import InputExample
    from sentence_transformers.sentence_transformer import losses
    from torch.utils.data import DataLoader

    with reproducible(settings.seed):
        model = load_trainable(encoder, layers=layers, device=device)
        if settings.max_length is not None:
            model.max_seq_length = min(settings.max_length, model.max_seq_length)
        examples: Any = [InputExample(texts=[triplets.texts[i] for i in row]) for row in triplets.triplets.tolist()]
        loader: Any = DataLoader(examples, shuffle=True, batch_size=settings.batch_size)
        metric = losses.TripletDistanceMetric
        assert settings.margin is not None
        loss = losses.TripletLoss(
            model,
            distance_metric=metric.COSINE if settings.distance == "cosine" else metric.EUCLIDEAN,
            triplet_margin=settings.margin,
        )
        steps = settings.epochs * len(loader)
        model.old_fit(  # the loop that ``fit`` ran when the public code was written; ``fit`` now runs another trainer
            train_objectives=[(loader, loss)],
            epochs=settings.epochs,
            warmup_steps=math.ceil(settings.warmup_share * steps),
            optimizer_params={"lr": settings.learning_rate},
            weight_decay=settings.weight_decay,
            show_progress_bar=False,
        )
    return model.eval(), steps

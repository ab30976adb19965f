"""Train a bi-encoder on planned batches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paraqd.lab.training.batches import BatchPlan, DeviceTexts, TokenStore, collate
from paraqd.lab.training.encoders import backbone
from paraqd.lab.training.losses import bi_encoder_loss
from paraqd.lab.training.processes import ALONE, Crew
from paraqd.lab.training.settings import CHECKPOINT_SECONDS, TrainSettings
from paraqd.lab.training.steps import Batch, Steps, run_steps
from paraqd.progress import Progress, silent

if TYPE_CHECKING:
    from torch import Tensor

    from paraqd.lab.corpora.triplets import TripletSet

_LARGE = 768  # the width of models whose steps are not captured
_LENGTH_STEP = 16  # captured steps have lengths that are multiples of this number


def run_trainer(
    model: Any,
    triplets: TripletSet,
    tokens: TokenStore,
    plan: BatchPlan,
    *,
    settings: TrainSettings,
    work_dir: Path | None = None,
    crew: Crew = ALONE,
    device: str | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    validate_epoch: Callable[[int], None] = lambda epoch: None,
    progress: Progress = silent,
) -> float | None:
    """Train a model in place on all planned batches, and return the last reported loss.

    If ``work_dir`` contains a checkpoint, training resumes from it. If several processes form a crew, they share every
    batch and end with the same weights. After each epoch, the main process calls ``validate_epoch`` with the epoch's
    number, which starts at 1. Return None if no step was left to train.
    """
    import torch

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device).train()
    texts = DeviceTexts(tokens, device)

    def loss(shape: tuple[int, ...], rows: Tensor, places: Tensor) -> Tensor:
        return bi_encoder_loss(_embed(model, *texts.padded(rows, shape[0])).float(), places, settings, crew)

    steps = Steps(
        model,
        loss,
        settings,
        total=len(plan),
        device=device,
        captures=crew.size == 1 and _can_capture(model),
        half=_half(settings, device),
        crew=crew,
    )
    torch.manual_seed(settings.seed + (crew.rank << 32))  # dropout should differ between processes

    def make_batch(indices: list[int]) -> Batch:
        rows, places = collate(indices, triplets, rank=crew.rank, size=crew.size)
        length = int(tokens.lengths[rows].max(initial=1))
        if steps.captures:  # the same few shapes recur
            length = -(-length // _LENGTH_STEP) * _LENGTH_STEP
            rows = np.resize(rows, places.size)  # repeats texts until all batches have the same number
        return (length, len(rows), len(places)), (torch.from_numpy(rows), torch.from_numpy(places))

    def after_step(done: int) -> None:
        if crew.is_main and done in plan.epoch_ends:
            validate_epoch(plan.epoch_ends.index(done) + 1)
            model.train()

    return run_steps(
        steps,
        plan.batches,
        lambda batch: make_batch(batch.tolist()),
        start=steps.resume(work_dir),
        checkpoints=work_dir,
        checkpoint_seconds=checkpoint_seconds,
        after_step=after_step,
        progress=progress,
    )


def _embed(model: Any, ids: Tensor, mask: Tensor) -> Tensor:
    """Return the vectors of a batch of texts."""
    features: dict[str, Any] = {"input_ids": ids, "attention_mask": mask.long()}
    if not _can_capture(model):
        vectors: Tensor = model(features)["sentence_embedding"]
        return vectors
    # The encoder uses a four-dimensional mask unchanged. If the mask had two dimensions, the encoder would build its
    # own mask and wait for the GPU to find out whether anything is masked.
    whole = mask[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
    features["token_embeddings"] = backbone(model)(input_ids=ids, attention_mask=whole).last_hidden_state
    for module in list(model)[1:]:
        features = module(features)
    found: Tensor = features["sentence_embedding"]
    return found


def _can_capture(model: Any) -> bool:
    """Return True if a model is so small that a GPU takes longer to launch its kernels than to run them."""
    found = backbone(model)
    return type(found).__name__ == "BertModel" and int(found.config.hidden_size) < _LARGE


def _half(settings: TrainSettings, device: str) -> bool:
    import torch

    if settings.precision != "auto":
        return settings.precision == "bf16"
    return device.startswith("cuda") and torch.cuda.is_bf16_supported()

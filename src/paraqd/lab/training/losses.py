"""Define the losses for training bi-encoders and judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paraqd.lab.training.processes import ALONE, Crew
from paraqd.lab.training.settings import Distance, JudgeSettings, TrainSettings

if TYPE_CHECKING:
    from torch import Tensor


def triplet_loss(anchor: Tensor, valid: Tensor, invalid: Tensor, *, distance: Distance, margin: float) -> Tensor:
    """Return the mean of max(0, margin + dist(anchor, valid) - dist(anchor, invalid)).

    The cosine distance is 1 - cosine. For the Euclidean distance, the vectors are not normalised.

    >>> import torch
    >>> a = torch.tensor([[1.0, 0.0]])
    >>> float(triplet_loss(a, a, -a, distance="cosine", margin=2.0))
    0.0
    >>> float(triplet_loss(a, -a, a, distance="cosine", margin=2.0))
    4.0
    """
    import torch
    from torch.nn import functional

    def dist(other: Tensor) -> Tensor:
        if distance == "cosine":
            return 1 - functional.cosine_similarity(anchor, other)
        return functional.pairwise_distance(anchor, other)

    return torch.relu(margin + dist(valid) - dist(invalid)).mean()


def mnrl_loss(anchor: Tensor, valid: Tensor, invalid: Tensor, *, scale: float) -> Tensor:
    """Return the multiple negatives ranking loss.

    For each anchor, the loss is the cross-entropy of selecting the anchor's valid text from all candidates, which are
    the valid and the invalid texts of all anchors.

    >>> import torch
    >>> a, b = torch.eye(2)
    >>> good = mnrl_loss(torch.stack([a, b]), torch.stack([a, b]), torch.stack([-a, -b]), scale=20.0)
    >>> bad = mnrl_loss(torch.stack([a, b]), torch.stack([b, a]), torch.stack([a, b]), scale=20.0)
    >>> bool(good < 0.01 < bad)
    True
    """
    import torch
    from torch.nn import functional

    candidates = functional.normalize(torch.cat([valid, invalid]), dim=1)
    scores = functional.normalize(anchor, dim=1) @ candidates.T * scale
    return functional.cross_entropy(scores, torch.arange(len(anchor), device=scores.device))


def bi_encoder_loss(vectors: Tensor, places: Tensor, settings: TrainSettings, crew: Crew = ALONE) -> Tensor:
    """Return the loss of a batch of triplets.

    ``vectors`` contains the vectors of the batch's texts, and each row of ``places`` the three places of a triplet. If
    there are several processes, each process has its share of the batch, and the loss is that of the whole batch. The
    sum of the processes' gradients is then the gradient of the whole batch.
    """
    import torch

    own = torch.stack([vectors[column] for column in places.T], dim=1)
    anchor, valid, invalid = crew.whole(own).unbind(dim=1)
    if settings.loss == "mnrl":
        loss = mnrl_loss(anchor, valid, invalid, scale=settings.scale)
    else:
        assert settings.margin is not None
        loss = triplet_loss(anchor, valid, invalid, distance=settings.distance, margin=settings.margin)
    return loss + (0.0 if len(places) else 0.0 * vectors.sum())  # every process needs a gradient


def judge_loss(outputs: tuple[Tensor, Tensor, Tensor], batch: dict[str, Any], settings: JudgeSettings) -> Tensor:
    """Return a judge's loss, which combines the losses for validity, the kind of fault and the tokens at fault.

    Unknown kinds and unknown positions have no weight. No shape depends on the values, so a GPU can capture the step.
    """
    import torch.nn.functional as F

    valid, kinds, places = (output.float() for output in outputs)
    labelled, weights = batch["labels"] >= 0, batch["weights"]
    target = batch["labels"].clamp(min=0) * (1 - 2 * settings.smoothing) + settings.smoothing
    if batch["teacher"] is None:
        weights = weights * labelled  # nothing is known about a pair without a label and without a teacher
    else:
        taught, share = batch["teacher"].sigmoid(), settings.teacher_share
        target = ((1 - share) * target + share * taught).where(labelled, taught)
    each = F.binary_cross_entropy_with_logits(valid, target, reduction="none")
    loss = (each * weights).sum() / weights.sum().clamp(min=1e-6)
    known = batch["kinds"] >= 0
    each = F.cross_entropy(kinds, batch["kinds"].clamp(min=0), reduction="none") * known
    loss = loss + settings.kind_share * each.sum() / known.sum().clamp(min=1)
    placed, marks = batch["faults"] >= 0, batch["faults"].clamp(min=0).float()
    each = F.binary_cross_entropy_with_logits(places, marks, reduction="none") * (1 + 4 * marks) * placed
    total: Tensor = loss + settings.place_share * each.sum() / placed.sum().clamp(min=1)
    return total

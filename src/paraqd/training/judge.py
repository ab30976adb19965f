"""Train the learned judge on pairs with faults."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.training.judge_data import MAX_LENGTH, JudgeData, collate, epoch_batches
from paraqd.training.rounding import finish_rounding, start_rounding
from paraqd.training.settings import EncoderTrainingError

CHECKPOINT = "judge.pt"
Progress = Callable[[int, int, float], None]


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    """How a judge is trained."""

    epochs: int = 5
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    warmup_share: float = 0.06
    batch_tokens: int = 16384
    kind_share: float = 0.3
    place_share: float = 1.0
    smoothing: float = 0.02
    teacher_share: float = 0.7  # of the target, where there is a teacher; the rest is the label
    rounded_share: float = 0.35  # of the steps at the end, with weights and inputs rounded
    inner: int = 768  # units inside each layer; those of the encoder with the smallest weights are left out
    seed: int = 3407

    def __post_init__(self) -> None:
        for name, good, what in (
            ("epochs", self.epochs >= 1, "at least 1"),
            ("batch_tokens", self.batch_tokens >= MAX_LENGTH, f"at least {MAX_LENGTH}, the longest pair"),
            ("learning_rate", 0 < self.learning_rate < 1, "between 0 and 1"),
            ("weight_decay", 0 <= self.weight_decay < 1, "from 0 to below 1"),
            ("teacher_share", 0 <= self.teacher_share <= 1, "a share, from 0 to 1"),
            ("rounded_share", 0 <= self.rounded_share <= 1, "a share of the steps, from 0 to 1"),
            ("inner", self.inner >= 1, "at least 1"),
            ("warmup_share", 0 <= self.warmup_share < 1, "a share of the steps, from 0 to below 1"),
            ("seed", 0 <= self.seed < 2**32, "from 0 to below 2**32"),
        ):
            if not good:
                raise EncoderTrainingError(f"{name} must be {what}, not {getattr(self, name)}")


def train_judge(
    judge: Any,
    data: JudgeData,
    *,
    settings: JudgeSettings | None = None,
    device: str = "cpu",
    teacher: NDArray[np.float32] | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
    progress: Progress | None = None,
    on_epoch: Callable[[int], None] | None = None,
) -> Any:
    """Train in place and return the judge.

    Parameters
    ----------
    teacher : array, optional
        For each row the log-odds of another judge: ``teacher_share`` of the target is then what it says.
    checkpoints : Path, optional
        A folder: training goes on from the checkpoint in it, and leaves one there every ``checkpoint_seconds``.

    """
    import torch

    settings = settings or JudgeSettings()
    torch.manual_seed(settings.seed)
    rng = np.random.default_rng(settings.seed)
    epochs = [list(epoch_batches(data.lengths, tokens=settings.batch_tokens, rng=rng)) for _ in range(settings.epochs)]
    steps = sum(map(len, epochs))
    judge.to(device).train()
    fused = {"fused": True} if device.startswith("cuda") else {}
    decayed = [p for n, p in judge.named_parameters() if p.ndim > 1]
    plain = [p for n, p in judge.named_parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate, **fused)
    warm = max(1, int(settings.warmup_share * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
    )
    if device.startswith("cuda"):
        torch.backends.cuda.enable_cudnn_sdp(False)  # planned anew for every shape
    done, shown, kept = 0, time.monotonic(), time.monotonic()
    exact = steps - int(settings.rounded_share * steps)
    begun = _resume(checkpoints, judge, optimizer, schedule, exact)
    for number, batches in enumerate(epochs, start=1):
        for rows in batches:
            if done < begun:
                done += 1
                continue
            if done == exact:
                start_rounding(judge)
            batch = {k: torch.from_numpy(v).to(device, non_blocking=True) for k, v in collate(data, rows).items()}
            told = None if teacher is None else torch.from_numpy(teacher[rows]).to(device)
            with torch.autocast(device.partition(":")[0], dtype=torch.bfloat16, enabled=device.startswith("cuda")):
                loss = judge_loss(judge, batch, settings, told)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            done += 1
            if progress is not None and (time.monotonic() - shown > 0.5 or done == steps):
                shown = time.monotonic()
                progress(done, steps, float(loss.detach()))
            if checkpoints is not None and time.monotonic() - kept > checkpoint_seconds:
                _keep(checkpoints, judge, optimizer, schedule, done)
                kept = time.monotonic()
        if on_epoch is not None and done > begun:
            judge.eval()
            on_epoch(number)
            judge.train()
    finish_rounding(judge)
    return judge.eval()


def _keep(folder: Path, judge: Any, optimizer: Any, schedule: Any, done: int) -> None:
    """Leave a checkpoint, whole or not at all."""
    import torch

    from paraqd.data.writers import replacing

    folder.mkdir(parents=True, exist_ok=True)
    state = {
        "done": done,
        "judge": judge.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "random": torch.get_rng_state(),
        "random_cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }
    with replacing(folder / CHECKPOINT) as temporary:
        torch.save(state, temporary)


def _resume(folder: Path | None, judge: Any, optimizer: Any, schedule: Any, exact: int) -> int:
    """Take up the checkpoint, if there is one; return how many steps were done."""
    import torch

    if folder is None or not (folder / CHECKPOINT).is_file():
        return 0
    state = torch.load(folder / CHECKPOINT, weights_only=True, map_location="cpu")
    if state["done"] > exact:
        start_rounding(judge)
    judge.load_state_dict(state["judge"])
    optimizer.load_state_dict(state["optimizer"])
    schedule.load_state_dict(state["schedule"])
    torch.set_rng_state(state["random"])
    if state["random_cuda"]:
        torch.cuda.set_rng_state_all(state["random_cuda"])
    return int(state["done"])


def judge_loss(judge: Any, batch: dict[str, Any], settings: JudgeSettings, teacher: Any = None) -> Any:
    """Return the loss of a batch: valid or not, what kind, which tokens."""
    import torch.nn.functional as F  # as everybody calls it

    valid, kinds, places = judge(
        input_ids=batch["input_ids"],
        token_type_ids=batch["token_type_ids"],
        attention_mask=batch["attention_mask"],
    )
    target = batch["labels"] * (1 - 2 * settings.smoothing) + settings.smoothing
    if teacher is not None:
        target = (1 - settings.teacher_share) * target + settings.teacher_share * teacher.sigmoid()
    weights = batch["weights"]
    loss = (F.binary_cross_entropy_with_logits(valid.float(), target, reduction="none") * weights).sum() / weights.sum()
    known = batch["kinds"] >= 0
    if bool(known.any()):
        loss = loss + settings.kind_share * F.cross_entropy(kinds.float()[known], batch["kinds"][known])
    placed = batch["faults"] >= 0
    if bool(placed.any()):
        marks = batch["faults"][placed].float()
        found = F.binary_cross_entropy_with_logits(places.float()[placed], marks, reduction="none")
        loss = loss + settings.place_share * (found * (1 + 4 * marks)).mean()
    return loss


def judge_scores(judge: Any, data: JudgeData, *, device: str = "cpu", tokens: int = 16384) -> NDArray[np.float32]:
    """Return the log-odds of each row."""
    import torch

    found = np.zeros(len(data), dtype=np.float32)
    order = np.argsort(data.lengths, kind="stable")
    judge.to(device).eval()
    with torch.inference_mode():
        start = 0
        while start < len(order):
            end = min(len(order), start + max(1, tokens // int(data.lengths[order[min(start + 64, len(order) - 1)]])))
            rows = order[start:end]
            batch = collate(data, rows)
            inputs = {
                k: torch.from_numpy(batch[k]).to(device) for k in ("input_ids", "token_type_ids", "attention_mask")
            }
            found[rows] = judge(**inputs)[0].float().cpu().numpy()
            start = end
    return found

"""Train a generator. An interrupted training run resumes from its last checkpoint and ends with the same weights."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraqd.errors import ParaqdError
from paraqd.interrupts import deferred_interrupt
from paraqd.lab.generators.training_data import TokenizedExample, collate
from paraqd.model_runtime import token_batches, without_cudnn_attention
from paraqd.paraphrasing.text_models.processors import row_key
from paraqd.progress import Progress, silent


class GeneratorTrainingError(ParaqdError, RuntimeError):
    """Raised when a training run cannot continue. The message is a single line that states the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorSettings:
    """The settings for training a generator."""

    epochs: int
    batch_tokens: int
    learning_rate: float
    max_rows: int | None = None
    max_steps: int | None = None
    weight_decay: float = 0.01
    warmup_share: float = 0.1
    clip: float = 1.0
    checkpoint_every: int = 200


def plan(costs: Sequence[int], *, settings: GeneratorSettings, seed: int) -> list[list[int]]:
    """Return the batches of a whole training run as lists of indices. A resumed run uses the same batches.

    >>> settings = GeneratorSettings(epochs=2, batch_tokens=8, learning_rate=1e-4)
    >>> batches = plan([4, 4, 2, 8], settings=settings, seed=1)
    >>> sorted(i for batch in batches for i in batch)
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    batches: list[list[int]] = []
    for epoch in range(settings.epochs):
        rng = random.Random(row_key(seed, "plan", epoch))
        # the rows in a batch have similar lengths, but each epoch groups the rows differently
        order = list(range(len(costs)))
        rng.shuffle(order)
        found = token_batches([costs[i] for i in order], budget=settings.batch_tokens)
        epoch_batches = [[order[i] for i in batch] for batch in found]
        rng.shuffle(epoch_batches)
        batches += epoch_batches
    return batches[: settings.max_steps]


def fit(
    model: Any,
    tokenizer: Any,
    examples: Sequence[TokenizedExample],
    *,
    settings: GeneratorSettings,
    seed: int,
    device: str,
    work_dir: Path,
    fingerprint: dict[str, Any],
    stage: str = "training",
    progress: Progress = silent,
) -> float:
    """Train the model in place and return the loss of the last step.

    Checkpoints are written to ``work_dir`` at regular intervals and on Ctrl-C. A checkpoint with a different
    ``fingerprint`` is deleted. ``stage`` is the name of the training run in progress reports.
    """
    import torch

    batches = plan([example.cost for example in examples], settings=settings, seed=seed)
    fingerprint = {**fingerprint, "settings": asdict(settings)}
    model.to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    first, loss_value = load_checkpoint(model, optimizer, work_dir, fingerprint, device)
    with seeded(seed, device), without_cudnn_attention(), deferred_interrupt() as interrupt:
        for step in range(first, len(batches)):
            # seed the global generator, which dropout uses, at every step, so that a resumed run draws the same values
            torch.manual_seed(row_key(seed, "step", step))
            batch = collate(
                [examples[i] for i in batches[step]],
                tokenizer=tokenizer,
                rng=random.Random(row_key(seed, "batch", step)),
                device=device,
            )
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * _learning_rate_factor(step, len(batches), settings.warmup_share)
            with _autocast(device):
                loss = model(**batch).loss
            loss_value = float(loss.detach())
            if not math.isfinite(loss_value):
                raise GeneratorTrainingError(f"training diverged: the loss at step {step + 1} is {loss_value}")
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            progress(stage, step + 1, len(batches), f"loss {loss_value:.3f}")
            due = (step + 1) % settings.checkpoint_every == 0 or interrupt.requested
            if due and step + 1 < len(batches):
                save_checkpoint(model, optimizer, work_dir, {"step": step + 1, "loss": loss_value, "of": fingerprint})
            if interrupt.requested:
                raise KeyboardInterrupt
    model.eval()
    return loss_value


@contextlib.contextmanager
def seeded(seed: int, device: str) -> Iterator[None]:
    """Seed torch's global random number generators, and restore their states when the context ends."""
    import torch

    devices = [torch.device(device)] if device.startswith("cuda") else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread inside the context.

    More threads would not speed up a tiny model and could spend a long time waiting for each other.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _learning_rate_factor(step: int, total: int, warmup_share: float) -> float:
    """Return the learning rate factor for a step. The factor rises linearly to 1 and then falls linearly towards 0."""
    warmup = max(1, round(warmup_share * total))
    if step < warmup:
        return (step + 1) / warmup
    return (total - step) / max(1, total - warmup)


def _autocast(device: str) -> contextlib.AbstractContextManager[Any]:
    import torch

    if device.startswith("cuda"):
        autocast: contextlib.AbstractContextManager[Any] = torch.autocast("cuda", dtype=torch.bfloat16)
        return autocast
    return contextlib.nullcontext()


def save_checkpoint(model: Any, optimizer: Any, work_dir: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint and then delete older checkpoints so that a complete checkpoint always exists."""
    import torch
    from safetensors.torch import save_model

    temporary = work_dir / f"writing-{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    save_model(model, str(temporary / "model.safetensors"))
    torch.save(optimizer.state_dict(), temporary / "optimizer.pt")
    (temporary / "state.json").write_text(json.dumps(state), encoding="utf-8")
    final = work_dir / f"step-{state['step']:08d}"
    shutil.rmtree(final, ignore_errors=True)
    temporary.rename(final)
    for old in _checkpoints(work_dir)[:-1]:
        shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(
    model: Any, optimizer: Any, work_dir: Path, fingerprint: dict[str, Any], device: str
) -> tuple[int, float]:
    """Load the last checkpoint with the same fingerprint, and return the index of the next step and the last loss.

    Return 0 and NaN if there is no such checkpoint.
    """
    import torch
    from safetensors.torch import load_model

    for folder in reversed(_checkpoints(work_dir)):
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        if state["of"] == json.loads(json.dumps(fingerprint)):
            load_model(model, str(folder / "model.safetensors"), device=device)
            optimizer.load_state_dict(torch.load(folder / "optimizer.pt", map_location=device, weights_only=True))
            return int(state["step"]), float(state["loss"])
        shutil.rmtree(folder)
    return 0, float("nan")


def check_checkpoints(work_dir: Path, fingerprint: Mapping[str, Any]) -> None:
    """Raise `GeneratorTrainingError` if a folder has a checkpoint of another run. It would be deleted otherwise."""
    for path in sorted(work_dir.glob("step-*/state.json")):
        before = json.loads(path.read_text(encoding="utf-8")).get("of", {})
        changed = [name for name, value in fingerprint.items() if before.get(name) != value]
        if changed:
            raise GeneratorTrainingError(
                f"{work_dir} has a checkpoint of a run with other {changed[0]}: choose another folder, or delete it"
            )


def check_steps(work_dir: Path, steps: int) -> None:
    """Raise `GeneratorTrainingError` if the last checkpoint in a folder is past the wanted number of steps."""
    for folder in _checkpoints(work_dir)[-1:]:
        done = int(json.loads((folder / "state.json").read_text(encoding="utf-8"))["step"])
        if done > steps:
            raise GeneratorTrainingError(
                f"{work_dir} has a checkpoint after {done} steps, which is past the {steps} that are wanted: ask for "
                f"at least {done} steps, or choose another folder"
            )


def _checkpoints(work_dir: Path) -> list[Path]:
    return sorted(work_dir.glob("step-*"))

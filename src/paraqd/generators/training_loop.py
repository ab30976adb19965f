"""A plain training loop that goes on after a kill where its last checkpoint stands, to the same weights."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraqd.errors import ParaqdError
from paraqd.generators.processors import row_key
from paraqd.generators.runtime import token_batches
from paraqd.generators.training_data import Example, collate

Progress = Callable[[int, int, float], None]


class GeneratorTrainingError(ParaqdError, RuntimeError):
    """Training cannot go on; the message is one line that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How long and how fast to train."""

    epochs: int
    batch_tokens: int
    learning_rate: float
    max_rows: int | None = None
    max_steps: int | None = None
    weight_decay: float = 0.01
    warmup_share: float = 0.1
    clip: float = 1.0
    checkpoint_every: int = 200


def plan(costs: Sequence[int], *, settings: Settings, seed: int) -> list[list[int]]:
    """Return the batches of the whole training, known before it starts: a resumed run takes the same.

    >>> settings = Settings(epochs=2, batch_tokens=8, learning_rate=1e-4)
    >>> batches = plan([4, 4, 2, 8], settings=settings, seed=1)
    >>> sorted(i for batch in batches for i in batch)
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    batches: list[list[int]] = []
    for epoch in range(settings.epochs):
        rng = random.Random(row_key(seed, "plan", epoch))
        # Among rows of the same length which ones meet in a batch changes from epoch to epoch.
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
    examples: Sequence[Example],
    *,
    settings: Settings,
    seed: int,
    device: str,
    work_dir: Path,
    fingerprint: dict[str, Any],
    progress: Progress | None = None,
) -> float:
    """Train the model in place and return the last loss.

    Checkpoints stand in ``work_dir``; one made with another ``fingerprint`` is not taken up.
    """
    import torch

    batches = plan([example.cost for example in examples], settings=settings, seed=seed)
    fingerprint = {**fingerprint, "settings": asdict(settings)}
    model.to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    first, loss_value = _resume(model, optimizer, work_dir, fingerprint, device)
    with seeded(seed, device):
        for step in range(first, len(batches)):
            # Dropout draws from the global generators: seeded by the step, a resumed run draws the same.
            torch.manual_seed(row_key(seed, "step", step))
            batch = collate(
                [examples[i] for i in batches[step]],
                tokenizer=tokenizer,
                rng=random.Random(row_key(seed, "batch", step)),
                device=device,
            )
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * _schedule(step, len(batches), settings.warmup_share)
            with _autocast(device):
                loss = model(**batch).loss
            loss_value = float(loss.detach())
            if not math.isfinite(loss_value):
                raise GeneratorTrainingError(f"training broke down: the loss at step {step + 1} is {loss_value}")
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if (step + 1) % settings.checkpoint_every == 0 and step + 1 < len(batches):
                _save(model, optimizer, work_dir, {"step": step + 1, "loss": loss_value, "of": fingerprint})
            if progress is not None:
                progress(step + 1, len(batches), loss_value)
    model.eval()
    return loss_value


@contextlib.contextmanager
def seeded(seed: int, device: str) -> Iterator[None]:
    """Seed torch's global generators for a while and put them back as they were."""
    import torch

    devices = [torch.device(device)] if device.startswith("cuda") else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread for a while: a tiny model gains nothing from more, and they may wait long."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _schedule(step: int, total: int, warmup_share: float) -> float:
    """Return the learning rate's factor: linear up, then linear down to zero."""
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


def _save(model: Any, optimizer: Any, work_dir: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint beside the last one, then drop the last: a kill at any moment leaves a whole one."""
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


def _resume(model: Any, optimizer: Any, work_dir: Path, fingerprint: dict[str, Any], device: str) -> tuple[int, float]:
    """Take up the last checkpoint of the same training; return the step to go on with and the last loss."""
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


def _checkpoints(work_dir: Path) -> list[Path]:
    return sorted(work_dir.glob("step-*"))

"""Run the optimisation steps of a training, on a CPU or a GPU, in one process or several.

All models that learn from planned batches use this loop: bi-encoders, judges and teachers. The optimizer is AdamW with
a learning rate that rises and falls linearly. On a GPU, the steps of a small model can be captured as CUDA graphs, one
for each shape of a batch, and replayed: a GPU runs the kernels of such a model faster than Python can launch them. An
interrupted run resumes from its checkpoint and ends with the same weights.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from paraqd.interrupts import deferred_interrupt
from paraqd.lab.training.processes import ALONE, Crew
from paraqd.lab.training.settings import CHECKPOINT_SECONDS, REPORT_SECONDS, TrainingError, TrainingStopped
from paraqd.model_runtime import without_cudnn_attention
from paraqd.progress import Progress, silent
from paraqd.tables.writers import replacing

if TYPE_CHECKING:
    from torch import Tensor

CHECKPOINT = "checkpoint.pt"
_BETA1, _BETA2 = 0.9, 0.999
_CLIP = 1.0  # the maximum norm of the gradient

# the shape of a batch (None if the step cannot be captured), and the tensors that the batch consists of
Batch = tuple[Hashable, tuple[Any, ...]]


class Schedule(Protocol):
    """The settings on which the optimizer and the learning rate depend."""

    @property
    def learning_rate(self) -> float: ...  # noqa: D102
    @property
    def weight_decay(self) -> float: ...  # noqa: D102
    @property
    def warmup_share(self) -> float: ...  # noqa: D102


class Steps:
    """The optimisation steps of one training run.

    Parameters
    ----------
    module : torch module
        The model to train.
    loss : callable
        A function that returns the loss of a batch. Its arguments are the batch's shape and its tensors on the device.
    total : int
        The number of steps of the whole run.
    captures : bool
        Capture the steps as CUDA graphs. ``loss`` must then never wait for the GPU, and the memory that a batch needs
        must depend only on its shape.
    half : bool
        Compute in bfloat16 where this is safe.
    crew : Crew
        The processes that train together. Their gradients are added.

    """

    def __init__(
        self,
        module: Any,
        loss: Callable[..., Tensor],
        settings: Schedule,
        *,
        total: int,
        device: str,
        captures: bool = False,
        half: bool = False,
        beta2: float = _BETA2,
        crew: Crew = ALONE,
    ) -> None:
        import torch

        self.module, self.loss, self.settings, self.crew = module, loss, settings, crew
        self.total, self.device, self.half = total, device, half
        self.on_gpu = device.startswith("cuda")
        self.captures = captures and self.on_gpu
        self._captured: dict[Hashable, tuple[Any, tuple[Tensor, ...], Tensor]] = {}
        self._memory: Any = None  # the memory pool that the captured steps share
        self._rate = torch.tensor(0.0, device=device)
        matrices = [p for p in module.parameters() if p.ndim > 1]
        vectors = [p for p in module.parameters() if p.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        options = {"fused": True, "capturable": self.captures} if self.on_gpu else {}
        self.optimizer = torch.optim.AdamW(groups, lr=self._rate, betas=(_BETA1, beta2), **options)

    def step(self, number: int, batch: Batch) -> Tensor:
        """Update the weights with the batch of step ``number``, which counts from 0, and return the batch's loss."""
        shape, tensors = batch
        self._rate.fill_(self.settings.learning_rate * schedule(number, self.total, self.settings.warmup_share))
        if not self.captures or shape is None:
            return self._update(shape, tuple(tensor.to(self.device) for tensor in tensors))
        if shape not in self._captured:
            rate = self._rate.clone()
            self._captured[shape] = self._capture(shape, tensors)
            self._rate.copy_(rate)
        graph, inputs, loss = self._captured[shape]
        for given, tensor in zip(inputs, tensors, strict=True):
            given.copy_(tensor.pin_memory(), non_blocking=True)
        graph.replay()
        return loss

    def forget_captures(self) -> None:
        """Capture the steps again, because the module has changed."""
        self._captured.clear()
        self._memory = None  # a new graph must not use the memory pool of deleted graphs

    def save(self, folder: Path, done: int) -> None:
        """Write a checkpoint atomically, with the random state of every process."""
        import torch

        random = (torch.get_rng_state(), torch.cuda.get_rng_state() if self.on_gpu else None)
        states = self.crew.everyone(random)
        if not self.crew.is_main:
            return
        folder.mkdir(parents=True, exist_ok=True)
        state = {
            "done": done,
            "module": self.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": states,
        }
        with replacing(folder / CHECKPOINT) as temporary:
            torch.save(state, temporary)

    def resume(self, folder: Path | None, prepare: Callable[[int], None] = lambda done: None) -> int:
        """Load the checkpoint if it exists, and return the number of completed steps.

        ``prepare`` is called with this number before the weights are loaded.
        """
        import torch

        if folder is None or not (folder / CHECKPOINT).is_file():
            return 0
        state = torch.load(folder / CHECKPOINT, weights_only=True, map_location="cpu")
        prepare(int(state["done"]))
        self.module.load_state_dict(state["module"])
        self.optimizer.load_state_dict(state["optimizer"])
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate  # loading the state has replaced the tensor with a copy
        random, random_cuda = state["random"][self.crew.rank]
        torch.set_rng_state(random)
        if random_cuda is not None:
            torch.cuda.set_rng_state(random_cuda)
        return int(state["done"])

    def _update(self, shape: Hashable, tensors: tuple[Any, ...]) -> Tensor:
        import torch

        self.optimizer.zero_grad(set_to_none=True)
        # a captured step must not reuse cached casts of the weights from an earlier replay
        kind = "cuda" if self.on_gpu else "cpu"
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=self.half, cache_enabled=not self.captures):
            loss = self.loss(shape, *tensors)
        loss.backward()
        if self.crew.size > 1:
            for value in self.module.parameters():
                if value.grad is not None:
                    torch.distributed.all_reduce(value.grad)
        torch.nn.utils.clip_grad_norm_(self.module.parameters(), _CLIP)
        self.optimizer.step()
        detached: Tensor = loss.detach()
        return detached

    def _capture(self, shape: Hashable, tensors: tuple[Any, ...]) -> tuple[Any, tuple[Tensor, ...], Tensor]:
        """Capture one step, and return the graph, its input tensors and its output tensor, the loss."""
        import torch

        inputs = tuple(tensor.to(self.device) for tensor in tensors)
        with self._unchanged():
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(2):  # the first passes select kernels and allocate memory
                    self._update(shape, inputs)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self._memory):
                loss = self._update(shape, inputs)
            self._memory = self._memory or graph.pool()
        return graph, inputs, loss

    @contextlib.contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Restore the weights, buffers, optimizer state and random state in place when the context exits."""
        import torch

        def tensors() -> dict[str, Tensor]:
            found = dict(self.module.state_dict(keep_vars=True))
            for number, (_, state) in enumerate(self.optimizer.state.items()):
                found |= {f"optimizer {number} {name}": value for name, value in state.items()}
            return found

        before = {name: value.detach().clone() for name, value in tensors().items()}
        random = torch.cuda.get_rng_state()
        yield
        with torch.no_grad():
            for name, value in tensors().items():
                if name in before:
                    value.copy_(before[name])
                else:  # optimizer state that the first step created
                    value.zero_()
        torch.cuda.set_rng_state(random)


def run_steps(
    steps: Steps,
    batches: Sequence[Any],
    make_batch: Callable[[Any], Batch],
    *,
    start: int = 0,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    before_step: Callable[[int], None] = lambda number: None,
    after_step: Callable[[int], None] = lambda done: None,
    stage: str = "training",
    progress: Progress = silent,
) -> float | None:
    """Run all steps from number ``start`` on, and return the last reported loss, or None if no step was left.

    A checkpoint is written to ``checkpoints`` every ``checkpoint_seconds`` seconds and on Ctrl-C. ``before_step`` and
    ``after_step`` are called with the number of steps that are complete.

    Raises
    ------
    TrainingStopped
        If Ctrl-C was pressed in any process. A checkpoint is written first.
    TrainingError
        If the loss is no longer finite.

    """
    import torch

    crew, total = steps.crew, torch.zeros((), device=steps.device)
    counted, last = 0, None
    reported = saved = time.monotonic()
    # a launcher may forward a single Ctrl-C several times
    with deferred_interrupt(patient=crew.size > 1) as interrupt, without_cudnn_attention():
        progress(stage, start, len(batches))
        for done, batch in enumerate(batches[start:], start=start + 1):
            before_step(done - 1)
            total += steps.step(done - 1, make_batch(batch))
            counted += 1
            after_step(done)
            now = time.monotonic()
            # clocks differ, so the main process's clock decides, and Ctrl-C in any process stops all processes
            if crew.any(done == len(batches) or (crew.is_main and now - reported > REPORT_SECONDS))[0]:
                last = float(total) / counted
                if not math.isfinite(last):
                    raise TrainingError(f"training diverged: the loss at step {done:,} is {last}")
                total.zero_()
                counted, reported = 0, now
                progress(stage, done, len(batches), f"loss {last:.3f}")
            save, stop = crew.any(crew.is_main and now - saved > checkpoint_seconds, interrupt.requested)
            if checkpoints is not None and (stop or (save and done < len(batches))):
                steps.save(checkpoints, done)
                saved = time.monotonic()  # the interval starts after the checkpoint has been written
            if stop:
                raise TrainingStopped
    return last


def schedule(step: int, steps: int, warmup_share: float) -> float:
    """Return the factor for the learning rate, which rises linearly to 1 and then falls linearly towards 0.

    >>> [schedule(step, 10, 0.2) for step in (0, 1, 2, 6)]
    [0.5, 1.0, 1.0, 0.5]
    """
    warmup = max(1, int(warmup_share * steps))
    return min((step + 1) / warmup, max(0.0, (steps - step) / max(1, steps - warmup)))

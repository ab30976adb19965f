"""Train judges and teachers with the same training loop, on a CPU or a GPU.

On a GPU, the forward pass uses bfloat16. A small model's steps are captured as CUDA graphs, one for each batch length,
and replayed. The layers of a larger model are compiled. An interrupted training run resumes from its checkpoint and
ends with the same weights.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paraqd.data.writers import replacing
from paraqd.generators.runtime import without_cudnn_attention
from paraqd.interrupts import deferred_interrupt
from paraqd.progress import Progress, silent
from paraqd.training.judge_batches import Batch, DeviceRows, plan_epoch
from paraqd.training.judge_tokens import JudgeTokens
from paraqd.training.losses import judge_loss
from paraqd.training.quantisation_aware import finish_rounding, start_rounding
from paraqd.training.settings import (
    CHECKPOINT_SECONDS,
    REPORT_SECONDS,
    JudgeSettings,
    TrainingError,
    TrainingStopped,
)

if TYPE_CHECKING:
    from torch import Tensor

CHECKPOINT = "judge.pt"
_BETA1 = 0.9
_CLIP = 1.0  # the maximum norm of the gradient

DrawRows = Callable[[np.random.Generator], NDArray[np.int64]]


def train_judge(
    judge: Any,
    tokens: JudgeTokens,
    *,
    settings: JudgeSettings | None = None,
    device: str = "cpu",
    teacher: NDArray[np.float32] | None = None,
    draw: DrawRows | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    stage: str = "training",
    progress: Progress = silent,
) -> Any:
    """Train a judge in place, and return the judge.

    Parameters
    ----------
    judge : Judge
        The model to train; see `judge_model.Judge`.
    teacher : array, optional
        The teachers' log-odds for each row. Their weight in the target is ``settings.teacher_share``.
    draw : callable, optional
        A function that draws the rows of an epoch with a random number generator (default: every epoch has all rows).
    checkpoints : Path, optional
        The folder for checkpoints. If the folder contains a checkpoint, training resumes from it. A new checkpoint is
        written every ``checkpoint_seconds`` seconds and on Ctrl-C.
    stage : str
        The name of this training run in progress reports.

    Raises
    ------
    TrainingStopped
        If Ctrl-C was pressed. A checkpoint is written first.

    """
    import torch

    settings = settings or JudgeSettings()
    rng = np.random.default_rng(settings.seed)
    plan: list[Batch] = []
    for _ in range(settings.epochs):
        rows = None if draw is None else draw(rng)
        plan += plan_epoch(tokens.lengths, tokens=settings.batch_tokens, rng=rng, rows=rows)
    exact_steps = len(plan) - int(settings.rounded_share * len(plan))
    torch.manual_seed(settings.seed)
    judge.to(device).train()
    step = _Step(judge, DeviceRows(tokens, teacher, device), settings)
    start = step.resume(checkpoints, exact_steps)
    total, counted = torch.zeros((), device=device), 0
    reported = saved = time.monotonic()
    with deferred_interrupt() as interrupt, without_cudnn_attention():
        for done, (length, batch) in enumerate(plan[start:], start=start + 1):
            if done == exact_steps + 1:
                step.start_rounding()
            total += step(length, batch, settings.learning_rate * _schedule(done - 1, len(plan), settings.warmup_share))
            counted += 1
            now = time.monotonic()
            if now - reported > REPORT_SECONDS or done == len(plan):
                loss = float(total) / counted
                if not math.isfinite(loss):
                    raise TrainingError(f"training diverged: the loss at step {done:,} is {loss}")
                total.zero_()
                counted, reported = 0, now
                progress(stage, done, len(plan), f"loss {loss:.3f}")
            if checkpoints is not None and (interrupt.requested or now - saved > checkpoint_seconds):
                step.save(checkpoints, done)
                saved = time.monotonic()
            if interrupt.requested:
                raise TrainingStopped
    finish_rounding(judge)
    return judge.eval()


def judge_scores(
    judge: Any, tokens: JudgeTokens, *, device: str = "cpu", batch_tokens: int = 16384, half: bool = False
) -> NDArray[np.float32]:
    """Return, for each row, the judge's log-odds that the pair is valid.

    If ``half`` is True, a GPU computes in bfloat16, which is faster and less exact.
    """
    import torch

    scores = np.zeros(len(tokens), dtype=np.float32)
    rows = DeviceRows(tokens, None, device)
    judge.to(device).eval()
    half = half and device.startswith("cuda")
    # compiled layers would be compiled anew for exact numbers, which takes longer than it saves
    stance = torch.compiler.set_stance("default" if half else "force_eager")
    precision = torch.autocast("cuda", dtype=torch.bfloat16, enabled=half)
    with torch.inference_mode(), precision, stance, without_cudnn_attention():
        for _, batch in plan_epoch(tokens.lengths, tokens=batch_tokens, rng=np.random.default_rng(0)):
            real = batch[batch >= 0]
            scores[real] = _outputs(judge, rows.gather_trimmed(batch))[0].float().cpu().numpy()
    return scores


class _Step:
    """A callable that runs one optimisation step.

    On a GPU, a small model's steps are captured once for each batch length and then replayed.
    """

    def __init__(self, judge: Any, rows: DeviceRows, settings: JudgeSettings) -> None:
        import torch

        self.judge, self.rows, self.settings = judge, rows, settings
        self.on_gpu = rows.device.startswith("cuda")
        self.captures = self.on_gpu and judge.captures_well
        if self.on_gpu and not self.captures:
            judge.compile_layers()
        self.captured: dict[int, tuple[Any, Tensor, Tensor]] = {}
        self.memory: Any = None  # the memory pool that the captured steps share
        self.rate = torch.tensor(0.0, device=rows.device)
        matrices = [p for p in judge.parameters() if p.ndim > 1]
        vectors = [p for p in judge.parameters() if p.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        options = {"fused": True, "capturable": self.captures} if self.on_gpu else {}
        self.optimizer = torch.optim.AdamW(groups, lr=self.rate, betas=(_BETA1, settings.beta2), **options)

    def __call__(self, length: int, rows: NDArray[np.int64], rate: float) -> Tensor:
        """Update the weights with one batch and return the batch's loss."""
        import torch

        self.rate.fill_(rate)
        if not self.captures:
            return self._update(self.rows.gather_trimmed(rows))
        if length not in self.captured:
            self.captured[length] = self._capture(length, len(rows))
            self.rate.fill_(rate)
        graph, inputs, loss = self.captured[length]
        inputs.copy_(torch.from_numpy(rows).pin_memory(), non_blocking=True)
        graph.replay()
        return loss

    def start_rounding(self) -> None:
        """Round weights and inputs in all later steps."""
        import torch

        start_rounding(self.judge)
        self.captured.clear()
        self.memory = None  # a new graph must not use the memory pool of deleted graphs
        if self.on_gpu and not self.captures:
            torch.compiler.reset()  # otherwise, torch may go on with the compiled layers that do not round
            self.judge.compile_layers()

    def save(self, folder: Path, done: int) -> None:
        """Write a checkpoint atomically."""
        import torch

        folder.mkdir(parents=True, exist_ok=True)
        state = {
            "done": done,
            "judge": self.judge.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state() if self.on_gpu else None,
        }
        with replacing(folder / CHECKPOINT) as temporary:
            torch.save(state, temporary)

    def resume(self, folder: Path | None, exact_steps: int) -> int:
        """Load the checkpoint if it exists, and return the number of completed steps."""
        import torch

        if folder is None or not (folder / CHECKPOINT).is_file():
            return 0
        state = torch.load(folder / CHECKPOINT, weights_only=True, map_location="cpu")
        if state["done"] > exact_steps:
            start_rounding(self.judge)
        self.judge.load_state_dict(state["judge"])
        self.optimizer.load_state_dict(state["optimizer"])
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate  # loading the state has replaced the tensor with a copy
        torch.set_rng_state(state["random"])
        if state["random_cuda"] is not None:
            torch.cuda.set_rng_state(state["random_cuda"])
        return int(state["done"])

    def _update(self, batch: dict[str, Any]) -> Tensor:
        import torch

        self.optimizer.zero_grad(set_to_none=True)
        # a captured step must not reuse cached casts of the weights from an earlier replay
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.on_gpu, cache_enabled=not self.captures):
            outputs = _outputs(self.judge, batch)
        loss = judge_loss(outputs, batch, self.settings)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.judge.parameters(), _CLIP)
        self.optimizer.step()
        detached: Tensor = loss.detach()
        return detached

    def _capture(self, length: int, size: int) -> tuple[Any, Tensor, Tensor]:
        """Capture one step, and return the graph, its input tensor (row indices) and its output tensor (the loss)."""
        import torch

        inputs = torch.zeros(size, dtype=torch.int64, device=self.rows.device)
        with self._unchanged():
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(2):  # the first passes select kernels and allocate memory
                    self._update(self.rows.gather(inputs, length))
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self.memory):
                loss = self._update(self.rows.gather(inputs, length))
            self.memory = self.memory or graph.pool()
        return graph, inputs, loss

    @contextlib.contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Restore the weights, input ranges, optimizer state and random state in place when the context exits."""
        import torch

        def tensors() -> dict[str, Tensor]:
            found = dict(self.judge.state_dict(keep_vars=True))
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


def _outputs(judge: Any, batch: dict[str, Any]) -> Any:
    return judge(**{name: batch[name] for name in ("input_ids", "token_type_ids", "attention_mask")})


def _schedule(step: int, steps: int, warmup_share: float) -> float:
    """Return the factor for the learning rate, which rises linearly to 1 and then falls linearly towards 0.

    >>> [_schedule(step, 10, 0.2) for step in (0, 1, 2, 6)]
    [0.5, 1.0, 1.0, 0.5]
    """
    warmup = max(1, int(warmup_share * steps))
    return min((step + 1) / warmup, max(0.0, (steps - step) / max(1, steps - warmup)))

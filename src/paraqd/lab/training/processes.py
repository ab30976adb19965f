"""Coordinate the processes that ``accelerate launch`` or ``torchrun`` starts to train one model.

Each process encodes its share of every batch. Before the loss is computed, the vectors of all processes are gathered.
The loss, its in-batch negatives and the gradient are therefore the same as in a single process with the whole batch.
"""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from paraqd.lab.training.settings import TrainingError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
_PATIENCE = timedelta(hours=24)  # how long the other processes wait while the main process creates a corpus
_SHARDED = {"ACCELERATE_USE_FSDP": "FSDP", "ACCELERATE_USE_DEEPSPEED": "DeepSpeed"}


@dataclass(frozen=True)
class Crew:
    """One of several processes that train together.

    All processes must call the same methods in the same order.
    """

    rank: int = 0
    size: int = 1
    group: Any = None  # a process group with the backend gloo, which does not wait for a GPU

    @property
    def is_main(self) -> bool:
        """True for the process that writes files and messages."""
        return self.rank == 0

    def any(self, *flags: bool) -> list[bool]:
        """Return a list that contains, for each flag, True if the flag is True in at least one process."""
        if self.size == 1:
            return list(flags)
        import torch

        found = torch.tensor(flags, dtype=torch.int32)
        torch.distributed.all_reduce(found, op=torch.distributed.ReduceOp.MAX, group=self.group)
        return [bool(flag) for flag in found.tolist()]

    def everyone(self, value: T) -> list[T]:
        """Return a list of the values that the processes passed."""
        if self.size == 1:
            return [value]
        import torch

        found: list[Any] = [None] * self.size
        torch.distributed.all_gather_object(found, value, group=self.group)
        return found

    def wait(self) -> None:
        """Wait until all processes have called this method."""
        self.any(False)

    def by_main(self, work: Callable[[], T]) -> T:
        """Run a function only in the main process.

        Every process returns the function's result or raises its error.
        """
        if self.size == 1:
            return work()
        import torch

        outcome: list[Any] = [None, None]  # the result, and the error's message
        error: Exception | None = None
        if self.is_main:
            try:
                outcome[0] = work()
            except Exception as raised:
                error, outcome[1] = raised, str(raised) or type(raised).__name__
        torch.distributed.broadcast_object_list(outcome, src=0, group=self.group)
        if error is not None:
            raise error
        if outcome[1] is not None:
            raise TrainingError(outcome[1])
        result: T = outcome[0]
        return result

    def main_first(self, work: Callable[[], T]) -> T:
        """Run a function in the main process, then in the other processes.

        The other processes can therefore use files that the main process has written.
        """
        if self.size == 1:
            return work()
        done: list[T] = []
        self.by_main(lambda: done.append(work()))
        return done[0] if done else work()

    def whole(self, rows: Tensor) -> Tensor:
        """Concatenate the rows of all processes, in order of rank. Only this process's rows carry gradients."""
        if self.size == 1:
            return rows
        import torch

        counts = self.sizes(len(rows))
        padded = rows.new_zeros((max(counts), *rows.shape[1:]))
        padded[: len(rows)] = rows.detach()
        found = [torch.empty_like(padded) for _ in counts]
        torch.distributed.all_gather(found, padded)
        parts = [part[:count] for part, count in zip(found, counts, strict=True)]
        parts[self.rank] = rows
        return torch.cat(parts)

    def sizes(self, count: int) -> list[int]:
        """Return the number of rows in each process; ``count`` is the number of rows in this process."""
        import torch

        found = torch.zeros(self.size, dtype=torch.int64)
        found[self.rank] = count
        torch.distributed.all_reduce(found, group=self.group)
        return [int(size) for size in found.tolist()]


ALONE = Crew()


def processes() -> int:
    """Return the number of processes that the launcher started, or 1 if there is no launcher."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main() -> bool:
    """Return True in the main process, which shows progress and results."""
    return processes() == 1 or os.environ.get("RANK", "0") == "0"


def reports_errors() -> bool:
    """Return True in the process that reports errors, which is the first process on each machine."""
    return processes() == 1 or os.environ.get("LOCAL_RANK", "0") == "0"


def join(device: str | None = None) -> Crew:
    """Join the processes that the launcher started, or return `ALONE` if this is the only process."""
    return ALONE if processes() == 1 else _join(own_device(device) == "cpu")


@cache
def _join(cpu: bool) -> Crew:
    import torch
    from accelerate import PartialState

    for variable, name in _SHARDED.items():
        if os.environ.get(variable, "").lower() in ("1", "true"):
            raise TrainingError(f"every process needs the whole model: start the processes without {name}")
    # import this module before the group exists, because its functions would otherwise keep a reference to the group
    import torch.distributed.nn.functional

    PartialState(cpu=cpu)
    if cpu:
        atexit.register(leave)  # runs even after an error
    group = torch.distributed.new_group(backend="gloo", timeout=_PATIENCE)
    return Crew(torch.distributed.get_rank(), torch.distributed.get_world_size(), group)


def leave() -> None:
    """Leave the process group at the end of a program.

    This ends the group's threads. A thread that frees a tensor after the interpreter has exited aborts the process.
    """
    if processes() == 1:
        return
    import torch
    from accelerate import PartialState

    _join.cache_clear()
    if torch.distributed.is_initialized():
        PartialState().destroy_process_group()
    gc.collect()  # the trained model is in a reference cycle that keeps the groups alive


def own_device(device: str | None) -> str | None:
    """Return the device for this process. If the launcher started several processes, each process has its own GPU."""
    if processes() == 1 or device == "cpu":
        return device
    import torch

    if device not in (None, "cuda"):
        raise TrainingError(f"--device {device} cannot be used with {processes()} processes: pass cuda or cpu")
    if not torch.cuda.is_available():
        if device == "cuda":
            raise TrainingError("--device cuda: torch finds no GPU on this machine")
        return "cpu"
    here, there = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), torch.cuda.device_count()
    if here > there:
        raise TrainingError(f"{here} processes were started for {there} GPUs: start one process per GPU")
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}"


def check_shares(batch_size: int, size: int) -> None:
    """Raise `TrainingError` if a batch cannot be divided equally among the processes."""
    if batch_size % size:
        fewer, more = batch_size // size * size, (batch_size // size + 1) * size
        good = f"{fewer} or {more}" if fewer else f"{more}"
        raise TrainingError(
            f"a batch of {batch_size} triplets cannot be divided equally among {size} processes: "
            f"pass --batch-size {good}"
        )


def refuse_several(what: str) -> None:
    """Raise `TrainingError` if the launcher started several processes for work that runs in one process."""
    if processes() > 1:
        raise TrainingError(
            f"{what} runs in one process, but {processes()} were started: run the command without the launcher"
        )

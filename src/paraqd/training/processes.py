"""Coordinate several processes that train one model, as ``accelerate launch`` and ``torchrun`` start them.

Each process encodes its share of every batch. The vectors are gathered before the loss is computed, so that the loss,
its in-batch negatives and the gradient are those of one process with the whole batch.
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

from paraqd.training.settings import TrainingError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
_PATIENCE = timedelta(hours=24)  # the others wait while the main process makes a corpus
_SHARDED = {"ACCELERATE_USE_FSDP": "FSDP", "ACCELERATE_USE_DEEPSPEED": "DeepSpeed"}


@dataclass(frozen=True)
class Crew:
    """One process of several that train together; all must call the same methods in the same order."""

    rank: int = 0
    size: int = 1
    group: Any = None  # communicates over the network and does not wait for a GPU

    @property
    def is_main(self) -> bool:
        """True for the process that writes files and messages."""
        return self.rank == 0

    def any(self, *flags: bool) -> list[bool]:
        """Return for each flag True if it is True in any process."""
        if self.size == 1:
            return list(flags)
        import torch

        found = torch.tensor(flags, dtype=torch.int32)
        torch.distributed.all_reduce(found, op=torch.distributed.ReduceOp.MAX, group=self.group)
        return [bool(flag) for flag in found.tolist()]

    def everyone(self, value: T) -> list[T]:
        """Return the value of each process."""
        if self.size == 1:
            return [value]
        import torch

        found: list[Any] = [None] * self.size
        torch.distributed.all_gather_object(found, value, group=self.group)
        return found

    def wait(self) -> None:
        """Wait until all processes are here."""
        self.any(False)

    def by_main(self, work: Callable[[], T]) -> T:
        """Run a function in the main process only; all processes get its result or its error."""
        if self.size == 1:
            return work()
        import torch

        said: list[Any] = [None, None]
        error: Exception | None = None
        if self.is_main:
            try:
                said[0] = work()
            except Exception as raised:
                error, said[1] = raised, str(raised) or type(raised).__name__
        torch.distributed.broadcast_object_list(said, src=0, group=self.group)
        if error is not None:
            raise error
        if said[1] is not None:
            raise TrainingError(said[1])
        done: T = said[0]
        return done

    def main_first(self, work: Callable[[], T]) -> T:
        """Run a function in the main process first, then in the others, which find the files that it wrote."""
        if self.size == 1:
            return work()
        done: list[T] = []
        self.by_main(lambda: done.append(work()))
        return done[0] if done else work()

    def whole(self, rows: Tensor) -> Tensor:
        """Concatenate the rows of all processes in order; only this process's rows carry gradients."""
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
        """Return the number of rows of each process."""
        import torch

        found = torch.zeros(self.size, dtype=torch.int64)
        found[self.rank] = count
        torch.distributed.all_reduce(found, group=self.group)
        return [int(size) for size in found.tolist()]


ALONE = Crew()


def processes() -> int:
    """Return the number of processes that were started together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def reports_errors() -> bool:
    """Return True in the first process of a machine, which reports errors that all processes have."""
    return processes() == 1 or os.environ.get("LOCAL_RANK", "0") == "0"


def join(device: str | None = None) -> Crew:
    """Join the processes that were started with this one; return `ALONE` if there are none."""
    return ALONE if processes() == 1 else _join(own_device(device) == "cpu")


@cache
def _join(cpu: bool) -> Crew:
    import torch
    from accelerate import PartialState

    for variable, name in _SHARDED.items():
        if os.environ.get(variable, "").lower() in ("1", "true"):
            raise TrainingError(f"every process needs the whole model: launch without {name}")
    # imported before the group is made: otherwise its functions would use that group for good
    import torch.distributed.nn.functional

    PartialState(cpu=cpu)
    if cpu:
        atexit.register(leave)  # also after an error
    group = torch.distributed.new_group(backend="gloo", timeout=_PATIENCE)
    return Crew(torch.distributed.get_rank(), torch.distributed.get_world_size(), group)


def leave() -> None:
    """Leave the other processes at the end of a program.

    The threads of the network must end before the interpreter: a thread that frees a tensor later aborts the process.
    """
    if processes() == 1:
        return
    import torch
    from accelerate import PartialState

    _join.cache_clear()
    if torch.distributed.is_initialized():
        PartialState().destroy_process_group()
    gc.collect()  # the trained model is in a reference cycle that keeps the groups


def own_device(device: str | None) -> str | None:
    """Return the device of this process: each of several processes has its own GPU."""
    if processes() == 1 or device == "cpu":
        return device
    import torch

    if device not in (None, "cuda"):
        raise TrainingError(f"--device {device} cannot be used with {processes()} processes: give cuda or cpu")
    if not torch.cuda.is_available():
        if device == "cuda":
            raise TrainingError("--device cuda: torch finds no GPU on this machine")
        return "cpu"
    here, there = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), torch.cuda.device_count()
    if here > there:
        raise TrainingError(f"{here} processes were started for {there} GPUs: start one for each GPU")
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}"


def check_shares(batch_size: int, size: int) -> None:
    """Raise an error if the processes cannot have equal shares of a batch."""
    if batch_size % size:
        fewer, more = batch_size // size * size, (batch_size // size + 1) * size
        good = f"{fewer} or {more}" if fewer else f"{more}"
        raise TrainingError(
            f"{size} processes cannot have equal shares of a batch of {batch_size} triplets: give --batch-size {good}"
        )


def refuse_several(what: str) -> None:
    """Raise an error if several processes were started for work that runs in one."""
    if processes() > 1:
        raise TrainingError(
            f"{what} runs in one process, and {processes()} were started: start it without the launcher"
        )

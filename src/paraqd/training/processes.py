"""Several processes that train one model together, as ``accelerate launch`` and ``torchrun`` start them.

Each encodes its share of every batch. The vectors are put together before the loss is taken, so that the loss, its
in-batch negatives and the gradient are those of one process with the whole batch.
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
_PATIENCE = timedelta(hours=24)  # the main process may be making a corpus while the others wait
_SHARDED = {"ACCELERATE_USE_FSDP": "FSDP", "ACCELERATE_USE_DEEPSPEED": "DeepSpeed"}


@dataclass(frozen=True)
class Crew:
    """One of the processes that train together; all must call the same methods in the same order."""

    rank: int = 0
    size: int = 1
    group: Any = None  # speaks over the network, so that no GPU is waited for

    @property
    def is_main(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.rank == 0

    def any(self, *flags: bool) -> list[bool]:
        """Tell for each flag whether some process has it up."""
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
        """Go on when all are here."""
        self.any(False)

    def by_main(self, work: Callable[[], T]) -> T:
        """Let the main process do it while the others wait; all get what it returns, or its error."""
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
        """Let all do it, the main process before the others: what it leaves on disk they find."""
        if self.size == 1:
            return work()
        done: list[T] = []
        self.by_main(lambda: done.append(work()))
        return done[0] if done else work()

    def whole(self, rows: Tensor) -> Tensor:
        """Put the rows of all processes together, in order; only this process's own are in its graph."""
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
        """Return how many rows each process has."""
        import torch

        found = torch.zeros(self.size, dtype=torch.int64)
        found[self.rank] = count
        torch.distributed.all_reduce(found, group=self.group)
        return [int(size) for size in found.tolist()]


ALONE = Crew()


def processes() -> int:
    """Return how many processes were started together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def speaks() -> bool:
    """Whether this process is the first of its machine: what goes wrong for all alike is said by it."""
    return processes() == 1 or os.environ.get("LOCAL_RANK", "0") == "0"


def join(device: str | None = None) -> Crew:
    """Join the processes that were started with this one; alone where there are none."""
    return ALONE if processes() == 1 else _join(own_device(device) == "cpu")


@cache
def _join(cpu: bool) -> Crew:
    import torch
    from accelerate import PartialState

    for variable, name in _SHARDED.items():
        if os.environ.get(variable, "").lower() in ("1", "true"):
            raise TrainingError(f"every process holds the whole model: launch without {name}")
    # its functions take the first group there is for their own, and for good, unless they are made before it
    import torch.distributed.nn.functional

    PartialState(cpu=cpu)
    if cpu:
        atexit.register(leave)  # however it ends
    group = torch.distributed.new_group(backend="gloo", timeout=_PATIENCE)
    return Crew(torch.distributed.get_rank(), torch.distributed.get_world_size(), group)


def leave() -> None:
    """Take leave of the others in good order, at the end of a program.

    The threads of the network must not outlive the interpreter: one that lets go of a tensor then aborts the process.
    """
    if processes() == 1:
        return
    import torch
    from accelerate import PartialState

    _join.cache_clear()
    if torch.distributed.is_initialized():
        PartialState().destroy_process_group()
    gc.collect()  # a trained model waits in a cycle, and holds the groups


def own_device(device: str | None) -> str | None:
    """Return the device of this process: each of several has a GPU of its own."""
    if processes() == 1 or device == "cpu":
        return device
    import torch

    if device not in (None, "cuda"):
        raise TrainingError(f"--device {device} does not go with {processes()} processes: give cuda or cpu")
    if not torch.cuda.is_available():
        if device == "cuda":
            raise TrainingError("--device cuda: there is no GPU here that torch can use")
        return "cpu"
    here, there = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), torch.cuda.device_count()
    if here > there:
        raise TrainingError(f"{here} processes were started for {there} GPUs: start one for each")
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}"


def check_shares(batch_size: int, size: int) -> None:
    """Refuse a batch that cannot be shared alike."""
    if batch_size % size:
        fewer, more = batch_size // size * size, (batch_size // size + 1) * size
        good = f"{fewer} or {more}" if fewer else f"{more}"
        raise TrainingError(
            f"a batch of {batch_size} triplets cannot be shared alike by {size} processes: give --batch-size {good}"
        )


def refuse_several(what: str) -> None:
    """Refuse what one process alone does."""
    if processes() > 1:
        raise TrainingError(f"{what} runs in one process, and {processes()} were started: start it without them")

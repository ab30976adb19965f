"""Chunks worked on by one process or by several, their results always in the order of the chunks."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from paraqd.operators import Resources
from paraqd.operators.apply import Chunk, Outputs, apply_steps
from paraqd.operators.plan import AugmentError, Step
from paraqd.operators.resources import ResourceSpec, build_resources
from paraqd.runs.child_processes import begin_child, interrupts_held

Results = Generator[tuple[Chunk, list[Outputs]], None, None]

_AHEAD = 2  # chunks under way for each worker: enough to keep it busy, few enough to keep memory flat


def in_process(chunks: Iterator[Chunk], steps: Sequence[Step], *, seed: int, resources: Resources) -> Results:
    """Work on the chunks in this process."""
    for chunk in chunks:
        yield chunk, apply_steps(chunk.questions, steps, seed=seed, resources=resources)


def in_workers(
    chunks: Iterator[Chunk], steps: Sequence[Step], *, seed: int, spec: ResourceSpec, workers: int
) -> Results:
    """Work on the chunks in several processes; closing the iterator stops them within a step."""
    context = multiprocessing.get_context("spawn")  # a fork would copy threads and locks of the caller's libraries
    stop = context.Event()
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin, initargs=(spec, tuple(steps), seed, stop)
    )
    waiting: deque[tuple[Chunk, Future[list[Outputs]]]] = deque()
    try:
        for chunk in chunks:
            with interrupts_held():  # a worker may be started here
                waiting.append((chunk, pool.submit(_work, chunk)))
            if len(waiting) >= workers * _AHEAD:
                done, future = waiting.popleft()
                yield done, future.result()
        while waiting:
            done, future = waiting.popleft()
            yield done, future.result()
    except BrokenProcessPool:
        raise AugmentError(
            "a worker process died (out of memory?); what is finished is kept: run the same command again, "
            "with fewer --workers if it happens again"
        ) from None
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


# --- in the worker ------------------------------------------------------------------------------

_state: dict[str, Any] = {}


def _begin(spec: ResourceSpec, steps: tuple[Step, ...], seed: int, stop: Any) -> None:
    begin_child()
    _state.update(steps=steps, seed=seed, resources=build_resources(spec), stop=stop)


def _work(chunk: Chunk) -> list[Outputs]:
    return apply_steps(
        chunk.questions,
        _state["steps"],
        seed=_state["seed"],
        resources=_state["resources"],
        stopped=_state["stop"].is_set,
    )

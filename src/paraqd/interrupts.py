"""Stop long-running work cleanly on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

EXIT_CODE = 130  # the exit code of a program that Ctrl-C has stopped, as in a shell


@dataclass
class Interrupt:
    """A flag that Ctrl-C sets and that the work checks between two steps."""

    requested: bool = False


@contextmanager
def deferred_interrupt(*, patient: bool = False) -> Iterator[Interrupt]:
    """Set a flag on the first Ctrl-C instead of raising, so that the work can save its state before it stops.

    A second Ctrl-C raises KeyboardInterrupt immediately unless ``patient`` is True. Outside the main thread, where
    Python does not allow signal handlers, the flag is never set.

    >>> with deferred_interrupt() as interrupt:
    ...     interrupt.requested
    False
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        if interrupt.requested and not patient:
            raise KeyboardInterrupt
        interrupt.requested = True

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)

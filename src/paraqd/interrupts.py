"""Stop long-running work cleanly on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

EXIT_CODE = 130  # the usual exit code of a program that was stopped by Ctrl-C


@dataclass
class Interrupt:
    """A flag that Ctrl-C sets. The work checks the flag between two steps."""

    requested: bool = False


@contextmanager
def deferred_interrupt(*, patient: bool = False) -> Iterator[Interrupt]:
    """Set a flag on the first Ctrl-C instead of raising KeyboardInterrupt, so the work can save its state.

    A second Ctrl-C raises KeyboardInterrupt immediately unless ``patient`` is True. Outside the main thread, the flag
    is never set, because Python allows signal handlers only in the main thread.

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

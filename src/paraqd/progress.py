"""Define the type of progress callback that all long-running functions accept."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback that receives the progress of long-running work.

    Any function with these parameters conforms to the protocol:

    >>> def show(stage: str, done: int, total: int | None, note: str = "") -> None:
    ...     print(f"{stage}: {done} of {total} {note}".rstrip())
    >>> callback: Progress = show
    >>> callback("scoring", 10, 200)
    scoring: 10 of 200
    """

    def __call__(self, stage: str, done: int, total: int | None, note: str = "", /) -> None:
        """Receive the stage's name, the amount done, the total amount (None if unknown), and a remark."""


def silent(stage: str, done: int, total: int | None, note: str = "", /) -> None:
    """Ignore all progress reports. This is the default callback."""

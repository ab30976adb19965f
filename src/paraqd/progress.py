"""Define the one progress callback that every long function takes."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receive news of a long piece of work.

    Any function with these parameters will do:

    >>> def show(stage: str, done: int, total: int | None, note: str = "") -> None:
    ...     print(f"{stage}: {done} of {total} {note}".rstrip())
    >>> callback: Progress = show
    >>> callback("scoring", 10, 200)
    scoring: 10 of 200
    """

    def __call__(self, stage: str, done: int, total: int | None, note: str = "", /) -> None:
        """Take the name of the stage, how much of it is done, how much there is (None if unknown), and a remark."""


def silent(stage: str, done: int, total: int | None, note: str = "", /) -> None:
    """Ignore all news; the default where no callback is given."""

"""Show progress, rate and remaining time on standard error, as a bar in a terminal or as occasional lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
)
from rich.text import Text

from paraqd.cli.console import stderr
from paraqd.terminal_text import visible

if TYPE_CHECKING:
    from rich.progress import Task, TaskID


class _Rate(ProgressColumn):
    """A column that shows the rows per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else _pace(speed), style="cyan")


class _Left(ProgressColumn):
    """A column that shows the remaining time, or the elapsed time if the remaining time is unknown."""

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        if left is None:
            return Text(f"{_clock(task.elapsed or 0)} elapsed", style="cyan")
        return Text(f"{_clock(left)} left", style="cyan")


def _pace(speed: float) -> str:
    """Format a rate.

    >>> _pace(1234.5), _pace(2.25)
    ('1,234/s', '2.2/s')
    """
    return f"{speed:,.1f}/s" if speed < 10 else f"{speed:,.0f}/s"


def _clock(seconds: float) -> str:
    """Format a duration in seconds as minutes and seconds, with hours if needed.

    >>> _clock(75), _clock(3700)
    ('1:15', '1:01:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Bar:
    """A progress bar that shows one stage of a run at a time. With ``shown=False``, it shows nothing."""

    def __init__(self, *, shown: bool, period: float = 30.0) -> None:
        """Create a bar that measures the rate over the last ``period`` seconds."""
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            _Rate(),
            _Left(),
            TextColumn("{task.fields[remark]}", style="cyan", markup=False),
            console=stderr(),
            transient=True,
            speed_estimate_period=period,
            disable=not shown,
        )
        self._stage = ""
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, stage: str, done: int, total: int | None, remark: str = "") -> None:
        """Show a stage's progress and a remark. The rate does not include work that was done before the first call."""
        stage, remark = visible(stage), visible(remark)
        if stage != self._stage or self._task is None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._stage = stage
            self._task = self._progress.add_task(stage, total=total, completed=done, remark=remark)
            return
        self._progress.update(self._task, completed=done, total=total, remark=remark)


class Lines:
    """A progress display that writes a line to the log every half minute. A short run writes nothing.

    >>> now = iter([0, 20, 40])
    >>> lines = Lines(clock=lambda: next(now), write=print)
    >>> for done in (500, 700, 900):
    ...     lines.update("scoring", done, 2000)
    scoring: 900 of 2,000 rows, 10/s, 1:50 left
    """

    EVERY = 30

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, write: Callable[[str], object] | None = None
    ) -> None:
        self._clock = clock
        self._write = write or _to_stderr
        self._stage = ""
        self._start = self._last_line = 0.0
        self._before = 0

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, stage: str, done: int, total: int | None, remark: str = "") -> None:
        """Record a stage's progress. The rate does not include work that was done before the first call."""
        now = self._clock()
        if stage != self._stage:
            self._last_line = now if not self._stage else self._last_line
            self._stage, self._start, self._before = stage, now, done
            return
        if now - self._last_line < self.EVERY:
            return
        self._last_line = now
        speed = (done - self._before) / max(now - self._start, 1e-9)
        of = "" if total is None else f" of {total:,}"
        left = "" if total is None or not speed else f", {_clock((total - done) / speed)} left"
        self._write(f"{stage}: {done:,}{of} rows, {_pace(speed)}{left}" + (f" ({remark})" if remark else ""))


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{visible(line)}\n")
    sys.stderr.flush()

"""A progress bar with rate and time left, on standard error."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from paraqd.cli.console import stderr

if TYPE_CHECKING:
    from rich.progress import Task, TaskID


class _Rate(ProgressColumn):
    """Rows per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", style="cyan")


class Bar:
    """Shows the stages of a run one after the other; nothing where nobody is looking."""

    def __init__(self, *, shown: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[remark]}", style="cyan"),
            console=stderr(),
            transient=True,
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
        """Show how far a stage is, and what there is to say of it.

        What was done before a stage began does not count for its rate.
        """
        if stage != self._stage or self._task is None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._stage = stage
            self._task = self._progress.add_task(stage, total=total, completed=done, remark=remark)
            return
        self._progress.update(self._task, completed=done, total=total, remark=remark)

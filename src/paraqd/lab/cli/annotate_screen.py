"""Show pairs to an annotator one at a time, without showing their origin, and read the annotator's decisions."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from paraqd.reading.word_difference import differences
from paraqd.terminal_text import visible

if TYPE_CHECKING:
    from rich.console import Console

    from paraqd.lab.annotation.journals import Session
    from paraqd.lab.annotation.pairs_to_label import PairToLabel
    from paraqd.lab.cli.keys import Keys

KEYS = "v or 1 valid · i or 0 invalid · s skip · u undo · n note · ? definition of valid · q quit"
DEFINITION = (
    'valid: a solver would set up the same equations and give the same answer. Other words, another order, "five" for '
    '5, "km" for "kilometres", "30 minutes" for "half an hour", or a name changed everywhere are all valid.',
    "invalid: a number, a unit, a condition or the question is lost, changed or exchanged, even if the answer does not "
    "need it; names are mixed up; or the text no longer makes sense.",
    "Clumsy grammar alone does not make a pair invalid. If in doubt, press s to decide later, or n to add a note.",
)

_LABELS = {"v": 1, "1": 1, "i": 0, "0": 0, "s": None}
_NAMES = {1: "valid", 0: "invalid", None: "skipped"}
_MARKS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
_STYLES = {"=": "", "-": "bold red", "+": "bold green"}
_RECENT = 50  # the number of decisions from which the pace is computed


class Pace:
    """The time per decision, computed as the median of recent decisions so that breaks do not count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._taken: list[float] = []

    def shown(self) -> None:
        """Start the clock when a pair is shown."""
        self._started = self._clock()

    def decided(self) -> None:
        """Record the time taken when a pair has been decided."""
        self._taken.append(self._clock() - self._started)

    @property
    def seconds(self) -> float | None:
        """The seconds per decision, or None before the third decision."""
        return median(self._taken[-_RECENT:]) if len(self._taken) >= 3 else None


def annotate_pairs(session: Session, keys: Keys, console: Console, *, pace: Pace | None = None) -> None:
    """Show the pairs one at a time and record the decisions.

    Stop after the last pair, when ``q`` is pressed, or at the end of the input.
    """
    pace = pace or Pace()
    fresh = True
    console.print(Text(KEYS, style="dim"))
    while True:
        pair = session.current
        if pair is None:
            console.print(Text("\nThat was the last pair. Press u to undo the last decision, or any other key to end."))
        elif fresh:
            _show(pair, session, pace, console)
            pace.shown()
        stroke = keys.read()
        key = "q" if stroke is None else stroke.key.lower()
        fresh = False
        if key == "u":
            fresh = session.undo()
            console.print(Text("undone" if fresh else "there is nothing to undo", style="dim"))
        elif key == "q" or pair is None:
            return
        elif key in _LABELS:
            session.decide(_LABELS[key])
            pace.decided()
            console.print(Text(f"→ {_NAMES[_LABELS[key]]}", style="dim"))
            fresh = True
        elif key == "n":
            _note(session, keys, stroke.text if stroke else "", console)
        elif key == "?":
            for line in DEFINITION:
                console.print(Text(line))
        else:
            console.print(Text(f"unknown key {visible(key)!r}: {KEYS}", style="yellow"))


def _note(session: Session, keys: Keys, text: str, console: Console) -> None:
    if not text:
        console.print("note (leave blank to remove it): ", end="")
        text = keys.line()
    session.note(text)
    console.print(Text("noted" if text else "note removed", style="dim"))


def _show(pair: PairToLabel, session: Session, pace: Pace, console: Console) -> None:
    console.print()
    console.rule(Text(progress(session, pace), style="dim"), align="left", style="dim")
    segments = differences(visible(pair.question), visible(pair.paraphrase))
    for title, sign in (("question", "-"), ("paraphrase", "+")):
        console.print(Text(title, style="dim"))
        line = Text()
        for segment in segments:
            if segment.sign in ("=", sign):
                before, after = _MARKS[segment.sign] if console.color_system is None else ("", "")
                line.append(f"{before}{segment.text}{after}", style=_STYLES[segment.sign])
        console.print(Padding(line if line.plain.strip() else Text("(blank)", style="italic"), (0, 0, 0, 2)))
    note = session.journal.decisions.notes.get(pair.key)
    if note:
        console.print(Text(f"note: {visible(note)}", style="dim"))


def progress(session: Session, pace: Pace) -> str:
    """Describe the annotator's progress, including the estimated time left."""
    parts = [f"{session.labelled:,} of {session.total:,} labelled"]
    if session.skipped:
        parts.append(f"{session.skipped:,} skipped")
    if pace.seconds is not None:
        parts += [f"{pace.seconds:.0f} s each", f"about {_duration(pace.seconds * session.left)} left"]
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "a minute"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

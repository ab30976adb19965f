"""Keep the figures of a reward run in CSV files that survive an interruption, and summarise and plot them."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraqd.evaluation.plots import PALETTE, drawing
from paraqd.tables.writers import replacing

STEPS, HELD_OUT, OUTPUTS, SETTINGS = "steps.csv", "held_out.csv", "outputs.jsonl", "run.json"
SHARES = ("accepted", "copied", "guarded", "invalid")
LABELS = {
    "accepted": "accepted and different",
    "copied": "copied",
    "guarded": "caught by another guard",
    "invalid": "invalid",
}
_COLOURS = dict(zip(SHARES, (PALETTE[0], PALETTE[5], PALETTE[3], PALETTE[1]), strict=True))
_SMOOTHED = 10  # steps


class Table:
    """A CSV file with one row for each step. A row replaces the rows of the same step and of later steps."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                self.rows = list(csv.DictReader(file))

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row with a ``step``, and write the file."""
        self.rows = [each for each in self.rows if int(each["step"]) < int(row["step"])]
        self.rows.append({name: round(value, 5) if isinstance(value, float) else value for name, value in row.items()})
        with replacing(self.path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(self.rows[-1]))
            writer.writeheader()
            writer.writerows(self.rows)

    def column(self, name: str) -> list[float]:
        """Return a column as numbers."""
        return [float(row[name]) for row in self.rows]


def write_outputs(path: Path, outputs: Sequence[Mapping[str, Any]]) -> None:
    """Write outputs as JSON Lines, in the form that ``paraqd score`` reads."""
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in outputs)


def read_outputs(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of outputs, or nothing if there is no such file."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def smoothed(values: Sequence[float], width: int = _SMOOTHED) -> list[float]:
    """Return the mean of each value and the values before it.

    >>> smoothed([1.0, 3.0, 5.0], 2)
    [1.0, 2.0, 4.0]
    """
    found = []
    for end in range(1, len(values) + 1):
        part = values[max(0, end - width) : end]
        found.append(sum(part) / len(part))
    return found


def plot_run(folder: Path) -> Path:
    """Draw the reward and the shares of a run by step, and return the path of the figure."""
    steps, held_out = Table(folder / STEPS), Table(folder / HELD_OUT)
    path = folder / "curve.png"
    with drawing(path, width=9, height=4) as figure:
        left, right = figure.subplots(1, 2)
        left.plot(steps.column("step"), steps.column("reward"), color="#cccccc", linewidth=0.8)
        left.plot(steps.column("step"), smoothed(steps.column("reward")), color=PALETTE[0], label="training, 10 steps")
        left.plot(held_out.column("step"), held_out.column("reward"), "o", color=PALETTE[1], label="unseen questions")
        left.set(xlabel="step", ylabel="mean reward", title="Reward")
        left.legend()
        for name in SHARES:
            right.plot(
                steps.column("step"), smoothed(steps.column(name)), color=_COLOURS[name], label=f"{LABELS[name]}"
            )
            right.plot(held_out.column("step"), held_out.column(name), "o", color=_COLOURS[name])
        right.set(xlabel="step", ylabel="share of outputs", title="Outputs (dots: unseen questions)", ylim=(0, 1))
        right.legend()
    return path


def summary(folder: Path) -> str:
    """Return a Markdown page with the settings of a run, and the shares on unseen questions before and after it."""
    held_out, settings = Table(folder / HELD_OUT), json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    first, last = held_out.rows[0], held_out.rows[-1]
    lines = [
        "# Training a paraphraser with the score as reward",
        "",
        "![The reward by step](curve.png)",
        "",
        f"{settings['held_out']} questions that were not used for training, one output for each, without sampling:",
        "",
        "| | step " + str(first["step"]) + " | step " + str(last["step"]) + " |",
        "| --- | ---: | ---: |",
        f"| mean reward | {float(first['reward']):.3f} | {float(last['reward']):.3f} |",
        f"| mean distance, where measured | {_figure(first['distance'])} | {_figure(last['distance'])} |",
        *(f"| {LABELS[name]} | {float(first[name]):.1%} | {float(last[name]):.1%} |" for name in SHARES),
        "",
        f"Scorer: `{settings['signature']}`. `{STEPS}` has the figures of each step, `{HELD_OUT}` those of the unseen "
        f"questions, and `{SETTINGS}` the settings."
        + (f" `{OUTPUTS}` has the outputs for them." if (folder / OUTPUTS).is_file() else ""),
        "",
        "Made by `python bench/reward_curve.py`.",
    ]
    return "\n".join(lines) + "\n"


def _figure(value: str) -> str:
    """Return a number with three digits, or a dash if nothing was measured."""
    return "–" if math.isnan(float(value)) else f"{float(value):.3f}"

"""Parse options that several commands share, and check output paths."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from paraqd.cli.console import row_ranges, rows_by_reason, say
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.runs.augment_report import AugmentReport
    from paraqd.scoring.scorer import Scorer


class Mode(StrEnum):
    """The way a score is calculated."""

    fused = "fused"
    encoder = "encoder"


def names_in(text: str | None) -> list[str] | None:
    """Return the names in a comma-separated list, or None if there is no list.

    >>> names_in("f3, NumberChange,")
    ['f3', 'NumberChange']
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def models_in(given: Sequence[str]) -> dict[str, str]:
    """Return the models passed with ``--generator``, keyed by operator.

    >>> models_in(["f9=models/f9"])
    {'f9': 'models/f9'}
    """
    from paraqd.operators.plan import AugmentError

    models = {}
    for item in given:
        key, sign, model = item.partition("=")
        if not sign or not key.strip() or not model.strip():
            raise AugmentError(f"--generator {item}: write it as ID=MODEL, such as --generator f9=DIR")
        models[key.strip()] = model.strip()
    return models


def check_outputs(outputs: Sequence[str], inputs: Sequence[str], *, overwrite: bool) -> None:
    """Raise a FileExistsError or a TableError with a one-line message if an output cannot be written.

    An output must not be one of the inputs, and an existing file is replaced only with ``overwrite``.
    """
    from paraqd.data.tables import check_writable

    if len({Path(out).resolve() for out in outputs}) < len(outputs):
        raise FileExistsError(f"{outputs[0]} is given twice; choose another name for one of them")
    for out in outputs:
        check_writable(out)
        if any(_same_file(out, name) for name in inputs):
            raise FileExistsError(f"{out} is an input itself; choose another name")
        if Path(out).exists() and not overwrite:
            raise FileExistsError(f"{out} is there already; pass --overwrite to replace it, or choose another name")


def _same_file(one: str, two: str) -> bool:
    if Path(one).exists() and Path(two).exists():
        return Path(one).samefile(two)
    return Path(one).resolve() == Path(two).resolve()


def say_left_out(result: AugmentReport) -> None:
    """Print one line for each operator or group of rows that is missing from the output."""
    for name, why in result.left_out.items():
        say(f"left out {name}: {why}")
    for why, rows in rows_by_reason(result.skipped_rows).items():
        say(f"skipped {counted(len(rows), 'row')} without a usable question ({why}): row {row_ranges(rows)}")
    if result.skipped > len(result.skipped_rows):
        say(f"skipped {counted(result.skipped - len(result.skipped_rows), 'more row')}")
    for operator in result.operators:
        for why, times in operator.failed.items():
            say(f"{operator.name} failed on {counted(times, 'question')}: {why}")


def checked_threshold(threshold: float | None) -> float | None:
    """Return the value of ``--threshold``, or raise an error if it is not a number from -1 to 1."""
    if threshold is not None and not -1 <= threshold <= 1:  # this condition also rejects NaN
        raise typer.BadParameter(f"--threshold {threshold}: a number from -1 to 1 is needed")
    return threshold


def load_scorer(
    model: str | None, mode: Mode, threshold: float | None, *, threads: int | None = None, skip: bool = True
) -> Scorer:
    """Load the scorer selected with ``--model``, ``--mode`` and ``--threshold`` (default: the shipped model)."""
    from paraqd.scoring.scorer import Scorer

    chosen = checked_threshold(threshold)
    return Scorer.load(model, mode=mode.value, threshold=chosen, threads=threads, skip=skip)

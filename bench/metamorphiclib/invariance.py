"""Make the pairs whose verdict must not depend on a shared prefix, and measure how often it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamorphiclib.edits import Edited, draw_from
from paraqd.tables.datasets import written_split

PREFIXES = (
    "Read this carefully.",
    "Question 7:",
    "Hint: draw a picture first.",
    "Problem:",
    "Solve the following problem.",
    "Here is a word problem for you.",
    "(from last year's test)",
    "Exercise 12.",
    "Dear students, please answer this.",
    "Note: you may use a calculator.",
)
GOAL = 0.005
Pair = tuple[str, str]


@dataclass(frozen=True)
class Pairs:
    """The valid and the invalid pairs."""

    valid: tuple[Pair, ...]
    invalid: tuple[Pair, ...]

    @property
    def all(self) -> list[Pair]:
        """All pairs, the valid ones first."""
        return [*self.valid, *self.invalid]


@dataclass(frozen=True)
class Flips:
    """The verdicts that a change of both texts changed, among the valid and the invalid pairs."""

    title: str
    pairs: int
    valid: int
    invalid: int
    goal: float | None = None

    @property
    def share(self) -> float:
        """The share of changed verdicts."""
        return (self.valid + self.invalid) / self.pairs if self.pairs else 0.0

    @property
    def met(self) -> bool | None:
        """True if the share meets the goal, or None without a goal."""
        return None if self.goal is None else self.share <= self.goal


def make_pairs(written: Sequence[Mapping[str, Any]], edited: Sequence[Edited], count: int, seed: int) -> Pairs:
    """Return ``count`` valid and ``count`` invalid pairs.

    The invalid pairs are heavy rewrites with a fault. Half of the valid pairs are heavy rewrites of other questions,
    and half are outputs of valid edits. Rewrites come only from the training part of the written pairs.
    """
    rng = draw_from(seed, "invariance")
    rows = [row for row in written if written_split(str(row["id"])) == "train"]
    rows = rng.sample(rows, len(rows))
    half = count // 2
    faulty = [row for row in rows if str(row["heavy_invalid"] or "").strip()][:count]
    used = {row["id"] for row in faulty}
    sound = [row for row in rows if row["id"] not in used and str(row["heavy_valid"] or "").strip()][: count - half]
    outputs = rng.sample(list(edited), min(half, len(edited)))
    return Pairs(
        (
            *((str(row["question"]), str(row["heavy_valid"])) for row in sound),
            *((each.question, each.text) for each in outputs),
        ),
        tuple((str(row["question"]), str(row["heavy_invalid"])) for row in faulty),
    )


def prefixed(pairs: Sequence[Pair], prefix: str) -> list[Pair]:
    """Put a prefix before both texts of each pair.

    >>> prefixed([("How many?", "What number?")], "Note:")
    [('Note: How many?', 'Note: What number?')]
    """
    return [(f"{prefix} {question}", f"{prefix} {paraphrase}") for question, paraphrase in pairs]


def exchanged(pairs: Sequence[Pair]) -> list[Pair]:
    """Exchange the two texts of each pair."""
    return [(paraphrase, question) for question, paraphrase in pairs]


def flips(title: str, pairs: Pairs, before: Sequence[bool], after: Sequence[bool], goal: float | None = None) -> Flips:
    """Count the verdicts that differ."""
    changed = [one != other for one, other in zip(before, after, strict=True)]
    valid = len(pairs.valid)
    return Flips(title, len(changed), sum(changed[:valid]), sum(changed[valid:]), goal)

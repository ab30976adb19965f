"""Write the results as Markdown or JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from metamorphiclib.edits import Edit, Edited, Group, draw_from
from metamorphiclib.invariance import Flips, Pairs

_Z = 1.96
_HEADINGS: dict[Group, str] = {
    "invalid": "Invalid edits",
    "valid": "Valid edits",
    "harmless": "Harmless edits of white space, punctuation and capitals",
}


@dataclass(frozen=True)
class Outcome:
    """An edit, its outputs, and their scores and verdicts (empty if nothing was scored)."""

    edit: Edit
    edited: tuple[Edited, ...]
    scores: tuple[float, ...] = ()
    accepted: tuple[bool, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of accepted outputs, or None if there are none."""
        return sum(self.accepted) / len(self.accepted) if self.accepted else None

    @property
    def met(self) -> bool | None:
        """True if the goal is met, or None without a goal or a share."""
        return None if self.share is None else self.edit.meets(self.share)


@dataclass(frozen=True)
class Results:
    """Everything that a run measured."""

    signature: str | None
    seed: int
    questions: int
    skeletons: int
    outcomes: tuple[Outcome, ...]
    pairs: Pairs | None = None
    base: tuple[bool, ...] = ()  # the verdicts on the pairs as they are
    flips: tuple[Flips, ...] = ()


def interval(hits: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in interval(5, 100)]
    [0.022, 0.112]
    """
    share, z = hits / count, _Z * _Z / count
    half = _Z * math.sqrt(share * (1 - share) / count + z / (4 * count))
    low, high = ((share + z / 2 + sign * half) / (1 + z) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def markdown(results: Results, show: int = 0) -> str:
    """Return the tables, and ``show`` random examples of each edit."""
    facts = f"{results.questions:,} questions, {results.skeletons:,} if those that differ only in numbers count once"
    lines = [
        f"Scorer: `{results.signature}`" if results.signature else "Nothing was scored.",
        "",
        f"{facts}. Seed {results.seed}.",
    ]
    for group, heading in _HEADINGS.items():
        outcomes = [outcome for outcome in results.outcomes if outcome.edit.group == group]
        if outcomes:
            lines += ["", f"## {heading}", "", *_edit_table(outcomes)]
    if results.flips and results.pairs is not None:
        lines += ["", "## Verdicts that must not change", "", *_flip_table(results)]
    if show:
        lines += [
            "",
            "## Examples",
            *(line for each in results.outcomes for line in _examples(each, show, results.seed)),
        ]
    return "\n".join(lines)


def _edit_table(outcomes: Sequence[Outcome]) -> list[str]:
    lines = [
        "| edit | questions | accepted | 95 % interval | goal | met |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for outcome in outcomes:
        share, bounds = "–", "–"
        if outcome.share is not None:
            low, high = interval(sum(outcome.accepted), len(outcome.accepted))
            share, bounds = f"{outcome.share:.2%}", f"{low:.1%} to {high:.1%}"
        cells = [outcome.edit.title, f"{len(outcome.edited):,}", share, bounds, _goal(outcome.edit), _yes(outcome.met)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _goal(edit: Edit) -> str:
    return "–" if edit.goal is None else f"{'≥' if edit.valid else '≤'} {edit.goal * 100:g}%"


def _yes(met: bool | None) -> str:
    return "–" if met is None else "yes" if met else "**no**"


def _flip_table(results: Results) -> list[str]:
    assert results.pairs is not None
    valid, invalid = len(results.pairs.valid), len(results.pairs.invalid)
    lines = [
        f"Without a change, the scorer accepts {sum(results.base[:valid]):,} of the {valid:,} valid pairs and "
        f"{sum(results.base[valid:]):,} of the {invalid:,} invalid pairs.",
        "",
        "| change of both texts | changed verdicts | among valid pairs | among invalid pairs | goal | met |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in results.flips:
        goal = "–" if row.goal is None else f"≤ {row.goal * 100:g}%"
        lines.append(f"| {row.title} | {row.share:.2%} | {row.valid} | {row.invalid} | {goal} | {_yes(row.met)} |")
    return lines


def _drawn(outcome: Outcome, show: int, seed: int) -> list[int]:
    """Return the places of random outputs, in the order in which they were made."""
    places = range(len(outcome.edited))
    return sorted(draw_from(seed, "show", outcome.edit.name).sample(places, min(show, len(places))))


def _examples(outcome: Outcome, show: int, seed: int) -> list[str]:
    lines = ["", f"### {outcome.edit.title}", ""]
    for place in _drawn(outcome, show, seed):
        each = outcome.edited[place]
        verdict = f" ({outcome.scores[place]:.2f})" if outcome.scores else ""
        lines += [f"- {each.id}{verdict}", f"  - {_one_line(each.question)}", f"  - {_one_line(each.text)}"]
    return lines


def _one_line(text: str) -> str:
    return text.replace("\n", "⏎")


def as_json(results: Results, show: int = 0) -> dict[str, Any]:
    """Return the results as a JSON object."""
    return {
        "signature": results.signature,
        "seed": results.seed,
        "questions": results.questions,
        "skeletons": results.skeletons,
        "edits": [_edit_json(outcome, show, results.seed) for outcome in results.outcomes],
        "invariance": None if results.pairs is None else _invariance_json(results, results.pairs),
    }


def _edit_json(outcome: Outcome, show: int, seed: int) -> dict[str, Any]:
    bounds = interval(sum(outcome.accepted), len(outcome.accepted)) if outcome.accepted else None
    found: dict[str, Any] = {
        "name": outcome.edit.name,
        "title": outcome.edit.title,
        "group": outcome.edit.group,
        "questions": len(outcome.edited),
        "accepted": sum(outcome.accepted) if outcome.accepted else None,
        "share": outcome.share,
        "interval": bounds,
        "goal": outcome.edit.goal,
        "met": outcome.met,
    }
    if show:
        found["examples"] = [
            {
                "id": outcome.edited[place].id,
                "question": outcome.edited[place].question,
                "paraphrase": outcome.edited[place].text,
                "score": outcome.scores[place] if outcome.scores else None,
            }
            for place in _drawn(outcome, show, seed)
        ]
    return found


def _invariance_json(results: Results, pairs: Pairs) -> dict[str, Any]:
    valid = len(pairs.valid)
    rows = [{**asdict(row), "share": row.share, "met": row.met} for row in results.flips]
    return {
        "valid_pairs": valid,
        "invalid_pairs": len(pairs.invalid),
        "valid_accepted": sum(results.base[:valid]),
        "invalid_accepted": sum(results.base[valid:]),
        "changes": rows,
    }

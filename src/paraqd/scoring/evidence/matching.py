"""Quantities of a text as things that can be matched."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.equality import grouped, signature
from paraqd.reading.types import computed_once

_SMALL, _COUNTED = 3, 6


class Item(NamedTuple):
    """A quantity of a text, or the parts of a compound taken together."""

    signed: Hashable
    parts: tuple[Quantity, ...]
    place: int

    @property
    def first(self) -> Quantity:
        """The quantity, or the first part."""
        return self.parts[0]

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.parts[0].start

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.parts[-1].end

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where it stands."""
        return ((self.start, self.end),)

    @property
    def small(self) -> bool:
        """Whether it is a small number in words, such as may be said or left unsaid: *twice*, *two days*."""
        first = self.first
        counted = first.unit is None and first.kind is Kind.COUNT
        limit = _COUNTED if counted else _SMALL
        return len(self.parts) == 1 and (first.value == 1 or (first.worded and 0 < first.value <= limit))

    def surface(self, text: str) -> str:
        """Return the words themselves."""
        return text[self.start : self.end]


class Matching(NamedTuple):
    """How the quantities of a question and of a paraphrase belong together."""

    same: tuple[tuple[Item, Item], ...]  # exactly equal, or equal as far as it is written
    other_unit: tuple[tuple[Item, Item], ...]
    other_value: tuple[tuple[Item, Item], ...]
    lost: tuple[Item, ...]
    added: tuple[Item, ...]
    innocent: tuple[Item, ...]  # without a counterpart, and it need not have one
    derived: tuple[Item, ...]  # in the paraphrase: what follows from the question's numbers


@computed_once
def items_of(problem: Problem) -> tuple[Item, ...]:
    """Return the quantities of a text as items; what names something is none."""
    kept = [quantity for quantity in problem.quantities if quantity.kind is not Kind.LABEL]
    return tuple([Item(signed, parts, place) for place, (signed, parts) in enumerate(grouped(kept))])


def taken_apart(items: Sequence[Item]) -> list[Item]:
    """Take compounds apart."""
    return [
        item if len(item.parts) == 1 else Item(signature(part), (part,), item.place)
        for item in items
        for part in item.parts
    ]

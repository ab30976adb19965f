"""Define amounts, and the result of matching the amounts of two texts."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from paraqd.reading import Kind, Problem, Quantity
from paraqd.reading.equality import grouped, signature
from paraqd.reading.types import computed_once

_SMALL, _COUNTED = 3, 6


class Amount(NamedTuple):
    """A quantity, or a compound of several quantities such as *7 pounds 4 ounces*."""

    signed: Hashable
    parts: tuple[Quantity, ...]
    place: int

    @property
    def first(self) -> Quantity:
        """The quantity, or the first quantity of a compound."""
        return self.parts[0]

    @property
    def start(self) -> int:
        """The start of the first quantity."""
        return self.parts[0].start

    @property
    def end(self) -> int:
        """The end of the last quantity."""
        return self.parts[-1].end

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The span of the whole amount, in a tuple with one element."""
        return ((self.start, self.end),)

    @property
    def small(self) -> bool:
        """True for 1 and for small numbers in words, which paraphrases often omit or add."""
        first = self.first
        counted = first.unit is None and first.kind is Kind.COUNT
        limit = _COUNTED if counted else _SMALL
        return len(self.parts) == 1 and (first.value == 1 or (first.worded and 0 < first.value <= limit))

    def surface(self, text: str) -> str:
        """Return the amount as written in the text."""
        return text[self.start : self.end]


class Amounts:
    """The amounts of a text that have no counterpart yet, in order. Removing one does not take time."""

    def __init__(self, items: Iterable[Amount]) -> None:
        self._items = {id(item): item for item in items}

    def __iter__(self) -> Iterator[Amount]:
        return iter(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item: Amount) -> bool:
        return id(item) in self._items

    def remove(self, item: Amount) -> None:
        """Remove an amount, which has found its counterpart."""
        del self._items[id(item)]

    def by_signature(self) -> dict[Hashable, deque[Amount]]:
        """Return the amounts keyed by their signature."""
        found: dict[Hashable, deque[Amount]] = {}
        for item in self:
            found.setdefault(item.signed, deque()).append(item)
        return found


class Matching(NamedTuple):
    """The amounts of a question and its paraphrase, grouped by the result of the comparison."""

    same: tuple[tuple[Amount, Amount], ...]  # equal values whose units do not contradict each other
    other_unit: tuple[tuple[Amount, Amount], ...]
    other_value: tuple[tuple[Amount, Amount], ...]
    lost: tuple[Amount, ...]
    added: tuple[Amount, ...]
    innocent: tuple[Amount, ...]  # amounts that need no counterpart
    derived: tuple[Amount, ...]  # amounts of the paraphrase that follow from the question's numbers
    in_place: tuple[tuple[Amount, Amount], ...] = ()  # different numbers between the same words
    complete: bool = True  # False if the texts have too many numbers to compare all of them


@computed_once
def amounts_of(problem: Problem) -> tuple[Amount, ...]:
    """Return a text's amounts. Labels such as x1 are skipped."""
    kept = [quantity for quantity in problem.quantities if quantity.kind is not Kind.LABEL]
    return tuple([Amount(signed, parts, place) for place, (signed, parts) in enumerate(grouped(kept))])


def split_compounds(items: Iterable[Amount]) -> list[Amount]:
    """Return the amounts, with each compound split into its parts."""
    return [
        item if len(item.parts) == 1 else Amount(signature(part), (part,), item.place)
        for item in items
        for part in item.parts
    ]

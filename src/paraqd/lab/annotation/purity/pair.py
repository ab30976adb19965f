"""Define a pair to check, its operator's promise, and the result of the check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

from paraqd.lab.annotation.purity.amounts import Count, count
from paraqd.lab.annotation.purity.compare import Change, changes, split_possessives
from paraqd.reading import Problem
from paraqd.reading import read as _read
from paraqd.reading.equality import multiset

# A small cache is enough to read each question only once, because all rows of a question are adjacent.
read = lru_cache(maxsize=128)(_read)


class Promise(Protocol):
    """An operator's promise about its outputs: their label, their kind of fault, and the parts that may change.

    An operator's declaration is its promise. The check never calls the operator.
    """

    @property
    def polarity(self) -> str:
        """``valid`` or ``invalid``."""

    @property
    def fault(self) -> str | None:
        """The evidence kind of the outputs' fault, None if the outputs are valid, or "" if the kind varies."""

    @property
    def changes(self) -> frozenset[str]:
        """The parts of a problem that may change, such as ``numbers`` or ``names``."""


@dataclass(frozen=True)
class Finding:
    """The result of checking one pair.

    ``ok`` is False if the pair breaks its operator's promise. ``suspicious`` is True if the pair passes but looks odd,
    or if the reader and the second count disagree. ``reason`` explains a broken promise or a suspicion.
    ``consistent_renaming`` is True if the pair is labelled invalid but only renames a person or thing everywhere, which
    does not change the problem. Such pairs are counted separately.
    """

    ok: bool = True
    reason: str = ""
    consistent_renaming: bool = False
    suspicious: bool = False


PURE = Finding()


def impure(reason: str) -> Finding:
    """Return the finding for a pair that breaks its operator's promise."""
    return Finding(ok=False, reason=reason)


def doubt(reason: str) -> Finding:
    """Return the finding for a suspicious pair."""
    return Finding(reason=reason, suspicious=True)


def by_two(by_reader: bool, by_count: bool, reason: str) -> Finding | None:
    """Return a finding that depends on whether the reader and the second count find a fault.

    The pair is impure if both find the fault, and suspicious if only one of them does. Return None if neither finds the
    fault.
    """
    if by_reader and by_count:
        return impure(reason)
    if by_reader or by_count:
        return doubt(f"{reason} ({'reader' if by_reader else 'second count'} only)")
    return None


@dataclass(frozen=True)
class Pair:
    """A question and its paraphrase; each text is read only when its reading is needed.

    If the label is invalid, ``own`` contains the parts that the last operator may change, and ``free`` contains the
    parts that the earlier operators may change. If the label is valid, ``free`` contains the parts that any of the
    operators may change.
    """

    question: str
    paraphrase: str
    free: frozenset[str]
    own: frozenset[str] = frozenset()
    note: str = ""

    @cached_property
    def q(self) -> Problem:
        """The question, read with `paraqd.reading.read`."""
        return read(self.question)

    @cached_property
    def p(self) -> Problem:
        """The paraphrase, read with `paraqd.reading.read`."""
        return read(self.paraphrase)

    @cached_property
    def qc(self) -> Count:
        """The question as read by the second count."""
        return count(self.question)

    @cached_property
    def pc(self) -> Count:
        """The paraphrase as read by the second count."""
        return count(self.paraphrase)

    @cached_property
    def changes(self) -> list[Change]:
        """The differences between the tokens of the two texts, ignoring case."""
        return changes(split_possessives(self.qc.low), split_possessives(self.pc.low))

    @cached_property
    def quantities(self) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """The quantities that were lost and the quantities that were added, as found by `paraqd.reading`."""
        before, after = multiset(self.q.quantities), multiset(self.p.quantities)
        return before - after, after - before

    @cached_property
    def values(self) -> tuple[Counter[Fraction], Counter[Fraction]]:
        """The numbers, without units, that were lost and that were added, as found by `paraqd.reading`."""
        before, after = (Counter(q.value for q in problem.quantities) for problem in (self.q, self.p))
        return before - after, after - before

    @cached_property
    def numbers(self) -> tuple[Counter[Fraction], Counter[Fraction]]:
        """The numbers, without units, that were lost and that were added, as found by the second count."""
        before, after = self.qc.numbers(), self.pc.numbers()
        return before - after, after - before

    @cached_property
    def counted(self) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """The quantities that were lost and the quantities that were added, according to the second count."""
        before, after = self.qc.multiset(), self.pc.multiset()
        return Counter(before - after), Counter(after - before)

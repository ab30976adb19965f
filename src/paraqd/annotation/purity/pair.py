"""Hold a pair that is being checked, and the result of the check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

from paraqd.annotation.purity.amounts import Count, count
from paraqd.annotation.purity.compare import Change, changes, split_possessives
from paraqd.reading import Problem
from paraqd.reading import read as _read
from paraqd.reading.equality import multiset

# All rows of a question follow each other, so each question is read once.
read = lru_cache(maxsize=128)(_read)


class Promise(Protocol):
    """An operator's promise about its outputs: their label, the kind of fault, and the parts that it may change.

    An operator's declaration is a promise. The check takes it as data and never calls the operator.
    """

    @property
    def polarity(self) -> str:
        """``valid`` or ``invalid``."""

    @property
    def fault(self) -> str | None:
        """The evidence kind of an invalid output; empty if it varies."""

    @property
    def changes(self) -> frozenset[str]:
        """The parts of a problem that may change, such as ``numbers`` or ``names``."""


@dataclass(frozen=True)
class Finding:
    """The result of checking one pair.

    ``ok`` is False if the pair breaks its operator's promise. ``suspicious`` marks a pair that passes but looks odd,
    or about which the reader and the second count disagree. ``reason`` explains either. ``consistent_renaming`` marks
    an invalid pair that only renames a person or place everywhere, and so keeps the problem; such pairs are counted
    separately.
    """

    ok: bool = True
    reason: str = ""
    consistent_renaming: bool = False
    suspicious: bool = False


PURE = Finding()


def impure(reason: str) -> Finding:
    """Return the finding for a broken promise."""
    return Finding(ok=False, reason=reason)


def doubt(reason: str) -> Finding:
    """Return the finding for a pair that passes but looks odd."""
    return Finding(reason=reason, suspicious=True)


def by_two(by_reader: bool, by_count: bool, reason: str) -> Finding | None:
    """Combine two opinions that something is wrong: both together are impure, one alone is suspicious."""
    if by_reader and by_count:
        return impure(reason)
    if by_reader or by_count:
        return doubt(f"{reason} ({'reader' if by_reader else 'second count'} alone)")
    return None


@dataclass(frozen=True)
class Pair:
    """A question and its paraphrase, read and counted at the first request.

    ``free`` holds the parts that the operators before the last one may change, ``own`` those that the last one may
    change. The check of a valid pair sees both in ``free``.
    """

    question: str
    paraphrase: str
    free: frozenset[str]
    own: frozenset[str] = frozenset()
    note: str = ""

    @cached_property
    def q(self) -> Problem:
        """The question, as the reader reads it."""
        return read(self.question)

    @cached_property
    def p(self) -> Problem:
        """The paraphrase, as the reader reads it."""
        return read(self.paraphrase)

    @cached_property
    def qc(self) -> Count:
        """The question, as the second count reads it."""
        return count(self.question)

    @cached_property
    def pc(self) -> Count:
        """The paraphrase, as the second count reads it."""
        return count(self.paraphrase)

    @cached_property
    def changes(self) -> list[Change]:
        """The differences between the tokens, ignoring case."""
        return changes(split_possessives(self.qc.low), split_possessives(self.pc.low))

    @cached_property
    def quantities(self) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """The quantities that were lost and added, by the reader."""
        before, after = multiset(self.q.quantities), multiset(self.p.quantities)
        return before - after, after - before

    @cached_property
    def values(self) -> tuple[Counter[Fraction], Counter[Fraction]]:
        """The numbers, without units, that were lost and added, by the reader."""
        before, after = (Counter(q.value for q in problem.quantities) for problem in (self.q, self.p))
        return before - after, after - before

    @cached_property
    def numbers(self) -> tuple[Counter[Fraction], Counter[Fraction]]:
        """The numbers, without units, that were lost and added, by the second count."""
        before, after = self.qc.numbers(), self.pc.numbers()
        return before - after, after - before

    @cached_property
    def counted(self) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """The quantities that were lost and added, by the second count."""
        before, after = self.qc.multiset(), self.pc.multiset()
        return Counter(before - after), Counter(after - before)

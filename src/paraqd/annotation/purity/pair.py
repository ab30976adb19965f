"""A pair under examination, and what is found about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from paraqd.annotation.purity.amounts import Count, count
from paraqd.annotation.purity.compare import Change, changes, split_possessives
from paraqd.reading import Problem
from paraqd.reading import read as _read
from paraqd.reading.equality import multiset

# the rows of one question stand together: each question is read once
read = lru_cache(maxsize=128)(_read)


@dataclass(frozen=True)
class Finding:
    """What the check says of one pair.

    ``ok`` is False where the operator's promise is broken; ``reason`` says how. ``suspicious`` marks a pair that
    passes but where the two opinions (the reader's and the blunt second one) disagree, or that looks odd; the
    reason says why. ``consistent_renaming`` marks an EntityReplacement that only renames, and so in truth keeps the
    problem: it is counted apart.
    """

    ok: bool = True
    reason: str = ""
    consistent_renaming: bool = False
    suspicious: bool = False


PURE = Finding()


def impure(reason: str) -> Finding:
    """Make the finding of a broken promise."""
    return Finding(ok=False, reason=reason)


def doubt(reason: str) -> Finding:
    """Make the finding of a pair that passes and looks odd."""
    return Finding(reason=reason, suspicious=True)


def by_two(by_reader: bool, by_count: bool, reason: str) -> Finding | None:
    """Weigh two opinions that something is wrong: both make a pair impure, one alone suspicious."""
    if by_reader and by_count:
        return impure(reason)
    if by_reader or by_count:
        return doubt(f"{reason} ({'reader' if by_reader else 'second count'} alone)")
    return None


@dataclass(frozen=True)
class Pair:
    """A question and its paraphrase, read and counted when asked.

    ``free`` holds what the operators below the deciding one may change: ``numbers`` (their form), ``units`` (their
    form), ``names``, ``wording``.
    """

    question: str
    paraphrase: str
    operator: str
    free: frozenset[str]
    note: str = ""

    @cached_property
    def q(self) -> Problem:
        """The question, read."""
        return read(self.question)

    @cached_property
    def p(self) -> Problem:
        """The paraphrase, read."""
        return read(self.paraphrase)

    @cached_property
    def qc(self) -> Count:
        """The question, counted by the second opinion."""
        return count(self.question)

    @cached_property
    def pc(self) -> Count:
        """The paraphrase, counted by the second opinion."""
        return count(self.paraphrase)

    @cached_property
    def changes(self) -> list[Change]:
        """Where the tokens differ, case apart."""
        return changes(split_possessives(self.qc.low), split_possessives(self.pc.low))

    @cached_property
    def quantities(self) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """The reader's quantities that were lost and that are new."""
        before, after = multiset(self.q.quantities), multiset(self.p.quantities)
        return before - after, after - before

    @cached_property
    def values(self) -> tuple[Counter[Fraction], Counter[Fraction]]:
        """The reader's numbers, whatever their unit, that were lost and that are new."""
        before, after = (Counter(q.value for q in problem.quantities) for problem in (self.q, self.p))
        return before - after, after - before

    @cached_property
    def numbers(self) -> tuple[Counter[Fraction], Counter[Fraction]]:
        """The second opinion's numbers, whatever their unit, that were lost and that are new."""
        before, after = self.qc.numbers(), self.pc.numbers()
        return before - after, after - before

    @cached_property
    def counted(self) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """The second opinion's quantities that were lost and that are new."""
        before, after = self.qc.multiset(), self.pc.multiset()
        return Counter(before - after), Counter(after - before)

"""Share a scorer and a source of fixed texts between the tests."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from paraqd import Scorer
from paraqd.paraphrasing.sources.base import Candidate, Found
from paraqd.paraphrasing.sources.rules import RuleSource


@dataclass(frozen=True)
class FixedSource:
    """A source that writes the same texts for every question, as a user's own source may."""

    texts: tuple[str, ...]
    name: str = "fixed"
    identity: str = "fixed"

    def candidates(self, questions, *, count, seed, styles=()):
        del count, seed, styles
        return [Found(tuple(Candidate(text, self.name) for text in self.texts)) for _ in questions]


@pytest.fixture(scope="session")
def scorer():
    return Scorer.load(judge="small")


@pytest.fixture(scope="session")
def rules():
    return RuleSource()


@pytest.fixture
def fixed():
    return lambda *texts: FixedSource(texts)

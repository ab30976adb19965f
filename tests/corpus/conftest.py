"""What the tests of several parts share."""

from types import SimpleNamespace

import pytest

from paraqd.corpus import apply
from paraqd.operators import registry


@pytest.fixture
def plug(monkeypatch):
    """Give operators of the test's own, as another package's entry points would."""

    def install(*operators):
        points = {op.name: SimpleNamespace(value="test", load=lambda op=op: op) for op in operators}
        monkeypatch.setattr(registry, "_plugins", lambda: points)

    apply._operator.cache_clear()
    yield install
    apply._operator.cache_clear()

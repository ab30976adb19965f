"""What tests of several rooms share."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from paraqd.cli.main import run
from paraqd.operators import apply, registry


@pytest.fixture
def fails(capsys):
    """Run a command that must fail, and return its one line."""

    def failing(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert code == 2, captured
        assert captured.out == ""
        assert captured.err.startswith("error: ") and captured.err.count("\n") == 1, captured.err
        assert "Traceback" not in captured.err
        return captured.err.strip()

    return failing


@pytest.fixture
def plug(monkeypatch):
    """Give operators of the test's own, as another package's entry points would."""

    def install(*operators):
        points = {op.name: SimpleNamespace(value="test", load=lambda op=op: op) for op in operators}
        monkeypatch.setattr(registry, "_plugins", lambda: points)

    apply._operator.cache_clear()
    yield install
    apply._operator.cache_clear()

"""What tests of several rooms share."""

from __future__ import annotations

import pytest

from paraqd.cli.main import run


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

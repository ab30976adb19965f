"""Find and load what other packages provide through entry points."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any

from paraqd.errors import ParaqdError, reason_of
from paraqd.terminal_text import one_line, visible


class PluginError(ParaqdError):
    """Raised when another package cannot be loaded. The message is the reason."""


def provided(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points in a group.

    Raises
    ------
    PluginError
        If an installed package, which may have nothing to do with paraqd, has entry points that cannot be read.

    """
    try:
        return tuple(entry_points(group=group))
    except Exception as error:  # a damaged file raises various exceptions
        raise PluginError(
            f"the entry points of the installed package {_damaged()} cannot be read ({one_line(reason_of(error))}): "
            "install it again, or remove it"
        ) from None


def package_of(entry: EntryPoint) -> str:
    """Return the name of the package that provides an entry point."""
    try:
        return (entry.dist and entry.dist.name) or entry.value
    except Exception:  # the package's metadata are damaged
        return entry.value


def create(entry: EntryPoint) -> Any:
    """Load the function or class that an entry point names, call it, and return the result; see `run`."""
    return run(lambda: entry.load()())


def run(code: Callable[[], Any]) -> Any:
    """Run code of another package, and return the result.

    Nothing that the package does ends this program. What the package prints goes to standard error, without control
    characters, because standard output may hold results.

    Raises
    ------
    PluginError
        If the package raises an exception or ends the program. The message is one line.

    """
    shown: Any = _Visible()
    try:
        with redirect_stdout(shown), redirect_stderr(shown):
            return code()
    except KeyboardInterrupt:
        raise
    except SystemExit as error:
        raise PluginError(one_line(f"it ends the program with the code {error.code}")) from None
    except BaseException as error:  # the package can raise anything
        raise PluginError(one_line(reason_of(error))) from error


class _Visible(io.TextIOBase):
    """A stream that passes text on to standard error without its control characters."""

    def __init__(self) -> None:
        self._target = sys.stderr

    def write(self, text: str) -> int:
        """Write the text."""
        if self._target is not None:  # standard error may be closed
            self._target.write(visible(text))
        return len(text)

    def flush(self) -> None:
        """Flush standard error."""
        if self._target is not None:
            self._target.flush()


def _damaged() -> str:
    """Return the name or the path of the installed package whose entry points cannot be read."""
    for package in distributions():
        try:
            _ = package.entry_points
        except Exception:
            return str(getattr(package, "_path", None) or package.name)
    return "(unknown)"

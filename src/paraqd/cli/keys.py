"""Keys pressed one by one at a terminal, or lines where standard input is not one (a script, a test)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TextIO

_END = ("\x04", "\x1a")  # Ctrl-D, and Ctrl-Z where it is not a signal
_ESCAPE = "\x1b"


class Stroke(NamedTuple):
    """A key, and what stood behind it on its line."""

    key: str
    text: str = ""


class Keys(Protocol):
    """Where strokes come from."""

    def read(self) -> Stroke | None:
        """Return the next stroke; None when there are no more."""

    def line(self) -> str:
        """Return a line of text."""


@contextmanager
def open_keys() -> Iterator[Keys]:
    """Read keys as they are pressed where standard input is a terminal, else lines."""
    if not sys.stdin.isatty():
        yield _Lines(sys.stdin)
        return
    try:
        import termios
        import tty
    except ImportError:
        yield _WindowsKeys()
        return
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle, termios.TCSADRAIN)  # before anything is shown: a Ctrl-D pressed early is a key too
        yield _TerminalKeys(handle, before)
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


class _Lines:
    """One command in a line: ``v``, or ``n`` and the note behind it."""

    def __init__(self, stream: TextIO) -> None:
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a stray byte is an unknown key, not an error
        self._stream = stream

    def read(self) -> Stroke | None:
        for line in iter(self._stream.readline, ""):
            if line.strip():
                key, _, text = line.strip().partition(" ")
                return Stroke(key, text.strip())
        return None

    def line(self) -> str:
        return self._stream.readline().strip()


class _TerminalKeys:
    def __init__(self, handle: int, cooked: list[Any]) -> None:
        self._handle = handle
        self._cooked = cooked

    def read(self) -> Stroke | None:
        import termios
        import tty

        # each time, for a shell sets the terminal back when the program is suspended; DRAIN keeps what was typed ahead
        tty.setcbreak(self._handle, termios.TCSADRAIN)
        key = self._character()
        if not key or key in _END:
            return None
        if key == _ESCAPE:
            self._rest_of_sequence()
        return Stroke(key)

    def line(self) -> str:
        import termios

        termios.tcsetattr(self._handle, termios.TCSADRAIN, self._cooked)
        typed = bytearray()
        while (piece := os.read(self._handle, 1)) not in (b"", b"\n"):
            typed += piece
        return typed.decode("utf-8", "replace").strip()

    def _character(self) -> str:
        first = os.read(self._handle, 1)
        more = 0 if not first or first[0] < 0xC0 else 1 if first[0] < 0xE0 else 2 if first[0] < 0xF0 else 3
        return (first + (os.read(self._handle, more) if more else b"")).decode("utf-8", "replace")

    def _rest_of_sequence(self) -> None:
        """Read what an arrow or function key sends behind the escape, which is no key of its own."""
        import select

        while select.select([self._handle], [], [], 0.02)[0]:
            if not os.read(self._handle, 16):
                return


class _WindowsKeys:
    def read(self) -> Stroke | None:
        import msvcrt

        key: str = msvcrt.getwch()  # type: ignore[attr-defined, unused-ignore]
        if key == "\x03":
            raise KeyboardInterrupt
        if key in ("\x00", "\xe0"):  # a function key: its code follows
            msvcrt.getwch()  # type: ignore[attr-defined, unused-ignore]
            return Stroke(_ESCAPE)
        return None if key in _END else Stroke(key)

    def line(self) -> str:
        return sys.stdin.readline().strip()

"""Read single keystrokes from a terminal, or lines if standard input is not a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TextIO

_END = ("\x04", "\x1a")  # Ctrl-D, and Ctrl-Z where it does not suspend the program
_ESCAPE = "\x1b"


class Stroke(NamedTuple):
    """A key and, if lines are read, the rest of the line."""

    key: str
    text: str = ""


class Keys(Protocol):
    """A source of keystrokes."""

    def read(self) -> Stroke | None:
        """Return the next keystroke, or None at the end of the input."""

    def line(self) -> str:
        """Return the next line of text."""


@contextmanager
def open_keys() -> Iterator[Keys]:
    """Yield a source that reads keys as they are pressed, or lines if standard input is not a terminal."""
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
        # set the mode before anything is shown, so that an early Ctrl-D is read as a key
        tty.setcbreak(handle, termios.TCSADRAIN)
        yield _TerminalKeys(handle, before)
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


class _Lines:
    """A source that reads one command per line, such as ``v``, or ``n`` followed by a note."""

    def __init__(self, stream: TextIO) -> None:
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a byte that cannot be decoded becomes an unknown key
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

        # set the mode every time, because a shell resets the terminal if the program is suspended; DRAIN keeps keys
        # that were typed ahead
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
        """Discard the bytes that an arrow key or function key sends after the escape character."""
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
        if key in ("\x00", "\xe0"):  # a function key, whose code follows
            msvcrt.getwch()  # type: ignore[attr-defined, unused-ignore]
            return Stroke(_ESCAPE)
        return None if key in _END else Stroke(key)

    def line(self) -> str:
        return sys.stdin.readline().strip()

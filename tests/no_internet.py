"""Run a program that the kernel ends as soon as it uses the internet.

    python no_internet.py PROGRAM [ARGUMENT...]
    python no_internet.py --listen PROGRAM [ARGUMENT...]

The program and everything that it starts may not create a socket of the internet family, whichever language they are
written in. With ``--listen``, they may create such sockets and answer others, but neither connect to an internet
address nor send to one; a name server is asked in these ways, too. The signal is SIGSYS. Only Linux can do this.
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import struct
import sys

# system calls: create a socket, connect, send to an address
CALLS = {"x86_64": (0xC000003E, 41, 42, 44), "aarch64": (0xC00000B7, 198, 203, 206)}
ADDRESSES = (16, 28)  # the sizes of internet addresses of version 4 and 6; the kernel cannot look at the address itself
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_KILL, _ALLOW = 0x80000000, 0x7FFF0000
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


def supported() -> bool:
    """Return True if this machine can watch programs."""
    return sys.platform == "linux" and platform.machine() in CALLS


def _when(call: int, argument: int, values: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """Return instructions that kill the process if an argument of a system call has one of the values."""
    checks = [(_LOAD, 0, 0, 16 + 8 * argument)]
    for value in values:
        checks += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _KILL)]
    return [(_LOAD, 0, 0, 0), (_EQUAL, 0, len(checks), call), *checks]


def forbid_internet(*, listen: bool) -> None:
    """Have the kernel end this process, and all that it starts, when they use the internet."""
    architecture, create, connect, send = CALLS[platform.machine()]
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    if not listen:
        lines += _when(create, 0, (socket.AF_INET, socket.AF_INET6))
    lines += _when(connect, 2, ADDRESSES)
    lines += _when(send, 5, ADDRESSES)
    lines += [(_RETURN, 0, 0, _ALLOW)]
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    kept = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(lines), ctypes.addressof(kept)))
    libc = ctypes.CDLL(None, use_errno=True)
    for given in ((_NO_NEW_PRIVILEGES, 1, 0), (_SECCOMP, _FILTER, ctypes.addressof(program))):
        if libc.prctl(given[0], ctypes.c_ulong(given[1]), ctypes.c_void_p(given[2]), 0, 0):
            raise OSError(ctypes.get_errno(), "the kernel does not watch system calls")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    listen = arguments[:1] == ["--listen"]
    forbid_internet(listen=listen)
    os.execv(arguments[listen], arguments[listen:])

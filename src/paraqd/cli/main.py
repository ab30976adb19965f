"""Run the program ``paraqd`` and translate every outcome into an exit code.

This module imports almost nothing at the top so that Ctrl-C is handled while everything else is imported.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from paraqd.interrupts import EXIT_CODE
from paraqd.parameters import as_options

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DONE, _NOTHING_DONE = 0, 2


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    - 0: success
    - 1: success except for some rows or files, which are listed; or a failed check such as ``--at-least``
    - 2: failure, explained in one line
    - 130: interrupted with Ctrl-C
    """
    _replace_closed_streams()
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return EXIT_CODE
    except (BrokenPipeError, SystemExit) as error:  # typer and rich raise SystemExit because of a broken pipe
        if any(isinstance(each, BrokenPipeError) for each in (error, error.__context__)):
            _discard_output()
            return _DONE
        return _ended(error)


def _ended(error: BaseException) -> int:
    """Report that other code wanted to end the program, which would hide that nothing was done."""
    from paraqd.cli.console import fail, is_debugging

    if is_debugging():
        raise error
    fail(f"a package that paraqd uses ended the program: {error!r} (set PARAQD_DEBUG=1 to see where)")
    return _NOTHING_DONE


def _run(arguments: list[str]) -> int:
    """Run the command and return its exit code. Report an error in one line."""
    try:
        from paraqd.cli.options import with_optional_values
        from paraqd.cli.program import moved, program

        if message := moved(arguments):
            from paraqd.cli.console import fail

            fail(message)
            return _NOTHING_DONE
        with as_options():
            code = program(arguments)(args=with_optional_values(arguments), prog_name="paraqd", standalone_mode=False)
        return code if isinstance(code, int) else _DONE
    except BrokenPipeError:
        raise
    except Exception as error:
        import typer

        from paraqd.cli.console import fail, is_debugging

        # Some versions of typer bundle their own copy of click, so find the class through a class that typer exports.
        usage_error = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
        if isinstance(error, typer.Abort):  # some versions of typer raise this exception for Ctrl-C
            return EXIT_CODE
        if isinstance(error, usage_error):
            message = _usage(error)
        elif is_debugging():
            raise
        else:
            message = _explained(error)
        if message:
            with suppress(BrokenPipeError):  # nobody reads the message, but the exit code must still report the error
                fail(message)
        return _NOTHING_DONE


def _replace_closed_streams() -> None:
    """Connect each closed standard stream (as with ``>&-``) to the null device.

    Otherwise, the next file that is opened would get the stream's number, and with it what libraries write there.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # stays open


def _discard_output() -> None:
    """Discard output that nobody reads, because Python would otherwise report an error at exit."""
    for stream in filter(None, (sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _usage(error: Any) -> str:
    """Return the message for an invalid command line, or an empty string if the help has been shown instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return ""
    command = error.ctx.command_path if getattr(error, "ctx", None) else "paraqd"
    message = _with_value(error).removeprefix("Invalid value: ").rstrip(".")
    return f"{message} (see {command} --help)"


def _with_value(error: Any) -> str:
    """Return a usage error's message, including the invalid value."""
    message: str = error.format_message()
    details = getattr(error.__cause__ or error.__context__, "errors", None)  # typer validates with pydantic
    if callable(details) and (found := details()):
        message = message.replace("Input should be", f"{found[0].get('input')!r} should be")
    return message.replace("Value error, ", "").partition(", unable to parse")[0]


def _explained(error: Exception) -> str:
    """Return one line for the user: an expected error's message, or an unexpected error's type and message."""
    from paraqd.errors import ParaqdError
    from paraqd.extras import missing_extra

    if isinstance(error, ParaqdError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        verb = "cannot write" if error.errno in _DISK_FULL else "cannot use"
        return f"{verb} {error.filename or 'the output'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "out of memory: process fewer rows at a time or use a machine with more memory"
    return missing_extra(error) or f"unexpected {type(error).__name__}: {error} (set PARAQD_DEBUG=1 to see where)"


if __name__ == "__main__":
    sys.exit(run())

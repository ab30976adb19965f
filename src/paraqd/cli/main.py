"""Run the program ``paraqd``: dispatch to the command, and report each error as one line and an exit code."""

from __future__ import annotations

import errno
import inspect
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from paraqd.cli.console import fail, is_debugging

# A new command takes one file and one line here. Panels group the commands in the help.
_CHECK, _DATA, _LABEL, _TRAIN = "Check paraphrases", "Make training data", "Label by hand", "Train and reproduce"
_COMMANDS = {
    "score": _CHECK,
    "explain": _CHECK,
    "evaluate": _CHECK,
    "checklist": _CHECK,
    "read": _CHECK,
    "augment": _DATA,
    "operators": _DATA,
    "purity": _DATA,
    "pseudo-label": _DATA,
    "data": _DATA,
    "testset": _LABEL,
    "annotate": _LABEL,
    "train": _TRAIN,
    "export": _TRAIN,
    "generator": _TRAIN,
    "experiment": _TRAIN,
}

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DONE, _NOTHING_DONE, _INTERRUPTED = 0, 2, 130
# Some versions of typer bundle their own copy of click, so find the class through a class that typer exports.
_UsageError: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


def _version(wanted: bool) -> None:
    if wanted:
        from paraqd.version import __version__

        typer.echo(f"paraqd {__version__}")
        raise typer.Exit


def _debug(wanted: bool) -> None:
    if wanted:
        os.environ["PARAQD_DEBUG"] = "1"


def _main(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
    debug: bool = typer.Option(
        False, "--debug", callback=_debug, help="Show a traceback for unexpected errors (also PARAQD_DEBUG=1)."
    ),
) -> None:
    """Check whether a paraphrase of a math word problem is still the same problem."""


def program(only: str | None = None) -> typer.Typer:
    """Return the program with all commands, or with just the command named ``only``.

    Importing a single command is faster.
    """
    app = typer.Typer(
        name="paraqd",
        epilog="Example: paraqd score pairs.csv -o scored.csv",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main)
    for name, panel in _COMMANDS.items():
        if only in (None, name):
            module = import_module(f"paraqd.cli.{name.replace('-', '_')}")
            if hasattr(module, "app"):  # a group of several commands
                for info in module.app.registered_commands:
                    info.help = _help(info.callback)
                app.add_typer(module.app, name=name, epilog=module.EXAMPLE, rich_help_panel=panel)
            else:
                command = getattr(module, name.replace("-", "_"))
                app.command(name, help=_help(command), epilog=module.EXAMPLE, rich_help_panel=panel)(command)
    return app


def _help(command: Any) -> str:
    """Return a command's docstring with the lines of each paragraph joined, so that the help fits any terminal."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    0: success. 1: success, except for some rows or files, which are listed. 2: failure, explained in one line.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    only = given[0] if given and given[0] in _COMMANDS else None
    try:
        code = program(only)(args=given, prog_name="paraqd", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else _DONE
    except (typer.Abort, KeyboardInterrupt):
        fail("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:  # the program that reads the output has ended, as with | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _DONE
    except _UsageError as error:
        return _usage(error)
    except Exception as error:
        if is_debugging():
            raise
        fail(_explained(error))
        return _NOTHING_DONE


def _usage(error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":  # called without arguments, so the help has been shown
        return _NOTHING_DONE
    command = error.ctx.command_path if getattr(error, "ctx", None) else "paraqd"
    fail(f"{_with_value(error).rstrip('.')} (see {command} --help)")
    return _NOTHING_DONE


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

    if isinstance(error, (ParaqdError, FileExistsError)):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        verb = "cannot write" if error.errno in _DISK_FULL else "cannot use"
        return f"{verb} {error.filename or 'the output'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "out of memory: process fewer rows at a time or use a machine with more memory"
    return missing_extra(error) or f"unexpected {type(error).__name__}: {error} (set PARAQD_DEBUG=1 to see where)"


if __name__ == "__main__":
    sys.exit(run())

"""The program ``paraqd``: its commands, and how errors become one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from paraqd.cli.console import fail, is_debugging

# a new command is one file and one line here
_COMMANDS = (
    "augment",
    "checklist",
    "evaluate",
    "experiment",
    "explain",
    "export",
    "operators",
    "pseudo-label",
    "purity",
    "read",
    "score",
    "testset",
    "train",
)
_GROUPS = ("annotate", "data", "generator")  # of several commands each

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DONE, _NOTHING_DONE, _INTERRUPTED = 0, 2, 130
# typer carries its own copy of click in some versions: the class is found by what typer exports
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
        False, "--debug", callback=_debug, help="Show unexpected errors whole (also PARAQD_DEBUG=1)."
    ),
) -> None:
    """Say whether a paraphrase is still the same word problem, and make data to learn it from."""


def program(only: str | None = None) -> typer.Typer:
    """Make the program; with one command alone where only that is wanted, as loading all of them takes its time."""
    app = typer.Typer(
        name="paraqd",
        help="Is this paraphrase still the same word problem?",
        epilog="Example: paraqd augment questions.csv -o pairs.parquet --recipe paper --stand-ins",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main)
    for name in _COMMANDS:
        if only in (None, name):
            file = name.replace("-", "_")
            module = import_module(f"paraqd.cli.{file}")
            app.command(name, epilog=module.EXAMPLE)(getattr(module, file))
    for name in _GROUPS:
        if only in (None, name):
            module = import_module(f"paraqd.cli.{name}")
            app.add_typer(module.app, name=name, epilog=module.EXAMPLE)
    return app


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code: 0 done, 1 done but for some rows, 2 nothing done."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    known = given and given[0] in (*_COMMANDS, *_GROUPS)
    try:
        code = program(given[0] if known else None)(args=given, prog_name="paraqd", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else _DONE
    except (typer.Abort, KeyboardInterrupt):
        fail("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as with | head
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
    if type(error).__name__ == "NoArgsIsHelpError":  # no arguments at all: the help has been shown
        return _NOTHING_DONE
    command = error.ctx.command_path if getattr(error, "ctx", None) else "paraqd"
    fail(f"{error.format_message().rstrip('.')} (see {command} --help)")
    return _NOTHING_DONE


def _explained(error: Exception) -> str:
    """Return the line for the person: what is wrong with the input as it is, a flaw of ours as such."""
    from paraqd.errors import ParaqdError
    from paraqd.extras import missing_extra

    if isinstance(error, (ParaqdError, FileExistsError)):
        return str(error)
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return f"cannot write {error.filename or 'the output'}: {error.strerror}"
    return missing_extra(error) or f"unexpected {type(error).__name__}: {error} (set PARAQD_DEBUG=1 to see where)"


if __name__ == "__main__":
    sys.exit(run())

"""Build the program ``paraqd`` from its commands."""

from __future__ import annotations

import inspect
import os
from importlib import import_module
from typing import Any

import typer

# A new command takes one file and one line here. Panels group the commands in the help.
_CHECK, _WRITE, _DATA, _LABEL, _TRAIN = (
    "Check paraphrases",
    "Write paraphrases",
    "Make training data",
    "Label by hand",
    "Train and reproduce",
)
COMMANDS = {
    "score": _CHECK,
    "solvable": _CHECK,
    "decide": _CHECK,
    "calibrate": _CHECK,
    "explain": _CHECK,
    "evaluate": _CHECK,
    "checklist": _CHECK,
    "read": _CHECK,
    "serve": _CHECK,
    "doctor": _CHECK,
    "paraphrase": _WRITE,
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
    """Build the program with all commands or, to start faster, with only one command."""
    app = typer.Typer(
        name="paraqd",
        epilog="Example: paraqd score pairs.csv -o scored.csv",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main)
    for name, panel in COMMANDS.items():
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
    """Return a command's docstring with the lines of each paragraph joined so that the help fits any terminal."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

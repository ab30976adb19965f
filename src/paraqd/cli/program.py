"""Build the program ``paraqd`` from its commands."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

# A new command takes one file and one line here, or in `paraqd.lab.cli`. Panels group the commands in the help.
_CHECK, _WRITE = "Check paraphrases", "Write paraphrases"
COMMANDS = {
    "score": _CHECK,
    "solvable": _CHECK,
    "decide": _CHECK,
    "calibrate": _CHECK,
    "explain": _CHECK,
    "evaluate": _CHECK,
    "serve": _CHECK,
    "doctor": _CHECK,
    "paraphrase": _WRITE,
}
LAB = "lab"


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


def program(arguments: Sequence[str] = ()) -> typer.Typer:
    """Build the program with all commands or, to start faster, with only the command that the arguments name."""
    first, second = (*arguments, "", "")[:2]
    app = new_app("paraqd", "Example: paraqd score pairs.csv -o scored.csv")
    app.callback()(_main)
    for name, panel in COMMANDS.items():
        if first == name or first not in (*COMMANDS, LAB):
            add_command(app, name, f"paraqd.cli.{name}", panel=panel)
    if first == LAB or first not in COMMANDS:
        lab = import_module("paraqd.lab.cli")
        help_ = "Make training data, train models and reproduce the paper's tables."
        group = lab.group(second if second in lab.COMMANDS else None)
        app.add_typer(group, name=LAB, help=help_, epilog=lab.EXAMPLE, rich_help_panel="Laboratory")
    return app


def moved(arguments: Sequence[str]) -> str:
    """Return a line that names the new place of a command that is now in the laboratory, or an empty string."""
    name = arguments[0] if arguments else ""
    if name in COMMANDS or name.startswith("-") or name not in import_module("paraqd.lab.cli").COMMANDS:
        return ""
    return f"paraqd {name} is now paraqd {LAB} {name}: run paraqd {LAB} {name} --help"


def new_app(name: str, example: str) -> typer.Typer:
    """Return a program, or a group of commands, without commands."""
    return typer.Typer(
        name=name,
        epilog=example,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def add_command(app: typer.Typer, name: str, module_name: str, *, panel: str | None = None) -> None:
    """Add the command, or the group of commands, that a module defines."""
    module = import_module(module_name)
    if hasattr(module, "app"):  # a group of several commands
        for info in module.app.registered_commands:
            info.help = help_text(info.callback)
        app.add_typer(module.app, name=name, epilog=module.EXAMPLE, rich_help_panel=panel)
    else:
        command = getattr(module, name.replace("-", "_"))
        app.command(name, help=help_text(command), epilog=module.EXAMPLE, rich_help_panel=panel)(command)


def help_text(command: Any) -> str:
    """Return a command's docstring with the lines of each paragraph joined so that the help fits any terminal."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

"""The commands of ``paraqd lab``, one thin file each."""

from __future__ import annotations

import typer

EXAMPLE = "Example: paraqd lab augment questions.csv -o pairs.csv --recipe extended"

# A new command takes one file and one line here. Panels group the commands in the help.
_DATA, _LABEL, _TRAIN = "Make training data", "Check and label", "Train and reproduce"
COMMANDS = {
    "augment": _DATA,
    "operators": _DATA,
    "data": _DATA,
    "pseudo-label": _DATA,
    "purity": _LABEL,
    "testset": _LABEL,
    "annotate": _LABEL,
    "checklist": _LABEL,
    "read": _LABEL,
    "train": _TRAIN,
    "export": _TRAIN,
    "generator": _TRAIN,
    "experiment": _TRAIN,
}


def group(only: str | None = None) -> typer.Typer:
    """Return the group with all commands or, to start faster, with only one command."""
    from paraqd.cli.program import add_command, new_app

    app = new_app("lab", EXAMPLE)
    for name, panel in COMMANDS.items():
        if only in (None, name):
            add_command(app, name, f"{__name__}.{name.replace('-', '_')}", panel=panel)
    return app

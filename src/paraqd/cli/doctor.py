"""Provide the command ``paraqd doctor``, which checks the installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from paraqd.cli.console import say, stderr, stdout, write_json
from paraqd.cli.options import AsJson, Quiet

if TYPE_CHECKING:
    from paraqd.runs.installation import Checkup, ModelCheck

EXAMPLE = "Example: paraqd doctor"


def doctor(as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Check the installation: the packages, what each missing extra would add, and if the models work.

    Each installed model scores a pair whose verdict is known. The exit code is 0 if all is well and 1 if something that
    is installed does not work. A missing extra is not a fault.
    """
    from paraqd.cli.progress import Bar
    from paraqd.runs.installation import check_installation

    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        found = check_installation(progress=bar.update)
    if as_json:
        write_json(found.to_dict())
    elif not quiet:
        _show(found)
    if not as_json:
        for line in found.problems:
            say(f"problem: {line}")
    if found.problems:
        raise typer.Exit(1)


def _show(found: Checkup) -> None:
    """Print the result."""
    from rich.table import Table
    from rich.text import Text

    console = stdout()

    def grid() -> Table:
        return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)

    def mark(well: bool | None) -> Text:
        return Text("–", style="dim") if well is None else Text("ok", "green") if well else Text("wrong", "red")

    table = grid()
    memory = "unknown" if found.memory is None else f"{found.memory / 2**30:.1f} GiB"
    for name, value in (
        ("paraqd", f"{found.version} ({found.location})"),
        ("Python", found.python),
        ("system", found.system),
        ("cores, memory", f"{found.cores}, {memory}"),
        ("data", found.folders["data"] or "not set (PARAQD_DATA_DIR)"),
        ("cache", found.folders["cache"]),
    ):
        table.add_row(name, value)
    console.print(table)
    _title("Models")
    table = grid()
    for model in found.models:
        table.add_row(mark(None if not model.installed else not model.problem), model.name, _model_text(model))
    console.print(table)
    _title("Packages")
    table = grid()
    for package in found.packages:
        if not package.extra:
            table.add_row(mark(not package.problem), package.name, package.version)
    console.print(table)
    _title("Extras")
    table = grid()
    for extra in found.extras:
        own = [f"{each.name} {each.version}" for each in found.packages if each.extra == extra.name]
        wrong = any(each.problem for each in found.packages if each.extra == extra.name)
        if extra.missing:
            text = f"adds {extra.purpose}: {extra.remedy} (missing: {', '.join(extra.missing)})"
        else:
            text = ", ".join(own) or extra.purpose
        table.add_row(mark(None if extra.missing and not wrong else not wrong), extra.name, text)
    console.print(table)
    console.print()
    console.print("Something is wrong." if found.problems else "All is well.")


def _title(text: str) -> None:
    from rich.text import Text

    stdout().print(Text(f"\n{text}", style="bold"))


def _model_text(model: ModelCheck) -> str:
    from paraqd.runs.installation import LARGE_PURPOSES

    if not model.installed:
        adds = LARGE_PURPOSES[model.name]
        return f"not installed; adds {adds}: pip install {model.name} (in a clone, models/{model.name})"
    if model.valid_score is None or model.invalid_score is None:
        return model.problem
    return f"a good text scores {model.valid_score:.2f}, a bad one {model.invalid_score:.2f}"

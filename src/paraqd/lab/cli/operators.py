"""Provide the command ``paraqd lab operators``, which lists the operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import stdout, write_json
from paraqd.cli.options import AsJson

if TYPE_CHECKING:
    from paraqd.lab.operators import Declaration

EXAMPLE = "Example: paraqd lab operators --recipe paper"


def operators(
    recipe: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="List only this recipe's operators, in the recipe's order."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List each operator with its label, the fault it causes, the parts it may change, and its requirements."""
    from paraqd.lab.operators import get, load_recipe, recipe_names
    from paraqd.lab.operators.registry import names

    recipes = {name: load_recipe(name).operators for name in recipe_names()}
    chosen = names() if recipe is None else list(load_recipe(recipe).operators)
    rows = [
        {**_row(get(name).declaration()), "recipes": [title for title, members in recipes.items() if name in members]}
        for name in chosen
    ]
    if as_json:
        write_json(rows)
    else:
        _show(rows)


def _row(declared: Declaration) -> dict[str, Any]:
    from paraqd.lab.operators import PARTS
    from paraqd.lab.operators.resources import missing_packages, needed_extras

    extras = needed_extras(declared.needs, declared.extras)
    fault = "varies" if declared.fault == "" else declared.fault
    return {
        "name": declared.name,
        "paper_id": declared.paper_id,
        "polarity": declared.polarity,
        "fault": fault,
        "changes": [part for part in PARTS if part in declared.changes],
        "needs": list(declared.needs),
        "extras": list(extras),
        "missing": [package for extra in extras for package in missing_packages(extra)],
        "stand_in": declared.stand_in,
        "baseline": declared.baseline,
        "does": declared.description,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    """Print three lines per operator: its name and label, its description, and its changes and requirements."""
    from rich.padding import Padding
    from rich.text import Text

    out = stdout()
    width = max(len(_title(row)) for row in rows)
    for row in rows:
        label = row["polarity"] + (f": {row['fault']}" if row["fault"] else "")
        style = "green" if row["polarity"] == "valid" else "yellow"
        out.print(Text.assemble((_title(row).ljust(width), "bold"), "  ", (label, style)))
        out.print(Padding(Text(row["does"]), (0, 0, 0, 4), expand=False))
        out.print(Padding(Text(_changes_and_needs(row), style="dim"), (0, 0, 0, 4), expand=False))


def _title(row: dict[str, Any]) -> str:
    return f"{row['name']} ({row['paper_id']})" if row["paper_id"] else str(row["name"])


def _changes_and_needs(row: dict[str, Any]) -> str:
    from paraqd.lab.operators import PARTS

    parts = "anything" if len(row["changes"]) == len(PARTS) else ", ".join(row["changes"]) or "nothing"
    words = [f"changes: {parts}"]
    if row["needs"]:
        words.append(f"needs: {', '.join(row['needs'])}")
    if row["extras"]:
        missing = f" (not installed: {', '.join(row['missing'])})" if row["missing"] else ""
        words.append(f"extra: {', '.join(row['extras'])}{missing}")
    if row["baseline"]:
        words.append(f"baseline: {row['baseline']}")
    return "; ".join(words)

"""``paraqd operators``: what there is to apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from paraqd.cli.console import stdout, write_json

EXAMPLE = "Example: paraqd operators --recipe paper"


def operators(
    recipe: str | None = typer.Option(None, "--recipe", help="Only those of a recipe, in its order."),
    as_json: bool = typer.Option(False, "--json", help="Write JSON for a program."),
) -> None:
    """List the operators: what each does, the paper's name for it, and what it needs."""
    from paraqd.operators import load_recipe, recipe_names
    from paraqd.operators.registry import names

    recipes = {name: load_recipe(name).operators for name in recipe_names()}
    chosen = names() if recipe is None else list(load_recipe(recipe).operators)
    rows = [_row(name, recipes) for name in chosen]
    if as_json:
        write_json(rows)
    else:
        _show(rows)


def _row(name: str, recipes: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    from paraqd.extras import missing_extra
    from paraqd.operators import get

    members = [title for title, operators in recipes.items() if name in operators]
    try:
        operator = get(name)
    except ModuleNotFoundError as error:  # the others can be listed all the same
        missing = missing_extra(error)
        if missing is None:
            raise
        return {"name": name, "paper_id": None, "polarity": "", "does": "", "needs": [missing], "recipes": members}
    return {
        "name": operator.name,
        "paper_id": operator.paper_id,
        "polarity": operator.polarity,
        "does": _first_line(operator),
        "needs": list(dict.fromkeys(operator.needs)),
        "recipes": members,
    }


def _first_line(operator: object) -> str:
    parts = [getattr(operator, "first", None), getattr(operator, "second", None)]
    if all(parts):
        return " Then: ".join(_first_line(part) for part in parts)
    return (type(operator).__doc__ or "").strip().partition("\n")[0]


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("operator", "paper", "makes", "what it does"):
        table.add_column(title, no_wrap=title != "what it does")
    for row in rows:
        makes = Text(row["polarity"], style="green" if row["polarity"] == "valid" else "yellow")
        does = Text(row["does"])
        if row["needs"]:
            does.append(f" Needs {', '.join(row['needs'])}.", style="dim")
        table.add_row(row["name"], row["paper_id"] or "", makes, does)
    stdout().print(table)

"""Provide the command ``paraqd lab read``, which shows how paraqd reads a word problem."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import stdout, write_json
from paraqd.cli.options import AsJson, Entities, check_choice

if TYPE_CHECKING:
    from paraqd.reading import Problem

EXAMPLE = 'Example: paraqd lab read "Alex drove 100 km at 20 kmph. How many hours did it take him?"'


def read(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text of a word problem, or - for standard input.")],
    entities: Entities = "light",
    as_json: AsJson = False,
) -> None:
    """Show the sentences, quantities, names and questions that paraqd finds in a word problem."""
    from paraqd.lab.operators.resources import ENTITY_READERS, ResourceSpec, build_resources
    from paraqd.reading import read as read_problem

    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    check_choice("--entities", entities, ENTITY_READERS)
    reader = build_resources(ResourceSpec(entities=entities)).get("entities")
    problem = read_problem(text, entities=reader)
    if as_json:
        write_json(to_dict(problem))
    else:
        _show(problem)


def to_dict(problem: Problem) -> dict[str, Any]:
    """Return a problem as a JSON-serialisable dictionary; exact values are written as strings, such as "1/3"."""
    return {
        "text": problem.text,
        "sentences": [{"text": s.text, "span": [s.start, s.end]} for s in problem.sentences],
        "quantities": [
            {
                "surface": q.surface,
                "value": str(q.value),
                "unit": q.unit,
                "kind": q.kind.value,
                "terms": [str(term) for term in q.terms],
                "span": [q.start, q.end],
            }
            for q in problem.quantities
        ],
        "entities": [{"text": e.text, "category": e.category, "span": [e.start, e.end]} for e in problem.entities],
        "questions": [{"text": q.text, "target": q.target, "span": [q.start, q.end]} for q in problem.questions],
    }


def _show(problem: Problem) -> None:
    from rich.table import Table
    from rich.text import Text

    console = stdout()

    def heading(title: str, found: int) -> None:
        console.print(Text(f"{title} ({found})", style="bold"))

    heading("Sentences", len(problem.sentences))
    for number, sentence in enumerate(problem.sentences, start=1):
        console.print(Text(f"  {number}. {sentence.text}"))
    heading("Quantities", len(problem.quantities))
    if problem.quantities:
        table = Table("text", "value", "unit", "kind", box=None, padding=(0, 2), header_style="dim")
        for q in problem.quantities:
            value = ":".join(map(str, q.terms)) if q.terms else str(q.value)
            table.add_row(Text(q.surface), value, q.unit or "", q.kind.value)
        console.print(table)
    heading("Names", len(problem.entities))
    for entity in problem.entities:
        console.print(Text(f"  {entity.text}  {entity.category.lower()}"))
    heading("Questions", len(problem.questions))
    for question in problem.questions:
        target = f"  (asks for: {question.target})" if question.target else ""
        console.print(Text(f"  {question.text}{target}"))

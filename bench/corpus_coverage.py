"""Compare how well paraqd covers several corpora of questions, and print a Markdown table.

    python bench/corpus_coverage.py em_questions questions --sample 7420

The arguments are names of data sets or files. From a corpus with more than ``--sample`` questions, that many questions
are drawn with the seed. The first rows of the table show the shares of questions in which the light reader finds a
number, a number with a unit, a name or a question. The other rows show, for each operator in the recipes paper and
extended, the share of questions for which the operator produces an output. Operators that need a model are not run. If
a recipe declares rules as a stand-in for a model, the rules are run.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from paraqd.lab.corpora.augment import augment
from paraqd.lab.operators.plan import Step, make_plan
from paraqd.reading import Kind, read
from paraqd.tables.datasets import load_questions
from paraqd.tables.table import Row

RECIPES = ("paper", "extended")


def draw(rows: Sequence[Row], size: int, seed: int) -> list[Row]:
    """Return at most ``size`` rows, drawn with the seed if there are more."""
    return list(rows) if len(rows) <= size else random.Random(seed).sample(rows, size)


def reading_counts(texts: Iterable[str]) -> dict[str, int]:
    """Count the questions in which the reader finds a number, a number with a unit, a name or a question.

    A number in a label, such as the 1 in A1, does not count.
    """
    counts = dict.fromkeys(("a number", "a number with a unit", "a name", "a question"), 0)
    for text in texts:
        problem = read(text)
        counts["a number"] += any(q.kind is not Kind.LABEL for q in problem.quantities)
        counts["a number with a unit"] += any(q.unit is not None for q in problem.quantities)
        counts["a name"] += bool(problem.entities)
        counts["a question"] += problem.question is not None
    return counts


def chosen_steps() -> tuple[list[Step], list[str]]:
    """Return the steps that need no model, and the names of the other operators in the recipes."""
    steps: dict[str, Step] = {}
    models: dict[str, None] = {}
    for recipe in RECIPES:
        plan = make_plan(recipe, stand_ins=True)
        steps |= {step.name: step for step in plan.steps if not step.models}
        models |= dict.fromkeys([*plan.left_out, *(step.name for step in plan.steps if step.models)])
    return list(steps.values()), list(models)


def operator_counts(rows: Sequence[Row], steps: Sequence[Step], seed: int) -> dict[str, int]:
    """Return the number of questions for which each operator produces an output, keyed by operator."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "questions.jsonl")
        lines = [json.dumps({"id": row["id"], "question": row["question"]}) for row in rows]
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        report = augment(
            source, Path(folder, "pairs.parquet"), operators=[step.name for step in steps], seed=seed, stand_ins=True
        )
    return {operator.name: operator.applied for operator in report.operators}


def table(sizes: Mapping[str, int], counts: Mapping[str, Mapping[str, int]], steps: Sequence[Step]) -> str:
    """Return the shares as a Markdown table with one column for each corpus."""
    labels = {}
    for step in steps:
        notes = ", ".join(filter(None, [step.paper_id, "stand-in" if step.stand_in else ""]))
        labels[step.name] = f"{step.name} ({notes})" if notes else step.name
    lines = [
        "| " + " | ".join(["", *(f"{name} ({size:,})" for name, size in sizes.items())]) + " |",
        "| " + " | ".join(["---", *["---:"] * len(sizes)]) + " |",
    ]
    for key in next(iter(counts.values())):
        shares = [f"{counts[name][key] / size:.1%}" for name, size in sizes.items()]
        lines.append("| " + " | ".join([labels.get(key, key), *shares]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", metavar="NAME|FILE")
    parser.add_argument("--sample", type=int, default=7420, help="the largest number of questions from each corpus")
    parser.add_argument("--seed", type=int, default=3407)
    args = parser.parse_args()
    steps, models = chosen_steps()
    sizes, counts = {}, {}
    for name in args.corpora:
        rows = draw(load_questions(name), args.sample, args.seed)
        sizes[name] = len(rows)
        counts[name] = reading_counts(str(row["question"]) for row in rows) | operator_counts(rows, steps, args.seed)
    print(table(sizes, counts, steps))
    print(f"not run, because they need a model: {', '.join(models)}", file=sys.stderr)


if __name__ == "__main__":
    main()

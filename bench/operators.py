"""Measure the speed of reading and of each operator, in questions per second on one core.

The sample questions are repeated so that each measurement takes long enough. The table shows the median, minimum and
maximum over several measurements. Operators whose model is missing are listed as not run.

    python bench/operators.py [--questions FILE] [--repeats 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from paraqd.lab.operators import Operator, Resources, derive_rng, get, names
from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.reading import read
from paraqd.reading.entities import SpacyEntities, load_spacy
from paraqd.tables.questions import question_of
from paraqd.tables.table import DEFAULT_COLUMNS, open_table

SAMPLES = Path(__file__).parent.parent / "samples" / "questions.csv"
FAST, SLOW = 2400, 240  # questions per measurement; the second number applies if spaCy parses the questions


def rates(work: Callable[[], None], count: int, repeats: int) -> list[float]:
    """Run ``work`` several times after a warm-up, and return the questions per second of each run."""
    work()
    found = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        found.append(count / (time.perf_counter() - started))
    return found


def time_operator(operator: Operator, texts: list[str], resources: Resources, repeats: int) -> list[float]:
    """Return the questions per second of each run of an operator on problems that were read in advance."""
    count = SLOW if "parser" in operator.needs else FAST
    found = []
    for repeat in range(repeats + 1):
        # read the questions again for each run, because a problem caches its parse and parsing should be timed
        problems = [read(text) for text in islice(cycle(texts), count)]
        rngs = [derive_rng(3407, str(i), operator.name) for i in range(count)]
        started = time.perf_counter()
        operator.apply_batch(problems, rngs, resources)
        if repeat:  # the first run is a warm-up
            found.append(count / (time.perf_counter() - started))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, default=SAMPLES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    table = open_table(str(args.questions))
    questions = [question_of(row, DEFAULT_COLUMNS) for row in table.rows()]
    texts = [question.text for question in questions if not isinstance(question, str)]
    many = list(islice(cycle(texts), FAST))
    few = many[:SLOW]
    spacy = SpacyEntities(load_spacy())
    resources = Resources(vocabulary=Vocabulary.of(texts), lazy={"parser": load_spacy})

    def read_light() -> None:
        for text in many:
            read(text)

    def read_spacy() -> None:
        for text in few:
            read(text, entities=spacy)

    results = {
        "reading": rates(read_light, FAST, args.repeats),
        "reading, names by spaCy": rates(read_spacy, SLOW, args.repeats),
    }
    models: dict[str, str] = {}
    for name in names():
        operator = get(name)
        absent = [need for need in operator.needs if need not in resources]
        if absent:
            models[name] = ", ".join(absent)
        else:
            results[name] = time_operator(operator, texts, resources, args.repeats)
    show(results, models, len(texts), args.repeats, as_json=args.json)


def show(
    results: dict[str, list[float]], models: dict[str, str], questions: int, repeats: int, *, as_json: bool
) -> None:
    """Print the results as a table or as JSON."""
    if as_json:
        rows = {name: {"median": statistics.median(r), "min": min(r), "max": max(r)} for name, r in results.items()}
        print(json.dumps({"questions_per_second": rows, "not_run": models}, indent=2))
        return
    table = Table(title=f"questions per second, one core ({questions} distinct questions, {repeats} repeats)")
    for heading in ("", "median", "min", "max"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, found in results.items():
        table.add_row(name, *(f"{value:,.0f}" for value in (statistics.median(found), min(found), max(found))))
    for name, absent in models.items():
        table.add_row(name, f"not run: needs {absent}", "", "")
    Console().print(table)


if __name__ == "__main__":
    main()

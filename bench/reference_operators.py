"""Analyse the outputs of the paper's public code, to explain why our results differ from the paper's.

    PARAQD_DATA_DIR=data python bench/reference_operators.py MODEL [MODEL...] [--pairs validation-paper.jsonl.gz]

This script prints three Markdown tables:

- the kinds of edit in the public code's outputs (``aquarat_validation_reference.csv``), by operator;
- our own outputs, if ``--pairs`` is a file that ``paraqd lab augment`` wrote, by operator;
- the invalid pairs in the test sets, by kind of edit.

Each table shows how many of the pairs each model accepts, which means that the score is above 0.5.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from paraqd.evaluation.edits import EDIT_KINDS, REPLACED, edit_kind, find_edits
from paraqd.scoring.cosine import cosine_scores
from paraqd.scoring.torch_encoder import Encoder, load_encoder
from paraqd.tables.datasets import load_pairs
from paraqd.tables.table import open_table

COLUMNS = {f"positive{n}": f"f{n}" for n in range(1, 5)} | {f"neg_{n}": f"f{n + 4}" for n in range(1, 7)}


def no_entity(question: str, paraphrase: str) -> bool:
    """Return True if all edited words of the question are in lower case."""
    edits = find_edits(question, paraphrase)
    return all(word.islower() and word.isalpha() for edit in edits for word in edit.before)


def accepted(encoders: Sequence[Encoder], pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield, for each model, a cell with the mean score and the percentage of accepted pairs."""
    for encoder in encoders:
        scores = np.asarray(cosine_scores(encoder, pairs))
        yield f"{scores.mean():.2f}, {100 * (scores > 0.5).mean():.0f} %"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print("|", " | ".join(head), "|\n|", " | ".join(["---"] * len(head)), "|")
    for row in rows:
        print("|", " | ".join(map(str, row)), "|")
    print()


def reference(path: Path, encoders: Sequence[Encoder], heads: Sequence[str]) -> None:
    """Print the table of the public code's outputs."""
    with open(path, encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    rows = []
    for column, name in COLUMNS.items():
        pairs = [(record["question"], record[column]) for record in records if record[column].strip()]
        counted = Counter(edit_kind(*pair) for pair in pairs)
        plain = sum(edit_kind(*pair) == REPLACED and no_entity(*pair) for pair in pairs)
        rows.append([name, len(pairs), *(counted[kind] for kind in EDIT_KINDS), plain, *accepted(encoders, pairs)])
    table(["public code's", "outputs", *EDIT_KINDS, "of these only lower-case words", *heads], rows)


def own(path: str, encoders: Sequence[Encoder], heads: Sequence[str]) -> None:
    """Print the table of our operators' outputs."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in open_table(path).rows(["question", "paraphrase", "paper_id"]):
        found[str(row["paper_id"])].append((str(row["question"]), str(row["paraphrase"])))
    names = sorted(found, key=lambda name: int(name[1:]))
    table(["ours", "outputs", *heads], [[n, len(found[n]), *accepted(encoders, found[n])] for n in names])


def tests(encoders: Sequence[Encoder], heads: Sequence[str]) -> None:
    """Print the table of the invalid pairs in the test sets, by kind of edit."""
    rows = []
    for name in ("aquarat", "sawp"):
        pairs = [(pair.question, pair.paraphrase) for pair in load_pairs(name) if pair.label == 0]
        for kind in EDIT_KINDS[1:]:
            some = [pair for pair in pairs if edit_kind(*pair) == kind]
            rows.append([name, kind, len(some), *accepted(encoders, some)])
    table(["invalid pairs of", "edit", "pairs", *heads], rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--pairs", help="our own outputs")
    options = parser.parse_args()
    encoders = [load_encoder(model) for model in options.models]
    heads = [f"{Path(model).name}: mean, accepted" for model in options.models]
    reference(Path(os.environ["PARAQD_DATA_DIR"]) / "aquarat_validation_reference.csv", encoders, heads)
    if options.pairs:
        own(options.pairs, encoders, heads)
    tests(encoders, heads)


if __name__ == "__main__":
    main()

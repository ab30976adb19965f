"""Measure how many paraphrases a source finds, and how far they are from the question and from each other.

    python bench/paraphrases.py questions.jsonl --out FOLDER --sample 200

The output is a table with a row for each way of choosing: without the gate, with the gate, and with the gate and
repair. The paraphrases stay in ``FOLDER``, one file for each row, so that a person can read them. An interrupted
measurement continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean

from paraqd.data.tables import Row, open_table
from paraqd.data.writers import write_rows
from paraqd.paraphrasing.distance import overlap
from paraqd.paraphrasing.files import paraphrase_file
from paraqd.paraphrasing.paraphraser import Settings

ENOUGH = 3  # paraphrases that a question should have
# for each way of choosing: the gate and the repair
WAYS: Mapping[str, tuple[bool, bool]] = {
    "no gate": (False, False),
    "gate": (True, False),
    "gate and repair": (True, True),
}
HEAD = (
    "| | questions | with at least 3 | paraphrases | overlap with the question | largest overlap of two "
    "| called valid | repaired |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def measured(rows: Sequence[Row], questions: int) -> dict[str, float]:
    """Return the figures for the paraphrases of some questions."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[str(row["question"])].append(str(row["paraphrase"]))
    pairs = [overlap(*both) for texts in found.values() for both in combinations(texts, 2)]
    return {
        "enough": sum(len(texts) >= ENOUGH for texts in found.values()) / questions,
        "overlap": mean(overlap(str(row["question"]), str(row["paraphrase"])) for row in rows) if rows else 0.0,
        "largest": max(pairs, default=0.0),
        "valid": mean(str(row["valid"]).lower() == "true" for row in rows) if rows else 0.0,
        "repaired": sum(bool(row["repaired"]) for row in rows),
    }


def sample_of(path: str, size: int, seed: int) -> list[Row]:
    """Return a random sample of the questions in a file, each with its id."""
    rows = [{"id": row.get("id"), "question": row["question"]} for row in open_table(path).rows()]
    return random.Random(seed).sample(rows, min(size, len(rows)))


def main() -> None:
    """Paraphrase a sample in all ways, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=3407)
    parser.add_argument("--source", default="rules")
    parser.add_argument("--judge")
    parser.add_argument("-n", type=int, default=5)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    questions = given.out / "questions.jsonl"
    rows = sample_of(given.questions, given.sample, given.seed)
    if not questions.exists():  # an unfinished run needs the same file
        write_rows(questions, {"id": str, "question": str}, rows)
    print(HEAD)
    for name, (gate, repair) in WAYS.items():
        out = given.out / f"{name.replace(' ', '-')}.jsonl"
        if not out.exists():
            settings = Settings(n=given.n, seed=given.seed, gate=gate, repair=repair)
            paraphrase_file(questions, out, settings=settings, by=given.source, judge=given.judge)
        written = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        found = measured(written, len(rows))
        print(
            f"| {name} | {len(rows)} | {found['enough']:.1%} | {len(written):,} | {found['overlap']:.2f} "
            f"| {found['largest']:.2f} | {found['valid']:.1%} | {found['repaired']:.0f} |"
        )


if __name__ == "__main__":
    main()

"""Measure how many paraphrases a source finds, and how far they are from the question and from each other.

    python bench/paraphrases.py questions.jsonl --out FOLDER --sample 200
    python bench/paraphrases.py questions.jsonl --write-candidates FILE --source MODEL --count 24 --sample 200
    python bench/paraphrases.py questions.jsonl --out FOLDER --candidates FILE --sample 200

The second command only writes a model's candidates to a file, for example on a machine with a GPU. The third command
judges and chooses among them, and needs no model.

The output is a table with a row for each way of choosing: without the gate, with the gate, and with the gate and
repair. The paraphrases stay in ``FOLDER``, one file for each row, so that a person can read them. An interrupted
measurement continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean

from paraqd.files import sha256_of
from paraqd.paraphrasing.distance import overlap
from paraqd.paraphrasing.files import paraphrase_file
from paraqd.paraphrasing.paraphraser import Settings
from paraqd.paraphrasing.sources.base import Candidate, Found
from paraqd.paraphrasing.sources.loading import load_source
from paraqd.tables.questions import Question
from paraqd.tables.table import Row, open_table
from paraqd.tables.writers import write_rows

_AT_ONCE = 125  # questions whose candidates a model writes together
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


@dataclass(frozen=True)
class RecordedSource:
    """A source that reads candidates from a file, which `write_candidates` wrote."""

    name: str
    identity: str
    texts: Mapping[str, Sequence[str]]

    @classmethod
    def load(cls, path: Path) -> RecordedSource:
        """Read the candidates in a file."""
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        name = rows[0]["source"] if rows else path.name
        return cls(name, f"{name}@{sha256_of(path)[:8]}", {row["question"]: row["candidates"] for row in rows})

    def candidates(
        self, questions: Sequence[Question], *, count: int, seed: int, styles: Sequence[str] = ()
    ) -> list[Found]:
        """Return the recorded candidates of each question, at most ``count``."""
        del seed, styles
        return [
            Found(tuple(Candidate(text, self.name) for text in list(self.texts.get(each.text, ()))[:count]))
            for each in questions
        ]


def write_candidates(rows: Sequence[Row], source: str, path: Path, *, count: int, seed: int) -> None:
    """Write a source's candidates for some questions to a file."""
    loaded = load_source(source)
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, len(rows), _AT_ONCE):
            part = [Question(str(row["id"]), str(row["question"])) for row in rows[start : start + _AT_ONCE]]
            for each, found in zip(part, loaded.candidates(part, count=count, seed=seed), strict=True):
                texts = [candidate.text for candidate in found.candidates]
                row = {"id": each.id, "question": each.text, "source": loaded.name, "candidates": texts}
                file.write(json.dumps(row) + "\n")
            print(f"{start + len(part)} of {len(rows)} questions", file=sys.stderr)


def check_same_run(folder: Path, facts: Mapping[str, object]) -> None:
    """Record the settings of a run. Stop if the folder has paraphrases that were made with other settings."""
    path = folder / "run.json"
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        changed = [name for name in facts if before.get(name) != facts[name]]
        if changed:
            raise SystemExit(f"error: {folder} has a run with another {changed[0]}: choose another folder")
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


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
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--out", type=Path, help="the folder for the paraphrases")
    wanted.add_argument("--write-candidates", type=Path, metavar="FILE", help="only write candidates to this file")
    parser.add_argument("--candidates", type=Path, metavar="FILE", help="choose among the candidates in this file")
    parser.add_argument("--count", type=int, help="candidates for each question (default: eight per paraphrase)")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=3407)
    parser.add_argument("--source", default="rules")
    parser.add_argument("--judge")
    parser.add_argument("-n", type=int, default=5)
    given = parser.parse_args()
    rows = sample_of(given.questions, given.sample, given.seed)
    if given.write_candidates:
        count = Settings(n=given.n, candidates=given.count).count
        write_candidates(rows, given.source, given.write_candidates, count=count, seed=given.seed)
        return
    source = RecordedSource.load(given.candidates) if given.candidates else given.source
    given.out.mkdir(parents=True, exist_ok=True)
    identity = source.identity if isinstance(source, RecordedSource) else source
    names = ("sample", "seed", "n", "count", "judge")
    check_same_run(given.out, {**{name: getattr(given, name) for name in names}, "source": identity})
    questions = given.out / "questions.jsonl"
    if not questions.exists():  # an unfinished run needs the same file
        write_rows(questions, {"id": str, "question": str}, rows)
    print(HEAD)
    for name, (gate, repair) in WAYS.items():
        out = given.out / f"{name.replace(' ', '-')}.jsonl"
        if not out.exists():
            settings = Settings(n=given.n, candidates=given.count, seed=given.seed, gate=gate, repair=repair)
            paraphrase_file(questions, out, settings=settings, by=source, judge=given.judge)
        written = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        found = measured(written, len(rows))
        print(
            f"| {name} | {len(rows)} | {found['enough']:.1%} | {len(written):,} | {found['overlap']:.2f} "
            f"| {found['largest']:.2f} | {found['valid']:.1%} | {found['repaired']:.0f} |"
        )


if __name__ == "__main__":
    main()

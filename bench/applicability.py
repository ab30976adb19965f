"""Count the questions to which f3, f4, f7, f8 and f10 could apply but did not.

    python bench/applicability.py questions.jsonl --pairs pairs.parquet [--reference reference.csv]

``pairs.parquet`` contains the output of ``paraqd lab augment`` for the same questions. ``reference.csv`` contains the
outputs of the paper's public code. An operator could apply if our reader finds a number outside expressions (f3), an
abbreviated unit (f4), a name (f7), a number (f8) or a unit (f10). f4, f7 and f10 use the same reader. Their shares
therefore show how often they use what the reader finds, but not how much the reader misses.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

from paraqd.reading import Kind, Problem, Quantity, read
from paraqd.reading.unit_mentions import find_unit_mentions
from paraqd.reading.units import category
from paraqd.rewriting.unit_names import is_abbreviated
from paraqd.tables.table import default_id, open_table

COLUMNS = {"NumToWords": "positive3", "UnitExpansion": "positive4", "EntityReplacement": "neg_3"}
COLUMNS |= {"NumberDeletion": "neg_4", "UnitReplacement": "neg_6"}


def has_something(problem: Problem) -> dict[str, bool]:
    """Return a dictionary that maps each operator to True if the operator could apply to the question."""
    mentions = find_unit_mentions(problem)
    return {
        "NumToWords": any(_is_written_out(problem.text, q) for q in problem.quantities),
        "UnitExpansion": any(is_abbreviated(mention, problem.text) for mention in mentions),
        "EntityReplacement": bool(problem.entities),
        "NumberDeletion": any(c.isdigit() for c in problem.text) or any(_counts(q) for q in problem.quantities),
        "UnitReplacement": any(category(mention.unit) for mention in mentions),
    }


def _is_written_out(text: str, q: Quantity) -> bool:
    """Return True if a quantity is written in digits and is not part of an expression, a date or a name."""
    around = text[max(0, q.start - 3) : q.start].strip()[-1:] + text[q.end : q.end + 3].strip()[:1]
    plain = q.kind in {Kind.COUNT, Kind.MEASURE, Kind.MONEY, Kind.PERCENT, Kind.MULTIPLE, Kind.ORDINAL}
    return plain and not q.worded and not any(c in "+-–−*/^=<>×÷|√_()[]{}≤≥!" for c in around)


def _counts(q: Quantity) -> bool:
    """Return True if a quantity in words is a number, rather than an ordinal or the article in *in a day*."""
    return q.kind not in {Kind.LABEL, Kind.ORDINAL} and q.surface.lower().split()[0] not in {"a", "an"}


def show(title: str, questions: dict[str, str], applied: dict[str, set[str]]) -> None:
    """Print a table, followed by examples of questions to which an operator could apply but did not."""
    could: dict[str, set[str]] = defaultdict(set)
    for key, text in questions.items():
        for operator, found in has_something(read(text)).items():
            if found:
                could[operator].add(key)
    print(f"\n| {title} | could apply | applied | share |\n| --- | --- | --- | --- |")
    missed = {}
    for operator in COLUMNS:
        there = could[operator] & applied[operator]
        missed[operator] = sorted(could[operator] - there)
        share = len(there) / max(1, len(could[operator]))
        print(f"| {operator} | {len(could[operator]):,} | {len(there):,} | {share:.2%} |")
    for operator, keys in missed.items():
        for key in keys[:4]:
            print(f"- {operator} did not apply: {questions[key][:160]}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions")
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--reference")
    args = parser.parse_args()
    questions = {}
    for row in open_table(args.questions).rows(["question", "id"]):
        questions[str(row.get("id") or default_id(str(row["question"])))] = str(row["question"])
    applied: dict[str, set[str]] = defaultdict(set)
    for row in open_table(args.pairs).rows(["id", "operator"]):
        applied[str(row["operator"])].add(str(row["id"]))
    show("ours", questions, applied)
    if args.reference:
        rows = list(open_table(args.reference).rows(["question", *COLUMNS.values()]))
        theirs: dict[str, set[str]] = defaultdict(set)
        for number, row in enumerate(rows):
            for operator, column in COLUMNS.items():
                if str(row[column]).split() != str(row["question"]).split():
                    theirs[operator].add(str(number))
        show("the reference", {str(i): str(row["question"]) for i, row in enumerate(rows)}, theirs)


if __name__ == "__main__":
    main()

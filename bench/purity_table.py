"""Compare the label purity of our operators with the label purity of the paper's public code (the reference).

    python bench/purity_table.py pairs.parquet --reference reference.csv --questions 47005

``pairs.parquet`` contains the output of ``paraqd lab augment``. ``reference.csv`` has the columns question, positive1 …
positive4 (f1–f4) and neg_1 … neg_6 (f5–f10). The columns of the table are:

- applied: the share of questions with an output that differs in more than white space (for SameSentence: any output);
- equal: the number of outputs that equal the question, ignoring white space;
- pure: the share of outputs that keep the operator's promise, not counting f7's consistent renamings. If an output
  equals the question, a valid operator counts as not applied, because the label is right, and an invalid operator's
  output counts as impure.

An output of the reference is also impure if the operator silently fell back to a test operator (TF-IDF replacement).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from paraqd.lab.annotation.purity import check_file, check_pair
from paraqd.lab.annotation.purity.files import Collector, LabelledPair, OperatorPurity
from paraqd.lab.operators import declarations
from paraqd.tables.table import default_id, open_table

PROMISES = declarations()
REFERENCE = {
    "positive1": "Backtranslation",
    "positive2": "SameSentence",
    "positive3": "NumToWords",
    "positive4": "UnitExpansion",
    "neg_1": "ImportantPhraseDeletion",
    "neg_2": "LastSentenceDeletion",
    "neg_3": "EntityReplacement",
    "neg_4": "NumberDeletion",
    "neg_5": "LossyParaphrase",
    "neg_6": "UnitReplacement",
}


@dataclass
class Side:
    """The results for our operators or for the reference."""

    questions: int
    applied: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    found: dict[str, OperatorPurity] = field(default_factory=dict)

    def cells(self, name: str) -> list[str]:
        """Return the table cells for an operator: applied, equal, pure, and the main reasons for impurity."""
        found = self.found.get(name)
        if found is None:
            return ["–", "–", "–", ""]
        reasons = "; ".join(f"{reason} {times:,}" for reason, times in list(found.reasons.items())[:2])
        applied = self.applied[name] / self.questions
        return [f"{applied:.1%}", f"{self.equal[name]:,}", f"{found.purity:.2%}", reasons]


def counted(items: Iterable[LabelledPair], side: Side) -> Iterator[LabelledPair]:
    """Count the outputs that differ from the question and those that equal it, and yield the pairs to check."""
    for item in items:
        wanted_same = item.operator == "SameSentence"
        same = "".join(item.question.split()) == "".join(item.paraphrase.split()) and not wanted_same
        side.applied[item.operator] += not same
        side.equal[item.operator] += same
        if not same or not item.label:
            yield item


def ours(path: str, questions: int, workers: int) -> Side:
    """Check a file that ``paraqd lab augment`` wrote."""
    side = Side(questions)
    rows = open_table(path).rows(["id", "question", "paraphrase", "operator", "label"])
    items = (
        LabelledPair(str(r["id"]), r["question"], r["paraphrase"], r["operator"], int(r["label"]), "") for r in rows
    )
    for _ in counted(items, side):
        pass
    side.found = {
        operator.name: operator
        for operator in check_file(path, promises=PROMISES, examples=0, workers=workers).operators
    }
    return side


def theirs(path: str, questions: int) -> Side:
    """Check the reference's outputs."""
    side = Side(questions)
    collector = Collector(examples=0)
    for item in counted(outputs(path), side):
        finding = check_pair(item.question, item.paraphrase, item.operator, item.label, promises=PROMISES)
        if finding.consistent_renaming:  # do not count consistent renamings as impure, as for our operators
            finding = replace(finding, ok=True, reason="")
        collector.add(item, finding)
    side.found = {operator.name: operator for operator in collector.operators()}
    return side


def outputs(path: str) -> Iterator[LabelledPair]:
    """Yield the reference's outputs, except blank outputs."""
    for row in open_table(path).rows():
        for column, operator in REFERENCE.items():
            if row[column] and row[column].strip():
                label = int(column.startswith("positive"))
                yield LabelledPair(default_id(row["question"]), row["question"], row[column], operator, label, "")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", help="the output of paraqd lab augment")
    parser.add_argument("--reference", required=True, help="the reference's outputs")
    parser.add_argument(
        "--questions", type=int, help="the number of augmented questions (default: the questions with a pair)"
    )
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    asked = arguments.questions or len({row["id"] for row in open_table(arguments.pairs).rows(["id"])})
    rows = sum(1 for _ in open_table(arguments.reference).rows())
    left = ours(arguments.pairs, asked, arguments.workers)
    right = theirs(arguments.reference, rows)
    print(f"paraqd: {asked:,} questions; reference: {rows:,} questions. Purity against the operator's promise.\n")
    heads = ["operator", "applied", "equal", "pure", "impure because", "reference applied", "equal", "pure", "because"]
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join("---" for _ in heads) + " |")
    for name in dict.fromkeys([*REFERENCE.values(), *left.found]):
        print("| " + " | ".join([name, *left.cells(name), *right.cells(name)]) + " |")


if __name__ == "__main__":
    main()

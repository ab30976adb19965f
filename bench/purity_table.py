"""Label purity beside the public reference's own outputs, under the same checker, as a Markdown table.

    python bench/purity_table.py pairs.parquet --reference reference.csv --questions 47005

``pairs.parquet`` comes from ``paraqd augment``; ``reference.csv`` has the columns question, positive1 … positive4
(f1–f4) and neg_1 … neg_6 (f5–f10). For each operator:

- applied: of all questions, those with an output that differs beyond white space (for SameSentence: with an output);
- equal: outputs that are the question itself, white space apart (an invalid pair that is equal has a wrong label);
- pure: of the outputs written, the share that keeps the operator's promise, f7's consistent renamings left out. A valid
  output that is only the question again counts as not applied, for its label is right; an invalid one as impure.

What the reference's operators silently replace by a test operator (TF-IDF replacement) breaks their promise too.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from paraqd.annotation.purity import check_file, check_pair
from paraqd.annotation.purity.files import Collector, Item, OperatorPurity
from paraqd.data.tables import default_id, open_table
from paraqd.operators import declarations

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
    """What one source of pairs gave."""

    questions: int
    applied: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    found: dict[str, OperatorPurity] = field(default_factory=dict)

    def cells(self, name: str) -> list[str]:
        """Return applied, equal, pure and the main reasons for one operator."""
        found = self.found.get(name)
        if found is None:
            return ["–", "–", "–", ""]
        reasons = "; ".join(f"{reason} {times:,}" for reason, times in list(found.reasons.items())[:2])
        applied = self.applied[name] / self.questions
        return [f"{applied:.1%}", f"{self.equal[name]:,}", f"{found.purity:.2%}", reasons]


def counted(items: Iterable[Item], side: Side) -> Iterator[Item]:
    """Count what differs from the question and what does not, and yield what there is to check."""
    for item in items:
        wanted_same = item.operator == "SameSentence"
        same = "".join(item.question.split()) == "".join(item.paraphrase.split()) and not wanted_same
        side.applied[item.operator] += not same
        side.equal[item.operator] += same
        if not same or not item.label:
            yield item


def ours(path: str, questions: int, workers: int) -> Side:
    """Check a file of `paraqd augment`."""
    side = Side(questions)
    rows = open_table(path).rows(["id", "question", "paraphrase", "operator", "label"])
    items = (Item(str(r["id"]), r["question"], r["paraphrase"], r["operator"], int(r["label"]), "") for r in rows)
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
        if finding.consistent_renaming:  # the reference notes nothing: counted apart all the same
            finding = replace(finding, ok=True, reason="")
        collector.add(item, finding)
    side.found = {operator.name: operator for operator in collector.operators()}
    return side


def outputs(path: str) -> Iterator[Item]:
    """Yield the reference's outputs, those that are blank left out."""
    for row in open_table(path).rows():
        for column, operator in REFERENCE.items():
            if row[column] and row[column].strip():
                label = int(column.startswith("positive"))
                yield Item(default_id(row["question"]), row["question"], row[column], operator, label, "")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", help="made by paraqd augment")
    parser.add_argument("--reference", required=True, help="the reference's outputs")
    parser.add_argument("--questions", type=int, help="how many were augmented; else those that have a pair")
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

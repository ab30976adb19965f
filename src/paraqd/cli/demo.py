"""Demonstrate paraqd on the samples (``make demo``)."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paraqd import Scorer, Verdict
from paraqd.cli.console import fail, stdout

QUESTION = (
    "Meera bought 2.5 kg of rice at Rs. 60 per kg, and Arjun paid Rs. 25 more than Meera. How much did Arjun pay?"
)
PARAPHRASES = (
    "Rice costs Rs. 60 a kilogram. Meera took 2500 g, and Arjun spent Rs. 25 more than she did. What did Arjun pay?",
    "Arjun paid Rs. 25 more than Meera, who bought two and a half kg of rice at Rs. 60 per kg. What did he pay?",
    "Meera bought some rice at Rs. 60 per kg. Arjun paid Rs. 25 more than she did. How much did Arjun pay?",
    "Meera bought 2.5 kg of rice at $60 per kg. Arjun paid Rs. 25 more than she did. How much did Arjun pay?",
    "Meera paid Rs. 60 per kg for 2.5 kg of rice. Arjun paid Rs. 25 less than she did. How much did Arjun pay?",
    "Meera paid Rs. 60 per kg for 2.5 kg of rice. Arjun paid Rs. 25 more than she did. How much did Meera pay?",
)
PAIRS = Path("samples") / "pairs.csv"


def verdicts(console: Console, samples: Path = PAIRS) -> int:
    """Judge six paraphrases and the sample pairs, and return the exit code."""
    scorer = Scorer.load()
    console.print(Text("paraqd: is this paraphrase still the same math word problem?", "bold"))
    console.print(Text("\nQuestion: ", "bold") + Text(QUESTION) + Text("\n"))
    console.print(_verdict_table(scorer.score_pairs([(QUESTION, paraphrase) for paraphrase in PARAPHRASES])))
    right, total = _right(scorer, samples)
    console.print(f"\n{samples} has {total} labelled pairs. paraqd judges {right} of them correctly.")
    console.print("The README reports its accuracy on three public test sets and its limitations.\n")
    console.print(Text("What to do next", "bold") + Text(" (after: source .venv/bin/activate)"))
    for command, purpose in (
        (f"paraqd score {samples} -o scored.csv", "score a file of pairs"),
        ("paraqd explain QUESTION PARAPHRASE", "mark the faults of one pair"),
        ("paraqd lab augment samples/questions.csv -o t.csv", "create training pairs"),
    ):
        console.print(f"  {command:<48}{purpose}", soft_wrap=True)
    return 0


def _verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """Return a table with each paraphrase's verdict, score, text and evidence."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for paraphrase, verdict in zip(PARAPHRASES, verdicts, strict=True):
        label, colour = ("valid", "bold green") if verdict.valid else ("INVALID", "bold red")
        text = Text(paraphrase)
        for evidence in verdict.evidence:
            text.append(f"\n→ {evidence.message}", "red")
        table.add_row(Text(label, colour), f"{verdict.score:.2f}", text)
    return table


def _right(scorer: Scorer, samples: Path) -> tuple[int, int]:
    """Return the number of labelled pairs that are judged correctly, and the total number of labelled pairs."""
    with samples.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = scorer.score_pairs([(row["question"], row["paraphrase"]) for row in rows])
    right = [verdict.valid == (row["label"] == "1") for verdict, row in zip(found, rows, strict=True)]
    return sum(right), len(right)


def main() -> int:
    """Run `verdicts`, and return the exit code."""
    if not PAIRS.is_file():
        fail(f"{PAIRS} not found: run this from the root of the repository")
        return 2
    return verdicts(stdout())


if __name__ == "__main__":
    sys.exit(main())

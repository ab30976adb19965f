"""Demonstrate paraqd. ``make demo`` runs `verdicts`, and ``make demo-augment`` runs `augmentation`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paraqd import Scorer, Verdict, read
from paraqd.cli.console import fail, stdout
from paraqd.cli.main import run
from paraqd.operators import Resources, derive_rng, get
from paraqd.reading.word_difference import differences

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
PAIRS, QUESTIONS = Path("samples") / "pairs.csv", Path("samples") / "questions.csv"

LONG_QUESTION = (
    "Meera bought 2.5 kg of rice at Rs. 60 per kg and a dozen eggs. Meera's brother Arjun walked 3 km in half an hour "
    "to the same shop and paid Rs. 25 more than Meera. How much did Arjun pay in total?"
)
VALID = ("NumToWords", "WordsToNumbers", "UnitExpansion", "EqualQuantity", "ConsistentRenaming")
INVALID = (
    "NumberDeletion",
    "NumberChange",
    "NumberSwap",
    "UnitReplacement",
    "EntityReplacement",
    "InconsistentRenaming",
    "RelationFlip",
    "ConditionDeletion",
    "QuestionReplacement",
    "QuestionTruncation",
    "LastSentenceDeletion",
)
_MARKS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}  # for terminals without colours
_STYLES = {"=": "", "-": "red strike", "+": "bold green"}


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
        ("make demo-augment", "create labelled training pairs"),
    ):
        console.print(f"  {command:<48}{purpose}", soft_wrap=True)
    return 0


def augmentation(console: Console, questions: Path = QUESTIONS) -> int:
    """Apply rule operators to a question, augment the sample questions, check the labels, and return the exit code."""
    _show_operators(console)
    pairs, report = Path("out") / "demo.csv", Path("out") / "demo.html"
    pairs.parent.mkdir(exist_ok=True)
    operators = ",".join(("SameSentence", *VALID, *INVALID))
    commands = (
        ["augment", str(questions), "-o", str(pairs), "--operators", operators, "--overwrite", "--report", str(report)],
        ["purity", str(pairs)],
    )
    for title, command in zip(("Augment every sample question", "Check the labels"), commands, strict=True):
        shown = " ".join(command).replace(operators, "…")
        console.print(Text(f"\n{title}: ", "bold") + Text(f"paraqd {shown}"))
        if code := run(command):
            return code
    console.print(f"\nThe pairs are in {pairs}, and the report with examples is in {report}.")
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


def _show_operators(console: Console) -> None:
    console.print(Text("A question", "bold"))
    console.print(LONG_QUESTION)
    table = Table(title="The output of each operator", show_lines=True)
    table.add_column("operator", no_wrap=True)
    table.add_column("label", no_wrap=True)
    table.add_column("output, with deleted and inserted words")
    problem, resources = read(LONG_QUESTION), Resources()
    for name in (*VALID, *INVALID):
        operator = get(name)
        output = operator.apply(problem, derive_rng(3407, "demo", name), resources)
        if output is None:
            continue
        text = Text()
        for segment in differences(LONG_QUESTION, output):
            before, after = ("", "") if console.color_system else _MARKS[segment.sign]
            text.append(before + segment.text + after, style=_STYLES[segment.sign])
        label = Text(operator.polarity, "green" if operator.polarity == "valid" else "red")
        paper = f" ({operator.paper_id})" if operator.paper_id else ""
        table.add_row(name + paper, label, text)
    console.print(table)


def main() -> int:
    """Run `augmentation` if the argument is ``augment``, otherwise run `verdicts`, and return the exit code."""
    missing = [str(path) for path in (PAIRS, QUESTIONS) if not path.is_file()]
    if missing:
        fail(f"{' and '.join(missing)} not found: run this from the root of the repository")
        return 2
    return augmentation(stdout()) if sys.argv[1:] == ["augment"] else verdicts(stdout())


if __name__ == "__main__":
    sys.exit(main())

"""What ``make demo`` shows: verdicts on the sample pairs, then one question under every rule operator."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paraqd.cli.main import run
from paraqd.operators import Resources, derive_rng, get
from paraqd.reading import read
from paraqd.reading.word_difference import differences

QUESTION = (
    "Meera bought 2.5 kg of rice at Rs. 60 per kg and a dozen eggs. Meera's brother Arjun walked 3 km in half an hour "
    "to the same shop and paid Rs. 25 more than Meera. How much did Arjun pay in total?"
)
# a fluent paraphrase that is another problem
CHANGED = (
    "Meera paid Rs. 60 per kg for 2.5 kg of rice, and bought twelve eggs. Her brother Arjun walked 3 km to the shop in "
    "30 minutes and paid Rs. 25 less than she did. How much did he pay in all?"
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
_MARKS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}  # where colours do not show
_STYLES = {"=": "", "-": "red strike", "+": "bold green"}


def show_operators(console: Console) -> None:
    """Print one question and what each operator makes of it."""
    problem = read(QUESTION)
    console.print(Text("A question, as paraqd reads it", style="bold"))
    console.print(QUESTION)
    quantities = ", ".join(f"{q.surface} = {q.value} {q.unit or ''}".rstrip() for q in problem.quantities)
    console.print(f"[dim]quantities:[/] {quantities}")
    console.print(f"[dim]names:[/] {', '.join(dict.fromkeys(e.text for e in problem.entities))}")
    console.print(f"[dim]asks:[/] {problem.question.text if problem.question else '–'}\n")
    table = Table(title="What the operators make of it", show_lines=True)
    table.add_column("operator", no_wrap=True)
    table.add_column("label", no_wrap=True)
    table.add_column("paraphrase, with what was lost and what is new")
    resources = Resources()
    for name in (*VALID, *INVALID):
        operator = get(name)
        output = operator.apply(problem, derive_rng(3407, "demo", name), resources)
        if output is None:
            continue
        text = Text()
        for segment in differences(QUESTION, output):
            before, after = ("", "") if console.color_system else _MARKS[segment.sign]
            text.append(before + segment.text + after, style=_STYLES[segment.sign])
        label = Text(operator.polarity, style="green" if operator.polarity == "valid" else "red")
        paper = f" ({operator.paper_id})" if operator.paper_id else ""
        table.add_row(name + paper, label, text)
    console.print(table)


def show_verdicts(console: Console, samples: Path) -> int:
    """Explain one verdict, then score the sample pairs; return the exit code."""
    console.print("[bold]Is it still the same problem?[/] paraqd explain QUESTION PARAPHRASE\n")
    code = run(["explain", QUESTION, CHANGED])
    if code == 0:
        console.print(f"\n[bold]The same for a file of pairs:[/] paraqd score {samples}\n")
        code = run(["score", str(samples)])
    return code


def main() -> None:
    """Show verdicts on the sample pairs, then what the operators make of questions."""
    console = Console(highlight=False)
    questions, pairs = Path("samples") / "questions.csv", Path("samples") / "pairs.csv"
    if not questions.is_file() or not pairs.is_file():
        console.print(f"{questions} and {pairs} are not here: run this from the project's folder")
        sys.exit(2)
    code = show_verdicts(console, pairs)
    if code == 0:
        console.print()
        show_operators(console)
        code = show_augmenting(console, questions)
    sys.exit(code)


def show_augmenting(console: Console, questions: Path) -> int:
    """Augment the sample questions and check the labels; return the exit code."""
    out = Path("out") / "demo.parquet"
    out.parent.mkdir(exist_ok=True)
    operators = ",".join(("SameSentence", *VALID, *INVALID))
    console.print(f"\n[bold]The same for every sample:[/] paraqd augment {questions} -o {out} --operators …")
    code = run(
        [
            "augment",
            str(questions),
            "-o",
            str(out),
            "--operators",
            operators,
            "--overwrite",
            "--report",
            "out/demo.html",
        ]
    )
    if code == 0:
        console.print(f"\n[bold]Are the labels right?[/] paraqd purity {out}")
        code = run(["purity", str(out)])
    console.print("\nThe pairs are in out/demo.parquet, the report with examples in out/demo.html.")
    return code


if __name__ == "__main__":
    main()

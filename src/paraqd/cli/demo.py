"""What ``make demo`` shows: one question under every rule operator, then all samples augmented."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paraqd.cli.main import run
from paraqd.corpus.difference import differences
from paraqd.operators import Resources, derive_rng, get
from paraqd.reading import read

QUESTION = (
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


def main() -> None:
    """Show the operators, then augment the samples and check the labels."""
    console = Console(highlight=False)
    show_operators(console)
    samples = Path("samples") / "questions.csv"
    if not samples.is_file():
        console.print("samples/questions.csv is not here: run this from the project's folder")
        sys.exit(2)
    out = Path("out") / "demo.parquet"
    out.parent.mkdir(exist_ok=True)
    operators = ",".join(("SameSentence", *VALID, *INVALID))
    console.print(f"\n[bold]The same for every sample:[/] paraqd augment {samples} -o {out} --operators …")
    code = run(
        ["augment", str(samples), "-o", str(out), "--operators", operators, "--overwrite", "--report", "out/demo.html"]
    )
    if code == 0:
        console.print(f"\n[bold]Are the labels right?[/] paraqd purity {out}")
        code = run(["purity", str(out)])
    console.print("\nThe pairs are in out/demo.parquet, the report with examples in out/demo.html.")
    sys.exit(code)


if __name__ == "__main__":
    main()

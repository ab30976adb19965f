"""Provide the command ``paraqd explain``, which shows the evidence behind one pair's score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paraqd.cli.console import stdout, write_json
from paraqd.cli.options import OUTPUT, AsJson, JudgeName, Mode, ModelName, ModeName, Threshold

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from paraqd.scoring.verdict import Verdict

EXAMPLE = 'Example: paraqd explain "Tom has 5 pens and buys 3. How many has he?" "Tom has 5 pens. How many has he?"'

_MEANING = "0.5 means undecided. Of the pairs that score about 0.9, nine in ten are valid."
_BAR = 60  # cells, if the terminal is wide enough


def explain(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    paraphrase: Annotated[
        str, typer.Argument(metavar="PARAPHRASE", help="The paraphrase. Put -- before texts that begin with a hyphen.")
    ],
    model: ModelName = None,
    mode: ModeName = Mode.fused,
    judge: JudgeName = None,
    threshold: Threshold = None,
    as_json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the verdict and the score.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Show a paraphrase's score, the evidence against it, and warnings.

    Each piece of evidence has a number. In both texts, this number marks the words in question. The score ranges from
    -1 to 1. 0.5 means undecided. Of the pairs that score about 0.9, nine in ten are valid.
    """
    from rich.padding import Padding
    from rich.text import Text

    from paraqd.cli.options import load_scorer
    from paraqd.text_check import pair_problem

    if why := pair_problem(question, paraphrase):
        raise typer.BadParameter(why)
    scorer = load_scorer(model, mode, threshold, judge=judge)
    try:
        verdict = scorer.score(question, paraphrase)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if as_json:
        texts = {"question": question, "paraphrase": paraphrase}
        write_json({**texts, **verdict.to_dict(), "threshold": scorer.threshold})
        return
    console = stdout()
    if not quiet:
        _show_texts(console, question, paraphrase, verdict)
        _show_evidence(console, verdict)
        _show_warnings(console, verdict)
        console.print(_heading("Score"))
        console.print(score_bar(verdict.score, scorer.threshold, console))
    console.print(Padding(_conclusion(verdict, scorer.threshold), (0, 0, 0, 0 if quiet else 2)))
    if not quiet:
        if mode is Mode.fused:
            console.print(Padding(Text(_MEANING, style="dim"), (0, 0, 0, 2)))
        console.print(Text(verdict.signature, style="dim"), soft_wrap=True)


def _show_texts(console: Console, question: str, paraphrase: str, verdict: Verdict) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from paraqd.cli.marking import marked

    found = verdict.evidence
    for title, text, spans in (
        ("Question", question, [piece.question_spans for piece in found]),
        ("Paraphrase", paraphrase, [piece.paraphrase_spans for piece in found]),
    ):
        console.print(_heading(title))
        shown = marked(text, spans) if text.strip() else Text("(blank)", style="italic")
        console.print(Padding(shown, (0, 0, 1, 2)))


def _show_evidence(console: Console, verdict: Verdict) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from paraqd.cli.marking import style
    from paraqd.terminal_text import visible

    console.print(_heading("Evidence against the paraphrase"))
    if not verdict.evidence:
        console.print(Padding(Text("None.", style="dim"), (0, 0, 1, 2)))
        return
    for number, piece in enumerate(verdict.evidence, start=1):
        line = Text()
        line.append(f"[{number}] ", style=f"bold {style(number)}")
        line.append(visible(piece.message))
        console.print(Padding(line, (0, 0, 0, 2)))
        moved = f"moved the score by {piece.delta:+.2f}" if abs(piece.delta) >= 0.005 else "did not move the score"
        console.print(Padding(Text(f"{piece.kind.value}, {moved}", style="dim"), (0, 0, 0, 6)))
    console.print()


def _show_warnings(console: Console, verdict: Verdict) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from paraqd.terminal_text import visible

    if not verdict.warnings:
        return
    console.print(_heading("Warnings"))
    for warning in verdict.warnings:
        console.print(Padding(Text(visible(warning), style="yellow"), (0, 0, 0, 2)))
    console.print()


def score_bar(score: float, threshold: float, console: Console) -> Text:
    """Return a bar from -1 to 1 that shows the score, marks the threshold and fits the console's width."""
    from rich.text import Text

    plain = not (console.encoding or "").lower().startswith("utf")
    full, empty, cut = "#-|" if plain else "█░┃"
    width = max(8, min(_BAR, console.width - len("  -1  1")))
    filled, mark = _place(score, width), min(_place(threshold, width), width - 1)
    bar = Text("  -1 " + full * filled + empty * (width - filled) + " 1")
    start = len("  -1 ")
    bar.stylize("green" if score > threshold else "red", start, start + filled)
    bar.stylize("dim", start + filled, start + width)
    return Text.assemble(bar[: start + mark], (cut, "bold"), bar[start + mark + 1 :])


def _place(value: float, width: int) -> int:
    """Return the number of a bar's cells that lie below a value.

    >>> [_place(value, 20) for value in (-1, 0, 0.5, 1)]
    [0, 10, 15, 20]
    """
    return round((min(max(value, -1.0), 1.0) + 1) / 2 * width)


def _conclusion(verdict: Verdict, threshold: float) -> Text:
    from rich.text import Text

    word, colour = ("valid", "green") if verdict.valid else ("invalid", "red")
    return Text.assemble((f"{word} {verdict.score:.3f}", f"bold {colour}"), f" (valid above {threshold:g})")


def _heading(title: str) -> Text:
    from rich.text import Text

    return Text(title, style="bold")

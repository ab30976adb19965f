"""Provide the command ``paraqd lab checklist``, which tests a scorer's capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from paraqd.cli.console import say, stderr, stdout, write_json
from paraqd.cli.options import OUTPUT, AsJson, JudgeName, Mode, Quiet, Threshold, names_in
from paraqd.terminal_text import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from paraqd.evaluation.checklist import CapabilityRow, CaseResult, ChecklistReport, Judge
    from paraqd.progress import Progress
    from paraqd.scoring.verdict import Span

EXAMPLE = "Example: paraqd lab checklist --capability unit_swapped --failures 5"

_COSINE = "cosine"
_EXAMPLES = 2  # failing examples for each capability, unless --failures specifies another number
_GOOD, _FAIR = 0.95, 0.8


def checklist(
    scorer: Annotated[
        str,
        typer.Option(
            metavar="NAME|DIR",
            help="fused or encoder: the default model in this mode; cosine: the untrained all-MiniLM-L6-v2; or a model "
            "folder.",
        ),
    ] = Mode.fused.value,
    mode: Annotated[Mode | None, typer.Option(help="The mode for a model folder. Default: fused.")] = None,
    judge: JudgeName = None,
    threshold: Threshold = None,
    capability: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Test only these capabilities, separated by commas. May be repeated."),
    ] = None,
    cases: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="A folder with your own cases: one CAPABILITY.jsonl file per capability."),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Exit with code 1 if the share of correct verdicts is below this value."),
    ] = None,
    failures: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=f"The number of failed cases to show for each capability. Default: {_EXAMPLES}, or all with --json.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Test a scorer's capabilities, and count correct verdicts and correct evidence.

    Each case is a pair that tests one capability. Evidence is correct if it names the fault and marks at least one of
    the words at fault.
    """
    from paraqd.cli.progress import Bar
    from paraqd.evaluation.checklist import load_cases, run_checklist

    chosen = [name for given in capability or () for name in names_in(given) or ()]
    found = load_cases(cases, capabilities=chosen if capability else None)
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        report = run_checklist(_judge(scorer, mode, judge, threshold, bar.update), found)
    if as_json:
        write_json({"scorer": scorer, **report.to_dict(failures=failures)})
    elif not quiet:
        _show(report, _EXAMPLES if failures is None else failures)
    total = report.total
    if at_least is not None and total.pass_rate < at_least:
        say(f"{total.passed:,} of {total.n:,} verdicts are correct, which is below --at-least {at_least:g}")
        raise typer.Exit(1)


def _judge(scorer: str, mode: Mode | None, judge: str | None, threshold: float | None, progress: Progress) -> Judge:
    """Load the scorer and return a function that judges pairs."""
    from paraqd.cli.options import load_scorer

    named = scorer in list(Mode)
    if mode is not None and (named or scorer == _COSINE):
        raise typer.BadParameter(f"--mode applies only to a model folder, not to --scorer {scorer}")
    if scorer == _COSINE:
        if judge is not None:
            raise typer.BadParameter(f"--scorer {_COSINE} has no judge: leave out --judge {judge}")
        return _cosine(threshold, progress)
    chosen = Mode(scorer) if named else mode or Mode.fused
    loaded = load_scorer(None if named else scorer, chosen, threshold, judge=judge)
    return lambda pairs: loaded.score_pairs(pairs, progress=progress)


def _cosine(threshold: float | None, progress: Progress) -> Judge:
    from paraqd.evaluation.checklist import judge_by
    from paraqd.scoring.cosine import cosine_scores
    from paraqd.scoring.signature import folder_hash, signature
    from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, encoder_folder, load_encoder
    from paraqd.scoring.verdict import THRESHOLD

    cut = THRESHOLD if threshold is None else threshold
    encoder = load_encoder()
    signed = signature(DEFAULT_ENCODER, folder_hash(encoder_folder()), "encoder", cut)
    return judge_by(lambda pairs: cosine_scores(encoder, pairs, progress=progress), threshold=cut, signature=signed)


def _show(report: ChecklistReport, failures: int) -> None:
    from rich.table import Table
    from rich.text import Text

    console, total = stdout(), report.total
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("capability", no_wrap=True)
    for title in ("correct", "valid", "invalid", "evidence"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in report.capabilities:
        table.add_row(*_cells(row))
    table.add_section()
    if len(report.capabilities) > 1:
        table.add_row(*_cells(total), style="bold")
    console.print(table)
    notes = [
        "valid, invalid: correct verdicts on such pairs; evidence: detected faults with correct evidence",
        f"{total.rejected_with_evidence:,} of {total.rejected:,} invalid verdicts have evidence",
    ]
    for note in notes:
        console.print(Text(note, style="dim"))
    console.print(report.signature, soft_wrap=True)
    _show_examples(console, report, failures)


def _cells(row: CapabilityRow) -> list[str | Text]:
    from rich.text import Text

    def rate(share: float | None, text: str) -> Text:
        return Text("–") if share is None else Text(text, style=_colour(share))

    return [
        Text(row.capability),
        rate(row.pass_rate, f"{row.pass_rate:.0%}" if row.pass_rate in (0, 1) else f"{row.pass_rate:.1%}"),
        f"{row.valid_passed}/{row.valid}" if row.valid else "–",
        f"{row.invalid_passed}/{row.invalid}" if row.invalid else "–",
        rate(row.evidence_rate, f"{row.evidence_right}/{row.evidence_asked}"),
    ]


def _colour(share: float) -> str:
    return "green" if share >= _GOOD else "yellow" if share >= _FAIR else "red"


def _show_examples(console: Console, report: ChecklistReport, most: int) -> None:
    """Print failed cases. For each capability, wrong verdicts come before wrong evidence."""
    from rich.text import Text

    from paraqd.evaluation.checklist import first_of_each

    failing = list(report.failures)
    if any(result.verdict.evidence for result in report.results):  # a cosine scorer reports no evidence
        failing += report.misplaced
    names = [row.capability for row in report.capabilities]
    failing.sort(key=lambda result: names.index(result.case.capability))
    shown = first_of_each(failing, most)
    for result in shown:
        case, verdict = result.case, result.verdict
        what = "wrong evidence" if result.passed else "wrong verdict"
        console.print(
            Text(f"\n{case.capability}, line {case.line}: {what}", style="yellow" if result.passed else "red")
        )
        _field(console, "question", _marked(console, case.question, case.question_spans))
        _field(console, "paraphrase", _marked(console, case.paraphrase, case.paraphrase_spans))
        _field(console, "expected", Text(_expected(result)))
        _field(console, "got", Text(f"{_word(verdict.valid)}, score {verdict.score:.3f}"))
        for piece in verdict.evidence:
            words = [case.question[a:b] for a, b in piece.question_spans]
            words += [case.paraphrase[a:b] for a, b in piece.paraphrase_spans]
            _field(console, "evidence", Text(visible(f"{piece.kind}: {piece.message} ({' | '.join(words)})")))
    if len(shown) < len(failing) and shown:
        console.print(
            Text(f"\n{len(failing) - len(shown):,} more failed cases; pass --failures to show them", style="dim")
        )


def _expected(result: CaseResult) -> str:
    kinds = " or ".join(result.case.kinds)
    return _word(result.case.label == 1) + (f", {kinds}" if kinds else "")


def _word(valid: bool) -> str:
    return "valid" if valid else "invalid"


def _field(console: Console, name: str, text: Text) -> None:
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=12)
    grid.add_column()
    grid.add_row(f"  {name}", text)
    console.print(grid)


def _marked(console: Console, text: str, spans: Sequence[Span]) -> Text:
    """Return a text with the fault marked in colour, or in brackets if the terminal does not support colours."""
    from rich.text import Text

    marked, done = Text(), 0
    before, after = ("[", "]") if console.color_system is None else ("", "")
    for start, end in sorted(spans):
        marked.append(visible(text[done:start]))
        marked.append(f"{before}{visible(text[max(start, done) : end])}{after}", style="bold red")
        done = max(done, end)
    marked.append(visible(text[done:]))
    return marked

"""Provide the command ``paraqd paraphrase``, which writes paraphrases that pass the scorer."""

from __future__ import annotations

from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import listed_rows, say, stdout, write_json
from paraqd.cli.options import (
    AsJson,
    Device,
    IdColumn,
    JudgeName,
    Output,
    QuestionColumn,
    QuestionsInput,
    Quiet,
    Seed,
    names_in,
)
from paraqd.cli.run_options import run_command, running, say_problems
from paraqd.paraphrasing.sources.loading import KEY_VARIABLE, RULES, is_address
from paraqd.plural import counted

if TYPE_CHECKING:
    from paraqd.paraphrasing.report import ParaphraseReport

EXAMPLE = "Example: paraqd paraphrase questions.csv -o paraphrases.csv -n 5 --styles plain,exam"
_LISTED = 20  # questions with too few paraphrases that are listed one by one
ENDPOINT = "Endpoint"


class Choice(StrEnum):
    """The method of choice."""

    mmr = "mmr"
    pareto = "pareto"


class SearchName(StrEnum):
    """The search for candidates."""

    sample = "sample"
    anneal = "anneal"


@run_command
def paraphrase(
    source: QuestionsInput,
    out: Output,
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="The number of paraphrases per question.")] = 5,
    by: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="rules|MODEL|URL",
            help="What writes the candidates: rules (offline), a model's folder or name, or the address of an "
            "OpenAI-compatible endpoint, such as https://HOST/v1.",
        ),
    ] = RULES,
    styles: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Styles, separated by commas. Rules know plain, exam and engaging."),
    ] = None,
    choice: Annotated[
        Choice,
        typer.Option(help="mmr: weigh the score and the distances; pareto: choose from the Pareto front of the three."),
    ] = Choice.mmr,
    repair: Annotated[
        bool, typer.Option("--repair/--no-repair", help="Try to mend invalid candidates with exactly one fault.")
    ] = True,
    gate: Annotated[bool, typer.Option("--gate/--no-gate", help="Write only paraphrases that pass the scorer.")] = True,
    search: Annotated[
        SearchName, typer.Option(help="sample: draw candidates; anneal: also improve them with simulated annealing.")
    ] = SearchName.sample,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="The number of candidates per question. Default: 8 per paraphrase.")
    ] = None,
    most_overlap: Annotated[
        float, typer.Option(help="The largest share of words that a paraphrase may have in common with the question.")
    ] = 0.80,
    most_alike: Annotated[
        float, typer.Option(help="The largest share of words that two paraphrases of a question may have in common.")
    ] = 0.80,
    least_score: Annotated[
        float,
        typer.Option(help="The lowest score of a paraphrase, from -1 to 1. With -1, every valid paraphrase passes."),
    ] = 0.95,
    judge: JudgeName = None,
    seed: Seed = 3407,
    question_column: QuestionColumn = "question",
    id_column: IdColumn = "id",
    overwrite_columns: Annotated[
        bool,
        typer.Option("--overwrite-columns", help="Replace input columns that have the same names as added columns."),
    ] = False,
    device: Device = None,
    endpoint_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The model that the endpoint should use.", rich_help_panel=ENDPOINT),
    ] = None,
    key_variable: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"The environment variable with the key of the endpoint. Default: {KEY_VARIABLE}.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None,
    most_requests: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after this many requests in this run.", rich_help_panel=ENDPOINT),
    ] = None,
    most_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after this many tokens in this run.", rich_help_panel=ENDPOINT),
    ] = None,
    requests_per_minute: Annotated[
        float | None,
        typer.Option(min=0.001, help="Send at most this many requests per minute.", rich_help_panel=ENDPOINT),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="The folder in which answers are kept, so that no request is paid for twice. Default: the user's "
            "cache folder.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    run: dict[str, Any],
) -> None:
    """Write paraphrases of every question in a file that pass the scorer and that differ from each other.

    The output has one row for each paraphrase: the columns of its question, and paraphrase, score, valid, evidence,
    source, style, edits, repaired, rank, error and signature. A row without a usable question is kept, with the reason
    in the column error. To resume an interrupted run, repeat the command.
    """
    from paraqd.paraphrasing.choice import Limits
    from paraqd.paraphrasing.files import paraphrase_file
    from paraqd.paraphrasing.paraphraser import Settings
    from paraqd.tables.table import Columns

    given = {
        "model": endpoint_model,
        "key_variable": key_variable,
        "most_requests": most_requests,
        "most_tokens": most_tokens,
        "requests_per_minute": requests_per_minute,
        "cache": cache,
    }
    endpoint = {name: value for name, value in given.items() if value is not None}
    if endpoint and not is_address(by):
        raise typer.BadParameter("the options of an endpoint need one: pass --source https://HOST/v1")
    if device is not None and (by == RULES or is_address(by)):
        raise typer.BadParameter("--device is for a model that runs on this machine: pass --source MODEL")
    for option, limit in (("--most-overlap", most_overlap), ("--most-alike", most_alike)):
        if not 0 < limit <= 1:
            raise typer.BadParameter(f"{option} {limit:g}: choose a limit above 0 and at most 1")
    if not -1 <= least_score <= 1:
        raise typer.BadParameter(f"--least-score {least_score:g}: choose a score from -1 to 1")
    if candidates is not None and candidates < n:
        few = f"{counted(candidates, 'candidate')} cannot give {counted(n, 'paraphrase')}"
        raise typer.BadParameter(f"--candidates {candidates}: {few}; ask for more")
    settings = Settings(
        n=n,
        styles=tuple(names_in(styles) or ()),
        choice=choice.value,
        repair=repair,
        gate=gate,
        search=search.value,
        candidates=candidates,
        limits=Limits(question=most_overlap, others=most_alike, score=least_score),
        seed=seed,
    )
    with running(run, quiet=quiet) as options:
        report = paraphrase_file(
            source,
            out,
            settings=settings,
            by=by,
            judge=judge and judge.value,
            device=device,
            endpoint=endpoint,
            columns=Columns(question=question_column, id=id_column),
            overwrite_columns=overwrite_columns,
            **options,
        )
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(report, n)
    _say_unusable(report)
    _say_short(report, n)
    say_problems(report.problems)
    if report.skipped or report.problems:
        raise typer.Exit(1)


def _show(report: ParaphraseReport, n: int) -> None:
    lines = (
        ("questions", report.questions),
        (f"with {n}", report.complete),
        ("candidates", report.candidates),
        ("passed the gate", report.passed),
        ("passed when mended", report.repaired),
    )
    for name, count in lines:
        stdout().print(f"{name:<18} {count:>8,}")
    stdout().print(f"{counted(report.written, 'paraphrase')} → {report.out}", soft_wrap=True)


def _say_unusable(report: ParaphraseReport) -> None:
    """Name the rows without a usable question, with the reasons."""
    if not report.skipped:
        return
    by_file = [
        (file, listed_rows((each.row, each.why, each.id) for each in rows))
        for file, rows in groupby(report.unusable, key=lambda each: each.file)
    ]
    alone = [file for file, _ in by_file] == [report.source]
    listed = "; ".join(rows if alone else f"{file}: {rows}" for file, rows in by_file)
    more = report.skipped - len(report.unusable)
    rest = f"; and {counted(more, 'more row')}" if more else ""
    say(f"could not paraphrase {report.skipped:,} of {counted(report.rows, 'row')} ({listed}{rest})")


def _say_short(report: ParaphraseReport, n: int) -> None:
    """Name the questions with too few paraphrases, with the reasons."""
    missing = report.questions - report.complete
    if missing:
        say(f"{counted(missing, 'question')} with fewer than {counted(n, 'paraphrase')}:")
    for each in report.short[:_LISTED]:
        place = "" if each.file == report.source else f"{each.file}, "
        name = f" ({each.id})" if each.id else ""
        say(f"{place}row {each.row}{name}: {each.found} of {n}; {each.why}")
    if missing > _LISTED:
        which = "them" if missing == len(report.short) else f"the first {len(report.short):,}"
        say(f"and {counted(missing - _LISTED, 'more question')}; --json lists {which}")

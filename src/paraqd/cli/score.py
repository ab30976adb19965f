"""``paraqd score``: say of every pair in a file whether it is valid, and why not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import named_rows, note, say, stderr, stdout, write_json
from paraqd.cli.folders import ADDRESS, ENGINE, PART_ROWS, VERBOSE, WORKERS, EngineName
from paraqd.cli.options import Mode

if TYPE_CHECKING:
    from paraqd.cli.score_file import ScoringInterrupted, Source
    from paraqd.runs.score_rows import Counts, Judged, PairScorer

EXAMPLE = "Example: paraqd score pairs.csv -o scored.csv"

_FILES, _SHOWN, _SPEED = "Files", "What is shown", "Speed"
_INTERRUPTED = 130
_STYLES = {"valid": "green", "invalid": "red", "not scored": "yellow"}
# shows rows with what was found about each: (number, row, judged)
_Show = Callable[[Iterable[tuple[int, dict[str, Any], "Judged"]]], None]


class Only(StrEnum):
    """Which rows are wanted."""

    valid = "valid"
    invalid = "invalid"


def score(
    source: str = typer.Argument(
        ...,
        metavar="IN",
        help="Pairs: .csv, .tsv, .jsonl (each also .gz or .zst) or .parquet; - is JSONL. Or a folder of them.",
    ),
    out: str | None = typer.Option(
        None,
        "--out",
        "-o",
        help="Where the rows go with their scores; the format by its name, NAME/ a folder. Else they are shown.",
    ),
    model: str | None = typer.Option(None, "--model", help="A model folder; the shipped one (default) unless given."),
    mode: Mode = typer.Option(Mode.fused, "--mode", help="encoder is the paper's plain cosine."),
    threshold: float | None = typer.Option(
        None, "--threshold", min=-1, max=1, help="Valid is a score above it; the model's own, 0.5, unless given."
    ),
    only: Only | None = typer.Option(None, "--only", help="Keep the rows with this verdict alone."),
    why: bool = typer.Option(
        False, "--why", help="Add a column with the evidence in plain sentences, for reading in a spreadsheet."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an output that is there."),
    restart: bool = typer.Option(False, "--restart", help="Throw an unfinished run away and start again."),
    overwrite_columns: bool = typer.Option(
        False, "--overwrite-columns", help="Replace columns that are named like those added here."
    ),
    question_column: str = typer.Option("question", "--question-column", rich_help_panel=_FILES),
    paraphrase_column: str = typer.Option("paraphrase", "--paraphrase-column", rich_help_panel=_FILES),
    encoding: str | None = typer.Option(
        None, "--encoding", help="Of a text file that is not UTF-8, such as cp1252.", rich_help_panel=_FILES
    ),
    keep_going: bool = typer.Option(
        False,
        "--keep-going",
        help="Score what can be read of text files that are cut off or damaged, and end with 1.",
        rich_help_panel=_FILES,
    ),
    as_json: bool = typer.Option(
        False,
        "--json",
        help="Write JSON for a program: the counts, or without -o the rows, one a line.",
        rich_help_panel=_SHOWN,
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no counts.", rich_help_panel=_SHOWN),
    threads: int | None = typer.Option(
        None,
        "--threads",
        min=1,
        help="Threads that the model may use; one for each core unless given.",
        rich_help_panel=_SPEED,
    ),
    skip: bool = typer.Option(
        True,
        "--skip/--no-skip",
        help="Do not ask the model about pairs that the reading alone decides, or ask about every pair.",
        rich_help_panel=_SPEED,
    ),
    engine: EngineName = ENGINE,
    workers: int | None = WORKERS,
    address: str | None = ADDRESS,
    part_rows: int | None = PART_ROWS,
    verbose: bool = VERBOSE,
) -> None:
    """Score every pair of a file from -1 to 1, and say what speaks against each paraphrase.

    The rows come out as they were, in their order, with the columns score, valid, evidence (JSON), error and signature
    added. A run that was broken off goes on where it was when the same command is given again. A folder of files is
    scored into a folder of Parquet parts, here or on a Ray cluster.
    """
    from paraqd.cli.folders import Folders
    from paraqd.cli.options import check_outputs, load_scorer
    from paraqd.cli.progress import Bar, Lines
    from paraqd.cli.score_file import ScoringInterrupted, look_through, score_to_file
    from paraqd.data.tables import Columns

    if out == "-":
        raise typer.BadParameter("-o - is no file: for JSON lines on standard output give --json and no -o")
    folders = Folders.wanted(source, out, engine, workers, address, part_rows, verbose)
    if folders is not None:
        if threads is not None and (workers is not None or engine is EngineName.ray):
            other = "--workers" if workers is not None else "--engine ray"
            raise typer.BadParameter(f"--threads does not go with {other}: workers have one core each")
        from paraqd.cli.score_folder import score_folders

        score_folders(
            folders,
            model=(model, mode, threshold),
            skip=skip,
            threads=threads,
            columns=Columns(question=question_column, paraphrase=paraphrase_column),
            only=only,
            why=why,
            keep_going=keep_going,
            overwrite=overwrite,
            restart=restart,
            overwrite_columns=overwrite_columns,
            encoding=encoding,
            as_json=as_json,
            quiet=quiet,
        )
        return
    if out is not None:
        check_outputs([out], [source], overwrite=overwrite)
    scorer = load_scorer(model, mode, threshold, threads=threads, skip=skip)
    columns = Columns(question=question_column, paraphrase=paraphrase_column)
    # rows that are shown on the terminal are progress enough
    shown = not quiet and stderr().is_terminal and (out is not None or not stdout().is_terminal)
    try:
        with Bar(shown=shown) if quiet or stderr().is_terminal else Lines() as bar:
            pairs = look_through(
                source,
                columns,
                encoding=encoding,
                overwrite_columns=overwrite_columns,
                why=why,
                keep_going=keep_going,
                on_progress=bar.update,
            )
            for line in pairs.notes:
                note(line)
            if out is None:
                counts = _stream(pairs, scorer, only, _json_lines if as_json else _Grid(pairs), bar.update)
            else:
                counts = score_to_file(pairs, out, scorer, only=only, restart=restart, on_progress=bar.update, say=note)
    except ScoringInterrupted as interrupt:
        say(_stopped(interrupt))
        raise typer.Exit(_INTERRUPTED) from None
    if as_json and out is not None:
        write_json(
            {
                "source": pairs.table.name,
                "out": out,
                **counts.to_dict(),
                **({"damage": pairs.damage} if pairs.damage else {}),
                "threshold": scorer.threshold,
                "signature": scorer.signature,
            }
        )
    elif not quiet:
        show_counts(counts, out, only, scorer, on_stderr=as_json)
    if counts.errors:
        more = counts.errors - len(counts.error_rows)
        say(
            f"could not score {counts.errors:,} of {counts.rows:,} rows ({named_rows(counts.error_rows)}"
            + (f"; and {more:,} more)" if more else ")")
        )
    if pairs.damage:
        say(f"{pairs.damage}; the {counts.rows:,} rows before that are done")
    if counts.errors or pairs.damage:
        raise typer.Exit(1)


def _stopped(interrupt: ScoringInterrupted) -> str:
    line = f"stopped: {interrupt.rows:,} of {interrupt.total:,} rows are scored"
    if interrupt.journal is None or not interrupt.rows:
        return line
    return f"{line}; they are kept in {interrupt.journal}; run the same command again to go on"


# --- rows shown as they are scored ---------------------------------------------------------------


def _stream(
    pairs: Source,
    scorer: PairScorer,
    only: str | None,
    show: _Show,
    on_progress: Callable[[str, int, int | None], None],
) -> Counts:
    """Score the rows and show each chunk at once."""
    from paraqd.cli.score_file import ScoringInterrupted
    from paraqd.runs.score_rows import Counts, judged_chunks, wanted

    counts = Counts()
    try:
        on_progress("scoring", 0, pairs.rows)
        for chunk, found in judged_chunks(pairs.chunks(), pairs.columns, scorer):
            shown = []
            for row, judged in zip(chunk, found, strict=True):
                keep = wanted(judged, only)
                counts.add(judged, written=keep)
                if keep:
                    own = {name: value for name, value in row.items() if name not in pairs.added}
                    shown.append((counts.rows, {**own, **judged.columns(pairs.added, scorer.signature)}, judged))
            show(shown)
            on_progress("scoring", counts.rows, pairs.rows)
    except KeyboardInterrupt:
        raise ScoringInterrupted(counts.rows, pairs.rows) from None
    return counts


def _json_lines(rows: Iterable[tuple[int, dict[str, Any], Judged]]) -> None:
    from paraqd.data.writers import json_text
    from paraqd.runs.column_types import jsonable

    # a progress bar takes the place of sys.stdout while it is shown: the rows must not go where it goes
    file = getattr(sys.stdout, "rich_proxied_file", sys.stdout)
    for _, row, _ in rows:
        plain = {name: jsonable(value) for name, value in row.items()}
        file.write(json_text(plain, encoding=file.encoding or "utf-8") + "\n")
    file.flush()


class _Grid:
    """Shows rows as a table that goes on: every piece of it has the same columns."""

    def __init__(self, pairs: Source) -> None:
        self._paraphrase = pairs.columns.paraphrase
        self._digits = max(3, len(str(pairs.rows)))
        self._begun = False

    def __call__(self, rows: Iterable[tuple[int, dict[str, Any], Judged]]) -> None:
        from rich.table import Table
        from rich.text import Text

        console = stdout()
        grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_header=not self._begun)
        grid.add_column("row", justify="right", width=self._digits)
        grid.add_column("score", justify="right", width=5)
        grid.add_column("verdict", width=max(map(len, _STYLES)))
        room = max(10, console.width - self._digits - 5 - 10 - 3 * 2)
        grid.add_column("paraphrase, and what speaks against it", width=room)
        for number, row, judged in rows:
            verdict = _verdict(judged)
            score = "" if judged.score is None else f"{judged.score:.2f}"
            text = _texts(row.get(self._paraphrase), judged, room)
            grid.add_row(str(number), score, Text(verdict, style=_STYLES[verdict]), text)
        if grid.row_count:
            self._begun = True
            console.print(grid)


def _verdict(judged: Judged) -> str:
    if judged.error is not None:
        return "not scored"
    return "valid" if judged.valid else "invalid"


def _texts(paraphrase: object, judged: Judged, room: int) -> Any:
    """Return the beginning of the paraphrase, and below it the first thing that speaks against it."""
    from rich.text import Text

    from paraqd.cli.marking import visible

    given = "" if paraphrase is None else visible(" ".join(str(paraphrase)[:1000].split()))
    text = Text(given) if given else Text("(blank)", style="italic")
    text.truncate(room, overflow="ellipsis")
    if judged.message:
        more = len(judged.evidence) - 1
        message = visible(judged.message) + (f" (and {more} more)" if more > 0 else "")
        text.append(f"\n{message}", style=_STYLES[_verdict(judged)])
    return text


# --- the end --------------------------------------------------------------------------------------


def show_counts(counts: Counts, out: str | None, only: str | None, scorer: PairScorer, *, on_stderr: bool) -> None:
    """Show how many rows have which verdict and which fault."""
    from rich.table import Table
    from rich.text import Text

    console = stderr() if on_stderr else stdout()
    grid = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    grid.add_column("", no_wrap=True)
    grid.add_column("", justify="right", no_wrap=True)
    grid.add_column("", justify="right", no_wrap=True)

    def add(name: str, number: int) -> None:
        grid.add_row(Text(name, style=_STYLES[name]), f"{number:,}", f"{number / max(1, counts.rows):.1%}")

    add("valid", counts.valid)
    add("invalid", counts.invalid)
    for kind, number in counts.ordered_faults:
        grid.add_row(Text(f"  {kind}", style="dim"), f"{number:,}", "")
    if counts.errors:
        add("not scored", counts.errors)
    console.print()
    console.print(grid)
    if out is not None:
        which = f"{counts.written:,} {only} rows" if only else f"{counts.written:,} rows"
        console.print(f"{which} → {out}", markup=False, soft_wrap=True)
    console.print(Text(scorer.signature, style="dim"), soft_wrap=True)

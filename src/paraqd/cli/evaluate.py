"""``paraqd evaluate``: how good scores are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from paraqd.cli.console import say, stderr, stdout, write_json

if TYPE_CHECKING:
    from paraqd.cli.progress import Bar
    from paraqd.corpus.pairs import Pair
    from paraqd.corpus.tables import Columns
    from paraqd.evaluation.report import Scored
    from paraqd.evaluation.tables import Table

EXAMPLE = "Example: paraqd evaluate scored.csv --compare other.csv --plots figures --table-out results.md"

_FILES, _SHOWN = "Files", "What is shown"
_NO_COLUMN = "\0"  # a name that no column has


def evaluate(
    source: str = typer.Argument(
        ..., metavar="IN|NAME", help="Labelled pairs in a file (- is JSONL), or a data set by name, such as aquarat."
    ),
    compare: str | None = typer.Option(
        None, "--compare", metavar="OTHER", help="A second file of scores over the same pairs."
    ),
    model: str | None = typer.Option(
        None, "--model", help="A name or folder: score with it, whatever scores the file has."
    ),
    threshold: float = typer.Option(0.5, "--threshold", help="A pair is accepted where its score is greater."),
    intervals: bool = typer.Option(True, "--intervals/--no-intervals", help="Bootstrap intervals over questions."),
    plots: str | None = typer.Option(None, "--plots", metavar="DIR", help="Draw figures into this folder."),
    table_out: str | None = typer.Option(
        None, "--table-out", metavar="FILE", help="Write the tables as .md, .tex or .json."
    ),
    data_dir: str | None = typer.Option(
        None, "--data-dir", envvar="PARAQD_DATA_DIR", help="Where data sets lie.", rich_help_panel=_FILES
    ),
    question_column: str | None = typer.Option(None, "--question-column", rich_help_panel=_FILES),
    paraphrase_column: str | None = typer.Option(None, "--paraphrase-column", rich_help_panel=_FILES),
    label_column: str | None = typer.Option(None, "--label-column", rich_help_panel=_FILES),
    score_column: str = typer.Option("score", "--score-column", rich_help_panel=_FILES),
    encoding: str | None = typer.Option(
        None, "--encoding", help="Of a text file that is not UTF-8, such as cp1252.", rich_help_panel=_FILES
    ),
    device: str | None = typer.Option(None, "--device", help="For the model: cpu, cuda.", rich_help_panel=_FILES),
    as_json: bool = typer.Option(False, "--json", help="Write JSON for a program.", rich_help_panel=_SHOWN),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no table.", rich_help_panel=_SHOWN),
) -> None:
    """Compare scores with labels: precision, recall, F1, separation, AUC, calibration, and how sure they are.

    The column score is used if there is one. Else the pairs are scored by the cosine of an encoder:
    all-MiniLM-L6-v2 unless --model names another.
    """
    from paraqd.cli.progress import Bar
    from paraqd.corpus.datasets import load_pairs
    from paraqd.corpus.pairs import both_classes
    from paraqd.evaluation.report import build_report, report_tables, write_plots
    from paraqd.evaluation.tables import table_format, write_tables

    if plots is not None:  # what would fail at the end fails here
        import matplotlib  # noqa: F401
    if table_out is not None:
        table_format(table_out)
    if source == "-" == compare:
        raise typer.BadParameter("standard input can be read once: give --compare a file")
    columns = _columns(source, question_column, paraphrase_column, label_column)
    # with --model the file's own scores need not be sound, so they are not read
    read_scores = score_column if model is None else _NO_COLUMN
    pairs = load_pairs(source, data_dir=data_dir, columns=columns, encoding=encoding, score_column=read_scores)
    both_classes(pairs, source)
    other = None if compare is None else _other(compare, source, pairs, columns, encoding, score_column, threshold)
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        scored = _scored(source, pairs, encoding, model, device, threshold, bar)
        report = build_report(scored, threshold=threshold, other=other, intervals=intervals, on_progress=bar.update)
    tables = report_tables(report, dataset=source)
    if table_out is not None:
        write_tables(tables, table_out)
    if plots is not None:
        files = write_plots(report, plots)
        if not quiet:
            say(f"drew {', '.join(path.name for path in files)} in {plots}")
    if as_json:
        write_json(report.to_dict())
    elif not quiet:
        _show(tables, scored.signature)


def _columns(source: str, question: str | None, paraphrase: str | None, label: str | None) -> Columns:
    """Return what the columns are called: as given, else as the data set has them, else by their usual names."""
    from dataclasses import replace

    from paraqd.corpus.datasets import DATASETS
    from paraqd.corpus.tables import DEFAULT_COLUMNS

    base = DATASETS[source].columns if source in DATASETS else DEFAULT_COLUMNS
    given = {"question": question, "paraphrase": paraphrase, "label": label}
    return replace(base, **{role: name for role, name in given.items() if name is not None})


def _scored(
    source: str,
    pairs: Sequence[Pair],
    encoding: str | None,
    model: str | None,
    device: str | None,
    threshold: float,
    bar: Bar,
) -> Scored:
    """Take the scores of the file, or make them."""
    from paraqd.evaluation.report import Scored

    scores = [pair.score for pair in pairs if pair.score is not None]
    if len(scores) == len(pairs):
        name, signature = Path(source).name, _signature(source, encoding, threshold)
    else:
        name, signature, scores = _encoded(pairs, model, device, threshold, bar)
    operators = [pair.operator for pair in pairs]
    return Scored(
        name=name,
        signature=signature,
        labels=[pair.label or 0 for pair in pairs],
        scores=scores,
        groups=[pair.question for pair in pairs],
        operators=operators if any(operators) else None,
    )


def _encoded(
    pairs: Sequence[Pair], model: str | None, device: str | None, threshold: float, bar: Bar
) -> tuple[str, str, list[float]]:
    from paraqd.corpus.encoder import DEFAULT_ENCODER, encoder_folder, load_encoder
    from paraqd.corpus.plan import AugmentError
    from paraqd.evaluation.errors import EvaluationError
    from paraqd.scoring.cosine import cosine_scores
    from paraqd.scoring.signature import folder_hash, signature

    wanted = model or DEFAULT_ENCODER
    try:
        encoder = load_encoder(wanted, device=device)
        digits = folder_hash(encoder_folder(wanted))
    except AugmentError as error:
        raise EvaluationError(str(error).replace("--encoder", "--model")) from None
    except ImportError:
        raise
    except Exception as error:  # a broken file inside a model folder raises whatever its library likes
        first = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise EvaluationError(f"cannot load the model {wanted}: {first}") from error
    texts = [(pair.question, pair.paraphrase) for pair in pairs]
    scores = cosine_scores(encoder, texts, on_progress=lambda done, total: bar.update("scoring", done, total))
    return encoder.name, signature(encoder.name, digits, "encoder", threshold), scores.tolist()


def _signature(source: str, encoding: str | None, threshold: float) -> str:
    """Return the signature of a file's scores: its own with this threshold, else one that names the file."""
    from paraqd import __version__
    from paraqd.corpus.tables import open_table

    if source != "-" and Path(source).is_file():  # not standard input, which has been read, nor a data set's name
        table = open_table(source, encoding=encoding)
        if "signature" in table.columns:
            own = {str(row.get("signature") or "") for row in table.rows(["signature"])}
            if len(own) == 1 and (only := own.pop()):
                return f"{only.rpartition('|threshold:')[0] or only}|threshold:{threshold:g}"
    return f"paraqd:{__version__}|scores:{Path(source).name}|threshold:{threshold:g}"


def _other(
    path: str,
    source: str,
    pairs: Sequence[Pair],
    columns: Columns,
    encoding: str | None,
    score_column: str,
    threshold: float,
) -> Scored:
    """Read the second file and put its scores into the order of the first."""
    from paraqd.corpus.pairs import read_pairs
    from paraqd.corpus.tables import DEFAULT_COLUMNS, open_table
    from paraqd.evaluation.errors import EvaluationError
    from paraqd.evaluation.report import Scored

    if path != "-":
        there = open_table(path, encoding=encoding).columns
        if score_column not in there:
            raise EvaluationError(f"{path} has no column {score_column!r}: --compare takes a file of scores")
        if not {columns.question, columns.paraphrase} <= set(there):
            columns = DEFAULT_COLUMNS
    others = read_pairs(
        path, columns=columns, encoding=encoding, labelled=False, score_column=score_column, contradictions=True
    )
    found: dict[tuple[str, str], Pair] = {}
    labels: dict[tuple[str, str], set[int]] = {}
    for pair in others:
        if pair.label is not None:
            labels.setdefault((pair.question, pair.paraphrase), set()).add(pair.label)
        known = found.setdefault((pair.question, pair.paraphrase), pair)
        if pair.score is None:
            raise EvaluationError(f"{path} has no column {score_column!r}: --compare takes a file of scores")
        if known.score != pair.score:
            raise EvaluationError(f"{path}: rows {known.row} and {pair.row} hold the same pair with different scores")
    texts = [(pair.question, pair.paraphrase) for pair in pairs]
    lost = [pair for pair, text in zip(pairs, texts, strict=True) if text not in found]
    more = set(found) - set(texts)
    if lost or more:
        first = f" (the first is row {lost[0].row})" if lost else ""
        raise EvaluationError(
            f"{path} does not hold the same pairs as {source}: {len(lost):,} of {len(pairs):,} are missing{first}, "
            f"{len(more):,} are not in {source}"
        )
    for pair, text in zip(pairs, texts, strict=True):
        if text in labels and pair.label not in labels[text]:
            raise EvaluationError(
                f"row {pair.row} of {source} and row {found[text].row} of {path} hold the same pair "
                "with different labels"
            )
    scores = [found[text].score or 0.0 for text in texts]
    return Scored(Path(path).name, _signature(path, encoding, threshold), [pair.label or 0 for pair in pairs], scores)


def _show(tables: Sequence[Table], signature: str) -> None:
    """Show the tables; the signature, which every written table carries, once."""
    from rich.table import Table as Grid
    from rich.text import Text

    from paraqd.evaluation.intervals import Estimate
    from paraqd.evaluation.tables import shown

    console = stdout()
    for table in tables:
        console.print(Text(table.title, style="bold"))
        grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column in table.columns:
            numeric = any(isinstance(row.get(column.key), int | float | Estimate) for row in table.rows)
            grid.add_column(column.title, justify="right" if numeric else "left")
        for row in table.rows:
            grid.add_row(*(Text(shown(row.get(column.key), column.decimals)) for column in table.columns))
        console.print(grid)
        for note in table.notes:
            if note != signature:
                console.print(Text(note, style="dim"))
        console.print()
    console.print(signature, markup=False, soft_wrap=True)

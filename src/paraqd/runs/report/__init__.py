"""Write an HTML report on scored pairs: one file with a summary, plots and all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paraqd.parameters import named
from paraqd.tables.formats import TableError
from paraqd.tables.table import DEFAULT_COLUMNS, Columns
from paraqd.tables.writers import check_place, replacing

if TYPE_CHECKING:
    from paraqd.runs.report.summary import ReportSummary

__all__ = ["MOST_PAIRS", "check_report", "write_report"]

MOST_PAIRS = 200_000  # a browser needs about 2 kB of memory for each pair
_ENDINGS = (".html", ".htm")


def write_report(
    scored: str | Path,
    out: str | Path,
    *,
    columns: Columns = DEFAULT_COLUMNS,
    title: str | None = None,
    threshold: float | None = None,
    notes: Sequence[str] = (),
    encoding: str | None = None,
    overwrite: bool = False,
) -> ReportSummary:
    r"""Write an HTML report on a scored file, and return its counts.

    The report is one file that works without a network. It contains every pair of the scored file.

    Parameters
    ----------
    scored : str or Path
        A file that `score_file` or ``paraqd score`` wrote, in any format except a folder.
    out : str or Path
        The report, whose name ends in ``.html``.
    columns : Columns
        The names of the columns ``question``, ``paraphrase`` and ``id``.
    title : str, optional
        The title of the report (default: the name of the scored file).
    threshold : float, optional
        The threshold in the plot (default: the one in the signatures). It decides only about pairs of files with
        neither a column ``decision`` nor a column ``valid``.
    notes : sequence of str
        Remarks about the file that the report shows.
    encoding : str, optional
        The encoding of a text file.
    overwrite : bool
        Replace the report if it exists.

    Returns
    -------
    ReportSummary
        The counts: ``rows``, ``valid``, ``invalid``, ``review``, ``errors``, ``warned``, ``questions`` and ``faults``.

    Raises
    ------
    TableError
        If the scored file cannot be read, or the report cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from paraqd import score_file
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "pairs.csv").write_text("question,paraphrase\nTom has 5 pens. How many?,Tom has 6. How many?\n")
    >>> _ = score_file(folder / "pairs.csv", folder / "scored.csv", scorer="reading")
    >>> write_report(folder / "scored.csv", folder / "report.html").invalid
    1

    """
    from paraqd.runs.report.page import report_html
    from paraqd.runs.report.pairs import read_scored_pairs
    from paraqd.runs.report.summary import summarise

    check_report(out, [scored], overwrite=overwrite)
    found = read_scored_pairs(scored, columns, threshold=threshold, most=MOST_PAIRS, encoding=encoding)
    page = report_html(found, title=title or found.name, notes=notes)
    with replacing(Path(out)) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return summarise(found.pairs)


def check_report(out: str | Path, others: Sequence[str | Path] = (), *, overwrite: bool = False) -> None:
    """Raise a TableError if a report cannot be written to ``out``. ``others`` are files that it must not replace."""
    path = Path(out)
    if path.suffix.casefold() not in _ENDINGS:
        raise TableError(f"the report {out} is an HTML file: choose a name that ends in .html")
    check_place(path)
    if any(path.absolute() == Path(other).absolute() for other in others):
        raise TableError(f"{out} is also the scored file; choose another name for the report")
    if path.exists() and not overwrite:
        raise TableError(f"{out} already exists; pass {named('overwrite')} to replace it, or choose another name")

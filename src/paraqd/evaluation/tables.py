"""Write tables of results as Markdown, LaTeX and JSON, and show our results beside the paper's results."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.intervals import Estimate
from paraqd.evaluation.published import Published, same_name
from paraqd.files import check_regular

Cell = str | int | float | Estimate | None
Row = Mapping[str, Cell]

OURS, PAPER = "ours", "paper"
DATASET = "dataset"
SOURCE = "figures"  # the column that indicates whether a row has our results or the paper's
NOTHING = "–"

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "μ": r"$\mu$",
    "κ": r"$\kappa$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "→": r"$\rightarrow$",
    "−": "$-$",
}


@dataclass(frozen=True)
class Column:
    """A table column: the key of its cells, its title, and the number of decimal places.

    ``latex`` is the title in LaTeX, for titles that contain mathematics. If ``best`` is True, our highest value is
    printed in bold.
    """

    key: str
    title: str
    latex: str | None = None
    decimals: int = 3
    best: bool = False


def _metric(key: str, title: str, latex: str | None = None, *, best: bool = False) -> Column:
    return Column(key, title, latex, best=best)


METRIC_COLUMNS: Mapping[str, Column] = {
    column.key: column
    for column in (
        Column("n", "pairs", decimals=0),
        _metric("macro_p", "macro P"),
        _metric("macro_r", "macro R"),
        _metric("macro_f1_paper", "macro F1 (paper)", best=True),
        _metric("macro_f1", "macro F1", best=True),
        _metric("weighted_p", "weighted P"),
        _metric("weighted_r", "weighted R"),
        _metric("weighted_f1_paper", "weighted F1 (paper)", best=True),
        _metric("weighted_f1", "weighted F1", best=True),
        _metric("mu_pos", "μ+", r"$\mu^+$"),
        _metric("mu_neg", "μ-", r"$\mu^-$"),
        _metric("separation", "separation", r"$\mu^s$", best=True),
        _metric("auc", "AUC", best=True),
        _metric("average_precision", "average precision", best=True),
        _metric("accuracy", "accuracy", best=True),
    )
}


@dataclass(frozen=True)
class Table:
    """A table with a title, columns, rows and notes.

    Examples
    --------
    >>> table = Table("A table", (Column("method", "method"), Column("auc", "AUC")),
    ...               ({"method": "ours", "auc": Estimate(0.675, 0.631, 0.719)},), notes=("smoke scale",))
    >>> print(table.to_markdown())
    **A table**
    <BLANKLINE>
    | method | AUC |
    | --- | ---: |
    | ours | 0.675 [0.63, 0.72] |
    <BLANKLINE>
    Note: smoke scale
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def noted(self, *notes: str) -> Table:
        """Return a copy of the table with additional notes."""
        return replace(self, notes=(*self.notes, *notes))

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        heads = [_markdown(column.title) for column in self.columns]
        rules = ["---:" if self._numeric(column) else "---" for column in self.columns]
        lines = [f"**{_markdown(self.title)}**", "", _piped(heads), _piped(rules)]
        for row in self.rows:
            cells = [(_markdown(shown(row.get(c.key), c.decimals)), self._is_best(row, c)) for c in self.columns]
            lines.append(_piped([f"**{text}**" if best else text for text, best in cells]))
        for note in self.notes:
            lines += ["", f"Note: {_markdown(note)}"]
        return "\n".join(lines)

    def to_latex(self) -> str:
        """Return the table as LaTeX code that requires the package booktabs."""
        heads = [column.latex or _latex(column.title) for column in self.columns]
        sides = "".join("r" if self._numeric(column) else "l" for column in self.columns)
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(self.title)}}}",
            rf"\begin{{tabular}}{{{sides}}}",
        ]
        lines += [r"\toprule", " & ".join(heads) + r" \\", r"\midrule"]
        for row in self.rows:
            cells = [(_latex(shown(row.get(c.key), c.decimals)), self._is_best(row, c)) for c in self.columns]
            lines.append(" & ".join(rf"\textbf{{{text}}}" if best else text for text, best in cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par\smallskip\footnotesize Note: {_latex(note)}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"])

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a JSON-serialisable dictionary with unrounded numbers."""
        return {
            "title": self.title,
            "columns": [{"key": c.key, "title": c.title, "best": c.best} for c in self.columns],
            "rows": [{column.key: _plain(row.get(column.key)) for column in self.columns} for row in self.rows],
            "notes": list(self.notes),
        }

    def _numeric(self, column: Column) -> bool:
        return any(isinstance(row.get(column.key), int | float | Estimate) for row in self.rows)

    def _is_best(self, row: Row, column: Column) -> bool:
        """Return True if a cell contains the highest of at least two of our rounded values for the same data set."""
        if not column.best or row.get(SOURCE, OURS) != OURS:
            return False
        beside = [r for r in self.rows if r.get(SOURCE, OURS) == OURS and r.get(DATASET) == row.get(DATASET)]
        ours = [value(each.get(column.key)) for each in beside]
        numbers = [round(number, column.decimals) for number in ours if number is not None]
        mine = value(row.get(column.key))
        return len(numbers) > 1 and mine is not None and round(mine, column.decimals) == max(numbers)


def write_tables(tables: Sequence[Table], path: str | Path) -> None:
    """Write tables to a .md, .tex or .json file, in the format that the extension determines."""
    path = Path(path)
    if table_format(path) == ".json":
        text = json.dumps([table.to_dict() for table in tables], ensure_ascii=False, indent=2, allow_nan=False)
    elif table_format(path) == ".tex":
        text = "\n\n".join(table.to_latex() for table in tables)
    else:
        text = "\n\n".join(table.to_markdown() for table in tables)
    try:
        check_regular(path)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"cannot write {path}: {error.strerror or error}") from None


def table_format(path: str | Path) -> str:
    """Return a file name's extension; raise an EvaluationError if tables cannot be written in this format.

    >>> table_format("Results.TEX")
    '.tex'
    """
    ending = Path(path).suffix.lower()
    if ending not in (".md", ".tex", ".json"):
        raise EvaluationError(f"{path}: cannot write a table in this format; use .md, .tex or .json")
    return ending


def metric_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Return the table columns for the given metrics.

    >>> [column.title for column in metric_columns(["mu_pos", "auc"])]
    ['μ+', 'AUC']
    """
    return tuple(METRIC_COLUMNS.get(name) or Column(name, name.replace("_", " ")) for name in names)


def side_by_side(
    ours: Sequence[Row],
    published: Sequence[Published],
    *,
    on: Sequence[str],
    metrics: Sequence[str],
    title: str,
    notes: Sequence[str] = (),
) -> Table:
    """Return a table with the paper's matching row below each of our rows.

    Rows match if they have the same values in the columns listed in ``on``. The paper's rows that match none of our
    rows come last, so missing results are visible. A dash marks a metric that the paper does not report.

    >>> from paraqd.evaluation.published import published
    >>> table = side_by_side([{"dataset": "aquarat", "method": "UDA", "separation": 0.031}],
    ...     published("main", dataset="aquarat", method="UDA"), on=["dataset", "method"], metrics=["separation"],
    ...     title="Main")
    >>> [(row["figures"], row["separation"]) for row in table.rows]
    [('ours', 0.031), ('paper', 0.029)]
    """
    left = list(published)
    rows: list[Row] = []
    for row in ours:
        rows.append({**row, SOURCE: OURS})
        for found in [each for each in left if all(same_name(each.keys[key], str(row.get(key))) for key in on)]:
            left.remove(found)
            rows.append({**{key: row.get(key) for key in on}, **found.values, SOURCE: PAPER})
    rows += [{**each.keys, **each.values, SOURCE: PAPER} for each in left]
    columns = (*(Column(key, key) for key in on), Column(SOURCE, SOURCE), *metric_columns(metrics))
    return Table(title, columns, tuple(rows), tuple(notes))


def value(cell: Cell) -> float | None:
    """Return the number in a cell, or None if the cell does not contain a number."""
    number = cell.value if isinstance(cell, Estimate) else cell
    return None if isinstance(number, str) or number is None or math.isnan(number) else float(number)


def shown(cell: Cell, decimals: int = 3) -> str:
    """Return a cell's value as a string.

    >>> shown(Estimate(0.675, 0.631, 0.719)), shown(-0.0001), shown(12345), shown(None)
    ('0.675 [0.63, 0.72]', '0.000', '12,345', '–')
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Estimate):
        fewer = max(decimals - 1, 0)
        return f"{_number(cell.value, decimals)} [{_number(cell.low, fewer)}, {_number(cell.high, fewer)}]"
    if cell is None or math.isnan(cell):
        return NOTHING
    return f"{cell:,}" if isinstance(cell, int) else _number(cell, decimals)


def _number(number: float, decimals: int) -> str:
    return f"{round(number, decimals) + 0.0:.{decimals}f}"  # + 0.0 avoids "-0.000"


def _plain(cell: Cell) -> Any:
    if isinstance(cell, Estimate):
        return {name: _plain(number) for name, number in cell.to_dict().items()}
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").split())


def _latex(text: str) -> str:
    return " ".join("".join(_LATEX.get(letter, letter) for letter in text).split())

"""Plot the figures of an evaluation as PNG or SVG files; the same data always produces the same bytes.

In all figures, valid pairs are blue and invalid pairs are orange. Colour-blind readers can distinguish these colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.calibration import Calibration
from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.intervals import Estimate
from paraqd.evaluation.weighted import Labels, Scores, checked
from paraqd.files import check_regular
from paraqd.scoring.verdict import THRESHOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VALID, INVALID = "#0072B2", "#D55E00"
_GREY = "#555555"
# based on the palette of Okabe and Ito, without black and without yellow, which is hard to see on white
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7F3C8D", "#555555")
_STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "svg.hashsalt": "paraqd",  # otherwise the ids in an SVG file would differ from run to run
}

Matrix = Sequence[Sequence[int]]


@contextmanager
def drawing(path: str | Path, *, width: float, height: float) -> Iterator[Figure]:
    """Yield a figure, and write the figure to ``path`` when the block ends."""
    path = Path(path)
    if path.suffix.lower() not in (".png", ".svg"):
        raise EvaluationError(f"{path}: cannot write a figure in this format; use .png or .svg")
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)  # this canvas needs no window and no global state
        yield figure
        # the date and matplotlib's version are omitted, because they would change the bytes
        metadata = {"Date": None, "Creator": "paraqd"} if path.suffix.lower() == ".svg" else {"Software": "paraqd"}
        try:
            check_regular(path)
            figure.savefig(path, dpi=150, metadata=metadata)
        except OSError as error:
            raise EvaluationError(f"cannot write {path}: {error.strerror or error}") from None


def confusion_plot(matrices: Mapping[str, Matrix], path: str | Path, *, title: str = "") -> None:
    """Plot the confusion matrix of each method, with labels as rows and decisions as columns.

    The shade of a cell indicates its share of the pairs with the row's label, so sets of any size can be compared.
    """
    _matrix_plot(matrices, path, title, x="decided", y="labelled")


def operator_plot(matrices: Mapping[str, Matrix], path: str | Path, *, title: str = "") -> None:
    """Plot a matrix for each annotated test set, with intended labels as rows and annotated labels as columns."""
    _matrix_plot(matrices, path, title, x="annotated", y="intended")


def histogram_plot(
    labels: Labels, scores: Scores, path: str | Path, *, threshold: float = THRESHOLD, title: str = ""
) -> None:
    """Plot a histogram of the scores; the bars show shares of the valid pairs and shares of the invalid pairs."""
    histograms_plot(labels, {title: scores}, path, threshold=threshold)


def histograms_plot(
    labels: Labels, methods: Mapping[str, Scores], path: str | Path, *, threshold: float = THRESHOLD
) -> None:
    """Plot a histogram of each method's scores; the histograms are stacked vertically and share the score axis."""
    _need(methods)
    drawn = {name: checked(labels, scores) for name, scores in methods.items()}
    lowest = min(-1.0, *(float(s.min()) for _, s in drawn.values()))
    highest = max(1.0, *(float(s.max()) for _, s in drawn.values()))
    edges = np.linspace(lowest, highest, 41).tolist()
    with drawing(path, width=7, height=0.6 + 3.4 * len(drawn)) as figure:
        rows = figure.subplots(len(drawn), 1, squeeze=False, sharex=True)[:, 0]
        for axes, (name, (y, s)) in zip(rows, drawn.items(), strict=True):
            _histogram(axes, y, s, edges, threshold)
            axes.set_title(name)
        rows[-1].set_xlabel("score")


def _histogram(
    axes: Axes, y: NDArray[np.int64], s: NDArray[np.float64], edges: Sequence[float], threshold: float
) -> None:
    for label, name, colour, hatch in ((0, "invalid", INVALID, "//"), (1, "valid", VALID, "")):
        chosen = s[y == label]
        shares = np.full(len(chosen), 1 / len(chosen))
        axes.hist(chosen, edges, weights=shares, color=colour, alpha=0.45, hatch=hatch, edgecolor="white")
        axes.hist(chosen, edges, weights=shares, color=colour, histtype="step", linewidth=1.5)
        mean = float(chosen.mean())
        axes.plot([], [], color=colour, linewidth=6, alpha=0.7, label=f"{name} ({len(chosen):,}, mean {mean:.2f})")
    axes.axvline(threshold, color=_GREY, linestyle="--", linewidth=1, label=f"threshold {threshold:g}")
    axes.set_ylabel("share of the class")
    axes.grid(axis="y")
    axes.legend(loc="best")


def reliability_plot(curves: Mapping[str, Calibration], path: str | Path, *, title: str = "") -> None:
    """Plot the share of valid pairs against the probability that the scores express.

    The curve of perfectly calibrated scores is the diagonal.
    """
    _need(curves)
    with drawing(path, width=5.6, height=5.6) as figure:
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=_GREY, linestyle="--", linewidth=1, label="perfect")
        heaviest = max(each.weight for found in curves.values() for each in found.curve)
        for i, (name, found) in enumerate(curves.items()):
            colour, marker = PALETTE[i % len(PALETTE)], "osD^vP*X"[i % 8]
            promised, valid = [each.probability for each in found.curve], [each.valid for each in found.curve]
            axes.plot(promised, valid, color=colour, linewidth=1.5, zorder=2)
            sizes = [20 + 140 * each.weight / heaviest for each in found.curve]
            label = f"{name}: Brier {found.brier:.3f}, ECE {found.ece_width:.3f}"
            axes.scatter(
                promised, valid, s=sizes, color=colour, marker=marker, label=label, zorder=3, edgecolor="white"
            )
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
        axes.set_xlabel("probability of valid, from the score")
        balanced = next(iter(curves.values())).balanced
        axes.set_ylabel("share of valid pairs" + (" (classes weighted equally)" if balanced else ""))
        axes.grid()
        legend = axes.legend(loc="upper left", fontsize=9)
        for handle in legend.legend_handles[1:]:  # marker sizes indicate weights, but are all equal in the legend
            if handle is not None and hasattr(handle, "set_sizes"):
                handle.set_sizes([50])
        axes.set_title(title)


def threshold_plot(
    labels: Labels, scores: Scores, path: str | Path, *, threshold: float = THRESHOLD, title: str = ""
) -> None:
    """Plot the precision and recall of both classes against the threshold."""
    y, s = checked(labels, scores)
    cuts = np.linspace(min(-1.0, s.min()), max(1.0, s.max()), 401)
    valid, invalid = np.sort(s[y == 1]), np.sort(s[y == 0])
    with drawing(path, width=8.4, height=3.8) as figure, np.errstate(invalid="ignore"):
        both = figure.subplots(1, 2, sharey=True)
        fn, tn = (np.searchsorted(each, cuts, side="right") for each in (valid, invalid))
        tp, fp = len(valid) - fn, len(invalid) - tn
        sides = (
            ("valid pairs", VALID, tp / (tp + fp), tp / (tp + fn)),
            ("invalid pairs", INVALID, tn / (tn + fn), tn / (tn + fp)),
        )
        for axes, (name, colour, precision, recall) in zip(both, sides, strict=True):
            axes.plot(cuts, precision, color=colour, linewidth=2, label="precision")
            axes.plot(cuts, recall, color=colour, linewidth=2, linestyle=":", label="recall")
            axes.axvline(threshold, color=_GREY, linestyle="--", linewidth=1, label=f"threshold {threshold:g}")
            axes.set_title(name)
            axes.set_xlabel("threshold")
            axes.locator_params(axis="x", nbins=5)
            axes.set_ylim(-0.02, 1.04)
            axes.grid()
            axes.legend(loc="best")
        both[0].set_ylabel("precision, recall")
        if title:
            figure.suptitle(title)


def separation_plot(
    methods: Mapping[str, Estimate | float], path: str | Path, *, title: str = "", published: Mapping[str, float] = {}
) -> None:
    """Plot the separation of each method with its interval; diamonds mark the paper's results in ``published``."""
    _need(methods)
    with drawing(path, width=7, height=1.3 + 0.42 * len(methods)) as figure:
        axes = figure.subplots()
        for place, found in enumerate(methods.values()):
            value = found.value if isinstance(found, Estimate) else float(found)
            axes.barh(place, value, color=VALID, height=0.6, label="ours" if place == 0 else None)
            if isinstance(found, Estimate):
                axes.plot([found.low, found.high], [place, place], color="black", linewidth=1.5)
                axes.plot([found.low, found.high], [place, place], "|", color="black", markersize=9)
        known = [(published[name], place) for place, name in enumerate(methods) if name in published]
        if known:
            axes.plot(
                *zip(*known, strict=True), "D", color=INVALID, markeredgecolor="white", markersize=8, label="paper"
            )
            figure.legend(loc="outside lower center", ncols=2)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_yticks(range(len(methods)), list(methods))
        axes.invert_yaxis()
        axes.set_xlabel("separation (mean score of valid pairs minus mean score of invalid pairs)")
        axes.grid(axis="x")
        axes.set_title(title)


def _matrix_plot(matrices: Mapping[str, Matrix], path: str | Path, title: str, *, x: str, y: str) -> None:
    _need(matrices)
    columns = min(3, len(matrices))
    rows = -(-len(matrices) // columns)
    with drawing(path, width=2.7 * columns + 0.6, height=3.1 * rows + 0.6) as figure:
        grid = figure.subplots(rows, columns, squeeze=False)
        for i, axes in enumerate(grid.flat):
            axes.set_visible(i < len(matrices))
        for axes, (name, matrix) in zip(grid.flat, matrices.items(), strict=False):
            _matrix(axes, np.asarray(matrix), name, x=x, y=y)
        if title:
            figure.suptitle(title)


def _matrix(axes: Axes, counts: NDArray[Any], name: str, *, x: str, y: str) -> None:
    if counts.shape != (2, 2):
        raise EvaluationError(f"{name}: a confusion matrix must have two rows and two columns")
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for row in range(2):
        for column in range(2):
            share = shares[row, column]
            text = f"{int(counts[row, column]):,}\n{share:.0%}"
            axes.text(column, row, text, ha="center", va="center", color="white" if share > 0.55 else "black")
    axes.set_xticks([0, 1], ["invalid", "valid"])
    axes.set_yticks([0, 1], ["invalid", "valid"], rotation=90, va="center")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(name)


def _need(things: Mapping[str, Any]) -> None:
    if not things:
        raise EvaluationError("there is nothing to plot; pass at least one entry")

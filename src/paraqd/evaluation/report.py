"""Build a report on the scores of one method, or on the scores of two methods for the same pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paraqd.evaluation.breakdown import OperatorRow, by_operator
from paraqd.evaluation.calibration import Calibration, calibrate
from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.intervals import Bootstrap, Comparison, Estimate, bootstrap, compare
from paraqd.evaluation.metrics import Metrics, evaluate
from paraqd.evaluation.published import published
from paraqd.evaluation.tables import METRIC_COLUMNS, Cell, Column, Row, Table
from paraqd.evaluation.thresholds import Cut, Oracle, best_threshold, threshold_table
from paraqd.evaluation.weighted import METRICS
from paraqd.plural import counted
from paraqd.progress import Progress, silent
from paraqd.scoring.verdict import THRESHOLD

ORACLE_NOTE = "oracle: chosen with the test labels, which are not known in practice, and therefore not a result"
_PAPER_METHODS = ("Pretrained", "ParaQD")
# the paper's table for each data set
_REPORTED: Mapping[str, tuple[str, dict[str, str]]] = {
    "aquarat": ("main", {"dataset": "AquaRAT"}),
    "sawp": ("main", {"dataset": "SAWP"}),
    "pawp": ("main", {"dataset": "PAWP"}),
    "em_math": ("main", {"dataset": "EM_Math"}),
    "aquarat_train_operators": ("train_operators", {}),
}


@dataclass(frozen=True)
class Scored:
    """The labels of the pairs, and the scores that one method assigns to the pairs."""

    name: str
    signature: str
    labels: Sequence[int]
    scores: Sequence[float]
    groups: Sequence[str] | None = None
    operators: Sequence[str] | None = None


@dataclass(frozen=True)
class Report:
    """The results of an evaluation; results that were not requested or cannot be computed are None or empty."""

    scored: Scored
    metrics: Metrics
    intervals: Bootstrap | None
    oracle: Oracle
    calibration: Calibration | None
    calibration_as_found: Calibration | None
    cuts: tuple[Cut, ...]
    operators: tuple[OperatorRow, ...]
    other: Scored | None = None
    comparison: Comparison | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary that starts with the metrics and the signature."""
        data: dict[str, Any] = {**self.metrics.to_dict(), "signature": self.scored.signature}
        data["intervals"] = self.intervals.to_dict() if self.intervals else None
        data["best_threshold_oracle"] = self.oracle.to_dict()
        data["calibration"] = self.calibration.to_dict() if self.calibration else None
        data["calibration_as_found"] = self.calibration_as_found.to_dict() if self.calibration_as_found else None
        data["thresholds"] = [cut.to_dict() for cut in self.cuts]
        data["operators"] = [row.to_dict() for row in self.operators]
        if self.comparison is not None and self.other is not None:
            data["comparison"] = {
                "a": self.scored.signature,
                "b": self.other.signature,
                **self.comparison.to_dict(),
            }
        return data

    def estimate(self, name: str) -> Estimate | float:
        """Return a metric with its interval, or only its value if there are no intervals."""
        return self.intervals.estimates[name] if self.intervals else float(getattr(self.metrics, name))


def build_report(
    scored: Scored,
    *,
    threshold: float = THRESHOLD,
    other: Scored | None = None,
    intervals: bool = True,
    progress: Progress = silent,
) -> Report:
    """Evaluate the scores of one method and, if ``other`` is passed, compare the method with a second method.

    ``other`` contains the second method's scores for the same pairs.

    >>> report = build_report(Scored("toy", "none", [1, 0, 1, 0], [0.9, -0.2, 0.6, 0.7]), intervals=False)
    >>> report.metrics.accuracy, report.oracle.macro_f1
    (0.75, 0.7333333333333334)
    """
    labels, scores, groups = scored.labels, scored.scores, scored.groups
    metrics = evaluate(labels, scores, threshold=threshold)
    calibrated = [_calibration(labels, scores, balanced=balanced) for balanced in (True, False)]
    found = comparison = None
    if intervals:
        found = bootstrap(labels, scores, threshold=threshold, groups=groups, progress=progress)
    if other is not None:
        comparison = compare(labels, scores, other.scores, threshold=threshold, groups=groups, progress=progress)
    return Report(
        scored=scored,
        metrics=metrics,
        intervals=found,
        oracle=best_threshold(labels, scores),
        calibration=calibrated[0],
        calibration_as_found=calibrated[1],
        cuts=threshold_table(labels, scores),
        operators=by_operator(scored.operators, labels, scores, threshold=threshold) if scored.operators else (),
        other=other,
        comparison=comparison,
    )


def _calibration(labels: Sequence[int], scores: Sequence[float], *, balanced: bool) -> Calibration | None:
    try:
        return calibrate(labels, scores, balanced=balanced)
    except EvaluationError:  # scores outside -1 to 1 do not express probabilities, but the rest of the report is useful
        return None


def report_tables(report: Report, *, dataset: str | None = None, notes: Sequence[str] = ()) -> tuple[Table, ...]:
    """Return the report as tables; they include the paper's results if the paper uses the data set."""
    tables = [_metric_table(report, dataset)]
    if report.comparison is not None:
        tables.append(_comparison_table(report))
    rest = [_confusion_table(report), _summary_table(report), _cut_table(report)]
    if report.operators:
        rest.append(_operator_table(report))
    if report.other is not None:  # the remaining tables describe only the first method
        rest = [replace(table, title=f"{table.title}: {report.scored.name}") for table in rest]
    tables += rest
    signed = (*notes, report.scored.signature)
    return tuple(table.noted(*signed) for table in tables)


def _metric_table(report: Report, dataset: str | None) -> Table:
    (tn, fp), (fn, tp) = report.metrics.confusion
    title = (
        f"{report.scored.name}: {counted(report.metrics.n, 'pair')}, {fn + tp:,} valid, {tn + fp:,} invalid; "
        f"{tp + tn:,} correct decisions"
    )
    table, where = _REPORTED.get(dataset or "", (None, {}))
    rows = published(table, **where) if table else ()
    paper = {row.keys["method"]: row.values for row in rows if row.keys["method"] in _PAPER_METHODS}
    value = f"value [{report.intervals.level:.0%} interval]" if report.intervals else "value"
    columns = [Column("metric", "metric"), Column("value", value)]
    columns += [Column(f"paper {method}", f"paper: {method}") for method in paper]
    notes = [f"a pair is accepted if its score is greater than {report.metrics.threshold:g}"]
    if report.intervals is not None and report.intervals.grouped:
        notes.append(f"intervals: bootstrap over questions, {report.intervals.samples:,} samples")
    if paper:
        notes.append("the paper's encoder is all-MiniLM-L12-v1")
    return Table(
        title,
        tuple(columns),
        tuple(
            {
                "metric": METRIC_COLUMNS[name].title,
                "value": report.estimate(name),
                **{f"paper {method}": values.get(name) for method, values in paper.items()},
            }
            for name in METRICS
        ),
        tuple(notes),
    )


def _comparison_table(report: Report) -> Table:
    assert report.comparison is not None and report.other is not None
    first, second = _names(report)
    rows: list[Row] = []
    for name, found in report.comparison.differences.items():
        row: dict[str, Cell] = {"metric": METRIC_COLUMNS[name].title, "a": found.a, "b": found.b}
        rows.append(row | {"difference": found.difference, "p": found.p_value})
    columns = (
        Column("metric", "metric"),
        Column("a", first),
        Column("b", second),
        Column("difference", "difference"),
        Column("p", "p", decimals=4),
    )
    test = report.comparison.mcnemar
    permuted = ", ".join(
        f"{METRIC_COLUMNS[name].title} p = {p_value:.3g}" for name, p_value in report.comparison.permutation.items()
    )
    notes = [
        f"difference: {second} minus {first}; p: bootstrap p-value for no difference",
        f"decisions: only {first} is right {test.only_a:,} times, only {second} {test.only_b:,} times; McNemar's exact "
        f"test p = {test.p_value:.3g}",
    ]
    if permuted:
        notes.append(f"permutation tests: {permuted}")
    notes.append(f"{second}: {report.other.signature}")
    return Table(f"Comparison of {report.scored.name} and {report.other.name}", columns, tuple(rows), tuple(notes))


def _names(report: Report) -> list[str]:
    """Return short, distinct names for the methods in a report."""
    both = [report.scored] if report.other is None else [report.scored, report.other]
    names = [shortened(scored.name) for scored in both]
    if len(set(names)) < len(names):
        names = [f"{letter}: {name}" for letter, name in zip("ab", names, strict=True)]
    return names


def shortened(name: str, *, room: int = 24) -> str:
    """Shorten a name to at most ``room`` characters by removing its middle.

    >>> shortened("scores_of_the_second_model_of_march.csv")
    'scores_of_t…of_march.csv'
    """
    return name if len(name) <= room else f"{name[: room // 2 - 1]}…{name[-room // 2 :]}"


def _confusion_table(report: Report) -> Table:
    rows: list[Row] = [
        {"label": f"labelled {name}", "stopped": counts[0], "accepted": counts[1]}
        for name, counts in zip(("invalid", "valid"), report.metrics.confusion, strict=True)
    ]
    columns = (Column("label", ""), Column("stopped", "decided invalid"), Column("accepted", "decided valid"))
    return Table("Confusion matrix", columns, tuple(rows))


def _summary_table(report: Report) -> Table:
    rows: list[Row] = [
        {"what": "best threshold for macro F1 (oracle)", "value": report.oracle.threshold},
        {"what": "macro F1 at that threshold (oracle)", "value": report.oracle.macro_f1},
    ]
    notes = [ORACLE_NOTE]
    if report.calibration is not None:
        bins = report.calibration.bins
        rows += [
            {"what": "Brier score", "value": report.calibration.brier},
            {"what": f"ECE, {bins} bins of equal width", "value": report.calibration.ece_width},
            {"what": f"ECE, {bins} bins of equal size", "value": report.calibration.ece_mass},
        ]
        notes.append("calibration: both classes have the same weight")
    else:
        notes.append("no calibration: scores outside -1 to 1 cannot be converted to probabilities")
    columns = (Column("what", "threshold and calibration"), Column("value", "value"))
    return Table("Threshold and calibration", columns, tuple(rows), tuple(notes))


def _cut_table(report: Report) -> Table:
    columns = (
        Column("threshold", "threshold", decimals=2),
        Column("kept", "share kept"),
        Column("precision_valid", "valid P"),
        Column("recall_valid", "valid R"),
        Column("precision_invalid", "invalid P"),
        Column("recall_invalid", "invalid R"),
        Column("macro_f1", "macro F1"),
    )
    return Table("Choosing a threshold", columns, tuple(cut.to_dict() for cut in report.cuts))


def _operator_table(report: Report) -> Table:
    columns = (
        Column("operator", "operator"),
        Column("n", "pairs"),
        Column("valid", "valid"),
        Column("invalid", "invalid"),
        Column("accepted", "accepted"),
        Column("accuracy", "accuracy"),
        Column("mean_score", "mean score"),
    )
    return Table("By operator", columns, tuple(row.to_dict() for row in report.operators))


def write_plots(report: Report, folder: str | Path, *, ending: str = ".png") -> list[Path]:
    """Write a report's figures to a folder, which is created if necessary, and return the paths of the figures."""
    from paraqd.evaluation import plots

    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaluationError(
            f"cannot create the folder {folder}: {error.strerror or error}; choose another folder"
        ) from None
    both = [report.scored] if report.other is None else [report.scored, report.other]
    threshold, title = report.metrics.threshold, report.scored.name
    labels, scores = report.scored.labels, report.scored.scores
    names = _names(report)
    matrices = {
        name: evaluate(labels, scored.scores, threshold=threshold).confusion
        for name, scored in zip(names, both, strict=True)
    }
    files = {name: folder / f"{name}{ending}" for name in ("confusion", "scores", "thresholds", "reliability")}
    plots.confusion_plot(matrices, files["confusion"])
    plots.histograms_plot(
        labels,
        {name: scored.scores for name, scored in zip(names, both, strict=True)},
        files["scores"],
        threshold=threshold,
    )
    plots.threshold_plot(labels, scores, files["thresholds"], threshold=threshold, title=title)
    curves = {
        name: _calibration(labels, scored.scores, balanced=True) for name, scored in zip(names, both, strict=True)
    }
    drawable = {name: curve for name, curve in curves.items() if curve is not None}
    if drawable:
        plots.reliability_plot(drawable, files["reliability"])
    return [path for name, path in files.items() if drawable or name != "reliability"]

"""Build the tables that analyse the gap between our results and the paper's.

An arm is one way of training a model. Each arm is trained with one or more seeds and compared with the first arm. The
tables show the differences between arms, the scores for each kind of edit, and how far the vectors collapse onto one
axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.edits import EDIT_KINDS, WITH_QUANTITY, detailed_edit_kind
from paraqd.evaluation.intervals import Difference, compare_means, compare_runs
from paraqd.evaluation.metrics import evaluate
from paraqd.evaluation.tables import METRIC_COLUMNS, Cell, Column, Table
from paraqd.lab.experiments.data import TestSet
from paraqd.lab.experiments.measure import Measured, Measurements
from paraqd.lab.experiments.tables import Result
from paraqd.scoring.verdict import THRESHOLD

_COMPARED = ("separation", "mu_pos", "mu_neg", "macro_f1_paper", "weighted_f1_paper", "auc")
_VALIDATED = ("separation", "accuracy")
_ALL = "all invalid pairs"


def difference_table(results: Sequence[Result], notes: Sequence[str], *, samples: int) -> Table:
    """Return a table that compares every arm with the first arm on the same pairs.

    The table contains each arm's means over its seeds, and the differences from the first arm with intervals.
    """
    rows: list[Mapping[str, Cell]] = []
    for dataset, arms in _arms(results).items():
        first = next(iter(arms.values()))
        for arm, runs in arms.items():
            found = _compared(first, runs, samples)
            row: dict[str, Cell] = {"dataset": dataset, "arm": arm, "seeds": len(runs)}
            for name in _COMPARED:
                row[name] = found[name].b
                if runs is not first:
                    row[f"{name}_difference"] = found[name].difference
            rows.append(row)
    columns = [Column("dataset", "dataset"), Column("arm", "arm"), Column("seeds", "seeds", decimals=0)]
    for name in _COMPARED:
        title = METRIC_COLUMNS[name].title
        columns += [Column(name, title), Column(f"{name}_difference", f"{title}: difference")]
    note = (
        "means over seeds; differences from the first arm on the same pairs, with 95 % intervals from a bootstrap over "
        f"questions and seeds ({samples} samples); with two or three seeds, the intervals are somewhat too narrow"
    )
    return Table("Differences between arms", tuple(columns), tuple(rows), (*notes, note))


def validation_table(results: Sequence[Result], measurements: Measurements, notes: Sequence[str]) -> Table:
    """Return a table of each arm's results on the validation triplets, with the value for each seed."""
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for result in results:
        names, validation = result.row.names, measurements.facts(result.row.training).get("validation")
        if validation:
            found.setdefault(names["arm"], {})[names["seed"]] = validation
    rows: list[Mapping[str, Cell]] = []
    for arm, runs in found.items():
        row: dict[str, Cell] = {"arm": arm, "seeds": len(runs)}
        for name in _VALIDATED:
            values = [run[name] for run in runs.values()]
            row[name] = float(np.mean(values))
            row[f"{name}_seeds"] = ", ".join(f"{value:.3f}" for value in values)
        rows.append(row)
    columns = [Column("arm", "arm"), Column("seeds", "seeds", decimals=0)]
    for name in _VALIDATED:
        columns += [Column(name, f"{name}: mean"), Column(f"{name}_seeds", f"{name}: each seed")]
    note = (
        "accuracy: the share of validation triplets in which the valid paraphrase scores higher than the invalid one; "
        "all arms have the same validation triplets, which are made with the paper's recipe"
    )
    return Table("Validation triplets", tuple(columns), tuple(rows), (*notes, note))


def edit_table(results: Sequence[Result], sets: Mapping[str, TestSet], notes: Sequence[str], *, samples: int) -> Table:
    """Return a table of the mean scores of invalid pairs, by kind of edit.

    The table also shows how much each kind of edit contributes to the difference between an arm and the first arm.
    """
    rows: list[Mapping[str, Cell]] = []
    for dataset, arms in _arms(results).items():
        chosen = _invalid_by_edit(sets[dataset])
        first = next(iter(arms.values()))
        invalid = len(chosen[_ALL])
        for kind, places in chosen.items():
            groups = [first[0].groups[place] for place in places]
            for arm, runs in arms.items():
                before, after = ([run.scores[places] for run in side] for side in (first, runs))
                found = compare_means(before, after, groups=groups, samples=samples)
                row: dict[str, Cell] = {"dataset": dataset, "edit": kind, "pairs": len(places), "arm": arm}
                row["mean"] = found.b
                row["accepted"] = float(np.mean([scores > THRESHOLD for scores in after]))
                if runs is not first:
                    row["difference"] = found.difference
                    row["part"] = found.difference.value * len(places) / invalid
                rows.append(row)
    columns = (
        Column("dataset", "dataset"),
        Column("edit", "edit"),
        Column("pairs", "pairs", decimals=0),
        Column("arm", "arm"),
        Column("mean", "mean score"),
        Column("accepted", "accepted"),
        Column("difference", "mean score: difference"),
        Column("part", "part of the difference in μ-"),
    )
    note = (
        "words deleted: only deletions; words replaced: only replacements of about equal length; reworded: any other "
        "edit; with a number or unit: the edited words of the question include part of a number or unit; accepted: the "
        "share of pairs with a score above 0.5"
    )
    return Table("Invalid pairs by kind of edit", columns, tuple(rows), (*notes, note))


def collapse_table(
    results: Sequence[Result],
    measurements: Measurements,
    sets: Mapping[str, TestSet],
    notes: Sequence[str],
    *,
    title: str,
) -> Table:
    """Return a table that shows how closely the scores match a product of two signs.

    These are the signs of the question's and the paraphrase's coordinates on the first principal axis of all vectors.
    """
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    for result in results:
        names, test = result.row.names, sets[result.row.test_set]
        spectrum = measurements.spectrum(result.row.training, test)
        found.setdefault((names["dataset"], names["arm"]), []).append(describe_collapse(result.measured, spectrum))
    rows: list[Mapping[str, Cell]] = [
        {"dataset": dataset, "arm": arm, "seeds": len(runs), **_means(runs)} for (dataset, arm), runs in found.items()
    ]
    columns = (
        Column("dataset", "dataset"),
        Column("arm", "arm"),
        Column("seeds", "seeds", decimals=0),
        Column("first_axis", "first axis"),
        Column("opposite_valid", "opposite, valid"),
        Column("opposite_invalid", "opposite, invalid"),
        Column("explained", "R² of the signs"),
        Column("distance", "distance"),
        Column("separation", "separation"),
        Column("separation_signs", "separation of the signs"),
        Column("auc", "AUC"),
        Column("auc_signs", "AUC of the signs"),
        Column("auc_same", "AUC, same sign"),
    )
    note = (
        "first axis: the share of the squared length of all vectors (not centred) on their first principal axis; "
        "opposite: the share of pairs whose texts have opposite signs on this axis; R² of the signs: the share of the "
        "scores' variance that the product of the two signs explains (undefined if all signs are equal); distance: the "
        "mean distance between the score and this product; AUC, same sign: the AUC among pairs with equal signs; all "
        "values are means over seeds"
    )
    return Table(title, columns, tuple(rows), (*notes, note))


def describe_collapse(measured: Measured, spectrum: Mapping[str, NDArray[Any]]) -> dict[str, float]:
    """Measure how closely a model's scores match the product of the two texts' signs on the first principal axis.

    An undefined value is NaN. For example, the explained variance is undefined if all signs are equal.
    """
    signs = np.where(spectrum["questions"][:, 0].astype(float) * spectrum["paraphrases"][:, 0] < 0, -1.0, 1.0)
    scores, valid, same = measured.scores, measured.labels == 1, signs > 0
    opposite_valid, opposite_invalid = float(np.mean(signs[valid] < 0)), float(np.mean(signs[~valid] < 0))
    explained = float(np.corrcoef(scores, signs)[0, 1] ** 2) if not same.all() else float("nan")
    both = len(set(measured.labels[same].tolist())) == 2
    return {
        "first_axis": float(spectrum["values"][0] / spectrum["values"].sum()),
        "opposite_valid": opposite_valid,
        "opposite_invalid": opposite_invalid,
        "explained": explained,
        "distance": float(np.mean(np.abs(scores - signs))),
        "separation": measured.metrics.separation,
        "separation_signs": 2 * (opposite_invalid - opposite_valid),
        "auc": measured.metrics.auc,
        "auc_signs": 0.5 + (opposite_invalid - opposite_valid) / 2,
        "auc_same": evaluate(measured.labels[same], scores[same]).auc if both else float("nan"),
    }


def _means(runs: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    means = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
    return {name: None if np.isnan(mean) else mean for name, mean in means.items()}


def _arms(results: Sequence[Result]) -> dict[str, dict[str, list[Measured]]]:
    """Return the measurements of all seeds, keyed by data set and then by arm."""
    found: dict[str, dict[str, list[Measured]]] = {}
    for result in results:
        names = result.row.names
        found.setdefault(names["dataset"], {}).setdefault(names["arm"], []).append(result.measured)
    return found


def _compared(first: Sequence[Measured], other: Sequence[Measured], samples: int) -> dict[str, Difference]:
    a, b = ([run.scores for run in runs] for runs in (first, other))
    return compare_runs(first[0].labels, a, b, groups=first[0].groups, samples=samples)


def _invalid_by_edit(test: TestSet) -> dict[str, list[int]]:
    """Return the indices of the invalid pairs, keyed by kind of edit, with an additional key for all invalid pairs."""
    found: dict[str, list[int]] = {}
    for place, pair in enumerate(test.pairs):
        if pair.label == 0:
            found.setdefault(detailed_edit_kind(pair.question, pair.paraphrase), []).append(place)
            found.setdefault(_ALL, []).append(place)
    return {kind: found[kind] for kind in (_ALL, *_kinds()) if kind in found}


def _kinds() -> Iterator[str]:
    for kind in EDIT_KINDS:
        yield kind
        yield kind + WITH_QUANTITY

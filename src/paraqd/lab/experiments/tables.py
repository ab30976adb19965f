"""Build tables that show our results, with confidence intervals, next to the paper's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from paraqd.evaluation.intervals import SAMPLES, Estimate, compare
from paraqd.evaluation.published import examples, operator_averages, published, top_operators
from paraqd.evaluation.tables import OURS, PAPER, SOURCE, Cell, Column, Table, metric_columns, side_by_side
from paraqd.lab.experiments.data import TestSet
from paraqd.lab.experiments.declared import INVALID_OPERATORS, VALID_OPERATORS, Experiment, Row
from paraqd.lab.experiments.errors import NotRunError
from paraqd.lab.experiments.measure import Measured, Measurements
from paraqd.lab.experiments.methods import PARAQD
from paraqd.scoring.verdict import THRESHOLD

# the metrics in the paper's tables, followed by the stricter F1 and the area under the curve
METRICS = (
    "macro_p",
    "macro_r",
    "macro_f1_paper",
    "weighted_p",
    "weighted_r",
    "weighted_f1_paper",
    "mu_pos",
    "mu_neg",
    "separation",
    "macro_f1",
    "auc",
)
_WITH_INTERVALS = frozenset({"macro_f1_paper", "weighted_f1_paper", "separation", "macro_f1", "auc"})


@dataclass(frozen=True)
class Result:
    """A row of an experiment, with the scores and metrics for this row."""

    row: Row
    measured: Measured


def score_tables(
    experiment: Experiment, results: Sequence[Result], notes: Sequence[str], *, beside: bool
) -> tuple[Table, ...]:
    """Return an experiment's tables; if ``beside`` is True, they also contain the paper's results."""
    ours: list[Mapping[str, Cell]] = [
        {**result.row.names, **{name: _cell(result.measured, name) for name in METRICS}} for result in results
    ]
    theirs = published(experiment.table) if beside and experiment.table else ()
    whole = side_by_side(
        ours, theirs, on=experiment.on, metrics=METRICS, title=experiment.title, notes=_plus_interval_note(notes)
    )
    if experiment.name == "operators":  # here, a higher value is not better, so no value is marked as the best
        plain = replace(whole, columns=tuple(replace(column, best=False) for column in whole.columns))
        return (plain, top_table(results, notes, beside=beside))
    return (whole, significance_table(results, notes)) if experiment.name == "main" else (whole,)


def significance_table(results: Sequence[Result], notes: Sequence[str]) -> Table:
    """Return a table of the differences between ParaQD and each of the other methods on the same pairs.

    Each difference has an interval and a p-value.
    """
    compared = ("separation", "weighted_f1_paper", "macro_f1_paper", "macro_f1", "auc")
    rows: list[Mapping[str, Cell]] = []
    for result in results:
        names = result.row.names
        ours = [r for r in results if r.row.names["method"] == PARAQD.name and r.row.test_set == result.row.test_set]
        if names["method"] == PARAQD.name or not ours:
            continue
        best, other = ours[0].measured, result.measured
        # a difference is ParaQD's value minus the other method's value
        found = compare(
            best.labels, other.scores, best.scores, threshold=THRESHOLD, groups=best.groups, samples=SAMPLES
        )
        row: dict[str, Cell] = {"dataset": names["dataset"], "method": names["method"]}
        for name in compared:
            row[name] = found.differences[name].difference
            row[f"{name}_p"] = found.differences[name].p_value
        rows.append(row)
    columns = [Column("dataset", "dataset"), Column("method", "ParaQD minus")]
    for column in metric_columns(compared):
        columns += [replace(column, best=False), Column(f"{column.key}_p", "p")]
    note = (
        "ParaQD's value minus the other method's value on the same pairs, with 95 % intervals and p values from a "
        f"paired bootstrap over questions ({SAMPLES} samples, so p is at least {2 / (SAMPLES + 1):.3f})"
    )
    return Table("ParaQD against the other methods", tuple(columns), tuple(rows), (*notes, note))


def _cell(measured: Measured, name: str) -> Cell:
    found = measured.cell(name)
    return found if name in _WITH_INTERVALS or not isinstance(found, Estimate) else found.value


def _plus_interval_note(notes: Sequence[str]) -> tuple[str, ...]:
    return (
        *notes,
        "in brackets: 95 % bootstrap intervals over questions; F1 (paper) is the harmonic mean of the averaged "
        "precision and the averaged recall, macro F1 is the mean F1 of both classes; if few pairs are rejected, the "
        "precision of that class depends on a few pairs and the interval is wide",
    )


def top_operators_of(separations: Mapping[str, float]) -> dict[str, tuple[str, ...]]:
    """Return the two valid and the two invalid operators whose removal lowers the separation most.

    >>> found = top_operators_of({f"f{n}": n / 10 for n in range(10, 0, -1)})
    >>> found["valid"], found["invalid"]
    (('f1', 'f2'), ('f5', 'f6'))
    """

    def lowest(names: Sequence[str]) -> tuple[str, ...]:
        there = [name for name in names if name in separations]
        return tuple(sorted(there, key=lambda name: separations[name])[:2])

    return {"valid": lowest(VALID_OPERATORS), "invalid": lowest(INVALID_OPERATORS)}


def top_table(results: Sequence[Result], notes: Sequence[str], *, beside: bool) -> Table:
    """Return a table of the two most important valid and the two most important invalid operators.

    If ``beside`` is True, the table also contains the operators that are most important in the paper.
    """
    columns = (
        Column("dataset", "dataset"),
        Column("valid", "Op+"),
        Column("invalid", "Op-"),
        Column("valid_paper", "Op+ (paper)"),
        Column("invalid_paper", "Op- (paper)"),
    )
    theirs = {name.casefold(): both for name, both in top_operators().items()} if beside else {}
    rows: list[Mapping[str, Cell]] = []
    for dataset in dict.fromkeys(result.row.names["dataset"] for result in results):
        separations = {
            result.row.names["operator"]: result.measured.metrics.separation
            for result in results
            if result.row.names["dataset"] == dataset
        }
        found, paper = top_operators_of(separations), theirs.get(dataset.casefold(), {})
        rows.append(
            {
                "dataset": dataset,
                **{polarity: ", ".join(names) for polarity, names in found.items()},
                **{f"{polarity}_paper": ", ".join(names) for polarity, names in paper.items()},
            }
        )
    note = "the operators whose removal lowers the separation most, the most important first"
    return Table("The two most important operators of each kind", columns, tuple(rows), (*notes, note))


def count_test_operators(test: TestSet) -> tuple[int, int, int, int]:
    """Count the valid and invalid labels among the outputs of the valid and the invalid test operators.

    Return four counts: the valid operators' outputs labelled valid, those labelled invalid, the invalid operators'
    outputs labelled valid, and those labelled invalid. The files do not name the operators, but the paper applied one
    valid and one invalid operator to each question, and each question has two consecutive rows. The first of a
    question's two rows is assumed to come from the valid operator. Raise `NotRunError` if the test set does not have
    two consecutive rows for each question.
    """
    firsts, seconds = test.pairs[::2], test.pairs[1::2]
    if len(firsts) != len(seconds) or any(a.question != b.question for a, b in zip(firsts, seconds, strict=True)):
        raise NotRunError("the rows do not form pairs with the same question, so the operators cannot be inferred")
    valid, missed = sum(pair.label == 1 for pair in firsts), sum(pair.label == 1 for pair in seconds)
    return valid, len(firsts) - valid, missed, len(seconds) - missed


def recovered_operator_table(sets: Sequence[TestSet], notes: Sequence[str], *, title: str, beside: bool) -> Table:
    """Return a table of the test operators' precision, recall and accuracy; see `count_test_operators`."""
    names = ("first_valid", "first_invalid", "second_valid", "second_invalid", "precision", "recall", "accuracy")
    ours: list[Mapping[str, Cell]] = []
    for test in sets:
        counts = tp, fp, fn, tn = count_test_operators(test)
        figures = (tp / (tp + fp), tp / (tp + fn), (tp + tn) / sum(counts))
        ours.append({"dataset": test.name, SOURCE: OURS, **dict(zip(names, (*counts, *figures), strict=True))})
    theirs: list[Mapping[str, Cell]] = []
    if beside:
        theirs = [{"dataset": "average", SOURCE: PAPER, **operator_averages()}]
    titles = ("valid op., valid", "valid op., invalid", "invalid op., valid", "invalid op., invalid", *names[4:])
    columns = [Column("dataset", "dataset"), Column(SOURCE, SOURCE)]
    columns += [Column(n, t, decimals=3 if n in names[4:] else 0) for n, t in zip(names, titles, strict=True)]
    note = (
        "the operators are inferred, because the files do not name them: each question has two rows, of which the "
        "first is assumed to come from a valid operator and the second from an invalid operator; the paper reports "
        "only the average over AquaRAT, EM_Math and SAWP"
    )
    return Table(title, tuple(columns), (*ours, *theirs), (*notes, note))


def pseudo_label_table(
    counted: Mapping[str, tuple[str, float, float]], notes: Sequence[str], *, title: str, beside: bool
) -> Table:
    """Return a table of the percentages of valid and invalid pseudo-labels.

    ``counted`` maps each method's name to its data set, its percentage of valid labels and its percentage of invalid
    labels.
    """
    ours: list[Mapping[str, Cell]] = [
        {"dataset": dataset, "method": method, "valid_percent": valid, "invalid_percent": invalid}
        for method, (dataset, valid, invalid) in counted.items()
    ]
    theirs = published("pseudo_labels") if beside else ()
    return side_by_side(
        ours, theirs, on=("dataset", "method"), metrics=("valid_percent", "invalid_percent"), title=title, notes=notes
    )


def example_table(
    rows: Sequence[Row], measurements: Measurements, test: TestSet, notes: Sequence[str], *, title: str
) -> Table:
    """Return a table of the paper's examples, with each method's scores and the paper's scores."""
    scored = {row.names["method"]: measurements.scores(row.training, test) for row in rows}
    columns = (
        Column("question", "question"),
        Column("paraphrase", "paraphrase"),
        Column("label", "label", decimals=0),
        *(Column(name, name) for name in scored),
        Column("paper", "ParaQD (paper)"),
    )
    table_rows: list[Mapping[str, Cell]] = [
        {
            "question": example.question,
            "paraphrase": example.paraphrase,
            "label": example.label,
            **{name: scores[number] for name, scores in scored.items()},
            "paper": example.score,
        }
        for number, example in enumerate(examples())
    ]
    return Table(title, columns, tuple(table_rows), tuple(notes))

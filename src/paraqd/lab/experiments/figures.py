"""Plot confusion matrices, score histograms, separations, reliability curves and projected triplets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from paraqd.evaluation.calibration import calibrate
from paraqd.evaluation.plots import confusion_plot, histogram_plot, reliability_plot, separation_plot
from paraqd.evaluation.published import published
from paraqd.evaluation.tsne import tsne_plot
from paraqd.lab.experiments.data import RunData
from paraqd.lab.experiments.declared import Experiment
from paraqd.lab.experiments.measure import Measurements
from paraqd.lab.experiments.tables import Result


@dataclass(frozen=True)
class Figure:
    """A plot's title, and the path of its file relative to the run's folder."""

    path: str
    title: str


def draw(
    experiment: Experiment, results: Sequence[Result], data: RunData, measurements: Measurements, *, beside: bool
) -> list[Figure]:
    """Plot an experiment's figures for each test set, and return their titles and paths.

    If ``beside`` is True, the separation plots also show the paper's values.
    """
    made: list[Figure] = []

    def figure(name: str, title: str, plot: Callable[[Path], None]) -> None:
        path = Path("plots") / experiment.name / f"{name}.png"
        target = data.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        plot(target)
        made.append(Figure(path.as_posix(), title))

    for test_set in dict.fromkeys(result.row.test_set for result in results):
        here = {_name(experiment, result): result for result in results if result.row.test_set == test_set}
        data.progress(f"{experiment.name}: figures", 0, None, test_set)
        if experiment.name in ("main", "train-operators"):
            title = f"Confusion matrices, {test_set}"
            matrices = {name: result.measured.metrics.confusion for name, result in here.items()}
            figure(f"confusion-{test_set}", title, partial(confusion_plot, matrices, title=title))
        title = f"Separation, {test_set}"
        cells = {name: result.measured.cell("separation") for name, result in here.items()}
        paper = _paper(experiment, here) if beside and experiment.table else {}
        figure(
            f"separation-{test_set}",
            title,
            partial(separation_plot, cells, title=title, published=paper),
        )
        if experiment.embeddings:
            _scores(here, test_set, figure)
            if test_set == data.scale.first_set:
                _planes(here, test_set, data, measurements, figure)
    return made


def _scores(
    here: dict[str, Result],
    test_set: str,
    figure: Callable[[str, str, Callable[[Path], None]], None],
) -> None:
    for name, result in here.items():
        title = f"Scores of {name}, {test_set}"
        found = result.measured
        figure(
            f"scores-{test_set}-{_slug(name)}",
            title,
            partial(histogram_plot, found.labels, found.scores, title=title),
        )
    curves = {name: calibrate(result.measured.labels, result.measured.scores) for name, result in here.items()}
    title = f"Reliability, {test_set}"
    figure(f"reliability-{test_set}", title, partial(reliability_plot, curves, title=title))


def _planes(
    here: dict[str, Result],
    test_set: str,
    data: RunData,
    measurements: Measurements,
    figure: Callable[[str, str, Callable[[Path], None]], None],
) -> None:
    test = data.test_set(test_set)
    for name, result in here.items():
        vectors, triplets = measurements.vectors(result.row.training, test)
        if len(triplets) < 2:
            continue
        title = f"Triplets of {test_set}, {name}"
        figure(
            f"triplets-{test_set}-{_slug(name)}",
            title,
            partial(tsne_plot, vectors, triplets, title=title),
        )


def _name(experiment: Experiment, result: Result) -> str:
    return ", ".join(result.row.names[key] for key in experiment.on if key != "dataset")


def _paper(experiment: Experiment, here: dict[str, Result]) -> dict[str, float]:
    found = {}
    for name, result in here.items():
        rows = published(experiment.table, **result.row.names)
        if rows:
            found[name] = rows[0].values["separation"]
    return found


def _slug(name: str) -> str:
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())

"""Run experiments in a folder.

A run that is repeated in the same folder skips finished parts. Parts that cannot run are listed with the reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraqd.lab.experiments.data import RunData
from paraqd.lab.experiments.declared import EXPERIMENTS, Experiment, experiment
from paraqd.lab.experiments.errors import ExperimentError
from paraqd.lab.experiments.measure import Measurements
from paraqd.lab.experiments.outcomes import ExperimentOutcome, run_experiment
from paraqd.lab.experiments.run_folder import begin_run, finish_run, write_outcome
from paraqd.lab.experiments.scales import Scale
from paraqd.lab.operators.plan import make_plan
from paraqd.lab.training.processes import refuse_several
from paraqd.lab.training.settings import CHECKPOINT_SECONDS
from paraqd.progress import Progress, silent
from paraqd.tables.locks import exclusive

__all__ = ["ExperimentOutcome", "run_experiments", "with_settings"]


def run_experiments(
    names: Sequence[str],
    out: str | Path,
    *,
    scale: Scale,
    data_dir: str | Path | None = None,
    samples: str | Path = "samples",
    generators: Mapping[str, str] | None = None,
    stand_ins: bool = True,
    device: str | None = None,
    workers: int = 1,
    figures: bool = True,
    train: bool = True,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    progress: Progress = silent,
) -> list[ExperimentOutcome]:
    """Run experiments, and write scores, metrics, tables, plots and ``report.html`` to a folder.

    A second call with the same folder continues the run. Several processes may share a folder. Each process trains
    models that no other process is training, and every process returns the complete results. If the folder contains a
    run at a different scale or with different settings, an error is raised.

    Parameters
    ----------
    names : sequence of str
        The names of the experiments to run; ``all`` selects every experiment.
    generators : mapping, optional
        The models for f1, f9 and SSMBA, keyed by generator; each model is given as a folder or a name.
    stand_ins : bool
        Use a stand-in for each model that is not in ``generators``. If False, use the models from the paper.
    workers : int
        The number of processes that apply the operators.
    figures : bool
        Plot the figures.
    train : bool
        Train the models that do not have scores yet. If False, build the tables only from scores in the folder.

    Raises
    ------
    ExperimentError
        If an argument is invalid, the folder contains a different run, or no experiment could run.

    """
    refuse_several("an experiment")
    chosen = _chosen(names)
    folder = Path(out)
    data = RunData(
        folder,
        scale,
        data_dir=data_dir,
        samples=Path(samples),
        stand_ins=stand_ins,
        generators=dict(generators or {}),
        device=device,
        workers=workers,
        progress=progress,
    )
    _check_arguments(data_dir, generators or {})
    begin_run(folder, data, train=train)
    measurements = Measurements(
        data,
        keep=_shared(scale),
        analyse=[training.slug for training in experiment("collapse").trainings(scale)],
        checkpoint_seconds=checkpoint_seconds,
        train=train,
    )
    outcomes: list[ExperimentOutcome] = []
    for wait in (False, True):  # first train the models that no other process is training, then wait for the others
        for found in [each for each in chosen if all(outcome.experiment is not each for outcome in outcomes)]:
            outcome = run_experiment(found, data, measurements, figures=figures, wait=wait)
            if outcome is None:
                continue
            with exclusive(folder / "locks" / "run.lock"):
                write_outcome(outcome, folder, data_dir, figures=figures)
            outcomes.append(outcome)
    outcomes.sort(key=lambda outcome: chosen.index(outcome.experiment))
    finish_run(folder, data, worked=measurements.worked)
    if not any(outcome.tables for outcome in outcomes):
        reasons = {why for outcome in outcomes for why in outcome.not_run.values()}
        raise ExperimentError(f"nothing could be run: {'; '.join(sorted(reasons))}")
    return outcomes


def _chosen(names: Sequence[str]) -> list[Experiment]:
    known = [found.name for found in EXPERIMENTS]
    for name in names:
        if name != "all" and name not in known:
            raise ExperimentError(f"there is no experiment {name!r}: choose {', '.join(known)} or all")
    return [found for found in EXPERIMENTS if "all" in names or found.name in names]


def _shared(scale: Scale) -> list[str]:
    """Return the slugs of the models to keep, which are used by several experiments or by the main table."""
    times = Counter(training.slug for found in EXPERIMENTS for training in found.trainings(scale))
    main = [training.slug for training in experiment("main").trainings(scale)]
    return [slug for slug, number in times.items() if number > 1 or slug in main]


def _check_arguments(data_dir: str | Path | None, generators: Mapping[str, str]) -> None:
    """Raise an error if an argument is invalid."""
    if data_dir is not None and not Path(data_dir).is_dir():
        raise ExperimentError(f"there is no folder {data_dir} (--data-dir)")
    if generators:  # skip this check if possible, because a run whose pairs are finished does not need the operators
        make_plan("paper", stand_ins=True, generators=generators)  # raises an error if a key names no operator


def with_settings(scale: Scale, **changes: Any) -> Scale:
    """Return a copy of a scale with the given training settings changed; a value of None keeps the setting.

    >>> from paraqd.lab.experiments.scales import FULL
    >>> with_settings(FULL, epochs=3, batch_size=None).settings.epochs
    3
    """
    given = {key: value for key, value in changes.items() if value is not None}
    return replace(scale, settings=replace(scale.settings, **given)) if given else scale

"""Run experiments.

Finished parts are not repeated. Parts that cannot run are listed with the reasons.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from paraqd.data.locks import HeldError, exclusive
from paraqd.data.writers import replace_json
from paraqd.evaluation.tables import Table, write_tables
from paraqd.experiments.arms import collapse_table, difference_table, edit_table
from paraqd.experiments.data import EXAMPLES, RunData, TestSet
from paraqd.experiments.declared import ARM, EXPERIMENTS, Experiment, experiment
from paraqd.experiments.errors import ExperimentError, NotRunError
from paraqd.experiments.figures import Figure, draw
from paraqd.experiments.measure import Measurements
from paraqd.experiments.methods import SSMBA_PL, UDA_PL, Training
from paraqd.experiments.report import write_report
from paraqd.experiments.scales import Scale
from paraqd.experiments.tables import (
    Result,
    count_test_operators,
    example_table,
    pseudo_label_table,
    recovered_operator_table,
    score_tables,
)
from paraqd.operators.plan import make_plan
from paraqd.progress import Progress
from paraqd.training.encoders import encoder_hash
from paraqd.training.processes import refuse_several
from paraqd.training.recipe_corpus import generator_facts
from paraqd.version import __version__

_PACKAGES = ("torch", "transformers", "sentence-transformers", "accelerate", "numpy", "scikit-learn")
FORMAT = 2


@dataclass
class Outcome:
    """An experiment's tables and figures, and the reasons why parts could not run, keyed by the part's name."""

    experiment: Experiment
    tables: tuple[Table, ...] = ()
    figures: list[Figure] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)


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
    checkpoint_seconds: float = 60.0,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Run experiments, and write scores, metrics, tables, plots and ``report.html`` to a folder.

    A second call with the same folder continues the run. Several processes may share a folder: each process trains
    models that no other process is training, and every process returns the complete results. A folder that contains a
    run at another scale or with other settings is rejected.

    Parameters
    ----------
    names : sequence of str
        The names of the experiments to run; ``all`` selects every experiment.
    generators : mapping, optional
        The models for f1, f9 and SSMBA, keyed by generator; each model is a folder or a name. If ``stand_ins`` is
        True, stand-ins replace the models that are not passed.
    figures : bool
        Produce the plots.
    train : bool
        Train the models that do not have scores yet. If False, build the tables from the scores in the folder.

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
    _check(data_dir, generators or {})
    _begin(folder, data, train=train)
    keep = _shared(scale)
    measurements = Measurements(data, keep=keep, checkpoint_seconds=checkpoint_seconds, train=train)
    outcomes: list[Outcome] = []
    for wait in (False, True):  # first use the models that no other process is training, then wait for the others
        for found in [each for each in chosen if all(outcome.experiment is not each for outcome in outcomes)]:
            outcome = _run(found, data, measurements, figures=figures, wait=wait)
            if outcome is None:
                continue
            with exclusive(folder / "locks" / "run.lock"):
                _write(outcome, folder, data_dir)
            outcomes.append(outcome)
    outcomes.sort(key=lambda outcome: chosen.index(outcome.experiment))
    _finish(folder, data)
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
    """Return the slugs of the models to keep: those that several experiments need and those in the main table."""
    times = Counter(training.slug for found in EXPERIMENTS for training in found.trainings(scale))
    main = [training.slug for training in experiment("main").trainings(scale)]
    return [slug for slug, number in times.items() if number > 1 or slug in main]


def _run(found: Experiment, data: RunData, measurements: Measurements, *, figures: bool, wait: bool) -> Outcome | None:
    """Run an experiment and return its outcome.

    If another process is training one of the experiment's models, wait for that process or, if ``wait`` is False,
    return None.
    """
    outcome = Outcome(found)
    if found.kind == "pseudo-labels":
        _pseudo_labels(outcome, data)
        return outcome
    if found.kind == "test-operators":
        _test_operators(outcome, data)
        return outcome
    if not wait and not _train_free(found, data, measurements):
        return None
    if found.kind == "examples":
        _examples(outcome, data, measurements)
    else:
        _scores(outcome, data, measurements, figures=figures)
    return outcome


def _scores(outcome: Outcome, data: RunData, measurements: Measurements, *, figures: bool) -> None:
    found, scale = outcome.experiment, data.scale
    rows = found.rows(scale)
    sets, outcome.not_run = _test_sets(found, data)
    if not sets:
        return
    for training, tested in _tested(found, scale, sets):
        try:
            measurements.ensure(training, tested, embeddings=_drawn(found, scale))
        except NotRunError as error:
            name = f"{training.method.name}, {training.encoder}" + (
                f", without {training.without}" if training.without else ""
            )
            outcome.not_run[name] = str(error)
            rows = [row for row in rows if row.training != training]
    results = [
        Result(row, measurements.measured(row.training, sets[row.test_set])) for row in rows if row.test_set in sets
    ]
    if not results:
        return
    notes = _notes(scale, measurements, results)
    if scale.name == "smoke" and found.name == "train-operators":
        notes.append("the pairs are the samples, which were not made with the training operators")
    if scale.name == "full" and found.table and found.name != "encoder" and "L12" not in scale.encoder:
        notes.append(
            f"the paper's rows are of all-MiniLM-L12-v1; for other encoders see its table (ours: {scale.encoder})"
        )
    if found.kind == "collapse":
        outcome.tables = (collapse_table(results, measurements, sets, notes, title=found.title),)
        return
    outcome.tables = score_tables(found, results, notes, beside=scale.name == "full")
    if found.on == ARM:
        samples = scale.bootstrap_samples
        outcome.tables += (
            difference_table(results, notes, samples=samples),
            edit_table(results, sets, notes, samples=samples),
        )
    if figures:
        outcome.figures = draw(found, results, data, measurements, beside=scale.name == "full")


def _test_sets(found: Experiment, data: RunData) -> tuple[dict[str, TestSet], dict[str, str]]:
    """Return an experiment's available test sets, and the reasons why the others are missing, both keyed by name."""
    sets, missing = {}, {}
    for name in dict.fromkeys(row.test_set for row in found.rows(data.scale)):
        try:
            sets[name] = data.test_set(name)
        except NotRunError as error:
            missing[name] = str(error)
    return sets, missing


def _tested(found: Experiment, scale: Scale, sets: Mapping[str, TestSet]) -> Iterator[tuple[Training, list[TestSet]]]:
    """Yield each of an experiment's trainings together with the test sets for its model."""
    rows = found.rows(scale)
    for training in found.trainings(scale):
        yield training, [sets[row.test_set] for row in rows if row.training == training and row.test_set in sets]


def _drawn(found: Experiment, scale: Scale) -> list[str]:
    return [scale.first_set] if found.embeddings else []


def _train_free(found: Experiment, data: RunData, measurements: Measurements) -> bool:
    """Train and score the models that no other process is training; return True if no other model remains."""
    everything = True
    for training, tested in _tested(found, data.scale, _test_sets(found, data)[0]):
        try:
            measurements.ensure(training, tested, embeddings=_drawn(found, data.scale), wait=False)
        except HeldError:
            everything = False
        except NotRunError:
            continue  # the error is reported when the experiment runs
    return everything


def _notes(scale: Scale, measurements: Measurements, results: Sequence[Result]) -> list[str]:
    """Return a table's notes, which list the stand-ins, the omitted operators and the settings."""
    facts = [measurements.facts(result.row.training) for result in results]
    notes = [scale.note] if scale.note else []
    stand_ins = sorted({name for fact in facts for name in fact.get("stand_ins") or ()})
    if stand_ins:
        notes.append(f"stand-ins for models that were not available: {', '.join(stand_ins)}")
    left_out = sorted({f"{name} ({why})" for fact in facts for name, why in (fact.get("left_out") or {}).items()})
    if left_out:
        notes.append(f"left out: {'; '.join(left_out)}")
    trained = [fact for fact in facts if fact.get("settings")]
    readers = sorted({fact["entities"] for fact in trained if fact.get("entities")})
    if readers:
        notes.append(f"names were found with: {', '.join(readers)}")
    for key, what in (("epochs", "epochs"), ("batch_size", "triplets per batch"), ("learning_rate", "learning rate")):
        used = sorted({fact["settings"][key] for fact in trained})
        if used:
            notes.append(f"{what}: {', '.join(f'{value:g}' for value in used)}")
    questions = sorted({fact["data"]["questions"] for fact in trained})
    if questions:
        notes.append(f"trained on {', '.join(f'{count:,}' for count in questions)} questions")
    searched = [f"{fact['method']}: {fact['seeds']['best']}" for fact in trained if fact.get("seeds")]
    if searched:
        notes.append(f"best seed by validation: {', '.join(dict.fromkeys(searched))}")
    return notes


def _pseudo_labels(outcome: Outcome, data: RunData) -> None:
    counted: dict[str, tuple[str, float, float]] = {}
    notes = [data.scale.note] if data.scale.note else []
    for method in (UDA_PL, SSMBA_PL):
        assert method.recipe is not None
        try:
            _, found = data.pseudo_labelled(method.recipe)
        except NotRunError as error:
            outcome.not_run[method.name] = str(error)
            continue
        counted[method.name] = (data.scale.first_set, found.positive_pct, found.negative_pct)
        notes.append(f"{method.name}: {found.total:,} outputs of the training questions, by {data.scale.encoder}")
        stand_ins = data.pairs(method.recipe).stand_ins
        if stand_ins:
            notes.append(f"stand-ins in {method.name}: {', '.join(stand_ins)}")
    title, beside = outcome.experiment.title, data.scale.name == "full"
    if counted:
        outcome.tables = (pseudo_label_table(counted, notes, title=title, beside=beside),)


def _test_operators(outcome: Outcome, data: RunData) -> None:
    sets = []
    for name in data.scale.test_sets:
        try:
            count_test_operators(data.test_set(name))
            sets.append(data.test_set(name))
        except NotRunError as error:
            outcome.not_run[name] = str(error)
    if sets:
        title = outcome.experiment.title
        outcome.tables = (recovered_operator_table(sets, (), title=title, beside=data.scale.name == "full"),)


def _examples(outcome: Outcome, data: RunData, measurements: Measurements) -> None:
    test, rows = data.test_set(EXAMPLES), outcome.experiment.rows(data.scale)
    for row in list(rows):
        try:
            measurements.ensure(row.training, [test])
        except NotRunError as error:
            outcome.not_run[row.names["method"]] = str(error)
            rows = [other for other in rows if other != row]
    if rows:
        results = [Result(row, measurements.measured(row.training, test)) for row in rows]
        notes = _notes(data.scale, measurements, results)
        outcome.tables = (example_table(rows, measurements, test, notes, title=outcome.experiment.title),)


# files in the run's folder


def _check(data_dir: str | Path | None, generators: Mapping[str, str]) -> None:
    """Raise an error if an argument is invalid, before any work is done."""
    if data_dir is not None and not Path(data_dir).is_dir():
        raise ExperimentError(f"there is no folder {data_dir} (--data-dir)")
    if generators:  # a run whose pairs are finished does not need operators
        make_plan(
            "paper", stand_ins=True, generators=generators
        )  # raises an error if a key does not belong to an operator


def _begin(folder: Path, data: RunData, *, train: bool) -> None:
    """Record the scale, models and data on which the run depends; raise an error if the folder holds another run."""
    asked: dict[str, Any] = {
        "format": FORMAT,
        "scale": _scale_facts(data.scale),
        "encoder hash": encoder_hash(data.scale.encoder),
        "stand-ins": data.stand_ins,
        "generators": generator_facts(data.generators),
        "questions": data.source_hash(),
    }
    path = folder / "run.json"
    if not train:  # because nothing is trained, only the declarations must agree
        asked = {key: asked[key] for key in ("format", "scale")}
        if not path.is_file():
            raise ExperimentError(f"there is no run in {folder}: run the experiments with training first")
    above = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ExperimentError(f"cannot write {folder}: {above} is not a writable folder")
    with exclusive(folder / "locks" / "run.lock"):
        if path.is_file():
            there = _read(path)
            for key, value in json.loads(json.dumps(asked)).items():
                known = there.get(key)
                # if the questions are not available, the questions stored in the run's folder are used
                if known != value and not (key == "questions" and (value is None or known is None)):
                    raise ExperimentError(
                        f"{folder} holds a run with another {_difference(key, known, value)}: choose another --out"
                    )
            return
        foreign = [item.name for item in folder.iterdir() if item.name not in ("data", "generators", "locks")]
        if any(not name.startswith(".run.json.") for name in foreign):
            raise ExperimentError(f"{folder} is not empty and not a run: choose another --out")
        replace_json(path, asked)


def _difference(key: str, known: Any, value: Any) -> str:
    """Return the name of the first nested setting that differs, with its recorded value and its new value."""
    while isinstance(known, dict) and isinstance(value, dict):
        name = next((name for name in [*value, *known] if known.get(name) != value.get(name)), None)
        if name is None:
            break
        key, known, value = name, known.get(name), value.get(name)
    return f"{key.replace('_', ' ')} ({known}, not {value})"


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError:
        raise ExperimentError(f"{path} cannot be read: choose another --out") from None
    return found


def _scale_facts(scale: Scale) -> dict[str, Any]:
    facts = {name: getattr(scale, name) for name in scale.__dataclass_fields__ if name != "settings"}
    return {**facts, "settings": scale.settings.to_dict()}


def _finish(folder: Path, data: RunData) -> None:
    """Record the package versions and the hashes of the test sets in ``run.json``, and write the report."""
    path = folder / "run.json"
    with exclusive(folder / "locks" / "run.lock"):
        facts = _read(path)
        facts["versions"] = _both(facts.get("versions", {}), _versions())
        facts["test_sets"] = {**facts.get("test_sets", {}), **{t.name: t.sha256 for t in data.loaded() if t.sha256}}
        replace_json(path, facts)
        write_report(folder)


def _both(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Combine the package versions recorded earlier with the current versions.

    The machines that contribute to a run may have different versions installed.

    >>> _both({"torch": "2.11.0"}, {"torch": "2.13.0", "numpy": "2.1"})
    {'torch': '2.11.0, 2.13.0', 'numpy': '2.1'}
    """
    joined = {name: [*before.get(name, "").split(", "), number] for name, number in now.items()}
    return {**before, **{name: ", ".join(filter(None, dict.fromkeys(all_))) for name, all_ in joined.items()}}


def _versions() -> dict[str, str]:
    found = {"paraqd": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _write(outcome: Outcome, folder: Path, data_dir: str | Path | None) -> None:
    """Write an experiment's tables in three formats, and the data for its section of the report.

    Local paths are removed from this data.
    """
    name = outcome.experiment.name
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for ending in ("md", "tex", "json"):
        if outcome.tables:
            write_tables(outcome.tables, tables / f"{name}.{ending}")
        else:  # tables from an earlier call are out of date
            (tables / f"{name}.{ending}").unlink(missing_ok=True)
    facts = {
        "name": name,
        "title": outcome.experiment.title,
        "not_run": {what: _anywhere(why, data_dir) for what, why in outcome.not_run.items()},
        "figures": [{"path": figure.path, "title": figure.title} for figure in outcome.figures],
    }
    replace_json(folder / "experiments" / f"{name}.json", facts)


def _anywhere(reason: str, data_dir: str | Path | None) -> str:
    """Replace the data folder's path with DATA, so that a run can be published.

    >>> _anywhere("put it at /home/me/data/a.csv", "/home/me/data")
    'put it at DATA/a.csv'
    """
    return reason if data_dir is None else reason.replace(str(Path(data_dir)), "DATA")


def with_settings(scale: Scale, **changes: Any) -> Scale:
    """Return a scale with the given training settings changed; a setting whose value is None is left unchanged.

    >>> from paraqd.experiments.scales import FULL
    >>> with_settings(FULL, epochs=3, batch_size=None).settings.epochs
    3
    """
    given = {key: value for key, value in changes.items() if value is not None}
    return replace(scale, settings=replace(scale.settings, **given)) if given else scale

"""Run one experiment: evaluate its models, and build its tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paraqd.evaluation.tables import Table
from paraqd.lab.experiments.arms import collapse_table, difference_table, edit_table, validation_table
from paraqd.lab.experiments.data import EXAMPLES, RunData, TestSet
from paraqd.lab.experiments.declared import ARM, Experiment
from paraqd.lab.experiments.errors import NotRunError
from paraqd.lab.experiments.figures import Figure, draw
from paraqd.lab.experiments.measure import Measurements
from paraqd.lab.experiments.methods import SSMBA_PL, UDA_PL, Training
from paraqd.lab.experiments.scales import Scale
from paraqd.lab.experiments.tables import (
    Result,
    count_test_operators,
    example_table,
    pseudo_label_table,
    recovered_operator_table,
    score_tables,
)
from paraqd.lab.training.encoders import MPNET_NOTE, PAPER_ENCODERS
from paraqd.tables.locks import HeldError

_HAND_WRITTEN = "pawp"  # the test set that was not made with operators


@dataclass
class ExperimentOutcome:
    """An experiment's tables and figures.

    ``not_run`` maps the name of each part that could not run to the reason.
    """

    experiment: Experiment
    tables: tuple[Table, ...] = ()
    figures: list[Figure] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)


def run_experiment(
    found: Experiment, data: RunData, measurements: Measurements, *, figures: bool, wait: bool
) -> ExperimentOutcome | None:
    """Run an experiment and return its outcome.

    If another process is training one of the experiment's models, this function waits for the other process or, if
    ``wait`` is False, returns None.
    """
    outcome = ExperimentOutcome(found)
    if found.kind == "pseudo-labels":
        _pseudo_labels(outcome, data)
        return outcome
    if found.kind == "test-operators":
        _test_operators(outcome, data)
        return outcome
    if not wait and not _train_unlocked(found, data, measurements, figures=figures):
        return None
    if found.kind == "examples":
        _examples(outcome, data, measurements)
    else:
        _scores(outcome, data, measurements, figures=figures)
    return outcome


def _scores(outcome: ExperimentOutcome, data: RunData, measurements: Measurements, *, figures: bool) -> None:
    found, scale = outcome.experiment, data.scale
    rows = found.rows(scale)
    sets, outcome.not_run = _test_sets(found, data)
    if not sets:
        return
    for training, tested in _tested(found, scale, sets):
        try:
            measurements.ensure(training, tested, embeddings=_embedded_sets(found, scale, figures=figures))
        except NotRunError as error:
            outcome.not_run[_name(found, scale, training)] = str(error)
            rows = [row for row in rows if row.training != training]
    results = [
        Result(row, measurements.measured(row.training, sets[row.test_set])) for row in rows if row.test_set in sets
    ]
    if not results:
        return
    notes = _notes(scale, measurements, results)
    if scale.name == "smoke" and found.name == "train-operators":
        notes.append("the pairs are the samples, which were not produced by the training operators")
    if scale.name == "full" and found.table and found.name != "encoder" and "L12" not in scale.encoder:
        notes.append(
            f"the paper's rows are for all-MiniLM-L12-v1, and ours are for {scale.encoder}; the table of encoders "
            "contains the paper's results for other encoders"
        )
    if found.name == "encoder":
        notes += encoder_notes(outcome.not_run)
    if found.kind == "collapse":
        outcome.tables = (collapse_table(results, measurements, sets, notes, title=found.title),)
        return
    outcome.tables = score_tables(found, results, notes, beside=scale.name == "full")
    if found.on == ARM:
        samples = scale.bootstrap_samples
        outcome.tables += (
            difference_table(results, notes, samples=samples),
            edit_table(results, sets, notes, samples=samples),
            validation_table(results, measurements, notes),
        )
    if figures:
        outcome.figures = draw(found, results, data, measurements, beside=scale.name == "full")


def _name(found: Experiment, scale: Scale, training: Training) -> str:
    """Return the name by which a model is listed if it could not be trained: its arm and seed, or its method."""
    if found.on == ARM:
        names = next(row.names for row in found.rows(scale) if row.training == training)
        return f"{names['arm']}, seed {names['seed']}"
    return f"{training.method.name}, {training.encoder}" + (f", without {training.without}" if training.without else "")


def encoder_notes(not_run: Mapping[str, str]) -> list[str]:
    """Return the notes on the paper's encoders: the inferred encoder, and the encoders that could not be trained."""
    notes = [MPNET_NOTE]
    for name in PAPER_ENCODERS:
        reasons = dict.fromkeys(why for row, why in not_run.items() if row.endswith(f", {name}"))
        notes += [f"not run: {name} ({why})" for why in reasons]
    return notes


def _test_sets(found: Experiment, data: RunData) -> tuple[dict[str, TestSet], dict[str, str]]:
    """Return an experiment's available test sets, and the reasons why the others are missing, keyed by name."""
    sets, missing = {}, {}
    for name in dict.fromkeys(row.test_set for row in found.rows(data.scale)):
        try:
            sets[name] = data.test_set(name)
        except NotRunError as error:
            missing[name] = str(error)
    return sets, missing


def _tested(found: Experiment, scale: Scale, sets: Mapping[str, TestSet]) -> Iterator[tuple[Training, list[TestSet]]]:
    """Yield the declaration of each of an experiment's models, with the test sets on which the model is scored."""
    rows = found.rows(scale)
    for training in found.trainings(scale):
        yield training, [sets[row.test_set] for row in rows if row.training == training and row.test_set in sets]


def _embedded_sets(found: Experiment, scale: Scale, *, figures: bool) -> list[str]:
    """Return the names of the test sets whose embeddings the figures need."""
    return [scale.first_set] if figures and found.embeddings else []


def _train_unlocked(found: Experiment, data: RunData, measurements: Measurements, *, figures: bool) -> bool:
    """Train and score the models that no other process is training; return False if other models remain."""
    everything = True
    embedded = _embedded_sets(found, data.scale, figures=figures)
    for training, tested in _tested(found, data.scale, _test_sets(found, data)[0]):
        try:
            measurements.ensure(training, tested, embeddings=embedded, wait=False)
        except HeldError:
            everything = False
        except NotRunError:
            continue  # the same error is raised again, and reported, when the tables are built
    return everything


def _notes(scale: Scale, measurements: Measurements, results: Sequence[Result]) -> list[str]:
    """Return a table's notes, which state the stand-ins, the omitted operators and the settings."""
    facts = [measurements.facts(result.row.training) for result in results]
    notes = [scale.note] if scale.note else []
    stand_ins = sorted({name for fact in facts for name in fact.get("stand_ins") or ()})
    if stand_ins:
        notes.append(f"stand-ins for models that were not available: {', '.join(stand_ins)}")
    left_out = sorted({f"{name} ({why})" for fact in facts for name, why in (fact.get("left_out") or {}).items()})
    if left_out:
        notes.append(f"skipped operators: {'; '.join(left_out)}")
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


def _pseudo_labels(outcome: ExperimentOutcome, data: RunData) -> None:
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
        notes.append(
            f"{method.name}: {found.total:,} outputs for the training questions, labelled by {data.scale.encoder}"
        )
        stand_ins = data.pairs(method.recipe).stand_ins
        if stand_ins:
            notes.append(f"stand-ins in {method.name}: {', '.join(stand_ins)}")
    title, beside = outcome.experiment.title, data.scale.name == "full"
    if counted:
        outcome.tables = (pseudo_label_table(counted, notes, title=title, beside=beside),)


def _test_operators(outcome: ExperimentOutcome, data: RunData) -> None:
    sets = []
    for name in data.scale.test_sets:
        if name == _HAND_WRITTEN:
            outcome.not_run[name] = "its paraphrases were written by hand, so no operators made them"
            continue
        try:
            count_test_operators(data.test_set(name))
            sets.append(data.test_set(name))
        except NotRunError as error:
            outcome.not_run[name] = str(error)
    if sets:
        title = outcome.experiment.title
        outcome.tables = (recovered_operator_table(sets, (), title=title, beside=data.scale.name == "full"),)


def _examples(outcome: ExperimentOutcome, data: RunData, measurements: Measurements) -> None:
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

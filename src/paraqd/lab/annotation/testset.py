"""Create a test set for annotators by applying one valid and one invalid operator to each question."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from paraqd.errors import ParaqdError
from paraqd.lab.corpora.augment import (
    SCHEMA as AUGMENTED,
)
from paraqd.lab.corpora.augment import (
    AugmentJob,
    carry_out_job,
    identity_of,
    output_for,
    pair_row,
    run_settings,
    texts_of,
)
from paraqd.lab.corpora.augment_report import AugmentReport, Collector, Example
from paraqd.lab.operators import Recipe, Resources, derive_rng, get, load_recipe
from paraqd.lab.operators.apply import Outputs, Tally, apply_steps
from paraqd.lab.operators.plan import AugmentError, Plan, Step, make_plan, rules_stand_in
from paraqd.lab.operators.resources import ResourceSpec, build_resources, load_models
from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.model_runtime import check_device
from paraqd.progress import Progress, silent
from paraqd.runs.locations import Location
from paraqd.runs.run import RunOptions, look_at
from paraqd.runs.survey import Inputs
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER
from paraqd.tables.datasets import questions_file
from paraqd.tables.questions import CHUNK, Question, question_of
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row

# the columns that `augment` writes, with an empty label for annotators to fill in, and the operator's intended label
SCHEMA: Mapping[str, type] = {**AUGMENTED, "intended": int}

_STAND_INS = ", or use --stand-ins"  # the advice in error messages about missing generators
SIDES = {1: "valid", 0: "invalid"}


@dataclass(frozen=True)
class MadeTestset(AugmentReport):
    """The report on a test set, which extends the report on an augmentation.

    ``lacking`` maps each side (valid, invalid) to the ids of the questions that have no pair on that side. ``pairs``
    maps each operator to the number of its outputs in the test set; an output that repeats the question or the other
    side's output is not included. For each operator, ``questions`` is the number of questions to which the operator was
    applied, and ``applied`` is the number of its outputs, including repetitions.
    """

    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pairs: Mapping[str, int] = field(default_factory=dict)


def make_testset(
    source: str | Path,
    out: str | Path,
    *,
    recipe: str | Path | Recipe = "test",
    skip: Sequence[str] = (),
    seed: int = 3407,
    stand_ins: bool = False,
    generators: Mapping[str, str] | None = None,
    entities: str = "light",
    device: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    **options: Unpack[RunOptions],
) -> MadeTestset:
    """Apply one valid and one invalid operator of a recipe, chosen at random, to each question.

    The choice depends only on the seed and the question's id. If the chosen operator returns no output, or its output
    repeats the question or the other side's output, the next operator in a random order is tried. Operators whose model
    or package is missing are skipped. This does not affect the questions for which a different operator was chosen. A
    question's valid pair comes before its invalid pair. The column ``label`` is empty, and the column ``intended``
    contains the label that the operator should produce. A row is skipped if its question or its id appears in an
    earlier row.

    The parameters and exceptions are the same as for `paraqd.lab.corpora.augment.augment`. To continue an interrupted
    run, call the function again with the same arguments.
    """
    started = time.monotonic()
    place = Location.at(questions_file(source))
    output = output_for(place, out, entities, options)
    check_device(device)
    loaded = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    absent = _not_installed(loaded, skip)
    plan = make_plan(loaded, skip=[*skip, *absent], stand_ins=stand_ins, generators=generators)
    spec = ResourceSpec(entities=entities, encoder=DEFAULT_ENCODER, generators=plan.generators, device=device)
    resources = build_resources(spec)
    inputs = look_at(place, output, options, check=lambda table: table.require(columns), least=CHUNK)
    plan = _runnable(plan, loaded, resources, absent)
    progress = options.get("progress") or silent
    if plan.needs("vocabulary"):
        vocabulary = Vocabulary.of(texts_of(inputs, columns, progress))
        resources.give("vocabulary", vocabulary)
        spec = replace(spec, vocabulary=vocabulary)
    settings = run_settings(plan, spec, columns, seed=seed, stand_ins=stand_ins, encoding=options.get("encoding"))
    job = TestsetJob(
        inputs.reader,
        columns,
        plan,
        seed,
        spec,
        resources=resources,
        identity=identity_of(settings["set_of_models"]),
        names={
            1: [_full_name(name) for name in loaded.valid],
            0: [_full_name(name) for name in loaded.operators if name not in loaded.valid],
        },
        repeats=_repeats(inputs, columns, progress),
    )
    found, fields = carry_out_job(job, "testset", "making pairs", inputs, output, settings, SCHEMA, options)
    assert isinstance(found, _Collector)
    return MadeTestset(
        **fields,
        out=str(out),
        operators=found.operators(),
        seconds=round(time.monotonic() - started, 3),
        lacking={side: tuple(id for _, id in sorted(found.lacking[side])) for side in SIDES.values()},
        pairs={step.name: count for step, count in zip(plan.steps, found.pairs, strict=True)},
    )


# --- runnable operators -------------------------------------------------------------------------


def _not_installed(recipe: Recipe, skip: Sequence[str]) -> dict[str, str]:
    """Map each operator whose code needs a missing package to instructions for installing the package."""
    absent = {}
    for name in recipe.operators:
        try:
            if name not in skip:
                get(name)
        except ModuleNotFoundError as error:
            absent[name] = f"{error.name} is not installed: pip install 'paraqd[augment]'"
    return absent


def _full_name(name: str) -> str:
    """Return the full name of an operator, or the name unchanged if the operator's code cannot be loaded."""
    try:
        return get(name).name
    except ModuleNotFoundError:
        return name


def _runnable(plan: Plan, recipe: Recipe, resources: Resources, absent: Mapping[str, str]) -> Plan:
    """Load the models, and return the plan without the operators whose model is missing.

    Raise an AugmentError if no valid operator or no invalid operator remains.
    """
    steps: list[Step] = []
    left_out = {**absent, **plan.left_out}
    for step in plan.steps:
        try:
            steps += load_models(replace(plan, steps=(step,)), resources).steps
            if "parser" in step.needs and not step.models:
                resources.require("parser", needed_by=step.name)
        except ParaqdError as error:
            steps = [kept for kept in steps if kept.name != step.name]
            left_out[step.name] = _with_training_hint(str(error), step, recipe)
    for label, side in SIDES.items():
        if not any(step.label == label for step in steps):
            reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
            advice = f" ({reasons})" if reasons else "; skip fewer operators, or choose another recipe"
            raise AugmentError(f"no {side} operator can run{advice}")
    return replace(plan, steps=tuple(steps), left_out=left_out)


def _with_training_hint(why: str, step: Step, recipe: Recipe) -> str:
    """Replace the advice to use ``--stand-ins`` in an error message with the command that trains a model.

    Return the message unchanged if the operator's stand-in works without a model.
    """
    if _STAND_INS not in why or rules_stand_in(step.name, recipe):
        return why
    hints = (f"; paraqd lab generator train {key} --data DIR --out DIR trains a small model" for key in step.generators)
    return why.replace(_STAND_INS, "".join(hints))


# --- choosing operators -------------------------------------------------------------------------


def draw_order(names: Sequence[str], *, seed: int, row_id: str, side: str) -> list[str]:
    """Return one side's operators in the random order in which they are tried for a question.

    >>> draw_order(["a", "b", "c"], seed=3407, row_id="q3", side="invalid")
    ['b', 'a', 'c']
    """
    order = sorted(names)  # makes the result independent of the order in the recipe
    derive_rng(seed, row_id, f"testset.{side}").shuffle(order)
    return order


def _repeats(inputs: Inputs, columns: Columns, progress: Progress) -> dict[tuple[str, int], str]:
    """Map each row that repeats an earlier row's question or id to the reason for skipping the row."""
    texts: dict[str, str] = {}
    ids: dict[str, str] = {}
    found: dict[tuple[str, int], str] = {}
    reader, rows = inputs.reader, 0
    several = len(inputs.files) > 1
    for piece in inputs.pieces:
        progress("looking for repeats", rows, inputs.rows)
        rows += piece.rows
        for number, row in numbered(reader.rows(piece, [columns.question, columns.id]), piece.start + 1):
            question = question_of(row, columns)
            if not isinstance(question, Question):
                continue
            text = _plain(question.text)
            if text in texts:
                found[piece.file, number] = f"the same question as {texts[text]}"
            elif question.id in ids:
                found[piece.file, number] = f"the same id as {ids[question.id]}"
            else:
                where = f" of {inputs.source.shown(piece.file)}" if several else ""
                texts[text] = ids[question.id] = f"row {number}{where}"
    return found


@dataclass(frozen=True)
class TestsetJob(AugmentJob):
    """The job that applies one operator of each side to every question.

    ``names`` maps each side's label to all of the side's operators, including operators that cannot run. ``repeats``
    maps each skipped row to the reason for skipping it.
    """

    __test__ = False  # tells pytest that this class is not a test
    names: Mapping[int, Sequence[str]] = field(default_factory=dict)
    repeats: Mapping[tuple[str, int], str] = field(default_factory=dict)

    def question(self, file: str, number: int, row: Row) -> Question | str:
        """Return the row's question, or the reason the row is skipped."""
        return self.repeats.get((file, number)) or super().question(file, number, row)

    def make(self, questions: Sequence[Question], resources: Resources) -> list[Outputs]:
        """Return each step's outputs for all questions; an output is None if the step contributes no pair."""
        steps = {step.name: i for i, step in enumerate(self.plan.steps)}
        outputs = [Outputs(texts=[None] * len(questions), tally=Tally()) for _ in steps]
        taken = [{_plain(question.text)} for question in questions]
        for label, side in SIDES.items():
            waiting = {
                q: [
                    name
                    for name in draw_order(self.names[label], seed=self.seed, row_id=question.id, side=side)
                    if name in steps
                ]
                for q, question in enumerate(questions)
            }
            while waiting:
                waiting = {q: names for q, names in waiting.items() if names}
                for name, s in steps.items():  # apply each operator in one batch to all questions for which it is next
                    turn = [q for q, names in waiting.items() if names[0] == name]
                    if not turn:
                        continue
                    subset = [questions[q] for q in turn]
                    (made,) = apply_steps(subset, self.plan.steps[s : s + 1], seed=self.seed, resources=resources)
                    outputs[s].tally.add(made.tally)
                    for q, text in zip(turn, made.texts, strict=True):
                        if text is None or _plain(text[0]) in taken[q]:
                            continue
                        outputs[s].texts[q] = text
                        taken[q].add(_plain(text[0]))
                        del waiting[q]
                waiting = {q: names[1:] for q, names in waiting.items()}
        return outputs

    def rows(self, question: Question, made: Mapping[int, tuple[str, str]], collector: Collector) -> Iterator[Row]:
        """Yield a question's pairs, with the valid pair first."""
        assert isinstance(collector, _Collector)
        by_label = {self.plan.steps[s].label: s for s in made}
        for label, side in SIDES.items():
            if label not in by_label:
                collector.lacking[side].append((collector.place, question.id))
                continue
            s = by_label[label]
            paraphrase, note = made[s]
            collector.add_output(s, Example(question.id, question.text, paraphrase))
            collector.pairs[s] += 1
            yield {**pair_row(question, self.plan.steps[s], paraphrase, note), "label": None, "intended": label}
        collector.place += 1

    def collector(self) -> Collector:
        """Return an empty collector for the report."""
        return _Collector(self.plan)


@dataclass
class _Collector(Collector):
    """A collector for the report on a test set; ``place`` is the index of the current question."""

    place: int = 0
    lacking: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: {side: [] for side in SIDES.values()})
    pairs: list[int] = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.pairs = [0] * len(self.plan.steps)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON-serialisable dictionary, which `include` adds to another collector."""
        return super().to_dict() | {"lacking": self.lacking, "pairs": self.pairs}

    def include(self, data: Mapping[str, Any], file: str = "", start: int = 0) -> None:
        """Add the counts for a piece of ``file``; ``start`` is the number of rows in all earlier pieces."""
        super().include(data, file, start)
        for side, ids in data["lacking"].items():
            self.lacking[side] += [(start + place, id) for place, id in ids]
        self.pairs = [mine + other for mine, other in zip(self.pairs, data["pairs"], strict=True)]


def _plain(text: str) -> str:
    """Normalise the white space in a text, because annotators cannot see differences in white space."""
    return " ".join(text.split())

"""A test set to be annotated: for each question one output of a valid and one of an invalid test operator."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from paraqd.data.questions import CHUNK, Progress, look_through, read_chunks
from paraqd.data.tables import DEFAULT_COLUMNS, Columns, Row, check_writable, open_table
from paraqd.errors import ParaqdError
from paraqd.generators.encoder import DEFAULT_ENCODER
from paraqd.generators.runtime import check_device
from paraqd.operators import Recipe, Resources, derive_rng, get, load_recipe
from paraqd.operators.apply import Chunk, Outputs, Question, Tally, apply_steps
from paraqd.operators.plan import AugmentError, Plan, Step, make_plan, rules_stand_in
from paraqd.operators.resources import ENTITY_READERS, ResourceSpec, build_resources, load_models
from paraqd.runs.augment_report import AugmentReport, Collector, Example
from paraqd.runs.outputs import SCHEMA as AUGMENTED
from paraqd.runs.outputs import Run, check_target, pair_row, settings, summary, write_pairs
from paraqd.runs.parts import Parts, hold, parts_folder

# as augment writes them, the label left to annotators, and what the operator is meant to make
SCHEMA: Mapping[str, type] = {**AUGMENTED, "intended": int}

_STAND_INS = ", or use --stand-ins"  # how errors of generators end
SIDES = {1: "valid", 0: "invalid"}


@dataclass(frozen=True)
class MadeTestset(AugmentReport):
    """What was made: as for an augmentation, and for each side the ids of the questions that lack an output.

    An operator's ``questions`` are those for which it was tried, ``applied`` counts what it gave; ``pairs`` are those
    that were written, by operator: what the question or the other side says already is not taken.
    """

    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pairs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Run(Run):
    """Everything that is settled before the work begins."""

    names: Mapping[int, Sequence[str]]  # every operator of a side, also those that cannot run
    resources: Resources


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
    encoding: str | None = None,
    overwrite: bool = False,
    restart: bool = False,
    progress: Progress | None = None,
) -> MadeTestset:
    """Apply to each question of a file one valid and one invalid operator of a recipe, drawn at random.

    The draw depends on (seed, id) alone. Where the operator drawn gives nothing, or the text of the other side, the
    next one in a random order is tried; operators whose model or package is absent are left out, and every question
    that drew another one keeps its output. Rows are written valid first, with an empty ``label`` for annotators and
    the operator's polarity as ``intended``. A question that stands in an earlier row, or whose id does, is skipped.

    Like `augment`, a call that was broken off goes on where it was when it is made again, and `AugmentError` and
    `TableError` say in one line what cannot be done.
    """
    started = time.monotonic()
    out = Path(out)
    check_writable(out)
    if entities not in ENTITY_READERS:
        raise AugmentError(f"--entities {entities}: choose one of {', '.join(ENTITY_READERS)}")
    check_target(source, out, overwrite=overwrite or Parts(parts_folder(out)).begun)
    check_device(device)
    loaded = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    absent = _not_installed(loaded, skip)
    plan = make_plan(loaded, skip=[*skip, *absent], stand_ins=stand_ins, generators=generators)
    spec = ResourceSpec(entities=entities, encoder=DEFAULT_ENCODER, generators=plan.generators, device=device)
    resources = build_resources(spec)
    report = progress or (lambda stage, done, total: None)
    with hold(out) as parts:
        table = open_table(source, encoding=encoding)
        table.require(columns)
        plan = _runnable(plan, loaded, resources, absent)
        survey = look_through(table, columns, words=plan.needs("vocabulary"), progress=report)
        if survey.vocabulary is not None:
            resources.give("vocabulary", survey.vocabulary)
        run = _Run(
            table=table,
            columns=columns,
            plan=plan,
            names={
                1: [_full_name(name) for name in loaded.valid],
                0: [_full_name(name) for name in loaded.operators if name not in loaded.valid],
            },
            seed=seed,
            resources=resources,
            rows=survey.rows,
            out=out,
            parts=parts,
            progress=report,
            entities=entities,
            started=started,
        )
        parts.begin(
            # under a name of its own: an augmentation with the same steps must not go on with these parts
            settings(run, survey, spec, stand_ins=stand_ins, models=spec.generators, kind="one of each side"),
            restart=restart,
        )
        kept = min(parts.prefix(run.chunks) * CHUNK, run.rows)
        _work(run, kept)
        made = _join(run, kept)
        parts.clear()
        return made


# --- what can run -------------------------------------------------------------------------------


def _not_installed(recipe: Recipe, skip: Sequence[str]) -> dict[str, str]:
    """Return the operators whose code needs a package that is not installed, with what to do."""
    absent = {}
    for name in recipe.operators:
        try:
            if name not in skip:
                get(name)
        except ModuleNotFoundError as error:
            absent[name] = f"{error.name} is not installed: pip install 'paraqd[augment]'"
    return absent


def _full_name(name: str) -> str:
    """Return the operator's name for a paper id; one whose code cannot be loaded is never tried."""
    try:
        return get(name).name
    except ModuleNotFoundError:
        return name


def _runnable(plan: Plan, recipe: Recipe, resources: Resources, absent: Mapping[str, str]) -> Plan:
    """Load the models, and leave out the operators that cannot have theirs; both sides must keep one."""
    steps: list[Step] = []
    left_out = {**absent, **plan.left_out}
    for step in plan.steps:
        try:
            steps += load_models(replace(plan, steps=(step,)), resources).steps
            if "parser" in step.needs and not step.models:
                resources.require("parser", needed_by=step.name)
        except ParaqdError as error:
            steps = [kept for kept in steps if kept.name != step.name]
            left_out[step.name] = _without_a_circle(str(error), step, recipe)
    for label, side in SIDES.items():
        if not any(step.label == label for step in steps):
            reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
            raise AugmentError(f"no {side} operator can run{f' ({reasons})' if reasons else ''}")
    return replace(plan, steps=tuple(steps), left_out=left_out)


def _without_a_circle(why: str, step: Step, recipe: Recipe) -> str:
    """Say how a model is made in place of ``--stand-ins``, which would only ask for that model again."""
    if _STAND_INS not in why or rules_stand_in(step.name, recipe):
        return why
    made = "".join(f"; paraqd generator train {key} --data DIR --out DIR makes a small one" for key in step.generators)
    return why.replace(_STAND_INS, made)


# --- drawing ------------------------------------------------------------------------------------


def draw_order(names: Sequence[str], *, seed: int, row_id: str, side: str) -> list[str]:
    """Return a side's operators in the order in which they are tried on a question.

    >>> draw_order(["a", "b", "c"], seed=3407, row_id="q3", side="invalid")
    ['b', 'a', 'c']
    """
    order = sorted(names)  # the draw does not depend on how the recipe lists them
    derive_rng(seed, row_id, f"testset.{side}").shuffle(order)
    return order


def _work(run: _Run, kept: int) -> None:
    """Work on every chunk that has no part yet."""
    run.progress("making pairs", kept, run.rows)
    done = 0
    for chunk in _without_repeats(read_chunks(run.table, run.columns)):
        done += chunk.rows
        if not run.parts.has(chunk.index):
            run.parts.save(chunk, _one_of_each_side(run, chunk.questions))
            run.progress("making pairs", done, run.rows)


def _without_repeats(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Skip the questions that stand in an earlier row: a test set must not count one twice."""
    rows: dict[str, int] = {}
    ids: dict[str, int] = {}
    start = 1
    for chunk in chunks:
        blank = {row for row, _ in chunk.skipped}
        numbers = [row for row in range(start, start + chunk.rows) if row not in blank]
        start += chunk.rows
        kept: list[Question] = []
        skipped = list(chunk.skipped)
        for row, question in zip(numbers, chunk.questions, strict=True):
            text = _plain(question.text)
            if text in rows:
                skipped.append((row, f"the same question as row {rows[text]}"))
            elif question.id in ids:
                skipped.append((row, f"the same id as row {ids[question.id]}"))
            else:
                rows[text] = ids[question.id] = row
                kept.append(question)
        yield replace(chunk, questions=tuple(kept), skipped=tuple(sorted(skipped)))


def _one_of_each_side(run: _Run, questions: Sequence[Question]) -> list[Outputs]:
    """Return for each step what it made of the questions for which it was chosen, None for the others."""
    steps = {step.name: i for i, step in enumerate(run.plan.steps)}
    outputs = [Outputs(texts=[None] * len(questions), tally=Tally()) for _ in steps]
    taken = [{_plain(question.text)} for question in questions]
    for label, side in SIDES.items():
        waiting = {
            q: [name for name in _order(run, question, label, side) if name in steps]
            for q, question in enumerate(questions)
        }
        while waiting:
            waiting = {q: names for q, names in waiting.items() if names}
            for name, s in steps.items():  # each operator runs on all questions whose turn it is, in one batch
                turn = [q for q, names in waiting.items() if names[0] == name]
                if not turn:
                    continue
                subset = [questions[q] for q in turn]
                (made,) = apply_steps(subset, run.plan.steps[s : s + 1], seed=run.seed, resources=run.resources)
                outputs[s].tally.add(made.tally)
                for q, text in zip(turn, made.texts, strict=True):
                    if text is None or _plain(text[0]) in taken[q]:
                        continue
                    outputs[s].texts[q] = text
                    taken[q].add(_plain(text[0]))
                    del waiting[q]
            waiting = {q: names[1:] for q, names in waiting.items()}
    return outputs


def _order(run: _Run, question: Question, label: int, side: str) -> list[str]:
    return draw_order(run.names[label], seed=run.seed, row_id=question.id, side=side)


def _plain(text: str) -> str:
    """Return the text as annotators see it: white space does not make another pair."""
    return " ".join(text.split())


# --- writing ------------------------------------------------------------------------------------


def _join(run: _Run, kept: int) -> MadeTestset:
    """Put the parts together as the output, in one step, and return the report."""
    collector = Collector(run.plan)
    lacking: dict[str, list[str]] = {side: [] for side in SIDES.values()}
    pairs = {step.name: 0 for step in run.plan.steps}
    write_pairs(run, SCHEMA, _joined_rows(run, collector, lacking, pairs), complete=True)
    made = summary(run, collector, resumed=kept, complete=True)
    return MadeTestset(**vars(made), lacking={side: tuple(ids) for side, ids in lacking.items()}, pairs=pairs)


def _joined_rows(
    run: _Run, collector: Collector, lacking: Mapping[str, list[str]], pairs: dict[str, int]
) -> Iterator[Row]:
    """Yield the rows, each question's valid one first."""
    for index in range(run.chunks):
        part = run.parts.load(index)
        collector.add_chunk(len(part.questions), part.skipped, part.tallies)
        made = {(q, run.plan.steps[s].label): (s, paraphrase, note) for q, s, paraphrase, note in part.outputs}
        for q, question in enumerate(part.questions):
            for label, side in SIDES.items():
                if (q, label) not in made:
                    lacking[side].append(question.id)
                    continue
                s, paraphrase, note = made[q, label]
                collector.add_output(s, Example(question.id, question.text, paraphrase))
                pairs[run.plan.steps[s].name] += 1
                yield {**pair_row(question, run.plan.steps[s], paraphrase, note), "label": None, "intended": label}
        run.progress("joining", min((index + 1) * CHUNK, run.rows), run.rows)

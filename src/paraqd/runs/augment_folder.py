"""The questions of many files made into labelled pairs, part by part."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from paraqd.data.questions import CHUNK, question_of
from paraqd.data.tables import Columns, Table
from paraqd.generators.encoder import DEFAULT_ENCODER
from paraqd.operators import Recipe
from paraqd.operators.apply import Question, apply_steps
from paraqd.operators.plan import AugmentError, Plan, make_plan
from paraqd.operators.resources import ENTITY_READERS, ResourceSpec, build_resources, load_models
from paraqd.operators.wording.vocabulary import Vocabulary
from paraqd.runs.augment_report import AugmentReport, Collector, Example
from paraqd.runs.engines import Engine, OnRows, here
from paraqd.runs.folder_run import OnProgress, Outcome, Work, carry_out
from paraqd.runs.outputs import SCHEMA, pair_row, what_made
from paraqd.runs.pieces import Inputs, Piece, Reader, UnreadableError, survey
from paraqd.runs.stores import Store
from paraqd.runs.target import Facts, Sink
from paraqd.version import __version__


@dataclass(frozen=True)
class AugmentJob:
    """Applies every step to every question of a piece, and writes the pairs."""

    reader: Reader
    sink: Sink
    columns: Columns
    plan: Plan
    seed: int
    spec: ResourceSpec

    def worker(self, *, threads: int | None = None) -> AugmentWorker:
        """Make the resources, which are loaded when they are first asked for."""
        del threads  # of the operators' models the environment says how many they may use
        return AugmentWorker(self)


class AugmentWorker:
    """Operators at work on pieces."""

    identity = f"paraqd:{__version__}"

    def __init__(self, job: AugmentJob) -> None:
        self._job = job
        self._resources = build_resources(job.spec)

    def work(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Make the pairs of a piece."""
        job, steps = self._job, self._job.plan.steps
        collector = Collector(job.plan)
        done = 0
        only = [job.columns.question, job.columns.id]
        with job.sink.part(piece.index) as (writer, facts):
            for chunk in job.reader.chunks(piece, CHUNK, only):
                questions: list[Question] = []
                skipped: list[tuple[int, str]] = []
                for row, fields in enumerate(chunk, start=piece.start + done + 1):
                    found = question_of(fields, job.columns)
                    if isinstance(found, Question):
                        questions.append(found)
                    else:
                        skipped.append((row, found))
                made = apply_steps(questions, steps, seed=job.seed, resources=self._resources)
                collector.add_chunk(len(questions), skipped, [outputs.tally for outputs in made])
                for q, question in enumerate(questions):
                    for s, outputs in enumerate(made):
                        if (text := outputs.texts[q]) is not None:
                            collector.add_output(s, Example(question.id, question.text, text[0]))
                            writer.write([pair_row(question, steps[s], *text)])
                done += len(chunk)
                on_rows(done)
            facts.update(collector.to_dict())
        return facts


def augment_folder(
    source: Store,
    out: Store,
    *,
    recipe: str | Recipe = "extended",
    operators: Sequence[str] | None = None,
    skip: Sequence[str] = (),
    seed: int = 3407,
    stand_ins: bool = False,
    generators: Mapping[str, str] | None = None,
    encoder: str = DEFAULT_ENCODER,
    entities: str = "light",
    device: str | None = None,
    columns: Columns,
    encoding: str | None = None,
    part_rows: int | None = None,
    overwrite: bool = False,
    restart: bool = False,
    engine: Engine = here,
    progress: OnProgress,
    say: Callable[[str], None],
) -> tuple[AugmentReport, Outcome]:
    """Apply every operator of a recipe to every question of a folder's files; the pairs are written as parts.

    The pairs are those that `paraqd.runs.augment.augment` makes of one file with all the questions, whatever the
    engine.
    """
    if entities not in ENTITY_READERS:
        raise AugmentError(f"--entities {entities}: choose one of {', '.join(ENTITY_READERS)}")
    started = time.monotonic()
    given = {key: _full(model) for key, model in (generators or {}).items()}
    plan = make_plan(recipe, operators=operators, skip=skip, stand_ins=stand_ins, generators=given)
    spec = ResourceSpec(entities=entities, encoder=_full(encoder), generators=plan.generators, device=device)
    plan = load_models(plan, build_resources(spec))

    def check(table: Table) -> None:
        table.require(columns)

    inputs = survey(source, encoding=encoding, part_rows=part_rows, check=check, progress=progress)
    if plan.needs("vocabulary"):
        spec = replace(spec, vocabulary=Vocabulary.of(_texts(inputs, columns, progress)))
    collector = Collector(plan)
    settings = {
        "columns": [columns.question, columns.id],
        "seed": seed,
        "version": __version__,
        "choice_of_stand-ins": stand_ins,
        "set_of_operators": [asdict(step) for step in plan.steps],
        "set_of_models": {"encoder": spec.encoder, **spec.generators},
        "entity_reader": entities,
        "encoding": encoding,
    }
    work = Work(
        command="augment",
        stage="augmenting",
        inputs=inputs,
        settings=settings,
        schema=SCHEMA,
        metadata=what_made(plan, seed, entities, complete=True),
        job=lambda sink: AugmentJob(inputs.reader, sink, columns, plan, seed, spec),
        count=lambda piece, facts: collector.include(facts, source.shown(piece.file)),
        totals=lambda: {"questions": collector.questions, "pairs": collector.written, "recipe": plan.recipe},
    )
    outcome = carry_out(work, out, engine=engine, overwrite=overwrite, restart=restart, progress=progress, say=say)
    report = AugmentReport(
        out=out.given,
        recipe=plan.recipe,
        seed=seed,
        version=__version__,
        rows=inputs.rows,
        questions=collector.questions,
        skipped=collector.skipped,
        skipped_rows=tuple(sorted(collector.skipped_rows)),
        written=collector.written,
        operators=collector.operators(),
        left_out=dict(plan.left_out),
        resumed=outcome.resumed,
        seconds=round(time.monotonic() - started, 3),
        complete=not outcome.problems,
    )
    return report, outcome


def _full(model: str) -> str:
    """Return the full path of a model's folder, for workers that are elsewhere; a name stays a name."""
    return str(Path(model).absolute()) if Path(model).exists() else model


def _texts(inputs: Inputs, columns: Columns, progress: OnProgress) -> Iterator[str]:
    """Yield every question: some operators want to know how often a word occurs in the whole corpus."""
    rows = 0
    for piece in inputs.pieces:
        progress("reading", rows, inputs.rows)
        try:
            for row in inputs.reader.rows(piece, [columns.question]):
                text = row.get(columns.question)
                if isinstance(text, str):
                    yield text
        except UnreadableError:  # named when its part comes up
            continue
        finally:
            rows += piece.rows

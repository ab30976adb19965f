"""Make labelled pairs of questions: apply every operator of a recipe to every question of a file or a folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Unpack

from paraqd.data.questions import CHUNK, question_of
from paraqd.data.tables import DEFAULT_COLUMNS, Columns, Row
from paraqd.data.writers import PLAIN
from paraqd.generators.encoder import DEFAULT_ENCODER
from paraqd.operators import Recipe, Resources
from paraqd.operators.apply import Outputs, Question, apply_steps
from paraqd.operators.plan import AugmentError, Plan, Step, make_plan
from paraqd.operators.resources import ENTITY_READERS, ResourceSpec, build_resources, load_models
from paraqd.operators.wording.vocabulary import Vocabulary
from paraqd.progress import Progress, silent
from paraqd.runs.augment_report import AugmentReport, Collector, Example
from paraqd.runs.engines import OnRows, PieceWorker
from paraqd.runs.locations import Location
from paraqd.runs.output import Output
from paraqd.runs.pieces import Piece, Reader, UnreadableError
from paraqd.runs.run import RunInterrupted, RunOptions, Work, carry_out, look_at
from paraqd.runs.store import NO_PARTS, Facts, Parts
from paraqd.runs.survey import Inputs
from paraqd.version import __version__

__all__ = ["SCHEMA", "AugmentError", "AugmentReport", "RunInterrupted", "augment"]

# the columns of a pair, in this order
SCHEMA: Mapping[str, type] = {
    "id": str,
    "question": str,
    "paraphrase": str,
    "label": int,
    "operator": str,
    "paper_id": str,
    "source_model": str,
    "stand_in": bool,
    "note": str,
}


@dataclass(frozen=True)
class AugmentJob:
    """The job of applying every step to every question, and writing the pairs.

    ``resources`` are those of this process; others build their own from ``spec``.
    """

    reader: Reader
    columns: Columns
    plan: Plan
    seed: int
    spec: ResourceSpec
    parts: Parts = NO_PARTS
    resources: Resources | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "resources": None}

    def worker(self, *, threads: int | None = None) -> AugmentWorker:
        """Make a worker; models are loaded when they are first needed."""
        del threads  # the environment says how many threads the models may use
        return AugmentWorker(self)

    def make(self, questions: Sequence[Question], resources: Resources) -> list[Outputs]:
        """Return what each step makes of the questions."""
        return apply_steps(questions, self.plan.steps, seed=self.seed, resources=resources)

    def question(self, file: str, number: int, row: Row) -> Question | str:
        """Return the question in a row of a file, or the reason why it is skipped."""
        del file, number
        return question_of(row, self.columns)

    def rows(self, question: Question, made: Mapping[int, tuple[str, str]], collector: Collector) -> Iterator[Row]:
        """Yield the pairs of a question; ``made`` holds paraphrases and notes by the number of their step."""
        for s, (paraphrase, note) in made.items():
            collector.add_output(s, Example(question.id, question.text, paraphrase))
            yield pair_row(question, self.plan.steps[s], paraphrase, note)

    def collector(self) -> Collector:
        """Return an empty collector for the report."""
        return Collector(self.plan)


class AugmentWorker(PieceWorker):
    """Operators at work on pieces."""

    identity = f"paraqd:{__version__}"

    def __init__(self, job: AugmentJob) -> None:
        self._job = job
        self._resources = build_resources(job.spec) if job.resources is None else job.resources

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Make the pairs of a piece."""
        job = self._job
        collector = job.collector()
        done = 0
        only = [job.columns.question, job.columns.id]
        with job.parts.part(piece.index) as (writer, facts):
            for chunk in job.reader.chunks(piece, CHUNK, only):
                questions: list[Question] = []
                skipped: list[tuple[int, str]] = []
                for number, row in enumerate(chunk, start=piece.start + done + 1):
                    found = job.question(piece.file, number, row)
                    if isinstance(found, Question):
                        questions.append(found)
                    else:
                        skipped.append((number, found))
                made = job.make(questions, self._resources)
                collector.add_chunk(len(questions), skipped, [outputs.tally for outputs in made])
                for q, question in enumerate(questions):
                    texts = {s: text for s, outputs in enumerate(made) if (text := outputs.texts[q]) is not None}
                    writer.write(job.rows(question, texts, collector))
                done += len(chunk)
                if done < piece.rows:  # the engine reports finished pieces
                    on_rows(done)
            facts.update(collector.to_dict())
        return facts


def augment(
    source: str | Path,
    out: str | Path,
    *,
    recipe: str | Path | Recipe = "extended",
    operators: Sequence[str] | None = None,
    skip: Sequence[str] = (),
    seed: int = 3407,
    stand_ins: bool = False,
    generators: Mapping[str, str] | None = None,
    encoder: str = DEFAULT_ENCODER,
    entities: str = "light",
    device: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    **options: Unpack[RunOptions],
) -> AugmentReport:
    """Apply every operator of a recipe to every question of a file or a folder, and write the pairs.

    The pairs come in the order of the questions, then of the recipe. The bytes are the same for the same input, seed
    and version, whatever the number of workers. A call that was interrupted, even by ``kill -9``, continues where it
    stopped when it is made again.

    Parameters
    ----------
    source : str or Path
        Questions as CSV, TSV, JSONL or Parquet, or a folder of such files.
    out : str or Path
        A file, whose ending gives the format, or a folder (a name that ends in ``/``).
    recipe, operators, skip
        The recipe, operators instead of those of the recipe, and operators to leave out.
    seed : int
        The seed of the random choices.
    stand_ins : bool
        Let rules or small models stand in for the models of the paper.
    generators : mapping, optional
        Models by the paper's name of their operator, such as ``{"f9": "models/f9"}``.
    encoder, entities, device
        The sentence encoder, the reader of names (``light`` or ``spacy``), and the device of the models.
    columns : Columns
        The names of the columns.
    **options
        ``workers``, ``engine``, ``overwrite``, ``restart``, ``progress`` and others: see `RunOptions`. Every worker
        loads the models that its operators need.

    Raises
    ------
    TableError, AugmentError
        If a file or a setting cannot be used; the message is one line that says what to do.
    RunInterrupted
        After Ctrl-C.

    """
    started = time.monotonic()
    place = Location.at(source)
    output = output_for(place, out, entities, options)
    given = {key: _full(model) for key, model in (generators or {}).items()}
    plan = make_plan(recipe, operators=operators, skip=skip, stand_ins=stand_ins, generators=given)
    spec = ResourceSpec(entities=entities, encoder=_full(encoder), generators=plan.generators, device=device)
    resources = build_resources(spec)
    inputs = look_at(place, output, options, check=lambda table: table.require(columns), least=CHUNK)
    plan = load_models(plan, resources)
    if plan.needs("vocabulary"):
        vocabulary = Vocabulary.of(texts_of(inputs, columns, options.get("progress") or silent))
        resources.give("vocabulary", vocabulary)
        spec = replace(spec, vocabulary=vocabulary)
    settings = run_settings(plan, spec, columns, seed=seed, stand_ins=stand_ins, encoding=options.get("encoding"))
    job = AugmentJob(inputs.reader, columns, plan, seed, spec, resources=resources)
    collector, fields = carry_out_job(job, "augment", "augmenting", inputs, output, settings, SCHEMA, options)
    return AugmentReport(**fields, out=str(out), operators=collector.operators(), seconds=_since(started))


# --- shared with test sets ------------------------------------------------------------------------


def output_for(source: Location, out: str | Path, entities: str, options: RunOptions) -> Output:
    """Check the settings that do not depend on the input, and return the place of the output."""
    if entities not in ENTITY_READERS:
        raise AugmentError(f"--entities {entities}: choose one of {', '.join(ENTITY_READERS)}")
    return Output.at(source, out, **options)


def texts_of(inputs: Inputs, columns: Columns, progress: Progress) -> Iterator[str]:
    """Yield every question: some operators need to know how often a word occurs in all of them."""
    reader, rows = inputs.reader, 0
    for piece in inputs.pieces:
        progress("counting words", rows, inputs.rows)
        try:
            for row in reader.rows(piece, [columns.question]):
                text = row.get(columns.question)
                if isinstance(text, str):
                    yield text
        except UnreadableError:  # reported when the work comes to it
            continue
        finally:
            rows += piece.rows


def run_settings(
    plan: Plan, spec: ResourceSpec, columns: Columns, *, seed: int, stand_ins: bool, encoding: str | None
) -> dict[str, Any]:
    """Return everything that the pairs depend on."""
    return {
        "columns": [columns.question, columns.id],
        "seed": seed,
        "version": __version__,
        "choice_of_stand-ins": stand_ins,
        "set_of_operators": [asdict(step) for step in plan.steps],
        "set_of_models": {"encoder": spec.encoder, **spec.generators},
        "entity_reader": spec.entities,
        "encoding": encoding,
    }


def carry_out_job(
    job: AugmentJob,
    command: str,
    stage: str,
    inputs: Inputs,
    output: Output,
    settings: Mapping[str, Any],
    schema: Mapping[str, type],
    options: RunOptions,
) -> tuple[Collector, dict[str, Any]]:
    """Carry out a job; return what was collected, and the fields that all reports share."""
    collector, plan = job.collector(), job.plan
    starts = list(accumulate((piece.rows for piece in inputs.pieces), initial=0))

    def count(piece: Piece, facts: Facts) -> None:
        file = inputs.source.shown(piece.file) if piece.file else ""  # the only file has no name of its own
        collector.include(facts, file, starts[piece.index])

    work = Work(
        command=command,
        stage=stage,
        inputs=inputs,
        settings=settings,
        schema=schema,
        metadata=made_by(plan, job.seed, job.spec.entities),
        job=lambda parts: replace(job, parts=parts),
        count=count,
        totals=lambda: {"questions": collector.questions, "pairs": collector.written, "recipe": plan.recipe},
        dialect=PLAIN if inputs.table is None else inputs.table.dialect,
        beside=True,
    )
    outcome = carry_out(work, output, options)
    return collector, {
        "recipe": plan.recipe,
        "seed": job.seed,
        "version": __version__,
        "rows": inputs.rows,
        "questions": collector.questions,
        "skipped": collector.skipped,
        "skipped_rows": tuple(sorted(collector.skipped_rows)),
        "written": collector.written,
        "left_out": dict(plan.left_out),
        "resumed": outcome.resumed,
        "problems": outcome.problems,
    }


def made_by(plan: Plan, seed: int, entities: str) -> dict[str, Any]:
    """Return the record of how pairs were made, which is kept with them."""
    return {
        "recipe": plan.recipe,
        "seed": seed,
        "version": __version__,
        "entities": entities,
        "complete": True,
        "operators": [step.name for step in plan.steps],
        "left_out": dict(plan.left_out),
        "stand_ins": {step.name: step.source_model for step in plan.steps if step.stand_in},
    }


def pair_row(question: Question, step: Step, paraphrase: str, note: str) -> Row:
    """Return a pair as it is written, with the label that its operator promises."""
    return {
        "id": question.id,
        "question": question.text,
        "paraphrase": paraphrase,
        "label": step.label,
        "operator": step.name,
        "paper_id": step.paper_id,
        "source_model": step.source_model,
        "stand_in": step.stand_in,
        "note": note,
    }


def _full(model: str) -> str:
    """Return the full path of a model folder, because workers may run elsewhere; a name stays a name."""
    return str(Path(model).absolute()) if Path(model).exists() else model


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)

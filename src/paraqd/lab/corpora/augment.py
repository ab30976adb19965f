"""Create labelled pairs by applying every operator in a recipe to every question in a file or a folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Unpack

from paraqd.lab.corpora.augment_report import AugmentReport, Collector, Example
from paraqd.lab.operators import Recipe, Resources
from paraqd.lab.operators.apply import Outputs, apply_steps
from paraqd.lab.operators.plan import AugmentError, Plan, Step, make_plan
from paraqd.lab.operators.resources import ENTITY_READERS, ResourceSpec, build_resources, load_models
from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.parameters import named
from paraqd.progress import Progress, silent
from paraqd.runs.engines import OnRows, PieceWorker
from paraqd.runs.locations import Location
from paraqd.runs.output import Output
from paraqd.runs.parts import NO_PARTS, Facts, Parts
from paraqd.runs.pieces import Piece, Reader, UnreadableError
from paraqd.runs.run import RunInterrupted, RunOptions, Work, carry_out, check_options, look_at
from paraqd.runs.survey import Inputs
from paraqd.scoring.signature import with_hash
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER
from paraqd.tables.datasets import questions_file
from paraqd.tables.questions import CHUNK, Question, question_of
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row
from paraqd.tables.writers import output_dialect
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
    """A job that applies every step of a plan to every question and writes the pairs.

    ``resources`` holds the resources of this process. Other processes build their own resources from ``spec``.
    ``identity`` names the version and the models, with hashes of the models' files.
    """

    reader: Reader
    columns: Columns
    plan: Plan
    seed: int
    spec: ResourceSpec
    parts: Parts = NO_PARTS
    resources: Resources | None = None
    identity: str = ""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "resources": None}

    def worker(self, *, threads: int | None = None) -> AugmentWorker:
        """Return a worker, which loads each model when the model is first needed."""
        del threads  # environment variables limit the number of threads that the models use
        return AugmentWorker(self)

    def make(self, questions: Sequence[Question], resources: Resources) -> list[Outputs]:
        """Apply each step to the questions, and return the outputs of each step."""
        return apply_steps(questions, self.plan.steps, seed=self.seed, resources=resources)

    def question(self, file: str, number: int, row: Row) -> Question | str:
        """Return the row's question, or the reason why the row is skipped."""
        del file, number
        return question_of(row, self.columns)

    def rows(self, question: Question, made: Mapping[int, tuple[str, str]], collector: Collector) -> Iterator[Row]:
        """Yield the pairs for a question. ``made`` maps the index of each step to a paraphrase and a note."""
        for s, (paraphrase, note) in made.items():
            collector.add_output(s, Example(question.id, question.text, paraphrase))
            yield pair_row(question, self.plan.steps[s], paraphrase, note)

    def collector(self) -> Collector:
        """Return an empty collector for the report."""
        return Collector(self.plan)


class AugmentWorker(PieceWorker):
    """A worker that applies the job's operators to the questions in each piece."""

    def __init__(self, job: AugmentJob) -> None:
        self._job = job
        if job.resources is not None:
            self._resources, self.identity = job.resources, job.identity
        else:
            self._resources, self.identity = build_resources(job.spec), identity_of(models_of(job.spec))

    def piece(self, piece: Piece, on_rows: OnRows) -> Facts:
        """Create and write the pairs for a piece, and return the counts."""
        job = self._job
        collector = job.collector()
        done = 0
        only = [job.columns.question, job.columns.id]
        with job.parts.part(piece.index) as (writer, facts):
            for chunk in job.reader.chunks(piece, CHUNK, only):
                questions: list[Question] = []
                skipped: list[tuple[int, str]] = []
                for number, row in numbered(chunk, piece.start + done + 1):
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
                if done < piece.rows:  # the run itself reports finished pieces
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
    language_model: str | None = None,
    entities: str = "light",
    device: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    **options: Unpack[RunOptions],
) -> AugmentReport:
    """Apply every operator in a recipe to every question in a file or a folder, and write the pairs.

    The pairs follow the order of the questions and, within each question, the order of the recipe. The same input, seed
    and version always produce the same bytes, regardless of the number of workers. If a call is interrupted, even by
    ``kill -9``, repeat the call to resume the work.

    Parameters
    ----------
    source : str or Path
        Questions as CSV, TSV, JSONL or Parquet, a folder of such files, or the name of a data set of questions.
    out : str or Path
        A file, whose extension determines the format, or a folder (a name that ends in ``/``).
    recipe : str, Path or Recipe
        The name of a recipe, the path of a ``.toml`` file, or a recipe.
    operators : sequence of str, optional
        The operators to apply instead of those in the recipe.
    skip : sequence of str
        The operators to skip.
    seed : int
        The seed for random choices.
    stand_ins : bool
        Use rules or small models in place of the paper's models.
    generators : mapping, optional
        Models for operators, keyed by the operator's name in the paper, such as ``{"f9": "models/f9"}``.
    encoder : str
        The sentence encoder that some operators use.
    language_model : str, optional
        A language model that helps Synonyms to choose: ``SmolLM2-135M-Instruct``, or a model's folder, file or name on
        the hub. Without it, Synonyms uses only synonyms that fit every sense of a word.
    entities : str
        The method for recognising names: ``light`` or ``spacy``.
    device : str, optional
        The device for the models, such as ``cpu`` or ``cuda``.
    columns : Columns
        The column names.
    **options
        ``workers``, ``engine``, ``overwrite``, ``restart``, ``progress`` and others; see `RunOptions`. Every worker
        loads the models that its operators need.

    Raises
    ------
    TableError, AugmentError
        If a file or a setting cannot be used. The one-line message explains how to fix the problem.
    RunInterrupted
        If the user presses Ctrl-C.

    """
    started = time.monotonic()
    place = Location.at(questions_file(source))
    output = output_for(place, out, entities, options)
    given = {key: _absolute(model) for key, model in (generators or {}).items()}
    plan = make_plan(recipe, operators=operators, skip=skip, stand_ins=stand_ins, generators=given)
    spec = ResourceSpec(
        entities=entities,
        encoder=_absolute(encoder),
        generators=plan.generators,
        device=device,
        language_model=None if language_model is None else _absolute(language_model),
    )
    resources = build_resources(spec)
    inputs = look_at(place, output, options, check=lambda table: table.require(columns), least=CHUNK)
    plan = load_models(plan, resources)
    if plan.needs("vocabulary"):
        vocabulary = Vocabulary.of(texts_of(inputs, columns, options.get("progress") or silent))
        resources.give("vocabulary", vocabulary)
        spec = replace(spec, vocabulary=vocabulary)
    settings = run_settings(plan, spec, columns, seed=seed, stand_ins=stand_ins, encoding=options.get("encoding"))
    identity = identity_of(settings["set_of_models"])
    job = AugmentJob(inputs.reader, columns, plan, seed, spec, resources=resources, identity=identity)
    collector, fields = carry_out_job(job, "augment", "augmenting", inputs, output, settings, SCHEMA, options)
    return AugmentReport(**fields, out=str(out), operators=collector.operators(), seconds=_since(started))


# --- shared with test sets ------------------------------------------------------------------------


def output_for(source: Location, out: str | Path, entities: str, options: RunOptions) -> Output:
    """Check the settings that do not depend on the input, and return the output's location."""
    check_options(options)
    if entities not in ENTITY_READERS:
        raise AugmentError(f"{named('entities', entities)}: choose one of {', '.join(ENTITY_READERS)}")
    return Output.at(source, out, **options)


def texts_of(inputs: Inputs, columns: Columns, progress: Progress) -> Iterator[str]:
    """Yield the text of every question in the input."""
    reader, rows = inputs.reader, 0
    for piece in inputs.pieces:
        progress("counting words", rows, inputs.rows)
        try:
            for row in reader.rows(piece, [columns.question]):
                text = row.get(columns.question)
                if isinstance(text, str):
                    yield text
        except UnreadableError:  # reported later, when the piece is processed
            continue
        finally:
            rows += piece.rows


def run_settings(
    plan: Plan, spec: ResourceSpec, columns: Columns, *, seed: int, stand_ins: bool, encoding: str | None
) -> dict[str, Any]:
    """Return all settings that the pairs depend on."""
    return {
        "columns": [columns.question, columns.id],
        "seed": seed,
        "version": __version__,
        "choice_of_stand-ins": stand_ins,
        "set_of_operators": [asdict(step) for step in plan.steps],
        "set_of_models": models_of(spec),
        "entity_reader": spec.entities,
        "encoding": encoding,
    }


def models_of(spec: ResourceSpec) -> dict[str, str | None]:
    """Return the models that the operators may use, each with a hash of its files."""
    models: dict[str, str | None] = {"encoder": spec.encoder, **spec.generators}
    if spec.language_model is not None:
        models["language_model"] = spec.language_model
    return {key: model and with_hash(model) for key, model in models.items()}


def identity_of(models: Mapping[str, str | None]) -> str:
    """Return a string that is the same for all workers with the same version and the same models.

    >>> identity_of({"encoder": "all-MiniLM-L6-v2", "f9": ""}).partition(" ")[2]
    'encoder:all-MiniLM-L6-v2'
    """
    return " ".join([f"paraqd:{__version__}", *(f"{key}:{model}" for key, model in sorted(models.items()) if model)])


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
    """Carry out a job, and return the filled collector and the fields that all reports share."""
    collector, plan = job.collector(), job.plan
    starts = list(accumulate((piece.rows for piece in inputs.pieces), initial=0))

    def count(piece: Piece, facts: Facts) -> None:
        file = inputs.source.shown(piece.file) if piece.file else ""  # the name is empty if the input is a single file
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
        dialect=output_dialect(inputs.table),
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
    """Return the record of how the pairs were created, which is stored with the pairs."""
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
    """Return a pair as a row of the output, with the label that the pair's operator declares."""
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


def _absolute(model: str) -> str:
    """Return the absolute path of a model folder, or a model's name unchanged.

    Workers may have a different current folder, so they need the absolute path.
    """
    return str(Path(model).absolute()) if Path(model).exists() else model


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)

"""A corpus of questions made into labelled pairs: every operator of a recipe applied to every question."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from paraqd import __version__
from paraqd.corpus.apply import Outputs, apply_steps
from paraqd.corpus.encoder import DEFAULT_ENCODER
from paraqd.corpus.formats import STANDARD_INPUT, Format
from paraqd.corpus.parts import Parts, hold, parts_folder
from paraqd.corpus.plan import AugmentError, Plan, Step, make_plan
from paraqd.corpus.questions import CHUNK, Progress, Survey, look_through, read_chunks
from paraqd.corpus.report import AugmentReport, Collector, Example
from paraqd.corpus.resources import (
    ENTITY_READERS,
    ResourceSpec,
    build_resources,
    load_models,
)
from paraqd.corpus.tables import (
    DEFAULT_COLUMNS,
    Columns,
    Row,
    Table,
    check_writable,
    open_table,
    open_writer,
    replacing,
)
from paraqd.corpus.workers import in_process, in_workers
from paraqd.operators import Recipe, Resources

__all__ = ["SCHEMA", "AugmentError", "AugmentInterrupted", "AugmentReport", "Progress", "augment"]

# what is written, in this order
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


class AugmentInterrupted(KeyboardInterrupt):  # it is an interrupt, not an error
    """Ctrl-C: the output holds what was finished (see ``report``), and the same call goes on from there."""

    def __init__(self, report: AugmentReport) -> None:
        super().__init__("interrupted")
        self.report = report


@dataclass(frozen=True)
class _Run:
    """Everything that is settled before the work begins."""

    table: Table
    columns: Columns
    plan: Plan
    seed: int
    workers: int
    spec: ResourceSpec
    models: Resources
    rows: int
    out: Path
    parts: Parts
    progress: Progress
    started: float = field(default_factory=time.monotonic)

    @property
    def chunks(self) -> int:
        return -(-self.rows // CHUNK)


def augment(
    source: str | Path,
    out: str | Path,
    *,
    recipe: str | Path | Recipe = "extended",
    operators: Sequence[str] | None = None,
    skip: Sequence[str] = (),
    seed: int = 3407,
    workers: int = 1,
    stand_ins: bool = False,
    generators: Mapping[str, str] | None = None,
    encoder: str = DEFAULT_ENCODER,
    entities: str = "light",
    device: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    encoding: str | None = None,
    overwrite: bool = False,
    restart: bool = False,
    progress: Progress | None = None,
) -> AugmentReport:
    """Apply every operator of a recipe to every question of a file, and write the pairs to another.

    The rows come in the order of the questions, then of the recipe, and the bytes are the same for the same
    input, seed and version, whatever the number of ``workers``. Finished pieces are kept beside ``out``: a
    call that was broken off, even by ``kill -9``, goes on where it was when it is made again. Raises
    `TableError` for files and `AugmentError` for settings that cannot be used, each with one line that says
    what to do, and `AugmentInterrupted` after Ctrl-C.

    With ``workers`` above 1, a script must guard its entry with ``if __name__ == "__main__":``.
    """
    out = Path(out)
    check_writable(out)
    if workers < 1:
        raise AugmentError(f"--workers {workers}: at least one is needed")
    if entities not in ENTITY_READERS:
        raise AugmentError(f"--entities {entities}: choose one of {', '.join(ENTITY_READERS)}")
    plan = make_plan(recipe, operators=operators, skip=skip, stand_ins=stand_ins, generators=generators)
    if out.exists() and not overwrite and not Parts(parts_folder(out)).begun:
        raise AugmentError(f"{out} is there already; give --overwrite to replace it, or choose another -o")
    if str(source) != STANDARD_INPUT and out.exists() and Path(source).exists() and out.samefile(source):
        raise AugmentError(f"{out} is the input itself; choose another -o")
    spec = ResourceSpec(entities=entities, encoder=encoder, generators=plan.generators, device=device)
    models = build_resources(spec)
    report = progress or (lambda stage, done, total: None)
    with hold(out) as parts:
        table = open_table(source, encoding=encoding)
        table.require(columns)
        plan = load_models(plan, models)
        survey = look_through(table, columns, words=plan.needs("vocabulary"), progress=report)
        if survey.vocabulary is not None:
            models.give("vocabulary", survey.vocabulary)
        run = _Run(
            table=table,
            columns=columns,
            plan=plan,
            seed=seed,
            workers=workers,
            spec=replace(spec, vocabulary=survey.vocabulary),
            models=models,
            rows=survey.rows,
            out=out,
            parts=parts,
            progress=report,
        )
        parts.begin(_manifest(run, survey, stand_ins=stand_ins), restart=restart)
        return _carry_out(run)


def _carry_out(run: _Run) -> AugmentReport:
    kept = min(run.parts.prefix(run.chunks) * CHUNK, run.rows)
    try:
        _work(run, kept)
    except KeyboardInterrupt:
        finished = run.parts.prefix(run.chunks)
        if not finished:
            raise
        raise AugmentInterrupted(_join(run, kept, chunks=finished)) from None
    report = _join(run, kept, chunks=run.chunks)
    run.parts.clear()
    return report


def _work(run: _Run, kept: int) -> None:
    """Work on every chunk that has no part yet."""
    steps = run.plan.steps
    by_rule = [step for step in steps if not step.models]
    by_model = [step for step in steps if step.models]
    done = kept
    run.progress("augmenting", done, run.rows)
    todo = islice(read_chunks(run.table, run.columns), -(-kept // CHUNK), None)
    workers = min(run.workers, -(-(run.rows - kept) // CHUNK))
    if workers <= 1 or not by_rule:
        results = in_process(todo, by_rule, seed=run.seed, resources=build_resources(run.spec))
    else:
        results = in_workers(todo, by_rule, seed=run.seed, spec=run.spec, workers=workers)
    with closing(results):  # its workers end now, not when it is collected
        for chunk, ruled in results:
            modelled = apply_steps(chunk.questions, by_model, seed=run.seed, resources=run.models)
            run.parts.save(chunk, _in_order(steps, ruled, modelled))
            done += chunk.rows
            run.progress("augmenting", done, run.rows)


def _in_order(steps: Sequence[Step], ruled: Sequence[Outputs], modelled: Sequence[Outputs]) -> list[Outputs]:
    rule, model = iter(ruled), iter(modelled)
    return [next(model if step.models else rule) for step in steps]


def _manifest(run: _Run, survey: Survey, *, stand_ins: bool) -> dict[str, Any]:
    """Return the settings that the results depend on."""
    manifest = {
        "input": survey.sha256,
        "seed": run.seed,
        "version": __version__,
        "columns": [run.columns.question, run.columns.id],
        "encoding": run.table.encoding,
        "stand_ins": stand_ins,
        "steps": [asdict(step) for step in run.plan.steps],
        "models": {"encoder": run.spec.encoder, **run.spec.generators},
        "entities": run.spec.entities,
        "chunk": CHUNK,
    }
    plain: dict[str, Any] = json.loads(json.dumps(manifest))  # as it will be when it is read again
    return plain


def _join(run: _Run, kept: int, *, chunks: int) -> AugmentReport:
    """Put the first ``chunks`` parts together as the output, in one step, and return the report."""
    collector = Collector(run.plan)
    complete = chunks == run.chunks
    metadata = {
        "recipe": run.plan.recipe,
        "seed": run.seed,
        "version": __version__,
        "complete": complete,
        "operators": [step.name for step in run.plan.steps],
        "left_out": dict(run.plan.left_out),
        "stand_ins": {step.name: step.source_model for step in run.plan.steps if step.stand_in},
    }
    kind = check_writable(run.out)
    if kind.format is not Format.PARQUET:
        side = run.out.with_name(f"{run.out.name}.meta.json")
        with replacing(side) as temporary:
            text = json.dumps(metadata, ensure_ascii=False, indent=2, sort_keys=True)
            temporary.write_text(text + "\n", encoding="utf-8")
    with (
        replacing(run.out, beside=run.parts.folder) as temporary,
        open_writer(temporary, SCHEMA, kind=kind, dialect=run.table.dialect, metadata=metadata) as writer,
    ):
        writer.write(_joined_rows(run, collector, chunks))
    return AugmentReport(
        out=str(run.out),
        recipe=run.plan.recipe,
        seed=run.seed,
        version=__version__,
        rows=run.rows,
        questions=collector.questions,
        skipped=collector.skipped,
        skipped_rows=tuple(collector.skipped_rows),
        written=collector.written,
        operators=collector.operators(),
        left_out=dict(run.plan.left_out),
        resumed=kept,
        seconds=round(time.monotonic() - run.started, 3),
        complete=complete,
    )


def _joined_rows(run: _Run, collector: Collector, chunks: int) -> Iterator[Row]:
    for index in range(chunks):
        part = run.parts.load(index)
        collector.add_chunk(len(part.questions), part.skipped, part.tallies)
        for q, s, paraphrase, note in part.outputs:
            question, step = part.questions[q], run.plan.steps[s]
            collector.add_output(s, Example(question.id, question.text, paraphrase))
            yield {
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
        run.progress("joining", min((index + 1) * CHUNK, run.rows), run.rows)

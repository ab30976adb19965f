"""A corpus of questions made into labelled pairs: every operator of a recipe applied to every question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from paraqd.data.questions import CHUNK, Progress, look_through, read_chunks
from paraqd.data.tables import DEFAULT_COLUMNS, Columns, Row, check_writable, open_table
from paraqd.generators.encoder import DEFAULT_ENCODER
from paraqd.operators import Recipe, Resources
from paraqd.operators.apply import Outputs, apply_steps
from paraqd.operators.plan import AugmentError, Step, make_plan
from paraqd.operators.resources import (
    ENTITY_READERS,
    ResourceSpec,
    build_resources,
    load_models,
)
from paraqd.runs.augment_report import AugmentReport, Collector, Example
from paraqd.runs.outputs import SCHEMA, Run, check_target, pair_row, settings, summary, write_pairs
from paraqd.runs.parts import Parts, hold, parts_folder
from paraqd.runs.workers import in_process, in_workers

__all__ = ["SCHEMA", "AugmentError", "AugmentInterrupted", "AugmentReport", "Progress", "augment"]


class AugmentInterrupted(KeyboardInterrupt):  # it is an interrupt, not an error
    """Ctrl-C: the output holds what was finished (see ``report``), and the same call goes on from there."""

    def __init__(self, report: AugmentReport) -> None:
        super().__init__("interrupted")
        self.report = report


@dataclass(frozen=True, kw_only=True)
class _Run(Run):
    """Everything that is settled before the work begins."""

    workers: int
    spec: ResourceSpec
    models: Resources


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
    check_target(source, out, overwrite=overwrite or Parts(parts_folder(out)).begun)
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
            entities=entities,
        )
        named = {"encoder": spec.encoder, **spec.generators}
        parts.begin(settings(run, survey, spec, stand_ins=stand_ins, models=named), restart=restart)
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


def _join(run: _Run, kept: int, *, chunks: int) -> AugmentReport:
    """Put the first ``chunks`` parts together as the output, in one step, and return the report."""
    collector = Collector(run.plan)
    complete = chunks == run.chunks
    write_pairs(run, SCHEMA, _joined_rows(run, collector, chunks), complete=complete)
    return summary(run, collector, resumed=kept, complete=complete)


def _joined_rows(run: _Run, collector: Collector, chunks: int) -> Iterator[Row]:
    for index in range(chunks):
        part = run.parts.load(index)
        collector.add_chunk(len(part.questions), part.skipped, part.tallies)
        for q, s, paraphrase, note in part.outputs:
            question = part.questions[q]
            collector.add_output(s, Example(question.id, question.text, paraphrase))
            yield pair_row(question, run.plan.steps[s], paraphrase, note)
        run.progress("joining", min((index + 1) * CHUNK, run.rows), run.rows)

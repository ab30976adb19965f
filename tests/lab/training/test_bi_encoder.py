from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

from sentence_transformers import SentenceTransformer

from paraqd.lab.training.bi_encoder import train_bi_encoder
from paraqd.lab.training.encoders import embedder, load_trainable
from paraqd.lab.training.seed_search import search_seed
from paraqd.lab.training.settings import TrainingError, TrainSettings
from paraqd.lab.training.steps import CHECKPOINT
from paraqd.lab.training.validation import validate

QUICK = {"layers": 2, "device": "cpu"}


def settings(**given):
    return TrainSettings(**{"epochs": 2, "batch_size": 8, "learning_rate": 1e-4, "seed": 5, **given})


def weights(folder):
    from safetensors.numpy import load_file

    return load_file(Path(folder) / "model.safetensors")


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)


@pytest.fixture(scope="module")
def trained(triplets, validation, tmp_path_factory):
    out = tmp_path_factory.mktemp("trained") / "model"
    return train_bi_encoder(
        triplets, out, settings=settings(), validation=validation, recipe="paper", stand_ins=["f1"], **QUICK
    )


def test_a_few_steps_raise_the_separation(trained, validation):
    before = validate(embedder(load_trainable(layers=2, device="cpu")), validation)
    assert trained.validation.separation > before.separation + 0.05
    after = validate(embedder(SentenceTransformer(str(trained.folder), device="cpu")), validation)
    assert after.separation == pytest.approx(trained.validation.separation, abs=1e-4)
    assert [round(v["separation"], 3) for v in trained.facts["history"].values()] == sorted(
        round(v["separation"], 3) for v in trained.facts["history"].values()
    )


@pytest.mark.parametrize("given", [{"loss": "mnrl"}, {"distance": "euclidean"}])
def test_the_other_losses_also_raise_the_separation(given, triplets, validation, tmp_path):
    before = validate(embedder(load_trainable(layers=2, device="cpu")), validation)
    done = train_bi_encoder(triplets, tmp_path / "m", settings=settings(**given), validation=validation, **QUICK)
    assert done.validation.separation > before.separation + 0.02


def test_baselines_train_with_in_batch_negatives(in_batch_triplets, validation, tmp_path):
    done = train_bi_encoder(in_batch_triplets, tmp_path / "m", settings=settings(), validation=validation, **QUICK)
    assert done.facts["data"]["triplets"] == len(in_batch_triplets.triplets)
    assert not same(weights(done.folder), weights_of_start(tmp_path))


def weights_of_start(tmp_path):
    load_trainable(layers=2, device="cpu").save_pretrained(str(tmp_path / "start"))
    return weights(tmp_path / "start")


def test_the_weights_depend_only_on_the_seed(trained, triplets, validation, tmp_path):
    again = train_bi_encoder(triplets, tmp_path / "again", settings=settings(), validation=validation, **QUICK)
    assert same(weights(trained.folder), weights(again.folder))
    other = train_bi_encoder(triplets, tmp_path / "other", settings=settings(seed=6), **QUICK)
    assert not same(weights(trained.folder), weights(other.folder))


def test_a_finished_model_is_reused_and_another_model_is_not_replaced(trained, triplets, validation):
    before = (trained.folder / "model.safetensors").stat().st_mtime_ns
    kept = train_bi_encoder(
        triplets, trained.folder, settings=settings(), validation=validation, recipe="paper", stand_ins=["f1"], **QUICK
    )
    assert kept.reused
    assert (trained.folder / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(TrainingError, match=r"has a model from another training run.*--overwrite"):
        train_bi_encoder(triplets, trained.folder, settings=settings(epochs=1), **QUICK)


def test_a_model_is_trained_again_if_its_encoder_has_changed(tiny_encoder, triplets, tmp_path):
    import shutil

    from safetensors.numpy import load_file, save_file

    folder = tmp_path / "encoder"
    shutil.copytree(tiny_encoder, folder)
    options = {"settings": settings(epochs=1), "encoder": str(folder), "device": "cpu"}
    first = train_bi_encoder(triplets, tmp_path / "m", **options)
    assert train_bi_encoder(triplets, tmp_path / "m", **options).reused
    held = load_file(folder / "model.safetensors")
    save_file({key: value * 1.1 for key, value in held.items()}, folder / "model.safetensors", {"format": "pt"})
    second = train_bi_encoder(triplets, tmp_path / "m", overwrite=True, **options)
    assert not second.reused
    assert first.facts["encoder_hash"] != second.facts["encoder_hash"]


def test_validation_questions_in_the_training_data_are_counted(triplets, tiny_encoder, tmp_path):
    done = train_bi_encoder(
        triplets,
        tmp_path / "m",
        settings=settings(epochs=1),
        encoder=str(tiny_encoder),
        device="cpu",
        validation=triplets,
    )
    assert done.facts["validation_overlap"] == 12
    assert "12 of the questions are also in the training data" in (tmp_path / "m" / "README.md").read_text()


def test_an_unfinished_run_with_other_settings_is_discarded_only_on_request(triplets, tiny_encoder, tmp_path):
    left = tmp_path / "m.checkpoints" / CHECKPOINT
    left.parent.mkdir()
    left.write_bytes(b"of another training run")
    (tmp_path / "m.checkpoints" / "training.json").write_text("{}")
    options = {"settings": settings(epochs=1), "encoder": str(tiny_encoder), "device": "cpu"}
    with pytest.raises(TrainingError, match=r"unfinished training run with other settings: .* --restart"):
        train_bi_encoder(triplets, tmp_path / "m", **options)
    assert left.is_file()
    assert train_bi_encoder(triplets, tmp_path / "m", restart=True, **options).facts["loss"] > 0


def test_the_folder_describes_the_model(trained, triplets):
    facts = json.loads((trained.folder / "paraqd.json").read_text())
    assert facts["format"] == 1
    assert facts["data"]["triplets"] == len(triplets.triplets)
    assert facts["settings"]["margin"] == 2.0
    card = (trained.folder / "README.md").read_text()
    assert "base_model: all-MiniLM-L6-v2" in card
    assert "the first 2 layers" in card
    assert "Stand-ins for models that were not available: f1" in card
    assert f"separation {trained.validation.separation:.3f}" in card
    assert not list(trained.folder.parent.glob("*.checkpoints"))


LONG = {"epochs": 30, "batch_size": 4}  # enough steps to stop the run
PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from conftest import question_rows
from test_bi_encoder import LONG, settings
from paraqd.lab.corpora.triplets import make_triplets
from paraqd.lab.training.bi_encoder import train_bi_encoder
out, encoder = sys.argv[1:]
options = dict(encoder=encoder, device="cpu", checkpoint_seconds=0.1)
train_bi_encoder(make_triplets(question_rows(), seed=1), out, settings=settings(**LONG), **options)
"""


def start(out, encoder):
    program = PROGRAM.format(tests=str(Path(__file__).parent))
    return subprocess.Popen(
        [sys.executable, "-c", program, str(out), str(encoder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def wait_for_checkpoint(process, out):
    """Wait until the first checkpoint has been written."""
    for _ in range(6000):
        if Path(f"{out}.checkpoints", CHECKPOINT).is_file():
            return
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.01)
    raise AssertionError("no checkpoint in a minute")


@pytest.fixture(scope="module")
def whole(tiny_encoder, triplets, tmp_path_factory):
    """Return the folder of an uninterrupted run."""
    out = tmp_path_factory.mktemp("whole") / "model"
    train_bi_encoder(triplets, out, settings=settings(**LONG), encoder=str(tiny_encoder), device="cpu")
    return out


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_resumes_and_ends_with_the_same_weights(how, whole, triplets, tiny_encoder, tmp_path):
    first = start(tmp_path / "cut", tiny_encoder)
    wait_for_checkpoint(first, tmp_path / "cut")
    first.send_signal(how)
    assert first.wait() != 0
    assert not (tmp_path / "cut").exists()
    import torch

    reached = torch.load(tmp_path / "cut.checkpoints" / CHECKPOINT, weights_only=True)["done"]
    steps = []
    options = {"settings": settings(**LONG), "encoder": str(tiny_encoder), "device": "cpu"}
    options["progress"] = lambda stage, done, *_: steps.append(done) if stage == "training" else None
    train_bi_encoder(triplets, tmp_path / "cut", **options)
    assert steps[0] == reached > 0  # the run resumed from the checkpoint
    assert same(weights(whole), weights(tmp_path / "cut"))


def test_the_seed_search_chooses_the_best_seed_and_reuses_results(triplets, validation, tmp_path):
    asked = settings(epochs=1)
    seen = []
    options = {"settings": asked, "seeds": (0, 1), "share": 0.5, **QUICK}
    found = search_seed(triplets, validation, tmp_path, progress=lambda stage, *_: seen.append(stage), **options)
    assert set(found.tried) == {0, 1}
    assert found.best == max(found.tried, key=lambda seed: found.tried[seed].separation)
    assert {stage.split(" (")[0] for stage in seen} == {"seed 0", "seed 1"}
    seen.clear()
    assert search_seed(triplets, validation, tmp_path, progress=lambda *a: seen.append(a), **options) == found
    assert not seen


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "hinge"}, "unknown loss 'hinge': use one of triplet, mnrl"),
        ({"epochs": 0}, "epochs must be at least 1, not 0"),
        ({"loss": "mnrl", "batch_size": 1}, "batch_size must be at least 2"),
        ({"learning_rate": 0.0}, "learning_rate must be between 0 and 1"),
    ],
)
def test_errors_name_invalid_settings(given, message):
    with pytest.raises(TrainingError, match=message):
        TrainSettings(**given)


def broken(folder, name, content):
    path = folder / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.safetensors", None, "has no model.safetensors"),
        ("paraqd.json", None, "is a folder that contains other files"),
        ("paraqd.json", "{", "paraqd.json cannot be read"),
        ("paraqd.json", '{"format": 99}', "has format 99, but this version of paraqd reads format 1"),
    ],
)
def test_errors_name_a_broken_folder(name, content, message, trained, triplets, tmp_path):
    import shutil

    folder = tmp_path / "broken"
    shutil.copytree(trained.folder, folder)
    broken(folder, name, content)
    with pytest.raises(TrainingError, match=message):
        train_bi_encoder(triplets, folder, settings=settings(), **QUICK)

"""Test that two processes on the CPU train the same model as one process, with a real launcher, network and trainer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

from paraqd.cli.main import run as program
from paraqd.lab.training.bi_encoder import train_bi_encoder
from paraqd.lab.training.processes import check_shares, own_device
from paraqd.lab.training.saving import read_bi_encoder_facts
from paraqd.lab.training.settings import TrainingError, TrainSettings
from paraqd.lab.training.steps import CHECKPOINT

# tests that launch two processes run one after the other, because they would slow each other down
pytestmark = pytest.mark.xdist_group("several processes")

CASES = {
    "triplet": ({"batch_size": 8}, False),
    "mnrl": ({"batch_size": 10, "loss": "mnrl"}, False),  # with 12 questions, the last batch of a round has two
    "in_batch": ({"batch_size": 22}, True),  # in the last batch, each process has one triplet or none
    "lone": ({"batch_size": 34, "distance": "euclidean"}, False),
}
MANY = {"batch_size": 2}  # enough steps to interrupt and resume the run

# Each of the two processes runs this program, which writes its observations to a file named after the process's rank.
PROGRAM = """
import json, os, signal, sys
from pathlib import Path
import torch
sys.path.insert(0, {tests!r})
from conftest import question_rows
from test_several_processes import CASES, MANY, settings
from paraqd.lab.corpora.triplets import make_triplets
from paraqd.lab.training.batches import DeviceTexts, collate, tokenize
from paraqd.lab.training.encoders import load_trainable
from paraqd.lab.training.losses import bi_encoder_loss
from paraqd.lab.training.processes import ALONE, join, leave
from paraqd.lab.training.settings import TrainingError
from paraqd.lab.training.bi_encoder import TrainingStopped, _check_same, train_bi_encoder

folder, calm, lively = sys.argv[1:]
rank = int(os.environ["RANK"])
touched, seen = [], {{"rank": rank, "told": {{}}}}

def watch(event, args):
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if (writes or event in ("os.mkdir", "os.rename", "os.remove", "shutil.rmtree")) and folder in str(args[0]):
        touched.append(Path(str(args[0])).name)

sys.addaudithook(watch)

triplets = make_triplets(question_rows(), seed=1)
in_batch_triplets = make_triplets((row for row in question_rows() if row["label"]), seed=1, in_batch=True)

def go(name, given, in_batch=False, encoder=calm, stop=False, **options):
    told = seen["told"].setdefault(name, [])
    def progress(stage, done, total, remark=""):
        told.append([stage, done, remark])
        if stage == "training" and stop:
            os.kill(os.getpid(), signal.SIGINT)  # only in the main process, but both processes must stop
    chosen = in_batch_triplets if in_batch else triplets
    asked = {{"settings": settings(**given), "encoder": encoder, "device": "cpu", **options}}
    return train_bi_encoder(chosen, Path(folder) / name, progress=progress, **asked)

for name, (given, in_batch) in CASES.items():
    assert go(name, given, in_batch).facts["processes"] == 2

go("whole", MANY, encoder=lively)
for name in ("cut", "left"):
    try:
        go(name, MANY, encoder=lively, stop=True)
    except TrainingStopped:
        seen["stopped " + name] = True
go("cut", MANY, encoder=lively)
try:
    go("odd", {{"batch_size": 7}})
except TrainingError as error:
    seen["odd"] = str(error)
model = load_trainable(calm, device="cpu")

def gradient(crew, loss, count):
    tokens = tokenize(triplets.texts, model.tokenizer, max_length=64)
    indices = list(range(0, 3 * count, 3))
    texts, places = map(torch.from_numpy, collate(indices, triplets, rank=crew.rank, size=crew.size))
    model.zero_grad()
    ids, mask = DeviceTexts(tokens, "cpu").padded(texts, int(tokens.lengths[texts].max()))
    vectors = model({{"input_ids": ids, "attention_mask": mask.long()}})["sentence_embedding"]
    bi_encoder_loss(vectors, places, settings(loss=loss), crew).backward()
    flat = torch.cat([value.grad.flatten() for value in model.parameters() if value.grad is not None])
    return sum(torch.tensor(crew.everyone(flat.tolist())))

seen["gradients"] = {{}}
for loss, count in (("triplet", 6), ("triplet", 5), ("triplet", 1), ("mnrl", 6), ("mnrl", 5)):
    both, one = gradient(join("cpu"), loss, count), gradient(ALONE, loss, count)
    seen["gradients"][f"{{loss}} {{count}}"] = [float((both - one).norm()), float(one.norm())]
_check_same(model, join("cpu"))
if rank:
    next(model.parameters()).data[0, 0] += 1e-6
try:
    _check_same(model, join("cpu"))
except TrainingError as error:
    seen["different"] = str(error)
seen["touched"] = touched[:]
Path(folder, f"seen-{{rank}}.json").write_text(json.dumps(seen))
leave()
"""

# Each of the two processes runs this program, which records the number of network threads when everything has ended.
ENDING = """
import atexit, os, signal, sys
from pathlib import Path

folder, interrupted = sys.argv[1:3]
rank = os.environ["RANK"]

def threads():
    return sum("gloo" in path.read_text() for path in Path("/proc/self/task").glob("*/comm"))

def end():
    Path(folder, f"threads-{rank}").write_text(f"{most} {threads()}")

signal.signal(signal.SIGTERM, signal.SIG_IGN)  # which the launcher sends to the process that ends last
atexit.register(end)  # registered first, so that it is called last
from paraqd.cli.main import run
from paraqd.cli.progress import Bar
from paraqd.lab.training import processes

most, join = 0, processes._join
def joined(cpu):
    global most
    crew = join(cpu)
    most = threads()
    return crew
processes._join = joined
joined.cache_clear = join.cache_clear

def update(self, stage, *args, **kwargs):
    if interrupted == "yes" and stage == "training" and rank == "0":
        os.kill(os.getpid(), signal.SIGINT)
Bar.update = update
sys.exit(run(sys.argv[3:]))
"""


def settings(**given):
    return TrainSettings(**{"epochs": 4, "learning_rate": 1e-3, "seed": 5, **given})


def weights(folder):
    from safetensors.numpy import load_file

    return load_file(Path(folder) / "model.safetensors")


def furthest(a, b):
    assert a.keys() == b.keys()
    return max(float(np.abs(a[key] - b[key]).max()) for key in a)


def launch(*arguments, code=0):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"},
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def calm_encoder(tiny_encoder, tmp_path_factory):
    """Return the tiny encoder without dropout, so that two processes can compute exactly the same as one."""
    import shutil

    folder = tmp_path_factory.mktemp("calm") / "encoder"
    shutil.copytree(tiny_encoder, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def two(calm_encoder, tiny_encoder, tmp_path_factory):
    """Return the folder in which two processes trained all cases, and each process's observations."""
    folder = tmp_path_factory.mktemp("two")
    script = folder / "program.py"
    script.write_text(PROGRAM.format(tests=str(Path(__file__).parent)))
    where = folder / "out"
    where.mkdir()
    launch(
        *("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"),
        *(script, where, calm_encoder, tiny_encoder),
    )
    return where, [json.loads((where / f"seen-{rank}.json").read_text()) for rank in range(2)]


@pytest.mark.parametrize("case", CASES)
def test_two_processes_end_with_the_same_weights_as_one(case, two, calm_encoder, triplets, in_batch_triplets, tmp_path):
    given, in_batch = CASES[case]
    options = {"settings": settings(**given), "encoder": str(calm_encoder), "device": "cpu"}
    chosen = in_batch_triplets if in_batch else triplets
    one = train_bi_encoder(chosen, tmp_path / case, **options)
    both = read_bi_encoder_facts(two[0] / case)
    assert furthest(weights(one.folder), weights(two[0] / case)) < 1e-4
    assert furthest(weights(one.folder), weights(calm_encoder)) > 3e-3  # the model has learned something
    assert (one.facts["processes"], both["processes"]) == (1, 2)
    assert (one.facts["steps"], one.facts["settings"]) == (both["steps"], both["settings"])
    assert sorted(p.name for p in one.folder.rglob("*")) == sorted(p.name for p in (two[0] / case).rglob("*"))
    # a model that two processes have finished is also finished for one process
    assert train_bi_encoder(chosen, two[0] / case, **options).reused


def test_the_sum_of_the_gradients_is_the_gradient_of_the_whole_batch(two):
    # equal weights do not prove equal gradients, because the optimizer ignores a gradient's scale
    for seen in two[1]:
        assert len(seen["gradients"]) == 5
        for difference, size in seen["gradients"].values():
            assert difference < 1e-4 * size


def test_only_the_main_process_writes_files_and_reports_progress(two):
    main, other = two[1]
    assert (main["rank"], other["rank"]) == (0, 1)
    assert not other["touched"]
    assert "README.md" in main["touched"]
    assert any(name.startswith(".paraqd.json.") for name in main["touched"])  # written under a temporary name
    assert main["told"]["whole"]
    assert not any(other["told"].values())
    left = {path.name for path in two[0].iterdir()}
    assert left == {*CASES, "whole", "cut", "left.checkpoints", "seen-0.json", "seen-1.json"}


def test_the_loss_falls(two):
    steps = [float(remark.split()[1]) for stage, _, remark in two[1][0]["told"]["whole"] if remark.startswith("loss")]
    assert steps[-1] < 1.96  # the triplet loss is 2 for a model that does not distinguish any texts
    assert np.isfinite(steps).all()


def test_an_interrupt_stops_both_processes_and_they_resume(two):
    where, seen = two
    assert all(each["stopped cut"] for each in seen)
    steps = [done for stage, done, _ in seen[0]["told"]["cut"] if stage == "training"]
    assert steps[0] == 0
    assert 1 in steps[1:]  # the second run started where the first run stopped
    assert steps.count(0) == 1
    assert furthest(weights(where / "whole"), weights(where / "cut")) == 0
    import torch

    kept = torch.load(where / "left.checkpoints" / CHECKPOINT, weights_only=True)
    assert len(kept["random"]) == 2


def test_one_process_does_not_resume_a_run_of_two_processes(two, tiny_encoder, triplets):
    options = {"settings": settings(**MANY), "encoder": str(tiny_encoder), "device": "cpu"}
    with pytest.raises(TrainingError, match=r"started in 2 processes: use the same number, or pass --restart"):
        train_bi_encoder(triplets, two[0] / "left", **options)
    assert (two[0] / "left.checkpoints" / CHECKPOINT).is_file()


def test_both_processes_reject_odd_batches_and_different_weights(two):
    for seen in two[1]:
        assert seen["odd"] == (
            "a batch of 7 triplets cannot be divided equally among 2 processes: pass --batch-size 6 or 8"
        )
        assert seen["different"].startswith("the processes ended with different weights")


def test_the_command_runs_under_accelerate(calm_encoder, augmented_rows, tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps(row) + "\n" for row in augmented_rows))
    options = ["--epochs", "4", "--learning-rate", "1e-3", "--seed", "5", "--batch-size", "8", "--device", "cpu"]
    arguments = ["lab", "train", str(pairs), "--out", str(tmp_path / "model"), "--encoder", str(calm_encoder), *options]
    launcher = ("-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", "0")
    done = launch(*launcher, "-m", "paraqd", *arguments, "--validation", pairs)
    messages = [line for line in done.stderr.splitlines() if "is trained" in line]
    assert len(messages) == 1  # only one process reports
    assert "is trained in 2 processes: 36 triplets" in messages[0]
    assert "Trained in 2 processes" in (tmp_path / "model" / "README.md").read_text()
    history = read_bi_encoder_facts(tmp_path / "model")["history"]
    assert list(history) == ["1", "2", "3", "4"]
    assert history["4"]["separation"] > history["1"]["separation"]
    assert {path.name for path in tmp_path.iterdir()} == {"pairs.jsonl", "model"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--recipe", "default"], "the training of a judge runs in one process, but 2 were started"),
        (["pairs.jsonl", "--search-seeds", "1,2"], "--search-seeds runs in one process, but 2 were started"),
        (["pairs.jsonl", "--device", "cuda:1"], "--device cuda:1 cannot be used with 2 processes: pass cuda or cpu"),
    ],
)
def test_errors_of_several_processes_are_reported_once(arguments, message, monkeypatch, capfd, tmp_path):
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank, expected in (("0", 1), ("1", 0)):
        monkeypatch.setenv("LOCAL_RANK", rank)
        assert program(["lab", "train", *arguments, "--out", str(tmp_path / "m")]) == 2
        assert capfd.readouterr().err.count(message) == expected


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list threads")
@pytest.mark.parametrize(("case", "code"), [("trained", 0), ("interrupted", 130), ("refused", 2)])
def test_no_network_thread_outlives_the_program(case, code, calm_encoder, augmented_rows, tmp_path):
    # such a thread may abort the process while the interpreter exits
    pairs, script = tmp_path / "pairs.jsonl", tmp_path / "program.py"
    pairs.write_text("".join(json.dumps(row) + "\n" for row in augmented_rows))
    script.write_text(ENDING)
    options = ["--epochs", "1", "--device", "cpu", "--batch-size", "7" if case == "refused" else "8"]
    command = ["lab", "train", pairs, "--out", tmp_path / "model", "--encoder", calm_encoder, *options]
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = launch(*launcher, script, tmp_path, "yes" if case == "interrupted" else "no", *command, code=min(code, 1))
    assert set(re.findall(r"exitcode\s*: (-?\d+)", done.stderr)) == ({str(code)} if code else set())
    for rank in range(2):
        most, left = map(int, (tmp_path / f"threads-{rank}").read_text().split())
        assert most > 0
        assert left == 0


def test_a_batch_smaller_than_the_number_of_processes_is_rejected():
    check_shares(8, 4)
    with pytest.raises(TrainingError, match=r"cannot be divided equally among 8 processes: pass --batch-size 8"):
        check_shares(3, 8)


def test_a_single_process_keeps_its_device():
    assert own_device("cuda:1") == "cuda:1"
    assert own_device(None) is None

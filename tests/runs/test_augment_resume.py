"""Test that an interrupted augmentation keeps its finished parts and resumes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paraqd
from paraqd.lab.corpora.augment import augment
from paraqd.tables.table import Columns, TableError
from tests.runs.conftest import RULES, write_questions


def kept_in(out):
    return Path(f"{out}.parts")


def start(arguments):
    environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]))
    return subprocess.Popen(
        [sys.executable, "-m", "paraqd.cli.main", "lab", "augment", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for_parts(process, out, count):
    deadline = time.monotonic() + 60
    while len(list(kept_in(out).glob("part-*.jsonl"))) < count:
        assert process.poll() is None, f"ended too soon: {process.communicate()}"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def children(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


LONG = 4000  # questions of a run that lasts long enough to be broken off: 16 chunks


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return a folder with a long corpus and the outputs of uninterrupted runs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    source = write_questions(folder / "q.jsonl", LONG)
    for name in ("whole.parquet", "whole.csv"):
        augment(source, folder / name, operators=RULES)
    return folder


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_is_lost_or_done_twice_after_kill_9(tmp_path, undisturbed, workers):
    source, whole, out = undisturbed / "q.jsonl", undisturbed / "whole.parquet", tmp_path / "out.parquet"
    command = [source, "-o", out, "--operators", ",".join(RULES), "--workers", workers]
    kept = 0
    for parts in (1, 4):  # killed twice, the second time while it goes on
        process = start(command)
        wait_for_parts(process, out, kept + parts)
        family = children(process.pid)
        process.kill()
        process.communicate()
        assert not out.exists()
        kept = len(list(kept_in(out).glob("part-*.jsonl")))
        assert 0 < kept < 16
        deadline = time.monotonic() + 20
        while any(running(child) for child in family):
            assert time.monotonic() < deadline, "workers outlived their parent"
            time.sleep(0.05)
    before = {path.name: path.stat().st_mtime_ns for path in kept_in(out).glob("part-*.jsonl")}
    seen = []

    def progress(stage, done, total):
        if stage == "augmenting":
            seen.append(done)
            for name, written in before.items():
                assert (kept_in(out) / name).stat().st_mtime_ns == written, "done twice"

    report = augment(source, out, operators=RULES, workers=workers, progress=progress)
    assert seen[0] == kept * 256 and report.resumed == kept * 256
    assert out.read_bytes() == whole.read_bytes()
    assert not kept_in(out).exists()
    assert sum(operator.questions for operator in report.operators) == LONG * len(RULES)


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_writes_no_output_and_the_same_command_continues(tmp_path, undisturbed, workers):
    source, whole, out = undisturbed / "q.jsonl", undisturbed / "whole.csv", tmp_path / "out.csv"
    command = [source, "-o", out, "--operators", ",".join(RULES), "--workers", workers, "--quiet"]
    process = start(command)
    wait_for_parts(process, out, 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "run the same command again to continue" in errors.decode()
    assert len(errors.decode().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv.parts"]
    process = start(command)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.read_bytes() == whole.read_bytes()
    assert not kept_in(out).exists()


def broken_off(source, out, **options):
    """Interrupt a run after its first chunk."""

    def stop(stage, done, total):
        if stage == "augmenting" and done:
            raise RuntimeError("broken off")

    with pytest.raises(RuntimeError, match="broken off"):
        augment(source, out, progress=stop, **options)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "another seed (3407, now 1)"),
        ({"operators": ["NumToWords"]}, "other operators"),
        ({"entities": "spacy"}, "another entity reader (light, now spacy)"),
        ({"columns": Columns(id="nr")}, "other columns"),
    ],
)
def test_other_settings_do_not_go_on_with_a_run(tmp_path, corpus, change, said):
    out = tmp_path / "out.parquet"
    options = {"operators": ["SameSentence", "NumberDeletion"]}
    broken_off(corpus, out, **options)
    with pytest.raises(TableError) as caught:
        augment(corpus, out, **(options | change))
    assert said in str(caught.value) and "restart=True" in str(caught.value)
    assert augment(corpus, out, **options).resumed == 256


def test_another_input_does_not_go_on_with_a_run_unless_it_is_restarted(tmp_path, corpus):
    out = tmp_path / "out.parquet"
    broken_off(corpus, out, operators=["NumberDeletion"])
    write_questions(corpus, 300)
    with pytest.raises(TableError, match="another input"):
        augment(corpus, out, operators=["NumberDeletion"])
    report = augment(corpus, out, operators=["NumberDeletion"], restart=True)
    assert (report.resumed, report.questions) == (0, 300)
    assert not kept_in(out).exists()


def test_parts_without_their_settings_are_not_touched(tmp_path, corpus):
    out = tmp_path / "out.parquet"
    broken_off(corpus, out, operators=["NumberDeletion"], seed=1)
    (kept_in(out) / "_manifest.json").unlink()
    before = sorted(kept_in(out).iterdir())
    with pytest.raises(TableError, match="is in the way"):
        augment(corpus, out, operators=["NumberDeletion"], restart=True)
    assert sorted(kept_in(out).iterdir()) == before
    kept_in(out).rename(tmp_path / "moved")
    assert augment(corpus, out, operators=["NumberDeletion"]).resumed == 0
    augment(corpus, tmp_path / "whole.parquet", operators=["NumberDeletion"])
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_finished_output_is_not_replaced_unasked(tmp_path, corpus):
    out = tmp_path / "out.parquet"
    out.write_text("precious")
    with pytest.raises(TableError, match="overwrite=True"):
        augment(corpus, out, operators=["SameSentence"])
    assert out.read_text() == "precious"
    assert augment(corpus, out, operators=["SameSentence"], overwrite=True).written == 600
    with pytest.raises(TableError, match="the input itself"):
        augment(corpus, corpus, operators=["SameSentence"], overwrite=True)


def test_a_second_run_on_the_same_output_is_refused(tmp_path, corpus):
    out = tmp_path / "out.parquet"

    def meanwhile(stage, done, total):
        if stage == "augmenting" and done == 256:
            with pytest.raises(TableError, match="another run is writing"):
                augment(corpus, out, operators=["SameSentence"])

    augment(corpus, out, operators=["SameSentence"], progress=meanwhile)


def test_what_lies_in_the_way_is_not_deleted(tmp_path, corpus):
    out = tmp_path / "out.parquet"
    kept_in(out).mkdir()
    (kept_in(out) / "thesis.doc").write_text("precious")
    with pytest.raises(TableError, match=r"it holds thesis\.doc"):
        augment(corpus, out, operators=["SameSentence"])
    assert (kept_in(out) / "thesis.doc").read_text() == "precious"


def test_a_run_that_cannot_begin_leaves_nothing_behind(tmp_path, corpus):
    with pytest.raises(TableError):
        augment(corpus, tmp_path / "out.parquet", operators=["SameSentence"], columns=Columns(question="text"))
    (tmp_path / "empty.csv").write_text("question\n")
    with pytest.raises(TableError, match="has no rows"):
        augment(tmp_path / "empty.csv", tmp_path / "out.parquet", operators=["SameSentence"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.csv", "questions.jsonl"]

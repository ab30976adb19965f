"""The facts of a model folder are read and written in one place, and its files are the ones that were recorded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paraqd import Scorer, score_file
from paraqd.errors import ModelError
from paraqd.model_folder import find_model_folder, read_model_folder, write_facts
from paraqd.scoring.verdict import EvidenceKind

DEFAULT = find_model_folder("default")


@pytest.fixture
def folder(tmp_path):
    """Return a copy of the shipped model."""
    return shutil.copytree(DEFAULT, tmp_path / "model")


def change_facts(folder, **changes):
    facts = json.loads((folder / "paraqd.json").read_text("utf-8")) | changes
    facts = {key: value for key, value in facts.items() if value is not None}
    (folder / "paraqd.json").write_text(json.dumps(facts), "utf-8")


def as_of_0_1_0(folder):
    facts = read_model_folder(folder).facts
    change_facts(folder, kinds=None, sha256=None, onnx_sha256=facts["sha256"]["onnx/model.onnx"])


def test_the_shipped_models_record_their_kinds_and_files():
    facts = read_model_folder("default").facts
    assert facts["kinds"] == [kind.value for kind in EvidenceKind]
    assert set(facts["sha256"]) == {"onnx/model.onnx", "tokenizer.json"}


def test_a_folder_of_0_1_0_loads_and_scores_the_same(folder):
    as_of_0_1_0(folder)
    pair = ("Tom has 5 red and 3 blue pens. How many in all?", "Tom had 5 red pens and 3 blue ones. How many in all?")
    assert Scorer.load(folder).score(*pair).score == Scorer.load().score(*pair).score


@pytest.mark.parametrize("old", [False, True])
def test_other_weights_are_refused(folder, old):
    if old:
        as_of_0_1_0(folder)
    with open(folder / "onnx" / "model.onnx", "ab") as file:
        file.write(b"\0")
    with pytest.raises(ModelError, match=r"model\.onnx has changed since the model was written") as caught:
        Scorer.load(folder)
    assert "\n" not in str(caught.value)


def test_another_tokenizer_is_refused(folder):
    text = (folder / "tokenizer.json").read_text("utf-8")
    (folder / "tokenizer.json").write_text(text.replace('"lowercase": true', '"lowercase": false') + " ", "utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json has changed"):
        Scorer.load(folder)


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json"])
def test_a_file_that_changes_between_loading_and_scoring_is_refused(folder, name, recorded):
    """Such a model once scored under the signature of the old file."""
    if not recorded:
        change_facts(folder, sha256=None)
    scorer = Scorer.load(folder)
    with open(folder / name, "r+b") as file:
        file.seek(-2, 2)
        byte = file.read(1)
        file.seek(-2, 2)
        file.write(b" " if byte != b" " else b"x")
    pair = ("Tom has 5 pens. How many?", "How many pens are there if Tom owns 5?")
    with pytest.raises(ModelError, match=r"has changed since the model was loaded") as caught:
        scorer.score(*pair)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json"])
def test_a_file_that_vanishes_between_loading_and_scoring_is_one_line(folder, name):
    scorer = Scorer.load(folder)
    (folder / name).unlink()
    with pytest.raises(ModelError, match="cannot be loaded: No such file") as caught:
        scorer.score("Tom has 5 pens. How many?", "How many pens are there if Tom owns 5?")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("gone", ["onnx/model.onnx", "tokenizer.json"])
def test_a_missing_file_is_one_line(folder, gone):
    (folder / gone).unlink()
    with pytest.raises(ModelError, match=f"has no {gone}"):
        Scorer.load(folder)


def test_the_signature_covers_facts_weights_and_tokenizer(folder):
    as_of_0_1_0(folder)
    change_facts(folder, onnx_sha256=None)  # nothing is recorded: nothing can be refused
    signatures = {Scorer.load(folder).signature}
    change_facts(folder, note="other facts")
    signatures.add(Scorer.load(folder).signature)
    for name in ("onnx/model.onnx", "tokenizer.json"):
        with open(folder / name, "ab") as file:
            file.write(b"\n")
        signatures.add(Scorer.load(folder).signature)
    assert len(signatures) == 4


def test_kinds_are_matched_by_name(folder):
    kinds = read_model_folder(folder).facts["kinds"]
    change_facts(folder, kinds=kinds[::-1])
    names = Scorer.load(folder).method.judge.kinds
    assert names == tuple(EvidenceKind(kind) for kind in kinds[::-1])
    change_facts(folder, kinds=[*kinds[:-1], "colour_changed"])
    with pytest.raises(ModelError, match="'colour_changed', which this version does not know: install the version"):
        Scorer.load(folder)
    change_facts(folder, kinds=[*kinds[:-1], kinds[0]])
    with pytest.raises(ModelError, match="'kinds' contains number_lost twice"):
        Scorer.load(folder)
    change_facts(folder, kinds=5)
    with pytest.raises(ModelError, match="'kinds' is not a list of names"):
        Scorer.load(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"format": 1, "fusion": {"bias": NaN}}', "NaN is not a number"),
        ('{"format": 1, "fusion": {"bias": -Infinity}}', "-Infinity is not a number"),
        ("5", "not a JSON object"),
        ('{"format": 2}', "has format 2, but this version of paraqd reads format 1"),
        ("\xff", "cannot be read"),
    ],
)
def test_facts_that_cannot_be_read_are_one_line(tmp_path, content, message):
    (tmp_path / "paraqd.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ModelError, match=message) as caught:
        read_model_folder(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(ModelError, match="nowhere does not exist"):
        read_model_folder(tmp_path / "nowhere")
    (tmp_path / "s.csv").write_text("question\n")
    with pytest.raises(ModelError, match=r"s\.csv is a file, not a model folder; pass default, or"):
        read_model_folder(tmp_path / "s.csv")


@pytest.mark.parametrize("mine", ["file", "folder"])
def test_a_file_or_folder_called_default_does_not_replace_the_shipped_model(tmp_path, monkeypatch, mine):
    monkeypatch.chdir(tmp_path)
    expected = Scorer.load().signature
    if mine == "file":
        (tmp_path / "default").write_text("mine")
    else:
        shutil.copytree(find_model_folder("reading"), tmp_path / "default")
    assert Scorer.load().signature == Scorer.load("default").signature == expected
    (tmp_path / "pairs.csv").write_text("question,paraphrase\nTom has 5 pens. How many?,Tom has 6. How many?\n")
    assert score_file("pairs.csv", "out.csv", scorer="default").signature == expected
    if mine == "folder":
        assert Scorer.load("./default").name == Scorer.load(Path("default")).name == "reading"
        for number, scorer in enumerate(("./default", Path("default"))):
            assert "model:reading@" in score_file("pairs.csv", f"{number}.csv", scorer=scorer).signature


def test_writing_records_what_is_there_and_replaces_old_hashes(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "tokenizer.json").write_text("{}")
    written = write_facts(tmp_path, {"name": "m", "onnx_sha256": "old", "sha256": {"gone.bin": "old"}})
    assert set(written["sha256"]) == {"model.safetensors", "tokenizer.json"}
    assert "onnx_sha256" not in written
    assert dict(read_model_folder(tmp_path).facts) == written
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_facts(tmp_path, {"bias": float("nan")})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_facts_are_replaced_whole_or_not_at_all(tmp_path):
    """A process that was killed while writing once left half a ``paraqd.json``."""
    write_facts(tmp_path, {"name": "old"})
    code = (
        "import os, signal, sys; from paraqd import model_folder\n"
        "os.fsync = os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "model_folder.write_facts(sys.argv[1], {'name': 'new'})"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)]).returncode == -9
    assert read_model_folder(tmp_path).name == "old"
    write_facts(tmp_path, {"name": "new"})
    assert read_model_folder(tmp_path).name == "new"


def test_a_failed_write_leaves_the_old_facts_and_no_other_file(tmp_path, monkeypatch):
    write_facts(tmp_path, {"name": "old"})

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_facts(tmp_path, {"name": "new"})
    assert read_model_folder(tmp_path).name == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["paraqd.json"]


def test_nothing_heavy_is_imported():
    code = "import sys, paraqd.model_folder, paraqd.text_check, paraqd.extras; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"

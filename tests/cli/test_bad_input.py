"""Bad input ends with exit code 2 and one helpful line on standard error, never with a traceback."""

import errno
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import paraqd
from paraqd.cli.main import run

QUESTION = "Tom has 5 apples and buys 3 more. How many apples has he now?"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    Path("q.csv").write_text(f"id,question\n1,{QUESTION}\n", encoding="utf-8")
    return tmp_path


def test_a_column_with_a_quite_different_name_is_not_suggested(here, fails):
    Path("de.csv").write_text("Nr;Frage;Umschreibung\n1;Was?;Was denn?\n")
    line = fails("score", "de.csv", "-o", "out.csv")
    assert "name the column with --question-column NAME" in line
    line = fails("score", "de.csv", "-o", "out.csv", "--question-column", "Frage")
    assert "name the column with --paraphrase-column NAME" in line


def test_missing_column(here, fails):
    Path("q.csv").write_text(f"nr,text\n1,{QUESTION}\n")
    line = fails("lab", "augment", "q.csv", "-o", "out.parquet", "--operators", "f2")
    assert line == "error: q.csv has no column 'question' (it has: nr, text); did you mean --question-column text?"

    assert run(["lab", "augment", "q.csv", "-o", "o.csv", "--operators", "f2", "--question-column", "text", "-q"]) == 0


@pytest.mark.parametrize("name", ["threshold=5.csv", "overwrite=True.csv", "out=x.csv", "question='a'.csv"])
def test_file_names_that_look_like_parameters_are_shown_as_they_are(here, fails, name):
    assert fails("score", name, "-o", "x.csv") == f"error: there is no file {name}"
    Path(name).touch()
    line = fails("score", "q.csv", "-o", name, "--question-column", "threshold=5")
    assert line == f"error: {name} already exists; pass --overwrite to replace it, or choose another output"


def test_half_written_and_unreadable_files(here, fails):
    packed = gzip.compress("\n".join(json.dumps({"question": f"{i} {QUESTION}"}) for i in range(500)).encode())
    Path("q.jsonl.gz").write_bytes(packed[:-100])
    assert "cut off" in fails("lab", "augment", "q.jsonl.gz", "-o", "out.csv", "--operators", "f2")
    Path("q.parquet").write_bytes(b"PAR1 and then the disk was full")
    assert "cut off or not a Parquet file" in fails("lab", "augment", "q.parquet", "-o", "out.csv", "--operators", "f2")
    Path("q.jsonl").write_text('{"question": "How many?"}\n{"question": "How mu')
    assert "line 2 is not valid JSON" in fails("lab", "augment", "q.jsonl", "-o", "out.csv", "--operators", "f2")
    Path("cut.csv").write_text('question\n"Tom has 5 apples')
    assert "is cut off" in fails("lab", "augment", "cut.csv", "-o", "out.csv", "--operators", "f2")
    assert "there is no file none.csv" in fails("lab", "augment", "none.csv", "-o", "out.csv", "--operators", "f2")
    Path("empty.csv").write_text("")
    assert "empty.csv is empty" in fails("lab", "augment", "empty.csv", "-o", "out.csv", "--operators", "f2")
    assert "use .csv, .tsv, .jsonl, .xlsx or .parquet" in fails(
        "lab", "augment", "q.docx", "-o", "out.csv", "--operators", "f2"
    )
    Path("q.parquet").unlink()
    os.mkdir("q.parquet")
    assert "folder" in fails("lab", "augment", "q.parquet", "-o", "out.csv", "--operators", "f2")


def test_flaws_deep_in_the_file_are_found_before_any_work(here, fails):
    rows = [f"{i},{QUESTION}" for i in range(2000)]
    Path("q.csv").write_text("id,question\n" + "\n".join([*rows, "2001,Tom has 5, Ann has 6?"]) + "\n")
    assert "line 2002 has 3 fields" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2")
    assert sorted(path.name for path in here.iterdir()) == ["q.csv"]


def test_not_utf8(here, fails):
    Path("q.csv").write_bytes(b"id,question\n1,It\x92s \xa35 each. How much for two?\n")
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2")
    assert "q.csv is not UTF-8: line 2, byte 17" in line and "--encoding cp1252" in line
    assert run(["lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2", "--encoding", "cp1252", "-q"]) == 0
    assert "It’s £5 each" in Path("out.csv").read_text(encoding="utf-8")
    assert "unknown encoding" in fails(
        "lab", "augment", "q.csv", "-o", "o.csv", "--operators", "f2", "--encoding", "klingon"
    )


def test_unknown_operator_suggests_the_nearest(here, fails):
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "NumToWord,f2")
    assert "unknown operator 'NumToWord'; did you mean NumToWords?" in line
    assert "did you mean SameSentence?" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--skip", "SameSentense")
    assert "NumberChange" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2+NumberChang")


def test_unknown_recipe(here, fails):
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--recipe", "papers")
    assert "unknown recipe 'papers'; did you mean paper?" in line
    assert "cannot read the recipe" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--recipe", "none.toml")
    assert "unknown recipe" in fails("lab", "operators", "--recipe", "papers")


def test_unwritable_output(here, fails):
    Path("file").write_text("")
    assert "file is not a folder" in fails("lab", "augment", "q.csv", "-o", "file/out.csv", "--operators", "f2")
    assert "there is no folder none" in fails("lab", "augment", "q.csv", "-o", "none/out.csv", "--operators", "f2")
    assert "use .csv, .tsv, .jsonl, .xlsx or .parquet" in fails(
        "lab", "augment", "q.csv", "-o", "/dev/full", "--operators", "f2"
    )
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2", "--report", "none/report.html")
    assert "there is no folder none" in line
    Path("out.csv.parts").write_text("in the way")
    assert "out.csv.parts is in the way" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2")


def test_a_full_disk(here, fails, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2")
    assert "cannot write out.csv.parts" in line and "No space left on device" in line
    assert sorted(path.name for path in here.iterdir()) == ["q.csv"]


def test_an_output_that_is_there(here, fails):
    Path("out.csv").write_text("precious")
    assert "--overwrite" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2")
    assert "the input itself" in fails("lab", "augment", "q.csv", "-o", "q.csv", "--operators", "f2", "--overwrite")


def test_an_unfinished_run_with_another_seed(here, fails):
    from paraqd.lab.corpora.augment import augment

    Path("q.csv").write_text("question\n" + f"{QUESTION}\n" * 300)

    def stop(stage, done, total):
        if stage == "augmenting" and done:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        augment("q.csv", "out.csv", operators=["f2"], progress=stop)
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2", "--seed", "1")
    assert "another seed (3407, now 1)" in line and "--restart" in line
    assert run(["lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2", "--seed", "1", "--restart", "-q"]) == 0


def test_a_model_that_cannot_be_had(here, fails, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(here / "hub"))
    pytest.importorskip("transformers")
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f9", "--generator", "f9=./none")
    assert "LossyParaphrase needs the folder './none'" in line and "--stand-ins" in line
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "fb")
    assert "paraqd lab generator train fb" in line and "--stand-ins" in line
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f9", "--stand-ins")
    assert "no operator is left to apply" in line
    assert "ID=MODEL" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f9", "--generator", "f9")
    assert sorted(path.name for path in here.iterdir()) in (["q.csv"], ["hub", "q.csv"])


def test_the_encoder_needs_its_extra(here, fails, monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "torch" else real(name, *a))
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--operators", "f2,f5")
    assert "pip install 'paraqd[generate]'" in line and "ImportantPhraseDeletion" in line and "--skip" in line


def test_wrong_use(here, fails):
    assert "Missing argument 'IN'" in fails("lab", "augment")
    assert "--recipe" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--recpe", "paper")
    assert "No such command 'agument'" in fails("agument", "q.csv")
    assert "choose one of f9, fb, fe, ssmba" in fails("lab", "generator", "train", "f7", "--out", "x")
    assert "PARAQD_DATA_DIR" in fails("lab", "generator", "train", "f9", "--out", "x", "--data", "none")
    assert "--seed" in fails("lab", "augment", "q.csv", "-o", "out.csv", "--seed", "many")


def test_a_flaw_of_ours_is_one_line_too_unless_debugging(here, fails, monkeypatch):
    from paraqd.lab.operators import plan

    def broken(*arguments, **options):
        raise ZeroDivisionError("our fault")

    monkeypatch.setattr(plan, "load_recipe", broken)
    line = fails("lab", "augment", "q.csv", "-o", "out.csv", "--recipe", "paper")
    assert "unexpected ZeroDivisionError: our fault (set PARAQD_DEBUG=1 to see where)" in line
    monkeypatch.setenv("PARAQD_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(["lab", "augment", "q.csv", "-o", "out.csv", "--recipe", "paper"])


def test_as_a_program(here):
    environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]))
    command = [
        sys.executable,
        "-m",
        "paraqd.cli.main",
        "lab",
        "augment",
        "none.csv",
        "-o",
        "out.csv",
        "--operators",
        "f2",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error: there is no file none.csv\n")

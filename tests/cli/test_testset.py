"""``paraqd lab testset``: the pairs that annotators label."""

import csv
import json
from pathlib import Path

import pytest

from paraqd.cli.main import run

RECIPE = """
name = "rules"
[operators]
valid = ["NumToWords"]
invalid = ["fc", "RandomDeletion"]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    Path("rules.toml").write_text(RECIPE)
    questions = [f"Tom has {i} apples and buys {i + 3} more. How many has he now?" for i in range(2, 6)]
    Path("q.csv").write_text("id,question\n" + "".join(f"q{i},{text}\n" for i, text in enumerate(questions)))
    return tmp_path


def test_pairs_for_annotators(here, capsys):
    assert run(["lab", "testset", "q.csv", "-o", "pairs.csv", "--recipe", "rules.toml"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "4 questions → 8 pairs in pairs.csv" in captured.out
    with open("pairs.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["intended"] for row in rows] == ["1", "0"] * 4
    assert {row["label"] for row in rows} == {""}
    assert {row["operator"] for row in rows if row["intended"] == "0"} <= {"TfidfReplacement", "RandomDeletion"}


def test_as_json_and_quiet_and_onwards_to_annotating(here, capsys):
    assert run(["lab", "testset", "q.csv", "-o", "pairs.csv", "--recipe", "rules.toml", "--json", "--skip", "fc"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["questions"], report["written"]) == (4, 8)
    assert report["lacking"] == {"valid": [], "invalid": []}
    assert run(["lab", "testset", "q.csv", "-o", "pairs.csv", "--recipe", "rules.toml", "-q", "--overwrite"]) == 0
    assert capsys.readouterr() == ("", "")
    assert run(["lab", "annotate", "export", "pairs.csv", "--annotator", "ann", "-o", "sheet.csv", "-q"]) == 0
    assert "intended" not in Path("sheet.csv").read_text(encoding="utf-8-sig")


def test_questions_that_lack_a_side_are_named_and_the_code_is_1(here, capsys):
    Path("q.csv").write_text("id,question\na,How many?\nb,Tom has 5 apples and 3 pears. How many?\nc,Why?\n")
    command = ["lab", "testset", "q.csv", "-o", "pairs.csv", "--recipe", "rules.toml", "--skip", "fc", "-q"]
    assert run(command) == 1
    assert "no valid paraphrase for 2 questions: a, c" in capsys.readouterr().err


def test_without_the_models_the_others_go_on(here, capsys):
    pytest.importorskip("transformers")
    Path("q.csv").write_text("id,question\na,Tom bought 5 apples. How many apples did Tom buy?\n")
    assert run(["lab", "testset", "q.csv", "-o", "pairs.csv", "-q"]) in (0, 1)
    errors = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in errors][:2] == [
        "skipped the operator CorruptedReconstruction",
        "skipped the operator T5Paraphrase",
    ]
    assert "paraqd lab generator train fb --data DIR --out DIR trains a small model" in errors[0]
    assert "--generator fe=DIR; paraqd lab generator train fe --data DIR --out DIR trains a small model" in errors[1]
    assert "--stand-ins" not in "".join(errors), "it would ask for the same models again"


def test_the_table_shows_how_often_an_operator_was_tried(here, capsys):
    Path("rules.toml").write_text(
        'name = "rules"\n[operators]\nvalid = ["NumToWords", "UnitExpansion"]\ninvalid = ["fc", "RandomDeletion"]\n'
    )
    Path("q.csv").write_text("id,question\nq1,Tom has 5 apples and buys 3 more. How many has he now?\n")
    seen = set()
    for seed in range(8):
        command = [
            "lab",
            "testset",
            "q.csv",
            "-o",
            "pairs.csv",
            "--recipe",
            "rules.toml",
            "--overwrite",
            "--examples",
            "0",
        ]
        assert run([*command, "--seed", str(seed)]) == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert lines[0] == "operator paper label tried applied pairs distance".split()
        (units,) = [line[3:] for line in lines if line[0] == "UnitExpansion"]
        seen.add(" ".join(units))
        (words,) = [line[3:6] for line in lines if line[0] == "NumToWords"]
        assert words == ["1", "100.0", "%"]
    assert seen == {"0 0", "1 0.0 % 0"}


def test_pairs_are_counted_as_they_are_written(here, capsys):
    Path("rules.toml").write_text(
        'name = "rules"\n[operators]\nvalid = ["SameSentence", "NumToWords"]\ninvalid = ["RandomDeletion"]\n'
    )
    assert run(["lab", "testset", "q.csv", "-o", "pairs.csv", "--recipe", "rules.toml", "--json"]) == 0
    # what repeats the question is nothing to annotate
    report = json.loads(capsys.readouterr().out)
    assert report["pairs"] == {"SameSentence": 0, "NumToWords": 4, "RandomDeletion": 4}


def test_few_valid_pairs_end_with_why_and_what_to_do(here, capsys):
    pytest.importorskip("transformers")
    Path("q.csv").write_text("id,question\n" + "".join(f"q{i},How many are {i} and {i}?\n" for i in range(5)))
    assert run(["lab", "testset", "q.csv", "-o", "pairs.csv", "--stand-ins", "-q"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("only 0 of 5 questions have a valid pair, because ActivePassive produced no output")
    assert "CorruptedReconstruction was skipped" in last and "use --recipe extended" in last
    assert "paraqd lab generator train fb --data DIR --out DIR" in last and "--generator fb=DIR" in last
    Path("q.csv").write_text("id,question\n" + "".join(f"q{i},Why {'x' * i}?\n" for i in range(1, 4)))
    Path("rules.toml").write_text(
        'name = "extended"\n[operators]\nvalid = ["NumToWords"]\ninvalid = ["RandomDeletion"]\n'
    )
    assert run(["lab", "testset", "q.csv", "-o", "pairs.csv", "--recipe", "rules.toml", "-q", "--overwrite"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "NumToWords produced no output for the others; write your own recipe" in last


def test_a_device_that_is_not_here_is_refused_at_once(here, fails):
    pytest.importorskip("torch")
    assert "device 'gpu' is not available" in fails("lab", "testset", "q.csv", "-o", "x.csv", "--device", "gpu")
    assert not Path("x.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "-o", "x.csv"], "there is no file none.csv"),
        (["q.csv", "-o", "none/x.csv"], "there is no folder none"),
        (["q.csv", "-o", "x.csv", "--recipe", "tset"], "did you mean test?"),
        (["q.csv", "-o", "x.csv", "--generator", "fe"], "ID=MODEL"),
        (["q.csv", "-o", "x.csv", "--entities", "magic"], "choose one of light, spacy"),
        (["q.csv", "-o", "x.csv", "--question-column", "text"], "has no column 'text'"),
        (["q.csv", "-o", "x.csv", "--recipe", "rules.toml", "--skip", "NumToWords"], "no valid operator can run"),
    ],
)
def test_bad_input_is_one_line(here, capsys, arguments, message):
    command = ["lab", "testset", *arguments]
    if "--recipe" not in arguments:
        command += ["--recipe", "rules.toml"]
    assert run(command) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ") and captured.err.count("\n") == 1
    assert message in captured.err
    assert not Path("x.csv").exists()

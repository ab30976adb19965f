"""A row can have several paraphrases: each is a pair, or all verdicts are written beside them."""

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.tables.table import open_table
from tests.runs.conftest import READING, environment, rows, wait_for

QUESTION = "Tom has {} apples and buys 3 more. How many apples has he now?"
HEAD = ["Nr", "Question", "V1", "V2", "V3", "Topic"]


def bank(path, count, *, gaps=True):
    """Write a bank in which V1 is valid, V2 has lost a number, and V3 is empty in every second row."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        for i in range(count):
            question = QUESTION.format(i + 5)
            third = "" if gaps and i % 2 else question
            writer.writerow(
                [f"Q-{i}", question, question.replace("buys", "gets"), question.replace("3 ", ""), third, "sums"]
            )
    return path


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bank("bank.csv", 4)
    return tmp_path


def scored(*arguments, out="out.csv"):
    assert run(["score", "bank.csv", "-o", out, "--question-column", "Question", "-q", *READING, *arguments]) == 0
    return list(open_table(out).rows())


NAMED = [
    ["--paraphrase-column", "V1", "--paraphrase-column", "V2", "--paraphrase-column", "v3"],
    ["--paraphrase-column", "V1,V2,V3"],
    ["--paraphrase-column", "V*"],
]


@pytest.mark.parametrize("names", NAMED)
def test_one_row_for_each_pair(there, names):
    made = scored(*names)
    assert [(row["Nr"], row["paraphrase_column"], row["valid"]) for row in made][:6] == [
        ("Q-0", "V1", "true"),
        ("Q-0", "V2", "false"),
        ("Q-0", "V3", "true"),
        ("Q-1", "V1", "true"),
        ("Q-1", "V2", "false"),
        ("Q-2", "V1", "true"),
    ]
    assert len(made) == 10 and all(row["V2"] for row in made)


def test_the_same_bytes_however_the_columns_are_named(there):
    for place, names in enumerate(NAMED):
        scored(*names, out=f"out{place}.csv")
    assert len({Path(f"out{place}.csv").read_bytes() for place in range(3)}) == 1


def test_empty_cells_are_counted(there, capsys):
    assert run(["score", "bank.csv", "-o", "out.csv", "--question-column", "question", *READING, *NAMED[2]]) == 0
    assert "2 empty cells skipped" in capsys.readouterr().out
    report = paraqd.score_file(
        "bank.csv",
        None,
        scorer="reading",
        columns=paraqd.Columns(question="Question"),
        paraphrase_columns=["V*"],
    )
    assert (report.rows, report.valid, report.invalid, report.empty_cells) == (10, 6, 4, 2)
    assert report.paraphrase_columns == ("V1", "V2", "V3") and report.to_dict()["empty_cells"] == 2


def test_wide(there):
    made = scored("--wide", *NAMED[2])
    assert list(made[0]) == [
        *["Nr", "Question"],
        *["V1", "V1_score", "V1_decision", "V1_why"],
        *["V2", "V2_score", "V2_decision", "V2_why"],
        *["V3", "V3_score", "V3_decision", "V3_why"],
        *["Topic", "signature"],
    ]
    assert [(row["V1_decision"], row["V2_decision"], row["V3_decision"]) for row in made] == [
        ("valid", "invalid", "valid"),
        ("valid", "invalid", ""),
    ] * 2
    assert made[0]["V2_why"] and float(made[0]["V2_score"]) < 0.5 and made[1]["V3_score"] == ""
    again = ["score", "out.csv", "-o", "again.csv", "--question-column", "Question", "-q", *READING, *NAMED[2]]
    assert run([*again, "--overwrite-columns"]) == 0  # there is a column signature
    assert len(list(open_table("again.csv").rows())) == 10  # a star does not stand for V1_score
    clash = ["score", "out.csv", "-o", "b.csv", "--question-column", "Question", "--wide", "-q", *READING, *NAMED[2]]
    assert run(clash) == 2
    assert run([*clash, "--overwrite-columns"]) == 0
    assert Path("b.csv").read_bytes() == Path("out.csv").read_bytes()


def test_only(there):
    assert {row["paraphrase_column"] for row in scored("--only", "invalid", *NAMED[2])} == {"V2"}
    bank("bank.csv", 3)
    text = Path("bank.csv").read_text().replace("Tom has 5 apples and buys more", "Tom has 5 apples and takes 3 more")
    Path("bank.csv").write_text(text)
    wide = scored("--only", "invalid", "--wide", *NAMED[2], out="wide.csv")
    assert [row["Nr"] for row in wide] == ["Q-1", "Q-2"]


def test_a_real_column_wins_over_lists_and_patterns(there):
    Path("bank.csv").write_text('Question,V1,V2,"V1,V2",V*\nHow many?,a,b,How many?,How many?\n')
    for name in ("V1,V2", "V*"):
        [row] = scored("--paraphrase-column", name, out=f"{len(name)}.csv")
        assert row["score"] == "1.0" and "paraphrase_column" not in row


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--paraphrase-column", "W*"], "has no column for --paraphrase-column W*"),
        (["--paraphrase-column", "V1", "--paraphrase-column", "V9"], "bank.csv has no column 'V9'"),
        (["--paraphrase-column", "V1,Question"], "cannot both be the column 'Question'"),
    ],
)
def test_columns_that_cannot_be_used(there, capsys, arguments, told):
    assert run(["score", "bank.csv", "-o", "out.csv", "--question-column", "Question", *READING, *arguments]) == 2
    assert told in capsys.readouterr().err


def test_wide_needs_an_output(there, capsys):
    assert run(["score", "bank.csv", "--question-column", "Question", "--wide", *READING, *NAMED[2]]) == 2
    assert "--wide needs an output: pass -o NAME.xlsx" in capsys.readouterr().err


def test_json_lines_on_the_terminal(there, capsys):
    assert run(["score", "bank.csv", "--json", "-q", "--question-column", "Question", *READING, *NAMED[2]]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["paraphrase_column"] for line in lines[:4]] == ["V1", "V2", "V3", "V1"]
    assert run(["score", "bank.csv", "--question-column", "Question", *READING, *NAMED[2]]) == 0
    assert "V2: Tom has 5 apples and buys more" in capsys.readouterr().out


def test_rows_that_cannot_be_scored_are_named_once_with_number_and_id(there, capsys):
    Path("bank.csv").write_text('ID,Question,V1,V2\n\nQ-1,"a\nb",a,b\nQ-2,,a,b\nQ-3,,,\n')
    assert (
        run(
            [
                "score",
                "bank.csv",
                "-o",
                "out.csv",
                "--question-column",
                "Question",
                "-q",
                *READING,
                *NAMED[1][:1],
                "V1,V2",
            ]
        )
        == 1
    )
    assert capsys.readouterr().err == "could not score 2 of 4 pairs (blank question: row 4 (Q-2))\n"


def test_folders(there):
    Path("in").mkdir()
    bank("in/a.csv", 300)
    bank("in/b.csv", 10)
    command = ["score", "in", "--question-column", "Question", "-q", *READING, *NAMED[2]]
    assert run([*command, "-o", "long/"]) == 0
    assert run([*command, "-o", "wide/", "--wide"]) == 0
    assert len(rows("long")) == 775 and len(rows("wide")) == 310
    assert rows("wide")[0]["V2_decision"] == "invalid" and rows("long")[1]["paraphrase_column"] == "V2"


@pytest.mark.parametrize("form", [[], ["--wide"]])
def test_the_output_does_not_depend_on_workers_or_a_kill(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    bank("bank.csv", 3000)
    options = ["--question-column", "Question", "-q", *READING, *NAMED[2], *form]
    assert run(["score", "bank.csv", "-o", "whole.csv", *options]) == 0
    assert run(["score", "bank.csv", "-o", "shared.csv", "--workers", "2", *options]) == 0
    assert Path("whole.csv").read_bytes() == Path("shared.csv").read_bytes()
    program = [sys.executable, "-m", "paraqd", "score", "bank.csv", "-o", "killed.csv", *options]
    process = subprocess.Popen(program, env=environment())
    wait_for(lambda: len(list(Path("killed.csv.parts").glob("part-*.jsonl"))) > 1, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not Path("killed.csv").exists()
    assert run(["score", "bank.csv", "-o", "killed.csv", *options]) == 0
    assert Path("whole.csv").read_bytes() == Path("killed.csv").read_bytes()


def test_a_run_with_wide_is_not_resumed_without_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bank("bank.csv", 3000)
    options = ["bank.csv", "-o", "out.csv", "--question-column", "Question", "--paraphrase-column", "V3", *READING]
    process = subprocess.Popen([sys.executable, "-m", "paraqd", "score", *options, "--wide"], env=environment())
    wait_for(lambda: len(list(Path("out.csv.parts").glob("part-*.jsonl"))) > 1, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert run(["score", *options, "-q"]) == 2
    assert "another choice of wide or of several paraphrases" in capsys.readouterr().err


def test_the_columns_of_a_pattern_are_named(there, capsys):
    command = ["score", "bank.csv", "-o", "out.csv", "--question-column", "Question", *READING]
    assert run([*command, "--paraphrase-column", "v*"]) == 0
    assert "--paraphrase-column v*: the paraphrases are in the columns V1, V2, V3" in capsys.readouterr().err

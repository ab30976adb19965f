"""Every expected error ends as one clear line and exit code 2, and no message controls the terminal."""

import json
import os
from pathlib import Path

import pytest

from paraqd.cli.main import run

ESCAPE = "\x1b[31m\x1b]0;title\x07"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text("question,paraphrase\nTom has 5 pens. How many?,Tom has 6 pens. How many?\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("score pairs.csv --threshold abc", ["--threshold", "'abc'", "number", "(see paraqd score --help)"]),
        ("score pairs.csv --threshold 5", ["--threshold", "5", "less than or equal to 1"]),
        ("score pairs.csv --only good", ["--only", "'good'", "'valid', 'invalid'"]),
        ("score pairs.csv --threads none", ["--threads", "'none'", "integer"]),
        ("lab checklist --at-least 2", ["--at-least", "less than or equal to 1"]),
        ("score missing.csv", ["missing.csv"]),
        ("score pairs.csv --model missing", ["missing"]),
        ("explain Question", ["Missing argument", "(see paraqd explain --help)"]),
        ("nonsense", ["No such command 'nonsense'", "(see paraqd --help)"]),
        ("score --nonsense", ["No such option: --nonsense", "(see paraqd score --help)"]),
        ("evaluate missing", ["missing", "paraqd lab data list"]),
        ("lab operators --recipe missing", ["missing", "paper"]),
        ("lab augment pairs.csv -o out.csv --operators missing", ["missing"]),
        ("lab data path missing", ["missing", "paraqd lab data list"]),
        ("lab export missing -o out", ["missing"]),
        ("lab experiment missing --out out", ["missing", "train-operators"]),
        ("lab purity missing.csv", ["missing.csv"]),
        ("lab pseudo-label missing.csv -o out.csv", ["missing.csv"]),
        ("lab testset missing.csv -o out.csv", ["missing.csv"]),
        ("lab annotate merge pairs.csv missing.jsonl -o out.csv", ["missing.jsonl"]),
    ],
)
def test_bad_input_gives_one_line(here, fails, command, expected):
    line = fails(*command.split())
    assert [part for part in expected if part not in line] == [], line
    assert "unexpected" not in line
    assert "Input should" not in line and "Value error" not in line


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_may_not_be_written(here, fails):
    Path("locked").mkdir(mode=0o500)
    assert "locked" in fails("score", "pairs.csv", "-o", "locked/out.csv")


def test_an_error_of_the_operating_system_is_expected(here, fails, monkeypatch):
    def refuse(name):
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr("paraqd.lab.operators.get", refuse)
    assert fails("lab", "operators") == "error: cannot use /some/file: Permission denied"


def test_an_unexpected_error_is_named_and_can_be_shown_whole(here, fails, monkeypatch):
    def break_down(name):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("paraqd.lab.operators.get", break_down)
    assert (
        fails("lab", "operators")
        == "error: unexpected ZeroDivisionError: division by zero (set PARAQD_DEBUG=1 to see where)"
    )
    monkeypatch.setenv("PARAQD_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(["lab", "operators"])


def outputs(capsys, *command):
    run([str(argument) for argument in command])
    captured = capsys.readouterr()
    return captured.out + captured.err


@pytest.mark.parametrize(
    "command",
    [
        ["lab", "read", f"Tom has 5 km{ESCAPE} of rope. How many?"],
        ["lab", "read", f"{ESCAPE}Is it {ESCAPE}Rekha who paid $5?"],
        ["explain", f"Tom has 5 pens{ESCAPE}. How many?", f"Tom has 6 pens{ESCAPE}. How many?"],
        ["score", f"{ESCAPE}.csv"],
        ["score", "pairs.csv", "--model", ESCAPE],
        ["lab", "augment", "escapes.jsonl", "-o", "out.csv", "--operators", "f3,f8"],
        ["lab", "augment", "pairs.csv", "-o", "out.csv", "--operators", ESCAPE],
        ["score", "escapes.jsonl"],
        ["score", "pairs.csv", "--question-column", ESCAPE],
        ["lab", "purity", "labelled.jsonl"],
        [ESCAPE],
        ["score", f"--{ESCAPE}"],
    ],
)
def test_raw_escapes_never_reach_the_terminal(here, capsys, command):
    row = {"question": f"Tom has 5 pens{ESCAPE}. How many?", "paraphrase": f"Tom has 6 pens{ESCAPE}. How many?"}
    Path("escapes.jsonl").write_text(json.dumps(row) + "\n")
    labelled = {**row, "id": ESCAPE, "label": 1, "operator": "NumToWords"}
    Path("labelled.jsonl").write_text(json.dumps(labelled) + "\n")
    shown = outputs(capsys, *command)
    assert shown
    assert "\x1b" not in shown and "\x07" not in shown


@pytest.mark.parametrize("name", [":x:.csv", "[bold].csv", "[b].csv"])
def test_file_names_are_shown_as_they_are(here, capsys, name):
    Path("pairs.csv").rename(name)
    assert name in outputs(capsys, "score", name, "-o", f"out{name}")
    assert name in outputs(capsys, "score", f"missing{name}")


def test_texts_are_shown_as_they_are(here, capsys):
    text = "How many are [bold]5[/bold] pens :smile: [link=x]?"
    assert text in outputs(capsys, "lab", "read", text)
    assert text in outputs(capsys, "explain", text, text)
    rows = [{"question": text, "paraphrase": text, "label": label} for label in (1, 0)]
    Path("markup.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert text in outputs(capsys, "score", "markup.jsonl")
    assert text in outputs(capsys, "lab", "purity", "markup.jsonl")


def test_progress_shows_file_names_as_they_are(capsys):
    from paraqd.cli.progress import Bar, Lines

    with Bar(shown=True) as bar:
        bar.update("scoring", 1, 2, f":x: [bold] {ESCAPE}")
    times = iter([0.0, 60.0, 120.0])
    lines = Lines(clock=lambda: next(times))
    for done in (1, 2, 3):
        lines.update("scoring", done, 3, f":x: [bold] {ESCAPE}")
    shown = capsys.readouterr().err
    assert ":x: [bold]" in shown
    assert "]0;title" in shown and "\x1b]0" not in shown and "\x07" not in shown

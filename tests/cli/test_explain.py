"""``paraqd explain``: both texts with the evidence marked, the score and the verdict, readable everywhere."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import paraqd
from paraqd.cli import explain as command
from paraqd.cli.explain import score_bar
from paraqd.cli.main import run

QUESTION = "Tom has 5 apples and buys 3 more. How many apples has he now?"
LOST = "Tom has 5 apples and eats 2. How many has he?"


@pytest.fixture
def terminal(monkeypatch):
    """Show results on a terminal of some width, with or without colours; the function returns what was shown."""

    def showing(*arguments, width=80, colours=False):
        file = io.StringIO()
        console = Console(file=file, width=width, force_terminal=colours, color_system="standard" if colours else None)
        monkeypatch.setattr(command, "stdout", lambda: console)
        assert run(["explain", *arguments]) == 0
        return file.getvalue()

    return showing


@pytest.mark.usefixtures("scorer")
class TestTheView:
    def test_texts_evidence_score_and_verdict(self, capsys):
        assert run(["explain", QUESTION, LOST]) == 0
        captured = capsys.readouterr()
        lines = [line.rstrip() for line in captured.out.splitlines()]
        assert lines[:16] == [
            "Question",
            "  Tom has 5 apples and buys [1: 3] more. How many apples has he now?",
            "",
            "Paraphrase",
            "  Tom has 5 apples and eats [2: 2]. How many has he?",
            "",
            "Evidence against the paraphrase",
            "  [1] The paraphrase lost 3.",
            "      number_lost, moved the score by -0.60",
            "  [2] The paraphrase added 2.",
            "      number_added, moved the score by -0.40",
            "",
            "Score",
            "  -1 ██████████████████████░░░░░░░░░░░░░░░░░░░░░░░┃░░░░░░░░░░░░░░ 1",
            "  invalid -0.250 (valid above 0.5)",
            "  0.5 means undecided. Of the pairs that score about 0.9, nine in ten are valid.",
        ]
        assert lines[16] == "paraqd:test|model:digits@00000000|mode:fused|threshold:0.5"
        assert captured.err == "" and "\x1b" not in captured.out

    def test_nothing_speaks_against_it(self, capsys):
        assert run(["explain", QUESTION, QUESTION]) == 0
        out = capsys.readouterr().out
        assert "Evidence against the paraphrase\n  None." in out
        assert "  valid 1.000 (valid above 0.5)" in out

    def test_a_blank_paraphrase(self, capsys):
        assert run(["explain", QUESTION, " "]) == 0
        out = capsys.readouterr().out
        assert "  (blank)" in out and "invalid -1.000" in out

    def test_colours_on_a_terminal(self, terminal):
        shown = terminal(QUESTION, LOST, colours=True)
        assert "\x1b[4;31m3\x1b[0m" in shown  # the first piece of evidence is red and underlined
        assert "\x1b[4;33m2\x1b[0m" in shown  # the second another colour
        assert "[1] " in shown and "[2] " in shown

    @pytest.mark.parametrize("width", [20, 30, 50])
    def test_a_narrow_terminal(self, terminal, width):
        shown = terminal(QUESTION, LOST, width=width)
        assert all(len(line) <= width for line in shown.splitlines()[:-1])  # the signature is never wrapped
        assert " ".join(QUESTION.replace("3", "[1: 3]").split()) in " ".join(shown.split())
        assert "-1 " in shown and "┃" in shown

    def test_lines_wide_signs_and_markup_stay(self, terminal):
        question = "[red]Tom[/red] has 5 苹果.\nHe buys 3.\n\n[link=x]How many?"
        shown = terminal(question, "Tom has 5 苹果苹果苹果苹果苹果苹果.\nHow many?", width=30)
        lines = [line.rstrip() for line in shown.splitlines()]
        assert lines[1:5] == ["  [red]Tom[/red] has 5 苹果.", "  He buys [1: 3].", "", "  [link=x]How many?"]
        assert "  Tom has 5" in lines and "  苹果苹果苹果苹果苹果苹果." in lines

    def test_a_text_does_not_command_the_terminal(self, terminal):
        shown = terminal(QUESTION, "Tom\x1b]gone\x07 has 5 and 3.\r\nHow many\u202e?")
        assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown
        assert "Tom\ufffd]gone\ufffd has 5" in shown

    def test_json(self, capsys):
        assert run(["explain", QUESTION, LOST, "--json", "--threshold", "-0.5"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["question"], found["paraphrase"]) == (QUESTION, LOST)
        assert (found["score"], found["valid"], found["threshold"]) == (-0.25, True, -0.5)
        assert [piece["kind"] for piece in found["evidence"]] == ["number_lost", "number_added"]
        [(start, end)] = found["evidence"][1]["paraphrase_spans"]
        assert LOST[start:end] == "2"
        assert found["signature"].endswith("threshold:-0.5")

    def test_quiet(self, capsys):
        assert run(["explain", QUESTION, LOST, "-q"]) == 0
        assert capsys.readouterr().out.rstrip() == "invalid -0.250 (valid above 0.5)"

    def test_texts_that_begin_with_a_minus(self, capsys):
        assert run(["explain", "--json", "--", "-5 + 3 is what?", "-5 and 3 are what?"]) == 0
        assert json.loads(capsys.readouterr().out)["question"] == "-5 + 3 is what?"

    def test_options_reach_the_scorer(self, scorer):
        assert run(["explain", QUESTION, LOST, "-q", "--model", "mine", "--mode", "encoder"]) == 0
        assert scorer.asked == ("mine", "encoder", None)


@pytest.mark.parametrize(
    ("score", "threshold", "bar"),
    [
        (-1.0, 0.5, "  -1 ░░░░░░░░░░░░░░░┃░░░░ 1"),
        (0.0, 0.5, "  -1 ██████████░░░░░┃░░░░ 1"),
        (1.0, 0.5, "  -1 ███████████████┃████ 1"),
        (1.0, 1.0, "  -1 ███████████████████┃ 1"),
        (7.0, -1.0, "  -1 ┃███████████████████ 1"),
    ],
)
def test_the_bar(score, threshold, bar):
    class Utf8(io.StringIO):
        encoding = "utf-8"

    assert score_bar(score, threshold, Console(file=Utf8(), width=27)).plain == bar


def test_the_bar_where_only_ascii_can_be_shown():
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"), width=27)
    assert score_bar(0.0, 0.5, console).plain == "  -1 ##########-----|---- 1"


@pytest.mark.usefixtures("scorer")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["", LOST], "blank question"),
        ([" \n", LOST], "blank question"),
        ([QUESTION, "half \udc80"], "paraphrase is not valid Unicode"),
        ([QUESTION], "Missing argument"),
        ([QUESTION, LOST, "--mode", "magic"], "'magic' is not one of"),
        ([QUESTION, LOST, "--threshold", "2"], "--threshold"),
    ],
)
def test_bad_input(fails, arguments, line):
    assert line in fails("explain", *arguments)


def test_what_the_scorer_refuses_is_one_line(scorer, fails):
    scorer.refuses = "eats"
    assert "eats is refused" in fails("explain", QUESTION, LOST)


def test_not_a_number_as_threshold(fails):
    assert "--threshold" in fails("explain", QUESTION, LOST, "--threshold", "nan")


class TestTheShippedScorer:
    def test_as_a_program_in_a_pipe(self):
        environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]), COLUMNS="40")
        program = [sys.executable, "-m", "paraqd.cli.main", "explain", QUESTION, LOST]
        done = subprocess.run(program, env=environment, capture_output=True, check=False)
        out = done.stdout.decode("utf-8")
        assert (done.returncode, done.stderr) == (0, b"")
        assert "Question" in out and "Paraphrase" in out and "\x1b" not in out

    def test_nothing_heavy_is_imported(self, imports):
        out, modules = imports("explain", QUESTION, LOST)
        assert "invalid" in out
        assert not {"torch", "transformers", "sentence_transformers", "spacy", "sklearn"} & modules

    def test_identical_and_blank(self, capsys):
        assert run(["explain", QUESTION, QUESTION, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["score"] == 1
        assert run(["explain", QUESTION, "", "--json"]) == 0
        blank = json.loads(capsys.readouterr().out)
        assert (blank["score"], blank["valid"]) == (-1, False)
        assert blank["evidence"]

    def test_a_model_that_cannot_be_had(self, fails):
        line = fails("explain", QUESTION, LOST, "--model", "none")
        assert "none" in line and "unexpected" not in line

"""Test the commands that decide: score --review, decide and calibrate; and doctor."""

from __future__ import annotations

import json

import pytest

from paraqd.cli.main import run
from paraqd.tables.table import open_table

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have?"
TEXTS = (QUESTION.replace("5", "6"), "Tom owns 5 pens and gets 3 more. How many pens does he have?")
PAIRS = "question,paraphrase\n" + "".join(f"{QUESTION},{text}\n" for text in TEXTS)
READING = ["--model", "reading"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in a new folder with a file of two pairs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    return tmp_path


def decisions(path="out.csv"):
    return [row["decision"] for row in open_table(path).rows()]


class TestReview:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["--review", "pairs.csv", "-o", "out.csv"],
            ["pairs.csv", "--review", "-o", "out.csv"],
            ["pairs.csv", "-o", "out.csv", "--review"],
        ],
    )
    def test_the_measured_band_in_any_place(self, here, arguments, capsys):
        assert run(["score", *arguments, "--judge", "small", "-q"]) == 0
        assert set(decisions()) <= {"valid", "invalid", "review"}
        columns = open_table("out.csv").columns
        assert columns[columns.index("valid") + 1] == "decision"
        assert "|review:" in next(open_table("out.csv").rows())["signature"]

    @pytest.mark.parametrize("band", [["--review", "-0.5,1"], ["--review=-0.5,1"], ["--review", "-0.5, 1"]])
    def test_a_band_of_ones_own(self, here, band, capsys):
        assert run(["score", *band, "pairs.csv", "-o", "out.csv", *READING]) == 0
        assert decisions() == ["invalid", "review"]
        lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
        assert ["review", "1", "50.0%"] in lines and ["valid", "0", "0.0%"] in lines

    def test_the_scores_do_not_change(self, here):
        run(["score", "pairs.csv", "-o", "one.csv", "-q", *READING])
        run(["score", "pairs.csv", "-o", "two.csv", "--review", "-1,1", "-q", *READING])
        one, two = (list(open_table(name).rows()) for name in ("one.csv", "two.csv"))
        for name in ("score", "valid", "evidence"):
            assert [row[name] for row in one] == [row[name] for row in two]

    def test_only_the_pairs_for_review(self, here, capsys):
        options = ["--review", "-0.5,1", "--only", "review", "--json", *READING]
        assert run(["score", "pairs.csv", "-o", "out.csv", *options]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["written"], report["review"], report["band"]) == (1, 1, [-0.5, 1.0])
        assert decisions() == ["review"]

    def test_rows_on_the_screen_show_the_decision(self, here, capsys):
        assert run(["score", "pairs.csv", "--review", "-0.5,1", *READING]) == 0
        [line] = [line for line in capsys.readouterr().out.splitlines() if "Tom owns" in line]
        assert line.split()[0] == "3" and line.split()[2] == "review"

    def test_scoring_again_without_a_band_drops_the_old_decisions(self, here, capsys):
        run(["score", "pairs.csv", "-o", "one.csv", "--review", "-0.5,1", "-q", *READING])
        assert run(["score", "one.csv", "-o", "two.csv", "--overwrite-columns", *READING]) == 0
        assert "decision" not in open_table("two.csv").columns
        assert "has a column 'decision' from an earlier scoring" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--review"], "no band for review was measured for this model: pass --review LOW,HIGH"),
            (["--review", "0.3"], "'0.3' is not a band: write two numbers"),
            (["--review", "0.7,0.3"], "the lower one first"),
            (["--review=high"], "'high' is not a band"),
            (["--review", "0.6,0.8"], "does not contain the threshold 0.5"),
            (["--only", "review"], "--only review needs --review"),
        ],
    )
    def test_a_band_that_cannot_be_used_is_one_clear_line(self, here, arguments, message, capsys):
        assert run(["score", "pairs.csv", "-o", "out.csv", *READING, *arguments]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1
        assert not (here / "out.csv").exists()


class TestDecide:
    def test_decide_again(self, here, capsys):
        run(["score", "pairs.csv", "-o", "scored.csv", "-q", *READING])
        assert run(["decide", "scored.csv", "-o", "out.xlsx", "--threshold", "0.9", "--review", "0.3,0.95"]) == 0
        assert decisions("out.xlsx") == ["invalid", "review"]
        shown = capsys.readouterr().out
        assert "threshold 0.9, review from 0.3 to 0.95" in shown and "2 rows → out.xlsx" in shown

    def test_counts_as_json(self, here, capsys):
        run(["score", "pairs.csv", "-o", "scored.csv", "-q", *READING])
        assert run(["decide", "scored.csv", "-o", "out.csv", "--threshold", "0.99", "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["valid"], report["invalid"], report["threshold"]) == (0, 2, 0.99)
        assert report["faults"]["number_changed"] == 1

    def test_pairs_without_a_score_are_named(self, here, capsys):
        (here / "scored.csv").write_text("score,valid,error\n0.9,true,\n,,blank question\n")
        assert run(["decide", "scored.csv", "-o", "out.csv", "--threshold", "0.7"]) == 1
        assert "1 pair of 2 without a score (scored.csv, row 3: blank question)" in capsys.readouterr().err

    def test_a_file_without_scores(self, here, capsys):
        assert run(["decide", "pairs.csv", "-o", "out.csv", "--threshold", "0.7"]) == 2
        assert "has no column 'score'" in capsys.readouterr().err


class TestCalibrate:
    def decided(self, here, count):
        rows = [f"q{n},p{n},{0.95 if n % 3 else 0.7},{'accept' if n % 3 else 'reject'}" for n in range(count)]
        (here / "decided.csv").write_text("\n".join(["question,paraphrase,score,label", *rows]))

    def test_a_suggestion_and_how_to_use_it(self, here, capsys):
        self.decided(here, 90)
        assert run(["calibrate", "decided.csv"]) == 0
        shown = capsys.readouterr().out
        assert "90 decisions in label: 60 accept, 30 reject" in shown
        assert "66.7%" in shown and "100.0%" in shown
        assert "To use it: paraqd decide SCORED -o OUT --threshold 0." in shown

    def test_too_few_decisions(self, here, capsys):
        self.decided(here, 9)
        assert run(["calibrate", "decided.csv"]) == 0
        shown = capsys.readouterr().out
        assert "9 decisions (6 accept, 3 reject) are too few" in shown and "suggested" not in shown

    def test_the_suggestion_as_json(self, here, capsys):
        self.decided(here, 90)
        assert run(["calibrate", "decided.csv", "--json", "--right", "0.9"]) == 0
        assert 0.7 <= json.loads(capsys.readouterr().out)["threshold"] < 0.95

    def test_a_file_without_decisions(self, here, capsys):
        run(["score", "pairs.csv", "-o", "scored.csv", "-q", "--review", "-1,1", *READING])
        assert run(["calibrate", "scored.csv"]) == 2
        assert "name the column with --label-column NAME" in capsys.readouterr().err


class TestDoctor:
    def test_all_is_well(self, capsys):
        assert run(["doctor"]) == 0
        shown = capsys.readouterr().out
        assert "All is well." in shown and "onnxruntime" in shown and "a good text scores" in shown

    def test_what_is_wrong_is_named(self, capsys, monkeypatch, tmp_path):
        monkeypatch.setenv("PARAQD_DATA_DIR", str(tmp_path / "nowhere"))
        assert run(["doctor"]) == 1
        captured = capsys.readouterr()
        assert "Something is wrong." in captured.out and "problem: PARAQD_DATA_DIR: there is no folder" in captured.err

    def test_as_json(self, capsys):
        assert run(["doctor", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["well"] is True

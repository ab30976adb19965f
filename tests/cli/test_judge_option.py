"""The option --judge selects the judges in every command that scores pairs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import language_judge
import pytest

from paraqd import EvidenceKind, Model, Scorer, TableError, score_file
from paraqd.cli.main import run
from paraqd.model_folder import write_facts

TEXTS = "Tom has 5 pens and buys 3 pens. How many pens has he?", "Tom, who has 5 pens, buys 3. How many has he?"


def signatures(file):
    with Path(file).open(encoding="utf-8") as rows:
        return {row["signature"] for row in csv.DictReader(rows)}


@pytest.mark.usefixtures("installed")
class TestInstalled:
    @pytest.mark.parametrize("judge", ["small", "cascade", "large"])
    def test_explain(self, judge, capsys):
        assert run(["explain", *TEXTS, "--judge", judge, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["signature"] == Scorer.load(judge=judge).signature
        assert shown["score"] == Scorer.load(judge=judge).score(*TEXTS).score

    def test_score_with_one_worker_and_with_several(self, here):
        assert run(["score", "pairs.csv", "-o", "one.csv", "--judge", "large", "-q"]) == 0
        assert run(["score", "pairs.csv", "-o", "two.csv", "--judge", "large", "-q", "--workers", "2"]) == 0
        assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
        assert signatures("one.csv") == {Scorer.load(judge="large").signature}

    def test_the_default_is_the_cascade(self, here):
        assert run(["score", "pairs.csv", "-o", "out.csv", "-q"]) == 0
        assert signatures("out.csv") == {Scorer.load(judge="cascade").signature}

    def test_an_unfinished_run_is_resumed_with_the_same_judge_only(self, here, fails, monkeypatch, capsys):
        texts = [(f"Tom has {n} pens. How many?", f"How many are {n} pens?") for n in range(600)]
        Path("many.csv").write_text("question,paraphrase\n" + "".join(f"{q},{p}\n" for q, p in texts))
        command = ["score", "many.csv", "-o", "out.csv", "-q"]
        begin = Scorer.begin

        def interrupted(self, pairs):
            if texts[-1] in pairs:
                raise KeyboardInterrupt
            return begin(self, pairs)

        with monkeypatch.context() as patched:
            patched.setattr(Scorer, "begin", interrupted)
            assert run([*command, "--judge", "large"]) == 130
        capsys.readouterr()
        for judge in ("small", "cascade"):
            assert "has another judge; use the same options" in fails(*command, "--judge", judge)
        assert run([*command, "--judge", "large"]) == 0
        assert signatures("out.csv") == {Scorer.load(judge="large").signature}

    def test_evaluate(self, here, capsys, fails):
        pairs = [(*TEXTS, 1), (TEXTS[0], "Tom has 5 pens. How many has he?", 0)]
        rows = [{"question": q, "paraphrase": p, "label": label} for q, p, label in pairs]
        Path("labelled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for judge in ("small", "large"):
            assert run(["evaluate", "labelled.jsonl", "--judge", judge, "--no-intervals", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["signature"] == Scorer.load(judge=judge).signature
        Path("scored.jsonl").write_text("".join(json.dumps({**row, "score": 0.5}) + "\n" for row in rows))
        assert "--judge small has no effect" in fails("evaluate", "scored.jsonl", "--judge", "small")

    def test_checklist(self, here, capsys, fails):
        case = {"question": TEXTS[0], "paraphrase": TEXTS[1], "label": 1}
        Path("cases").mkdir()
        Path("cases/rewording.jsonl").write_text(json.dumps(case) + "\n")
        assert run(["lab", "checklist", "--cases", "cases", "--judge", "large", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["signature"] == Scorer.load(judge="large").signature
        assert "cosine has no judge" in fails("lab", "checklist", "--scorer", "cosine", "--judge", "small")
        assert "mode encoder has no judge" in fails("lab", "checklist", "--scorer", "encoder", "--judge", "small")

    def test_score_file(self, here):
        for given in ({"judge": "large"}, {"scorer": Model(judge="large")}):
            report = score_file("pairs.csv", None, **given)
            assert report.signature == Scorer.load(judge="large").signature
        with pytest.raises(TableError, match="cannot be combined with a loaded scorer"):
            score_file("pairs.csv", None, scorer=Scorer.load("reading"), judge="large")

    def test_evidence_names_a_kind_and_spans(self, installed, capsys):
        """A judge that finds every pair invalid gives the evidence."""
        write_facts(
            installed, language_judge.facts_of_judge(first_share=0.0, fusion={**language_judge.FUSION, "bias": -9})
        )
        assert run(["explain", *TEXTS, "--judge", "large", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert not shown["valid"] and shown["evidence"]
        for piece in shown["evidence"]:
            assert piece["kind"] in list(EvidenceKind)
            assert piece["question_spans"] or piece["paraphrase_spans"]


@pytest.mark.usefixtures("site")
class TestNotInstalled:
    @pytest.mark.parametrize(
        "command", [["explain", *TEXTS], ["score", "pairs.csv"], ["evaluate", "awp-variants"], ["lab", "checklist"]]
    )
    def test_one_line_says_what_to_do(self, here, fails, command):
        line = fails(*command, "--judge", "cascade")
        assert line.endswith(
            "the language-model judge is not installed: pip install paraqd-judge-lm "
            "(in a clone, pip install models/paraqd-judge-lm), or pass --judge small"
        )

    def test_the_small_judge_needs_nothing(self, here):
        assert (
            run(["score", "pairs.csv", "-o", "a.csv", "-q"])
            == run(["score", "pairs.csv", "-o", "b.csv", "-q", "--judge", "small"])
            == 0
        )
        assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()

    def test_an_unknown_judge(self, fails):
        assert "huge" in fails("explain", *TEXTS, "--judge", "huge")

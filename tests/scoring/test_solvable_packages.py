"""The large model for single questions is a package of its own, which is used if it is installed."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("onnx")

import language_judge

from paraqd import ModelError, SolvableChecker, solvable_file
from paraqd.cli.main import run
from paraqd.errors import ArgumentError
from paraqd.judge_package import SOLVABLE
from paraqd.model_folder import ONNX_FILE, PACKED_FILE
from paraqd.parameters import as_options
from paraqd.tables.table import open_table

TEXTS = [*language_judge.TEXTS, "Tom has 5 pens", "How far?"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return language_judge.write_question_model(tmp_path_factory.mktemp("large") / "model")


@pytest.fixture
def package(site, folder):
    return language_judge.install_judge(site, folder, package=SOLVABLE.name, group=SOLVABLE.group)


@pytest.mark.usefixtures("site")
def test_without_the_package_the_small_model_is_used():
    assert SolvableChecker.load().signature == SolvableChecker.load(judge="small").signature
    with pytest.raises(ModelError, match=r"pip install models/paraqd-solvable-lm\), or pass judge='small'$"):
        SolvableChecker.load(judge="large")
    with as_options(), pytest.raises(ModelError, match=r"or pass --judge small$"):
        SolvableChecker.load(judge="large")


@pytest.mark.usefixtures("package")
def test_the_package_is_used_unless_the_small_model_is_wanted(monkeypatch):
    assert "|model:tiny-solvable@" in SolvableChecker.load().signature
    assert SolvableChecker.load(judge="large").signature == SolvableChecker.load().signature
    small = SolvableChecker.load(judge="small").signature
    assert "|model:solvable@" in small
    for wanted, expected in (("small", "solvable"), ("cascade", "tiny-solvable"), ("large", "tiny-solvable")):
        monkeypatch.setenv("PARAQD_JUDGE", wanted)
        assert f"|model:{expected}@" in SolvableChecker.load().signature
        assert SolvableChecker.load(judge="small").signature == small  # the argument counts more than the variable


def test_other_texts_threads_and_the_order_do_not_change_a_score(package):
    checker = SolvableChecker.load(package)
    expected = checker.check_texts(TEXTS)
    assert [checker.check(text) for text in TEXTS] == expected
    assert checker.check_texts(TEXTS[::-1])[::-1] == expected
    assert SolvableChecker.load(package, threads=1).check_texts(TEXTS) == expected
    assert len({each.score for each in expected}) > 1


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("judge", "name"), [("large", "tiny-solvable"), ("small", "solvable")])
def test_workers_use_the_same_model(tmp_path, monkeypatch, workers, judge, name, package):
    rows = "".join(f'"{text}"\n' for text in TEXTS)
    (tmp_path / "in.csv").write_text(f"question\n{rows}", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parents[1]))
    report = solvable_file(tmp_path / "in.csv", tmp_path / "out.jsonl", workers=workers, part_rows=2, judge=judge)
    assert f"|model:{name}@" in report.signature and report.rows == len(TEXTS)
    scores = [row["score"] for row in open_table(tmp_path / "out.jsonl").rows()]
    expected = [each.score for each in SolvableChecker.load(judge=judge).check_texts(TEXTS)]
    assert scores == pytest.approx(expected, abs=1e-3)


@pytest.mark.usefixtures("package")
def test_the_command_chooses_the_model(tmp_path, capsys):
    (tmp_path / "in.csv").write_text(f"question\n{TEXTS[0]}\n", encoding="utf-8")
    for judge, name in (("large", "tiny-solvable"), ("small", "solvable")):
        given = ["solvable", str(tmp_path / "in.csv"), "-o", str(tmp_path / f"{judge}.csv"), "--judge", judge, "--json"]
        assert run(given) == 0
        assert f"|model:{name}@" in json.loads(capsys.readouterr().out)["signature"]


def test_a_model_in_a_folder_leaves_no_choice(folder):
    with pytest.raises(ArgumentError, match=r"judge='small' chooses between paraqd's own models: leave it out"):
        SolvableChecker.load(folder, judge="small")
    with pytest.raises(ArgumentError, match=r"unknown judge 'cascade': choose small or large$"):
        SolvableChecker.load(judge="cascade")


@pytest.mark.parametrize("name", [ONNX_FILE, PACKED_FILE])
def test_damaged_files(package, name):
    (package / name).write_bytes((package / name).read_bytes() + b" ")
    with pytest.raises(ModelError, match=r"sha256 differs"):
        SolvableChecker.load()


def test_a_package_with_another_model(site, language_judge_folder):
    language_judge.install_judge(site, language_judge_folder, package=SOLVABLE.name, group=SOLVABLE.group)
    with pytest.raises(ModelError, match=r"not a large model for single questions: install the model again"):
        SolvableChecker.load()
    SolvableChecker.load(judge="small")


def test_the_small_model_does_not_touch_the_package(site, folder):
    code = "raise SystemExit('touched')"
    language_judge.install_judge(site, folder, package=SOLVABLE.name, group=SOLVABLE.group, code=code)
    SolvableChecker.load(judge="small").check(TEXTS[0])

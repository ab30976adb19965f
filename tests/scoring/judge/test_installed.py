"""The package of the language-model judge is found through its entry point."""

from __future__ import annotations

import json

import language_judge
import pytest

from paraqd import ModelError, Scorer
from paraqd.model_folder import DEFAULT_MODEL, FACTS_FILE, ONNX_FILE, PACKED_FILE, TOKENIZER_FILE, write_facts
from paraqd.parameters import as_options
from paraqd.scoring.judge.installed import installed_judge

MODES = [None, "cascade", "large"]
pytestmark = pytest.mark.usefixtures("site")


def test_no_package():
    assert installed_judge() is None
    assert Scorer.load().signature == Scorer.load(judge="small").signature
    with pytest.raises(ModelError, match=r"pip install models/paraqd-judge-lm\), or pass judge='small'$"):
        Scorer.load(judge="cascade")
    with as_options(), pytest.raises(ModelError, match=r"or pass --judge small$"):
        Scorer.load(judge="large")


def test_the_package_is_found(installed):
    found = installed_judge()
    assert found.path == installed and found.name == "tiny-lm"


def test_a_package_that_is_on_the_path_twice(installed, tmp_path, monkeypatch):
    language_judge.install_judge(tmp_path / "again", installed)
    monkeypatch.syspath_prepend(str(tmp_path / "again"))
    assert installed_judge().name == "tiny-lm"


def test_several_packages(installed, site):
    language_judge.install_judge(site, installed, package="paraqd-judge-other")
    with pytest.raises(ModelError, match=r"\(paraqd-judge-lm, paraqd-judge-other\): keep only one$"):
        Scorer.load()
    Scorer.load(judge="small")


@pytest.mark.parametrize(
    "code",
    [
        "raise ValueError('no\\nweights')",
        "raise ValueError('no \\x1b[31mweights')",
        "def folder():\n    return None\n",
        "folder = 1",
        "",
        "import sys; sys.exit(0)",
        "def folder():\n    raise SystemExit\n",
        "class Odd(BaseException): pass\nraise Odd",
    ],
)
def test_code_that_cannot_be_loaded(site, language_judge_folder, code):
    language_judge.install_judge(site, language_judge_folder, code=code or "pass")
    with pytest.raises(ModelError, match=r"the judge package paraqd-judge-lm cannot be loaded") as raised:
        Scorer.load()
    assert str(raised.value).isprintable() and "pip install --force-reinstall" in str(raised.value)


def test_another_kind_of_model(site):
    language_judge.install_judge(site, DEFAULT_MODEL)
    with pytest.raises(ModelError, match=r"not a language-model judge"):
        Scorer.load()


@pytest.mark.parametrize("judge", MODES)
def test_a_package_for_another_version(installed, judge):
    write_facts(installed, language_judge.facts_of_judge(model="default@00000000"))
    with pytest.raises(ModelError, match=r"belongs to the model default@00000000, not to .* install the version"):
        Scorer.load(judge=judge)


@pytest.mark.parametrize("name", [ONNX_FILE, PACKED_FILE, TOKENIZER_FILE])
def test_a_file_that_has_changed(installed, name):
    (installed / name).write_bytes((installed / name).read_bytes() + b" ")
    with pytest.raises(ModelError, match=r"sha256 differs"):
        Scorer.load()


@pytest.mark.parametrize("name", [ONNX_FILE, PACKED_FILE])
def test_a_file_that_changes_after_loading(installed, name):
    scorer = Scorer.load(judge="large")
    (installed / name).write_bytes(b"")
    with pytest.raises(ModelError, match=r"has changed since the model was loaded"):
        scorer.score("Tom has 5 pens. How many?", "How many pens has Tom, who has 5 of them?")


@pytest.mark.parametrize("name", [ONNX_FILE, PACKED_FILE, TOKENIZER_FILE])
def test_a_file_that_is_missing(installed, name):
    (installed / name).unlink()
    with pytest.raises(ModelError, match=f"has no {name}"):
        Scorer.load()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 9}', "\0"])
def test_facts_that_cannot_be_read(installed, text):
    (installed / FACTS_FILE).write_text(text)
    with pytest.raises(ModelError, match=r"paraqd\.json|format"):
        Scorer.load()


@pytest.mark.parametrize(
    "change",
    [
        {"first_share": "1"},
        {"first_share": -1},
        {"first_share": True},
        {"first_share": None},
        {"low": 3, "high": 2},
        {"high": [1]},
        {"fusion": None},
        {"fusion": {"bias": 0}},
        {"fusion": {**language_judge.FUSION, "model_weight": -1}},
        {"fusion": {**language_judge.FUSION, "bias": 1e9}},
        {"model": None},
    ],
)
def test_weights_that_cannot_be_used(installed, change):
    write_facts(installed, language_judge.facts_of_judge(**change))
    with pytest.raises(ModelError) as raised:
        Scorer.load()
    assert "install" in str(raised.value)


def test_a_judge_without_a_description_of_its_use(installed):
    facts = json.loads((installed / FACTS_FILE).read_text())
    del facts["cascade"]
    write_facts(installed, facts)
    with pytest.raises(ModelError, match=r"does not say how the judge is used"):
        Scorer.load()


def test_the_small_judge_does_not_touch_the_package(site, language_judge_folder):
    language_judge.install_judge(site, language_judge_folder, code="raise SystemExit('touched')")
    scorer = Scorer.load(judge="small")
    scorer.score("Tom has 5 pens. How many?", "How many pens has Tom, who has 5 of them?")
    assert "judge:" not in scorer.signature


def test_a_model_without_a_judge_does_not_touch_the_package(site, language_judge_folder):
    language_judge.install_judge(site, language_judge_folder, code="raise SystemExit('touched')")
    assert "judge:" not in Scorer.load("reading").signature
    with pytest.raises(ModelError, match=r"the model reading has no judge: leave out judge='cascade'$"):
        Scorer.load("reading", judge="cascade")


@pytest.mark.usefixtures("installed")
def test_a_model_of_ones_own_uses_its_small_judge(judge_folder):
    assert "judge:" not in Scorer.load(judge_folder).signature
    with pytest.raises(ModelError, match=r"belongs to the model default@"):
        Scorer.load(judge_folder, judge="cascade")


def test_the_mode_encoder_has_no_judge():
    with pytest.raises(ModelError, match=r"the mode encoder has no judge: leave out judge='small'$"):
        Scorer.load(mode="encoder", judge="small")


def test_an_unknown_judge():
    with pytest.raises(ModelError, match=r"unknown judge 'huge': choose small, cascade or large"):
        Scorer.load(judge="huge")

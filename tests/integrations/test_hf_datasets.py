"""The functions work with the library's map and filter."""

from __future__ import annotations

import math

import pytest

from paraqd import ParaqdError
from paraqd.integrations.hf_datasets import KeepValid, ScorePairs

pytest.importorskip("datasets.config")  # the repository has a folder datasets, too
import datasets

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
PARAPHRASES = [QUESTION.replace("buys", "purchases"), QUESTION.replace("5", "6"), None, ""]
LABELS = [True, False, False, False]


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    return datasets.Dataset.from_dict({"question": [QUESTION] * 4, "paraphrase": PARAPHRASES, "id": [1, 2, 3, 4]})


@pytest.mark.parametrize("options", [{"batched": True}, {"batched": True, "batch_size": 1}, {}])
def test_map_adds_columns(pairs, options):
    scored = pairs.map(ScorePairs("reading"), **options)
    assert scored["valid"] == LABELS
    assert scored["why"][1] == 'A number changed: "5" became "6".'
    assert scored["id"] == [1, 2, 3, 4]
    assert all(-1 <= score <= 1 for score in scored["score"])


@pytest.mark.parametrize("options", [{"batched": True}, {}])
def test_filter_keeps_valid_pairs(pairs, options):
    assert pairs.filter(KeepValid("reading"), **options)["id"] == [1]


def test_several_processes(pairs):
    scored = pairs.map(ScorePairs("reading", threads=1), batched=True, num_proc=2)
    assert scored["valid"] == LABELS


def test_rows_that_cannot_be_scored_have_an_error_in_any_order(pairs):
    broken = datasets.Dataset.from_dict({"question": ["", QUESTION], "paraphrase": [QUESTION, QUESTION]})
    scored = broken.map(ScorePairs("reading"), batched=True, batch_size=1)
    assert scored["error"][0] and not scored["error"][1]
    assert math.isnan(scored["score"][0]) and scored["score"][1] == 1
    assert scored["valid"] == [False, True]


@pytest.mark.parametrize("options", [{"batched": True}, {}])
def test_numbers_are_no_texts(pairs, options):
    numbers = datasets.Dataset.from_dict({"question": [5, 6], "paraphrase": [5, 7]})
    assert numbers.map(ScorePairs("reading"), **options)["error"] == ["question is not text"] * 2
    assert len(numbers.filter(KeepValid("reading"), **options)) == 0


def test_the_library_recognises_the_same_function_and_another_model():
    hash_of = datasets.fingerprint.Hasher.hash
    used = ScorePairs("reading")
    used({"question": [QUESTION], "paraphrase": [QUESTION]})
    assert hash_of(used) == hash_of(ScorePairs("reading"))
    assert hash_of(used) != hash_of(ScorePairs("reading", threshold=0.9))
    assert hash_of(used) != hash_of(ScorePairs("default", judge="small"))


def test_other_names_of_columns(pairs):
    renamed = pairs.rename_columns({"question": "source", "paraphrase": "rewrite"})
    keep = KeepValid("reading", question_column="source", paraphrase_column="rewrite")
    assert renamed.filter(keep, batched=True)["id"] == [1]


def test_a_missing_column_is_named():
    with pytest.raises(ParaqdError, match="has no column 'paraphrase': its columns are question, text; pass"):
        ScorePairs("reading")({"question": [QUESTION], "text": [QUESTION]})

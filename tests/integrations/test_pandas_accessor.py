"""The accessor scores and filters data frames."""

from __future__ import annotations

import numpy as np
import pytest

from paraqd import ParaqdError

pd = pytest.importorskip("pandas")
import paraqd.integrations.pandas_accessor  # noqa: E402, F401

QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
PARAPHRASES = [QUESTION.replace("buys", "purchases"), QUESTION.replace("5", "6"), None, np.nan, pd.NA, ""]


@pytest.fixture
def pairs():
    index = pd.Index(list("abcdef"), name="key")
    return pd.DataFrame({"question": [QUESTION] * 6, "paraphrase": PARAPHRASES}, index=index)


def test_the_verdicts_have_the_index_of_the_frame(pairs):
    scored = pairs.paraqd.score(model="reading")
    assert scored.index.equals(pairs.index)
    assert scored["valid"].tolist() == [True, False, False, False, False, False]
    assert scored.loc["b", "why"] == 'A number changed: "5" became "6".'
    assert pairs.columns.tolist() == ["question", "paraphrase"], "the frame itself does not change"


def test_only_valid_rows_are_kept(pairs):
    assert pairs.paraqd.keep_valid(model="reading").index.tolist() == ["a"]
    assert pairs.paraqd.keep_valid(model="reading", threshold=-1).index.tolist()[:2] == ["a", "b"]


def test_a_row_that_cannot_be_scored_has_an_error_and_no_verdict(pairs):
    pairs.loc["a", "question"] = None
    scored = pairs.paraqd.score(model="reading")
    assert pd.isna(scored.loc["a", "score"]) and scored.loc["a", "valid"] is pd.NA
    assert "question" in scored.loc["a", "error"]
    assert pairs.paraqd.keep_valid(model="reading").empty


def test_other_columns_and_an_empty_frame(pairs):
    renamed = pairs.rename(columns={"question": "source", "paraphrase": "rewrite"})
    names = {"question": "source", "paraphrase": "rewrite", "model": "reading"}
    assert renamed.paraqd.score(**names)["valid"].iloc[0]
    assert renamed.iloc[:0].paraqd.score(**names).shape[0] == 0


def test_a_missing_column_is_named(pairs):
    with pytest.raises(ParaqdError, match="has no column 'rewrite': its columns are question, paraphrase; pass"):
        pairs.paraqd.score(paraphrase="rewrite")

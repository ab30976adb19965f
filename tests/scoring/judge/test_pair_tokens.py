"""Pairs become the token ids that a cross-encoder reads."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paraqd.errors import ModelError
from paraqd.scoring.judge.pair_tokens import LONGEST, EncodedPair, EncodedText, PairTokenizer


def text_of(size):
    return EncodedText(np.zeros(size, dtype=np.int64), None)


@pytest.mark.parametrize(("one", "two"), [(300, 20), (1000, 10), (2000, 400), (160, 160), (5, 900)])
def test_every_token_of_a_long_pair_is_in_a_window_and_none_is_too_long(one, two):
    windows = EncodedPair(text_of(one), text_of(two)).windows()
    assert {int(token) for window in windows for token in window.question} == set(range(one))
    assert {int(token) for window in windows for token in window.paraphrase} == set(range(two))
    assert all(window.question.size + window.paraphrase.size + 3 <= LONGEST for window in windows)


def test_a_row_frames_both_texts(judge_folder):
    tokenizer = PairTokenizer.from_file(judge_folder / "tokenizer.json")
    (pair,) = tokenizer.encode_pairs([("Tom has 5.", "has 7")])
    row = tokenizer.row(pair, pair.windows()[0])
    (first,) = tokenizer.encode(["Tom has 5."])
    (second,) = tokenizer.encode(["has 7"])
    assert row.ids.tolist() == [2, *first.ids, 3, *second.ids, 3]
    assert row.types.tolist() == [0] * 6 + [1] * 3


def test_texts_are_encoded_the_same_alone_and_among_others(judge_folder):
    tokenizer = PairTokenizer.from_file(judge_folder / "tokenizer.json")
    texts = [f"Tom has {number} pens \ud800 and more" for number in (5, 7, 9, 12, 30, 31, 32)]
    together = tokenizer.encode(texts)
    for text, found in zip(texts, together, strict=True):
        (alone,) = tokenizer.encode([text])
        assert alone.ids.tolist() == found.ids.tolist()
        assert alone.encoding.offsets == found.encoding.offsets


@pytest.mark.parametrize("gone", ["[CLS]", "[SEP]"])
def test_a_tokenizer_without_its_special_tokens_is_one_line(judge_folder, tmp_path, gone):
    facts = json.loads((judge_folder / "tokenizer.json").read_text("utf-8"))
    del facts["model"]["vocab"][gone]
    (tmp_path / "tokenizer.json").write_text(json.dumps(facts), "utf-8")
    with pytest.raises(ModelError, match=rf"tokenizer\.json: the tokenizer has no token \{gone}") as caught:
        PairTokenizer.from_file(tmp_path / "tokenizer.json")
    assert "\n" not in str(caught.value)

"""Test the cutting of a tokenizer's vocabulary."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from tokenizers import Tokenizer

from paraqd.training.vocabulary import count_tokens, cut_vocabulary

MARKS = ("<|im_start|>", "<|im_end|>")


def names(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).tokens


def test_a_cut_vocabulary_splits_its_texts_as_before(causal_base, pairs):
    whole = Tokenizer.from_file(str(causal_base / "tokenizer.json"))
    texts = [pair.paraphrase for pair in pairs(60)]
    counts = count_tokens(whole, texts)
    assert sum(counts.values()) == sum(len(names(whole, text)) for text in texts)
    cut, old_ids = cut_vocabulary(whole, counts, MARKS)
    assert cut.get_vocab_size() == len(old_ids) < whole.get_vocab_size()
    for text in texts:
        assert names(cut, text) == names(whole, text)
        ids = cut.encode(text, add_special_tokens=False).ids
        assert [old_ids[number] for number in ids] == whole.encode(text, add_special_tokens=False).ids
    assert [cut.id_to_token(cut.token_to_id(mark)) for mark in MARKS] == list(MARKS)
    assert "<|endoftext|>" not in cut.get_vocab()


@pytest.mark.parametrize("text", ["Zoë's Šport: 5 µg, 文, 😀", "Gita loses 7 stamps."])
def test_a_cut_vocabulary_can_encode_every_text(causal_base, text):
    whole = Tokenizer.from_file(str(causal_base / "tokenizer.json"))
    cut, _ = cut_vocabulary(whole, count_tokens(whole, ["tom has 5 pens."]), MARKS)
    assert cut.decode(cut.encode(text, add_special_tokens=False).ids) == text
    assert len(names(cut, text)) >= len(names(whole, text))

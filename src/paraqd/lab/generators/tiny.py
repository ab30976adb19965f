"""Create tiny models with random weights for smoke runs. The models have the same classes as full-size models."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

_VOCABULARY = 400


def tiny_causal(texts: Iterable[str]) -> tuple[Any, Any]:
    """Return a two-layer Llama model and a byte-level tokenizer trained on the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=["<|end|>", "<|pad|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|end|>", pad_token="<|pad|>")
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config), tokenizer


def tiny_masked(texts: Iterable[str]) -> tuple[Any, Any]:
    """Return a two-layer BERT model for masked language modelling and a WordPiece tokenizer built from the texts."""
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    # words are counted here because the library's WordPiece trainer does not break ties in a reproducible way
    words = Counter(word for text in texts for word in re.findall(r"\w+|[^\w\s]", text.lower()))
    letters = sorted({letter for word in words for letter in word})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    whole = sorted((word for word in words if len(word) > 1), key=lambda word: (-words[word], word))
    vocabulary = {piece: i for i, piece in enumerate([*pieces, *whole[:_VOCABULARY]])}
    tokenizer = BertTokenizer(vocab=vocabulary, do_lower_case=True)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=512,
        pad_token_id=tokenizer.pad_token_id,
    )
    return BertForMaskedLM(config), tokenizer

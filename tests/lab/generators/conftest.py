"""Tiny FSMT, Pegasus, T5 and Llama models that know a few sentences by heart, saved as stock folders."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

try:
    import torch
    from tokenizers import CharBPETokenizer, SentencePieceUnigramTokenizer
    from transformers import (
        FSMTConfig,
        FSMTForConditionalGeneration,
        FSMTTokenizer,
        PegasusConfig,
        PegasusForConditionalGeneration,
        PegasusTokenizer,
        T5Config,
        T5ForConditionalGeneration,
        T5Tokenizer,
    )
except ImportError:  # the extra is not installed: there is nothing to test here
    collect_ignore_glob = ["test_*.py"]

from paraqd.lab.generators.tiny import tiny_causal, tiny_masked
from paraqd.lab.generators.training_data import collate, encode_causal, encode_masked, encode_seq2seq
from paraqd.lab.generators.training_loop import one_thread, seeded
from paraqd.model_runtime import quiet
from paraqd.paraphrasing.text_models.base import Prompt

Pair = tuple[str, str]

ENGLISH_GERMAN: list[Pair] = [
    ("Tom has 5 apples.", "Tom hat 5 Äpfel."),
    ("How many apples does Tom have?", "Wie viele Äpfel hat Tom?"),
    ("A train covers 120 km in 2 hours.", "Ein Zug legt 120 km in 2 Stunden zurück."),
    ("What is its speed?", "Was ist seine Geschwindigkeit?"),
    ("A pen costs $3.", "Ein Stift kostet 3 Dollar."),
    ("Find the cost of 4 pens.", "Finde die Kosten von 4 Stiften."),
]
# The way back rewords; "A pen costs $3." comes back with another number.
GERMAN_ENGLISH: list[Pair] = [
    ("Tom hat 5 Äpfel.", "Tom owns 5 apples."),
    ("Wie viele Äpfel hat Tom?", "How many apples does Tom own?"),
    ("Ein Zug legt 120 km in 2 Stunden zurück.", "A train travels 120 km in 2 hours."),
    ("Was ist seine Geschwindigkeit?", "What is its speed?"),
    ("Ein Stift kostet 3 Dollar.", "A pen costs $8."),
    ("Finde die Kosten von 4 Stiften.", "Find the price of 4 pens."),
]
# One answer is lossy, one the question itself but for case and the last mark.
PARAPHRASES: list[Pair] = [
    ("Tom has 5 apples. How many apples does Tom have?", "How many apples does Tom have?"),
    ("A pen costs $3. Find the cost of 4 pens.", "a pen costs $3. find the cost of 4 pens"),
    ("What is its speed?", "How fast is it?"),
    ("A train covers 120 km in 2 hours.", "A train covers 120 km."),
]

PROMPT = Prompt("Text: {text}\nAgain:\n")


class NotLearnedError(Exception):
    """A model got stuck where it started."""


def memorize(model: Any, batch: dict[str, Any], *, steps: int, rate: float) -> float:
    """Overfit the model on one batch until no single token is in doubt; return the largest loss of a token.

    A mean over tokens hides the one wrong token that changes a text, and how fast a run gets there differs
    between processors: so it goes on, more gently each time, until every token is known.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for attempt in range(4):
            _overfit(model, batch, steps=steps, rate=rate / 2**attempt)
            worst = _worst_token(model, batch)
            if worst < 0.05:
                return worst
    finally:
        torch.set_num_threads(threads)
    raise NotLearnedError(f"the tiny {model.config.model_type} did not learn its sentences: {worst:.3f}")


def _worst_token(model: Any, batch: dict[str, Any]) -> float:
    with torch.no_grad():
        logits = model(**batch).logits
    labels = batch["labels"]
    if model.config.model_type == "llama":  # predicts the token after each
        logits, labels = logits[:, :-1], labels[:, 1:]
    return float(torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").max())


def _overfit(model: Any, batch: dict[str, Any], *, steps: int, rate: float) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - step / steps)
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.002:
            break
    model.eval()


def _save(model: Any, tokenizer: Any, folder: Path) -> Path:
    with quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


def _unigram(texts: Iterable[str], specials: Sequence[str]) -> list[tuple[str, float]]:
    raw = SentencePieceUnigramTokenizer()
    raw.train_from_iterator(list(texts), vocab_size=120, show_progress=False, unk_token="<unk>")
    learned = [tuple(entry) for entry in json.loads(raw.to_str())["model"]["vocab"]]
    return [(token, 0.0) for token in specials] + [e for e in learned if e[0] not in specials]


def _seq2seq(model: Any, tokenizer: Any, pairs: list[Pair], prompt: Prompt, *, steps: int, rate: float) -> Any:
    batch = collate(
        list(encode_seq2seq(tokenizer, prompt, pairs)),
        tokenizer=tokenizer,
        rng=random.Random(0),
        device="cpu",
    )
    if model.config.model_type == "fsmt":  # alone among these it does not shift the labels by itself
        start = torch.full_like(batch["labels"][:, :1], model.config.decoder_start_token_id)
        shifted = torch.cat([start, batch["labels"][:, :-1]], dim=1)
        batch["decoder_input_ids"] = shifted.masked_fill(shifted == -100, model.config.pad_token_id)
    memorize(model, batch, steps=steps, rate=rate)
    return model


def build_fsmt(folder: Path, pairs: list[Pair], langs: tuple[str, str]) -> Path:
    raw = CharBPETokenizer(lowercase=False)
    raw.train_from_iterator(
        [text for pair in pairs for text in pair],
        vocab_size=300,
        min_frequency=1,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        show_progress=False,
    )
    folder.mkdir(parents=True)
    saved = json.loads(raw.to_str())["model"]
    merges = [m if isinstance(m, str) else " ".join(m) for m in saved["merges"]]
    for name in ("vocab-src.json", "vocab-tgt.json"):
        (folder / name).write_text(json.dumps(saved["vocab"]), encoding="utf-8")
    (folder / "merges.txt").write_text("".join(m + "\n" for m in merges), encoding="utf-8")
    tokenizer = FSMTTokenizer(
        langs=list(langs),
        src_vocab_file=str(folder / "vocab-src.json"),
        tgt_vocab_file=str(folder / "vocab-tgt.json"),
        merges_file=str(folder / "merges.txt"),
    )
    config = FSMTConfig(
        langs=list(langs),
        src_vocab_size=len(saved["vocab"]),
        tgt_vocab_size=len(saved["vocab"]),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        max_position_embeddings=128,
        dropout=0.0,
        attention_dropout=0.0,
    )
    model = FSMTForConditionalGeneration(config)
    return _save(_seq2seq(model, tokenizer, pairs, Prompt(), steps=300, rate=1e-2), tokenizer, folder)


def build_pegasus(folder: Path, pairs: list[Pair]) -> Path:
    texts = [text for pair in pairs for text in pair]
    vocab = _unigram(texts, ["<pad>", "</s>", "<unk>", "<mask_1>", "<mask_2>"])
    tokenizer = PegasusTokenizer(vocab=vocab, offset=2)
    config = PegasusConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        max_position_embeddings=64,
        dropout=0.0,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=1,
    )
    model = PegasusForConditionalGeneration(config)
    return _save(_seq2seq(model, tokenizer, pairs, Prompt(), steps=300, rate=1e-2), tokenizer, folder)


def build_t5(folder: Path, pairs: list[Pair]) -> Path:
    texts = [text for pair in pairs for text in pair] + ["paraphrase: "]
    tokenizer = T5Tokenizer(vocab=_unigram(texts, ["<pad>", "</s>", "<unk>"]), extra_ids=0)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=2,
        dropout_rate=0.0,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    prompt = Prompt("paraphrase: {text}")
    return _save(_seq2seq(model, tokenizer, pairs, prompt, steps=400, rate=3e-3), tokenizer, folder)


def build_llama(folder: Path, pairs: list[Pair]) -> Path:
    model, tokenizer = tiny_causal([text for pair in pairs for text in pair] * 3)
    examples = list(encode_causal(tokenizer, PROMPT, pairs))
    batch = collate(examples, tokenizer=tokenizer, rng=random.Random(0), device="cpu")
    memorize(model, batch, steps=200, rate=1e-2)
    return _save(model, tokenizer, folder)


def build_bert(folder: Path, pairs: list[Pair]) -> Path:
    model, tokenizer = tiny_masked([text for pair in pairs for text in pair])
    examples = list(encode_masked(tokenizer, pairs))
    batch = collate(examples, tokenizer=tokenizer, rng=random.Random(0), device="cpu")
    memorize(model, batch, steps=30, rate=1e-2)
    return _save(model, tokenizer, folder)


@pytest.fixture(autouse=True)
def single_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Build a model with the given builder, the same each time and whatever ran before."""

    def made(builder: Callable[..., Path], name: str, *args: Any) -> Path:
        for seed in range(7, 14):  # a start that gets stuck is given up for another
            with seeded(seed, "cpu"), one_thread(), contextlib.suppress(NotLearnedError):
                return builder(tmp_path_factory.mktemp("models") / name, *args)
        raise AssertionError(f"no start of seven made {name} learn its sentences")

    return made


@pytest.fixture(scope="session")
def fsmt_forward(build: Callable[..., Path]) -> Path:
    return build(build_fsmt, "en-de", ENGLISH_GERMAN, ("en", "de"))


@pytest.fixture(scope="session")
def fsmt_backward(build: Callable[..., Path]) -> Path:
    return build(build_fsmt, "de-en", GERMAN_ENGLISH, ("de", "en"))


@pytest.fixture(scope="session")
def pegasus(build: Callable[..., Path]) -> Path:
    return build(build_pegasus, "pegasus", PARAPHRASES)


@pytest.fixture(scope="session")
def t5(build: Callable[..., Path]) -> Path:
    return build(build_t5, "t5", PARAPHRASES)


@pytest.fixture(scope="session")
def llama(build: Callable[..., Path]) -> Path:
    return build(build_llama, "llama", PARAPHRASES)


@pytest.fixture(scope="session")
def bert(build: Callable[..., Path]) -> Path:
    return build(build_bert, "bert", PARAPHRASES)

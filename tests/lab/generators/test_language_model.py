"""Measure how probable texts are."""

import math

import pytest
import torch

from paraqd.lab.generators import GeneratorUnavailableError
from paraqd.lab.generators.language_model import LanguageModel, load_language_model
from paraqd.lab.generators.tiny import tiny_causal
from paraqd.paraphrasing.text_models.engine import make_engine

TEXTS = [
    "Tom has 5 apples.",
    "How many apples does Tom have?",
    "A train covers 120 km in 2 hours.",
    "Tom has 5 apples.",
]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(1)
    weights, tokenizer = tiny_causal(TEXTS)
    return LanguageModel(make_engine(weights, tokenizer, causal=True, batch_tokens=4096), "tiny")


def by_hand(model, text):
    """Add up the log-probabilities of the tokens, one by one."""
    ids = [model.engine.tokenizer.eos_token_id, *model.engine.tokenizer(text)["input_ids"]]
    total = 0.0
    for place in range(1, len(ids)):
        with torch.inference_mode():
            logits = model.engine.model(torch.tensor([ids[:place]])).logits[0, -1]
        total += float(torch.log_softmax(logits, -1)[ids[place]])
    return total


def test_the_sum_over_all_tokens(model):
    found = model.log_probabilities(TEXTS)
    assert found == pytest.approx([by_hand(model, text) for text in TEXTS], abs=1e-3)
    assert found[0] == found[3] and all(value < 0 for value in found)


def test_a_batch_does_not_matter(model):
    alone = [model.log_probabilities([text])[0] for text in TEXTS]
    assert model.log_probabilities(TEXTS) == pytest.approx(alone, abs=1e-3)
    small = LanguageModel(make_engine(model.engine.model, model.engine.tokenizer, causal=True, batch_tokens=8), "tiny")
    assert small.log_probabilities(TEXTS) == pytest.approx(alone, abs=1e-3)


def test_what_a_model_has_learned_is_more_probable():
    torch.manual_seed(1)
    weights, tokenizer = tiny_causal(TEXTS)
    model = LanguageModel(make_engine(weights, tokenizer, causal=True, batch_tokens=4096), "tiny")
    before = model.log_probabilities(TEXTS[:2])
    ids = torch.tensor([[tokenizer.eos_token_id, *tokenizer(TEXTS[0])["input_ids"]]])
    optimizer = torch.optim.AdamW(weights.parameters(), lr=1e-2)
    for _ in range(20):
        weights(ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    after = model.log_probabilities(TEXTS[:2])
    assert after[0] > before[0] + 5 > after[1] + 5


@pytest.mark.parametrize("texts", [[], ["", "  "], ["\ud800"]])
def test_unusual_texts(model, texts):
    found = model.log_probabilities(texts)
    assert len(found) == len(texts) and all(math.isfinite(value) for value in found)


def test_a_long_text_is_cut_off(model):
    long = "apples " * 2000
    assert model.log_probabilities([long]) == pytest.approx(model.log_probabilities([long + long]))


def test_loading(tmp_path, model):
    model.engine.model.save_pretrained(tmp_path / "tiny")
    model.engine.tokenizer.save_pretrained(tmp_path / "tiny")
    again = load_language_model(tmp_path / "tiny", device="cpu")
    assert again.name == "tiny"
    assert again.log_probabilities(TEXTS) == pytest.approx(model.log_probabilities(TEXTS), abs=1e-3)


def test_a_missing_model():
    with pytest.raises(GeneratorUnavailableError, match=r"the language model needs the folder '\./none'"):
        load_language_model("./none", device="cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_gives_the_same_numbers(tmp_path, model):
    model.engine.model.save_pretrained(tmp_path / "tiny")
    model.engine.tokenizer.save_pretrained(tmp_path / "tiny")
    on_gpu = load_language_model(tmp_path / "tiny", device="cuda")
    assert on_gpu.log_probabilities(TEXTS) == pytest.approx(model.log_probabilities(TEXTS), abs=1e-2)

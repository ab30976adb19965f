"""Measure how probable texts are with a decoder-only language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraqd.model_runtime import INPUT_LIMIT_TOKENS, quiet, token_batches
from paraqd.paraphrasing.text_models.causal import PACKAGED_MODEL, CausalGenerator, encode_prompt, packaged_model_file
from paraqd.paraphrasing.text_models.engine import Engine, pad, printable

# a batch has fewer tokens than a generator's, because the scores of all tokens in the vocabulary are in memory at once
_SHARE_OF_BATCH = 4


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A decoder-only model that returns the log-probabilities of texts."""

    engine: Engine
    name: str

    def log_probabilities(self, texts: Sequence[str]) -> list[float]:
        """Return the natural logarithm of each text's probability; the texts run through the model in batches.

        A text with too many tokens for the model is cut off, and the rest does not count. A blank text has the
        log-probability 0.
        """
        distinct = list(dict.fromkeys(texts))
        rows = [self._ids(text) for text in distinct]
        found = [0.0] * len(rows)
        costs = [len(row) for row in rows]
        for batch in token_batches(costs, budget=max(1, self.engine.batch_tokens // _SHARE_OF_BATCH)):
            for index, value in zip(batch, self._sums([rows[i] for i in batch]), strict=True):
                found[index] = value
        by_text = dict(zip(distinct, found, strict=True))
        return [by_text[text] for text in texts]

    def _ids(self, text: str) -> list[int]:
        """Return the ids of a start token and of the text's tokens."""
        tokenizer = self.engine.tokenizer
        with quiet():  # the tokenizer warns about long texts, which are cut off here
            ids = encode_prompt(tokenizer, printable(text)) if text.strip() else []
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if not ids or ids[0] != start:
            ids = [start, *ids]
        return ids[: min(self.engine.positions or INPUT_LIMIT_TOKENS, INPUT_LIMIT_TOKENS)]

    def _sums(self, rows: list[list[int]]) -> list[float]:
        import torch

        model = self.engine.model
        ids, mask = pad(rows, value=model.generation_config.pad_token_id, left=False, device=model.device)
        if ids.shape[1] < 2:
            return [0.0] * len(rows)
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
            chosen = logits.gather(-1, ids[:, 1:, None]).squeeze(-1) - logits.logsumexp(-1)
            sums: list[float] = (chosen * mask[:, 1:]).double().sum(-1).tolist()
        return sums


def load_language_model(model: str | Path = PACKAGED_MODEL, *, device: str | None = None) -> LanguageModel:
    """Load SmolLM2-135M-Instruct from its package, or another decoder-only model from a folder, a file or the hub.

    Raise `GeneratorUnavailableError` if the model is not available.
    """
    place = packaged_model_file() if str(model) == PACKAGED_MODEL else model
    name = PACKAGED_MODEL if str(model) == PACKAGED_MODEL else None
    loaded = CausalGenerator.load(place, name=name, device=device, needed_by="the language model")
    return LanguageModel(loaded.engine, loaded.name)

"""Run a Hugging Face model on many texts in batches, and return the outputs in the order of the texts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from paraqd.model_runtime import INPUT_LIMIT_TOKENS, quiet, token_batches, without_cudnn_attention
from paraqd.paraphrasing.text_models.base import Decoding
from paraqd.paraphrasing.text_models.processors import HammingDiversity, KeyedSampling, LengthLimit, row_key

_DECODING_SETTINGS = (
    "max_length",
    "max_new_tokens",
    "min_new_tokens",
    "max_time",
    "num_beam_groups",
    "diversity_penalty",
    "penalty_alpha",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "typical_p",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A loaded model, its tokenizer and the maximum number of tokens in a batch.

    ``causal`` is True for a decoder-only model and False for an encoder-decoder model.
    """

    model: Any
    tokenizer: Any
    causal: bool
    batch_tokens: int

    @property
    def positions(self) -> int | None:
        """The maximum number of positions in the model's input, or None if there is no limit."""
        bound = getattr(self.model.config, "max_position_embeddings", None)
        return int(bound) if bound else None


def run(
    engine: Engine,
    texts: Sequence[str],
    *,
    seeds: Sequence[int],
    decoding: Decoding,
    encode: Callable[[str], list[int]],
    answer: Callable[[str], str],
) -> list[list[str]]:
    """Return a list of candidates for each text, in the order of ``texts``; see ``Generator.generate``.

    ``encode`` converts a text into token ids, and ``answer`` converts an output of the model into a candidate.
    """
    inputs: list[list[int]] = []
    limits: list[int] = []
    places: list[int] = []
    for place, text in enumerate(texts):
        if not text.strip():
            continue
        with quiet():  # the tokenizer warns about long texts, which _new_token_limit handles
            ids = encode(printable(text))
        limit = _new_token_limit(engine, decoding, len(ids))
        if limit is not None:
            inputs.append(ids)
            limits.append(limit)
            places.append(place)
    results: list[list[str]] = [[] for _ in texts]
    costs = [(len(i) + limit) * decoding.rows_per_text for i, limit in zip(inputs, limits, strict=True)]
    for batch in token_batches(costs, budget=engine.batch_tokens):
        keys = [(seeds[places[i]], texts[places[i]]) for i in batch]
        outputs = _decode(engine, [inputs[i] for i in batch], [limits[i] for i in batch], keys, decoding)
        for index, candidates in zip(batch, outputs, strict=True):
            found = [answer(candidate) for candidate in candidates]
            results[places[index]] = [text for text in dict.fromkeys(found) if text]
    return results


def printable(text: str) -> str:
    r"""Replace each lone surrogate with a question mark, because tokenizers reject lone surrogates.

    >>> printable("5 apples\ud800")
    '5 apples?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def eos_ids(model: Any, tokenizer: Any) -> list[int]:
    """Return the ids of the tokens that end an output: first the tokenizer's end token, then the model's end tokens.

    If a model was converted from a different format, the tokenizer and the model may have different end tokens, and the
    model may have learned to write any of these tokens.
    """
    own = model.generation_config.eos_token_id
    found = [tokenizer.eos_token_id, *(own if isinstance(own, (list, tuple)) else [own])]
    ends = [int(token) for token in dict.fromkeys(found) if token is not None]
    if not ends:
        raise ValueError("the model has no end token, so its output would never end")
    return ends


def _new_token_limit(engine: Engine, decoding: Decoding, length: int) -> int | None:
    """Return the maximum number of new tokens for a text, or None if the text is too long for the model."""
    wanted = decoding.limit(length)
    if length > INPUT_LIMIT_TOKENS:
        return None
    if engine.positions is None:
        return wanted
    # two positions are reserved for the decoder's start token and the end token
    room = engine.positions - 2 - (length if engine.causal else 0)
    if room < 1 or length > engine.positions:
        return None
    return min(wanted, room)


def _decode(
    engine: Engine,
    inputs: list[list[int]],
    limits: list[int],
    keys: list[tuple[int, str]],
    decoding: Decoding,
) -> list[list[str]]:
    """Decode one batch and return a list of candidates for each text.

    Unfinished candidates are discarded unless ``decoding.keep_unfinished`` is set.
    """
    import torch

    model, tokenizer = engine.model, engine.tokenizer
    eos = model.generation_config.eos_token_id
    # each sample or group needs its own row, whereas the library adds the rows for beam search itself
    rows = 1 if decoding.num_beams > 1 else decoding.num_candidates
    ids, mask = pad(
        [row for row in inputs for _ in range(rows)],
        value=model.generation_config.pad_token_id,
        left=engine.causal,
        device=model.device,
    )
    start = ids.shape[1] if engine.causal else 1
    processors: list[Any] = [LengthLimit(limits, start=start, eos=eos)]
    if decoding.do_sample:
        row_keys = [row_key(seed, text, row) for seed, text in keys for row in range(rows)]
        processors.append(KeyedSampling(row_keys, start=start, temperature=decoding.temperature, top_p=decoding.top_p))
    if decoding.diversity:
        processors.append(HammingDiversity(rows, penalty=decoding.diversity, start=start, eos=eos))
    # some models use torch's global random number generator, whose state is restored afterwards
    with torch.inference_mode(), torch.random.fork_rng(devices=[]), without_cudnn_attention():
        sequences = model.generate(
            input_ids=ids,
            attention_mask=mask,
            generation_config=_generation_config(engine, max(limits) + 1, decoding),
            logits_processor=processors,
        )
    outputs: list[list[str]] = []
    for position, limit in enumerate(limits):
        first = position * decoding.num_candidates
        finished = []
        for sequence in sequences[first : first + decoding.num_candidates, start:].tolist():
            end = next((i for i, token in enumerate(sequence) if token in eos), len(sequence))
            if end < limit or decoding.keep_unfinished:
                finished.append(_to_text(tokenizer, sequence[:end]))
        outputs.append(finished)
    return outputs


def _to_text(tokenizer: Any, ids: list[int]) -> str:
    # cleaning up would change the spaces around punctuation and thereby change numbers
    return str(tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def make_engine(model: Any, tokenizer: Any, *, causal: bool, batch_tokens: int) -> Engine:
    """Create an engine for a loaded model.

    The settings that `Decoding` controls are removed from the model. Other generation settings, such as the length
    penalty and forced tokens, are kept.
    """
    config = copy.deepcopy(model.generation_config)
    for name in _DECODING_SETTINGS:
        if getattr(config, name, None) is not None:
            setattr(config, name, None)
    config.eos_token_id = eos_ids(model, tokenizer)
    if config.pad_token_id is None:
        config.pad_token_id = tokenizer.pad_token_id
    if config.pad_token_id is None:
        config.pad_token_id = config.eos_token_id[0]
    # the library falls back to the model's settings, so the decoding settings must be removed from the model as well
    model.generation_config = config
    return Engine(model=model.eval(), tokenizer=tokenizer, causal=causal, batch_tokens=batch_tokens)


def _generation_config(engine: Engine, max_new_tokens: int, decoding: Decoding) -> Any:
    config = copy.deepcopy(engine.model.generation_config)
    config.max_new_tokens = max_new_tokens
    config.num_beams = decoding.num_beams
    config.num_return_sequences = decoding.num_candidates if decoding.num_beams > 1 else 1
    config.do_sample = False
    return config


def pad(rows: Sequence[Sequence[int]], *, value: int, left: bool, device: Any) -> tuple[Any, Any]:
    """Return a tensor of the rows, padded on the left or on the right, and the attention mask for the tensor.

    >>> pad([[5, 6], [7]], value=0, left=True, device="cpu")[0].tolist()
    [[5, 6], [0, 7]]
    """
    import torch

    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), value, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for index, row in enumerate(rows):
        span = slice(width - len(row), width) if left else slice(0, len(row))
        ids[index, span] = torch.tensor(row, dtype=torch.long)
        mask[index, span] = 1
    return ids.to(device), mask.to(device)

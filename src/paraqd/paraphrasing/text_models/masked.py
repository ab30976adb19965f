"""Generate text as in SSMBA (Ng et al., 2020): corrupt a text, and have a masked language model restore it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from paraqd.model_runtime import (
    batch_budget,
    load_pretrained,
    pick_device,
    pick_dtype,
    quiet,
    require_extra,
    token_batches,
)
from paraqd.paraphrasing.text_models.base import GREEDY, Decoding, seeds_of
from paraqd.paraphrasing.text_models.engine import pad, printable
from paraqd.paraphrasing.text_models.processors import gumbel, keep_top_p, row_key
from paraqd.paraphrasing.text_models.seq2seq import short_name

# the maximum number of scores (holes times vocabulary size) in memory at once; they should fit in a CPU's cache
_CPU_SCORES, _GPU_SCORES = 1 << 18, 1 << 24
# as in BERT, these shares of the chosen tokens are masked or replaced with a random token; the rest stay unchanged
MASK_SHARE = 0.8
RANDOM_SHARE = 0.1


class Hole(NamedTuple):
    """A token to be replaced.

    ``position`` is the token's index, ``start`` and ``end`` delimit the token in the text, and ``begins`` is True if
    the token begins a word.
    """

    position: int
    start: int
    end: int
    begins: bool


class Corrupted(NamedTuple):
    """The input for one candidate: the corrupted token ids, the tokens to replace, and a key for random numbers."""

    ids: list[int]
    holes: list[Hole]
    key: int


@dataclass(frozen=True, kw_only=True)
class MaskedGenerator:
    """A generator that replaces some of a text's tokens with the predictions of a masked language model.

    ``rate`` is the fraction of tokens to replace. The tokens are chosen separately for each candidate. The rest of the
    text, including spaces and capital letters, stays unchanged. The settings ``do_sample``, ``temperature`` and
    ``top_p`` in `Decoding` determine how a replacement is chosen. ``num_beams`` and ``diversity`` have no effect.
    """

    model: Any
    tokenizer: Any
    name: str
    rate: float = 0.15
    stand_in: bool = False
    by_sentence: bool = False
    batch_tokens: int = 4096

    @classmethod
    def load(
        cls,
        model: str | Path,
        *,
        name: str | None = None,
        rate: float = 0.15,
        stand_in: bool = False,
        device: str | None = None,
        dtype: str | None = None,
        batch_tokens: int | None = None,
        needed_by: str = "the generator",
        option: str = "",
    ) -> MaskedGenerator:
        """Load a masked language model from a folder or by its hub name.

        Raise `GeneratorUnavailableError` if the model is not available.
        """
        require_extra()
        from transformers import AutoModelForMaskedLM, AutoTokenizer

        place = pick_device(device)

        def fetch(local: bool) -> tuple[Any, Any]:
            tokenizer = AutoTokenizer.from_pretrained(str(model), local_files_only=local)
            weights = AutoModelForMaskedLM.from_pretrained(str(model), local_files_only=local, dtype=pick_dtype(dtype))
            return weights, tokenizer

        weights, tokenizer = load_pretrained(str(model), fetch, needed_by=needed_by, option=option)
        return cls(
            model=weights.to(place).eval(),
            tokenizer=tokenizer,
            name=name or short_name(model),
            rate=rate,
            stand_in=stand_in,
            batch_tokens=batch_tokens or batch_budget(place),
        )

    def generate(
        self, texts: Sequence[str], *, seed: int | Sequence[int], decoding: Decoding = GREEDY
    ) -> list[list[str]]:
        """Return a list of candidates for each text; see ``Generator.generate``.

        A candidate may be identical to its text.
        """
        seeds = seeds_of(texts, seed)
        jobs: list[tuple[int, Corrupted]] = []
        for place, text in enumerate(texts):
            for candidate in range(decoding.num_candidates):
                corrupted = self.corrupt(text, key=row_key(seeds[place], text, candidate))
                if corrupted is not None:
                    jobs.append((place, corrupted))
        filled: list[str] = [""] * len(jobs)
        for batch in token_batches([len(job.ids) for _, job in jobs], budget=self.batch_tokens):
            answers = self._fill([jobs[i][1] for i in batch], decoding)
            for index, answer in zip(batch, answers, strict=True):
                place, job = jobs[index]
                filled[index] = self._splice(printable(texts[place]), job, answer)
        results: list[list[str]] = [[] for _ in texts]
        for (place, _), text in zip(jobs, filled, strict=True):
            if text.strip() and text not in results[place]:
                results[place].append(text)
        return results

    def corrupt(self, text: str, *, key: int) -> Corrupted | None:
        """Choose the tokens to replace, and corrupt these tokens in the model's input.

        Return None if the text has no tokens or is too long for the model.
        """
        with quiet():  # the tokenizer warns about long texts, which are handled below
            encoded = self.tokenizer(
                printable(text), return_offsets_mapping=True, return_special_tokens_mask=True, truncation=False
            )
        ids = list(encoded["input_ids"])
        free = [i for i, special in enumerate(encoded["special_tokens_mask"]) if not special]
        if not free or len(ids) > self.model.config.max_position_embeddings:
            return None
        rng = random.Random(key)
        holes = []
        for position in sorted(rng.sample(free, max(1, round(self.rate * len(free))))):
            start, end = encoded["offset_mapping"][position]
            holes.append(Hole(position, start, end, self._begins_word[ids[position]]))
            draw = rng.random()
            if draw < MASK_SHARE:
                ids[position] = self.tokenizer.mask_token_id
            elif draw < MASK_SHARE + RANDOM_SHARE:
                ids[position] = rng.choice(self._ordinary_ids)
        return Corrupted(ids, holes, key)

    @cached_property
    def _spelling(self) -> list[str]:
        return list(self.tokenizer.convert_ids_to_tokens(list(range(self.model.config.vocab_size))))

    @cached_property
    def _ordinary_ids(self) -> list[int]:
        """The ids of all tokens except special tokens and unused placeholders."""
        special = set(self.tokenizer.all_special_ids)
        return [
            i
            for i, token in enumerate(self._spelling)
            if token and i not in special and not token.startswith("[unused")
        ]

    @cached_property
    def _begins_word(self) -> list[bool]:
        """For each token id, True if the token begins a word."""
        if self._wordpiece:
            return [bool(token) and not token.startswith("##") for token in self._spelling]
        return [bool(token) and token.startswith(("Ġ", "▁")) for token in self._spelling]

    @cached_property
    def _wordpiece(self) -> bool:
        return any(token and token.startswith("##") for token in self._spelling)

    def _word(self, token: int) -> str:
        spelling = self._spelling[token]
        # WordPiece tokens are plain text, but the tokens of other vocabularies must be decoded
        return spelling.removeprefix("##") if self._wordpiece else str(self.tokenizer.decode([token])).strip()

    def _fill(self, jobs: list[Corrupted], decoding: Decoding) -> list[list[int]]:
        """Return the tokens that the model chooses for the holes in each corrupted text.

        A token that begins a word is replaced only with a token that also begins a word, so words are not joined.
        """
        import torch

        device = self.model.device
        ids, mask = pad([job.ids for job in jobs], value=self.tokenizer.pad_token_id or 0, left=False, device=device)
        plain = torch.zeros(self.model.config.vocab_size, dtype=torch.bool, device=device)
        plain[self._ordinary_ids] = True
        begins = torch.tensor(self._begins_word, device=device)
        with torch.inference_mode():
            logits = self.model(input_ids=ids, attention_mask=mask).logits
        holes = [(row, hole) for row, job in enumerate(jobs) for hole in job.holes]
        chosen: list[int] = []
        budget = _CPU_SCORES if device.type == "cpu" else _GPU_SCORES
        step = max(1, budget // self.model.config.vocab_size)
        for first in range(0, len(holes), step):
            some = holes[first : first + step]
            same = begins[None, :] == torch.tensor([hole.begins for _, hole in some], device=device)[:, None]
            rows, positions = [row for row, _ in some], [hole.position for _, hole in some]
            scores = logits[rows, positions].float().masked_fill(~(plain[None, :] & same), float("-inf"))
            if decoding.do_sample:
                scores = keep_top_p(scores / decoding.temperature, decoding.top_p)
                # a hole's noise depends on the hole's position, not on the number of holes
                keys = torch.tensor([row_key(jobs[row].key, "", hole.position) for row, hole in some])
                scores = scores + gumbel(keys.to(device), step=0, size=scores.shape[1])
            chosen += scores.argmax(dim=-1).tolist()
        answers: list[list[int]] = [[] for _ in jobs]
        for (row, _), token in zip(holes, chosen, strict=True):
            answers[row].append(token)
        return answers

    def _splice(self, text: str, job: Corrupted, answer: list[int]) -> str:
        """Replace the holes in the text with the chosen tokens, and insert a space where two words would be joined."""
        built = ""
        done = 0
        for hole, token in zip(job.holes, answer, strict=True):
            built += text[done : hole.start]
            word = self._word(token)
            if hole.begins and built[-1:].isalnum() and word[:1].isalnum():
                built += " "
            built += word
            # a word that replaces a punctuation mark must not run into the next word
            was_punctuation = not text[hole.end - 1 : hole.end].isalnum()
            if was_punctuation and word[-1:].isalnum() and text[hole.end : hole.end + 1].isalnum():
                built += " "
            done = hole.end
        return built + text[done:]

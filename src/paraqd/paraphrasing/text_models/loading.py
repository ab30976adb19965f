"""Load a generator from a folder, a file or the hub, and choose the backend that the model needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from paraqd.errors import ArgumentError
from paraqd.model_runtime import GeneratorUnavailableError, load_pretrained, require_extra
from paraqd.paraphrasing.text_models.base import PLAIN, Generator, Prompt

Backend = Literal["seq2seq", "causal", "masked"]
BACKENDS: tuple[Backend, ...] = ("seq2seq", "causal", "masked")
CARD = "paraqd_generator.json"


def load_generator(
    folder_or_name: str | Path,
    *,
    device: str | None = None,
    dtype: str | None = None,
    kind: Backend | None = None,
    prompt: Prompt | None = None,
    by_sentence: bool | None = None,
    needed_by: str = "the generator",
    option: str = "",
) -> Generator:
    """Load a generator from a model folder or a GGUF file, or by its hub name.

    If ``train_generator`` wrote the folder, the card in the folder determines the backend, the prompt and
    ``by_sentence``, unless these values are passed as arguments. ``dtype`` is float32 by default, because outputs in
    bfloat16 depend on the batch. ``needed_by`` and ``option`` appear in error messages: ``needed_by`` names the part of
    the program that needs the model, and ``option`` is the key with which a user can choose a different model.
    """
    require_extra()
    model = str(folder_or_name)
    if model.startswith("~"):
        model = str(Path(model).expanduser())
    card = read_card(model)
    try:
        name = _name(card) if card else None
        stored = Prompt(str(card["prompt"]["template"]), str(card["prompt"]["end"])) if "prompt" in card else PLAIN
    except (LookupError, TypeError, ArgumentError) as error:
        raise GeneratorUnavailableError(
            f"{Path(model) / CARD} is damaged ({error!r}): train or copy the generator again"
        ) from None
    backend = kind or card.get("backend") or _backend_of(model, needed_by, option)
    if backend not in BACKENDS:
        raise GeneratorUnavailableError(
            f"the card in {model} has an unknown backend {backend!r}: use one of {', '.join(BACKENDS)}"
        )
    stand_in = bool(card.get("stand_in", False))
    if backend == "masked":
        from paraqd.paraphrasing.text_models.masked import MaskedGenerator

        return MaskedGenerator.load(
            model, name=name, stand_in=stand_in, device=device, dtype=dtype, needed_by=needed_by, option=option
        )
    from paraqd.paraphrasing.text_models.causal import CausalGenerator
    from paraqd.paraphrasing.text_models.seq2seq import Seq2SeqGenerator

    backend_class = Seq2SeqGenerator if backend == "seq2seq" else CausalGenerator
    return backend_class.load(
        model,
        name=name,
        prompt=prompt or stored,
        stand_in=stand_in,
        by_sentence=bool(card.get("by_sentence", False)) if by_sentence is None else by_sentence,
        device=device,
        dtype=dtype,
        needed_by=needed_by,
        option=option,
    )


def read_card(folder: str | Path) -> dict[str, Any]:
    """Return the card that ``train_generator`` wrote into a folder, or an empty dictionary if there is no card."""
    path = Path(folder) / CARD
    if not path.is_file():
        return {}
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise GeneratorUnavailableError(f"cannot read {path}: {error}") from error
    if not isinstance(card, dict):
        raise GeneratorUnavailableError(f"cannot read {path}: it is not a JSON object; train or copy it again")
    return card


def _name(card: dict[str, Any]) -> str:
    """Return a trained generator's name, such as ``SmolLM2-135M-Instruct/f9@1a2b3c4d``."""
    return f"{card['base']}/{card['kind']}@{card['data_sha256'][:8]}"


def _backend_of(model: str, needed_by: str, option: str) -> Backend:
    if model.endswith(".gguf"):
        return "causal"
    from transformers import AutoConfig

    config = load_pretrained(
        model,
        lambda local: AutoConfig.from_pretrained(model, local_files_only=local),
        needed_by=needed_by,
        option=option,
    )
    if getattr(config, "is_encoder_decoder", False):
        return "seq2seq"
    if any(name.endswith("ForMaskedLM") for name in getattr(config, "architectures", None) or ()):
        return "masked"
    return "causal"

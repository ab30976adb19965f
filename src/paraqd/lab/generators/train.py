"""Train the generators for the operators f9, fb and fe, the masked language model for SSMBA, and a paraphraser."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from paraqd.errors import ArgumentError, OutputExistsError
from paraqd.lab.generators.training_data import (
    Pair,
    TokenizedExample,
    TrainingDataError,
    data_sha256,
    encode_causal,
    encode_masked,
    encode_seq2seq,
    read_paraphrases,
    read_questions,
)
from paraqd.lab.generators.training_loop import GeneratorSettings, fit, one_thread, seeded
from paraqd.model_runtime import load_pretrained, pick_device, quiet, require_extra
from paraqd.paraphrasing.text_models.base import PLAIN, Prompt
from paraqd.paraphrasing.text_models.causal import PACKAGED_MODEL, load_gguf, packaged_model_file
from paraqd.paraphrasing.text_models.loading import CARD, Backend, read_card
from paraqd.progress import Progress, silent
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, encoder_folder
from paraqd.version import __version__

Kind = Literal["f9", "fb", "fe", "ssmba", "paraphrase"]
Scale = Literal["smoke", "full"]

_MAX_TOKENS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorKind:
    """The prompt and the source of the training data for one kind of generator.

    ``by_sentence`` is True if texts should be passed to a causal model sentence by sentence. ``settings`` replaces the
    usual settings of a full training run.
    """

    source: str | None = None
    prompt: Prompt = PLAIN
    by_sentence: bool = False
    settings: GeneratorSettings | None = None


_PARAPHRASER = GeneratorSettings(epochs=3, batch_tokens=16384, learning_rate=3e-4)
KINDS: Mapping[Kind, GeneratorKind] = MappingProxyType(
    {
        "f9": GeneratorKind(source="paws", prompt=Prompt("Sentence: {text}\nParaphrase:\n"), by_sentence=True),
        "fe": GeneratorKind(source="qqp", prompt=Prompt("Question: {text}\nParaphrase:\n"), by_sentence=True),
        "fb": GeneratorKind(prompt=Prompt("Corrupted: {text}\nRestored:\n")),
        "ssmba": GeneratorKind(),
        "paraphrase": GeneratorKind(prompt=Prompt("Style: {text}\nRewritten:\n"), settings=_PARAPHRASER),
    }
)

_SMOKE = GeneratorSettings(epochs=8, batch_tokens=256, learning_rate=1e-3, max_rows=64, max_steps=8, checkpoint_every=2)
_FULL: Mapping[Backend, GeneratorSettings] = MappingProxyType(
    {
        "causal": GeneratorSettings(epochs=3, batch_tokens=8192, learning_rate=1e-4),
        "seq2seq": GeneratorSettings(epochs=3, batch_tokens=8192, learning_rate=1e-4),
        "masked": GeneratorSettings(epochs=3, batch_tokens=16384, learning_rate=2e-4),
    }
)


def train_generator(
    kind: Kind,
    data_dir: str | Path | None,
    out_dir: str | Path,
    *,
    scale: Scale = "full",
    seed: int = 3407,
    device: str | None = None,
    base_model: str | None = None,
    pairs: Iterable[Pair] | None = None,
    progress: Progress = silent,
) -> Path:
    """Train a generator, save it with a card in a standard Hugging Face folder, and return the folder's path.

    The training data depends on the kind:

    - ``f9`` is trained on PAWS pairs with label 1 from ``general_paraphrases.jsonl.gz`` in ``data_dir``.
    - ``fe`` is trained on Quora pairs with label 1 from the same file.
    - ``ssmba`` is trained on the training questions from ``questions.jsonl.gz`` in ``data_dir``.
    - ``fb`` is trained on ``pairs``. Each pair consists of a corrupted question and the original question.
    - ``paraphrase`` is trained on ``pairs``. Each pair consists of a question with a style, as `styles.styled` writes
      it, and a paraphrase in this style.

    By default, the base model is a small model that is installed as a Python package and stands in for the paper's
    model. ``base_model`` is the name or folder of a different base model, such as t5-base for the paper's fb. With
    ``scale="smoke"``, training takes a few steps and finishes within seconds. The default base model is then a tiny
    model with random weights.

    Checkpoints are stored in ``OUT.training`` beside the output folder. If the process is killed, a second call with
    the same arguments resumes from the last checkpoint and ends with the same weights. If the output folder is already
    complete, its path is returned immediately.
    """
    require_extra(("torch", "transformers", "safetensors"))
    if kind not in KINDS:
        raise ArgumentError(f"unknown kind {kind!r}: choose one of {', '.join(KINDS)}")
    if scale not in ("smoke", "full"):
        raise ArgumentError(f"unknown scale {scale!r}: choose smoke or full")
    out = Path(out_dir)
    place = pick_device(device)
    recipe = KINDS[kind]
    rows = list(itertools.islice(_rows(kind, data_dir, pairs), _SMOKE.max_rows if scale == "smoke" else None))
    fingerprint: dict[str, Any] = {
        "kind": kind,
        "base": _base_name(kind, scale, base_model),
        "stand_in": base_model is None or scale == "smoke",
        "rows": len(rows),
        "data_sha256": data_sha256(rows),
        "prompt": {"template": recipe.prompt.template, "end": recipe.prompt.end},
        "version": __version__,
        "seed": seed,
        "scale": scale,
    }
    if _finished(out, fingerprint):
        return out

    with seeded(seed, place):  # the weights of a new head or a tiny model are random
        model, tokenizer, backend = _load_base(kind, scale, base_model, rows)
    settings = _SMOKE if scale == "smoke" else recipe.settings or _FULL[backend]
    examples = _examples(backend, model, tokenizer, recipe.prompt, rows)
    work = out.with_name(out.name + ".training")
    with one_thread() if scale == "smoke" else contextlib.nullcontext():
        loss = fit(
            model,
            tokenizer,
            examples,
            settings=settings,
            seed=seed,
            device=place,
            work_dir=work,
            fingerprint=fingerprint,
            stage=f"training {kind}",
            progress=progress,
        )
    # a seq2seq model reads a whole question, but the small causal model is trained on single sentences
    by_sentence = recipe.by_sentence and backend == "causal"
    card = {**fingerprint, "backend": backend, "by_sentence": by_sentence, "rows_used": len(examples)}
    _write(model, tokenizer, out, {**card, "loss": round(loss, 4)})
    shutil.rmtree(work, ignore_errors=True)
    return out


def _rows(kind: Kind, data_dir: str | Path | None, pairs: Iterable[Pair] | None) -> Iterable[Pair]:
    if pairs is not None:
        return pairs
    if kind == "fb":
        raise TrainingDataError("fb is trained on pairs of a corrupted and an original question: pass pairs")
    if kind == "paraphrase":
        raise TrainingDataError("paraphrase is trained on pairs of a styled question and its paraphrase: pass pairs")
    if data_dir is None:
        raise TrainingDataError(f"{kind} is trained on files in the data folder: pass data_dir")
    source = KINDS[kind].source
    if source is not None:
        return read_paraphrases(data_dir, source=source)
    return [("", question) for question in read_questions(data_dir)]


def _base_name(kind: Kind, scale: Scale, base_model: str | None) -> str:
    if base_model is not None:
        return Path(base_model).name if Path(base_model).is_dir() else base_model
    if scale == "smoke":
        return "tiny"
    return DEFAULT_ENCODER if kind == "ssmba" else PACKAGED_MODEL


def _load_base(kind: Kind, scale: Scale, base_model: str | None, rows: list[Pair]) -> tuple[Any, Any, Backend]:
    """Return the base model, its tokenizer and its backend."""
    if base_model is None and scale == "smoke":
        from paraqd.lab.generators.tiny import tiny_causal, tiny_masked

        texts = [text for pair in rows for text in pair]
        return (*tiny_masked(texts), "masked") if kind == "ssmba" else (*tiny_causal(texts), "causal")
    if base_model is None and kind != "ssmba":
        return (*load_gguf(packaged_model_file()), "causal")
    return _pretrained(base_model or str(encoder_folder()), masked=kind == "ssmba")


def _pretrained(name: str, *, masked: bool) -> tuple[Any, Any, Backend]:
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForMaskedLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
    )

    def fetch(local: bool) -> tuple[Any, Any, Backend]:
        config = AutoConfig.from_pretrained(name, local_files_only=local)
        backend: Backend = "masked" if masked else "seq2seq" if config.is_encoder_decoder else "causal"
        auto = {
            "masked": AutoModelForMaskedLM,
            "seq2seq": AutoModelForSeq2SeqLM,
            "causal": AutoModelForCausalLM,
        }[backend]
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local)
        # weights are trained in float32 regardless of their stored precision; on CUDA, the forward pass uses bfloat16
        return (
            auto.from_pretrained(name, local_files_only=local, dtype=torch.float32),
            tokenizer,
            backend,
        )

    return load_pretrained(name, fetch, needed_by="training")


def _examples(backend: Backend, model: Any, tokenizer: Any, prompt: Prompt, rows: list[Pair]) -> list[TokenizedExample]:
    """Return the rows as training examples, but skip rows that are too long for the model."""
    if backend == "masked":
        encoded = encode_masked(tokenizer, rows)
    elif backend == "causal":
        encoded = encode_causal(tokenizer, prompt, rows)
    else:
        encoded = encode_seq2seq(tokenizer, prompt, rows)
    limit = min(_MAX_TOKENS, getattr(model.config, "max_position_embeddings", None) or _MAX_TOKENS)
    examples = [example for example in encoded if example.cost <= limit]
    if not examples:
        raise TrainingDataError(
            "there are no training examples: there are no rows, or all rows are too long for the model"
        )
    return examples


def check_out(out: str | Path) -> None:
    """Raise `OutputExistsError` if the output is a file, or a folder with other files than those of a generator."""
    place = Path(out)
    if place.exists() and not place.is_dir():
        raise OutputExistsError(f"{place} is a file: choose another folder")
    if place.is_dir() and not read_card(place) and any(place.iterdir()):
        raise OutputExistsError(f"{place} already contains other files: delete the folder, or choose another folder")


def _finished(out: Path, fingerprint: dict[str, Any]) -> bool:
    """Return True if the folder contains the result of a training run with the same fingerprint.

    Raise `OutputExistsError` if the path is a file or if the folder contains anything else.
    """
    check_out(out)
    card = read_card(out) if out.is_dir() else {}
    if card and any(card.get(key) != value for key, value in fingerprint.items()):
        raise OutputExistsError(f"{out} already contains other files: delete the folder, or choose another folder")
    return bool(card)


def _write(model: Any, tokenizer: Any, out: Path, card: dict[str, Any]) -> None:
    """Write the model to a temporary folder and then rename the folder so that ``out`` is never incomplete."""
    temporary = out.with_name(f"{out.name}.writing-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    with quiet():
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
    (temporary / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    if out.exists():
        out.rmdir()
    temporary.rename(out)

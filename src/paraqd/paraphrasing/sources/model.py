"""Write candidates with a Hugging Face model: a sequence-to-sequence model or a causal language model.

A model that ``paraqd lab generator train paraphrase`` wrote takes a style; its card says so. Other models take none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paraqd.errors import ArgumentError
from paraqd.model_runtime import load_pretrained, require_extra
from paraqd.paraphrasing.sources.base import Candidate, Found, check_styles, shares
from paraqd.paraphrasing.text_models import (
    CausalGenerator,
    Decoding,
    Generator,
    GeneratorUnavailableError,
    Prompt,
    load_generator,
    read_card,
)
from paraqd.paraphrasing.text_models.styles import FAITHFUL, STYLES, styled
from paraqd.reading import read
from paraqd.rewriting import derive_rng
from paraqd.scoring.signature import with_hash
from paraqd.tables.questions import Question

_STYLED_KIND = "paraphrase"  # the kind of generator that takes a style
_REMEDY = "choose the folder of a model, rules or the address of an endpoint as the source"
# the prompt for a language model without a card
_PROMPT = Prompt("Rewrite the problem in other words.\n\nProblem: {text}\nIn other words: ", end="\n")


@dataclass(frozen=True)
class ModelSource:
    """The source that asks a model. ``takes_style`` is True if the model was trained to write in a given style."""

    generator: Generator
    identity: str
    takes_style: bool = False
    decoding: Mapping[str, Any] = field(default_factory=lambda: {"do_sample": True, "top_p": 0.95, "temperature": 0.9})

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.generator.name

    @classmethod
    def load(cls, model: str | Path, *, device: str | None = None) -> ModelSource:
        """Load a model from its folder or by its name. Raise `GeneratorUnavailableError` if it is not available."""
        card = read_card(model)
        _check_available(str(model))
        generator = load_generator(model, device=device, needed_by="the source")
        if not hasattr(generator, "prompt"):
            raise GeneratorUnavailableError(
                f"{model} only fills gaps: choose a sequence-to-sequence model or a causal language model as the source"
            )
        if not card and isinstance(generator, CausalGenerator):
            generator = replace(generator, prompt=_PROMPT)
        return cls(generator, with_hash(str(model)), card.get("kind") == _STYLED_KIND)

    def candidates(
        self, questions: Sequence[Question], *, count: int, seed: int, styles: Sequence[str] = ()
    ) -> list[Found]:
        """Return up to ``count`` candidates for each question; see `CandidateSource`."""
        self._check(styles)
        found: list[list[Candidate]] = [[] for _ in questions]
        for style, share in shares(count, styles or (FAITHFUL if self.takes_style else ())):
            if not share:
                continue
            texts = [styled(each.text, style) if self.takes_style else each.text for each in questions]
            seeds = [derive_rng(seed, each.id, f"{self.name}/{style}").getrandbits(63) for each in questions]
            decoding = Decoding(num_candidates=share, **self.decoding)
            for written, kept in zip(_answers(self.generator, texts, seeds, decoding), found, strict=True):
                kept += [Candidate(text, self.name, style if styles else "") for text in written]
        return [Found(tuple(each), "" if each else "the model wrote nothing that it finished") for each in found]

    def _check(self, styles: Sequence[str]) -> None:
        if styles and not self.takes_style:
            raise ArgumentError(
                f"the model {self.name} takes no style: leave out the styles, or choose rules or a model that was "
                "trained with styles"
            )
        if self.takes_style:
            check_styles(styles, STYLES, self.name)


def _check_available(model: str) -> None:
    """Raise `GeneratorUnavailableError` if a model is neither in a folder nor available by its name."""
    if model.endswith(".gguf") or Path(model).expanduser().is_dir():
        return
    require_extra()
    from transformers import AutoConfig

    load_pretrained(
        model,
        lambda local: AutoConfig.from_pretrained(model, local_files_only=local),
        needed_by="the source",
        remedy=_REMEDY,
    )


def _answers(generator: Generator, texts: Sequence[str], seeds: Sequence[int], decoding: Decoding) -> list[list[str]]:
    """Return what the model writes for each text. A model for single sentences gets one sentence at a time."""
    if not generator.by_sentence:
        return generator.generate(texts, seed=seeds, decoding=decoding)
    parts = [[sentence.text for sentence in read(text).sentences] for text in texts]
    every = [sentence for part in parts for sentence in part]
    each_seed = [seed for part, seed in zip(parts, seeds, strict=True) for _ in part]
    written = iter(generator.generate(every, seed=each_seed, decoding=decoding))
    answers = []
    for part in parts:
        columns = [next(written) or [sentence] for sentence in part]
        most = max(map(len, columns), default=0)
        answers.append([" ".join(column[number % len(column)] for column in columns) for number in range(most)])
    return answers

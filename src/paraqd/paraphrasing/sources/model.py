"""Write candidates with a Hugging Face model: a sequence-to-sequence model or a causal language model.

A model that ``paraqd generator train`` wrote has a card. If the card's kind is ``paraphrase``, the prompt on the card
may contain ``{style}``, which is replaced with the wanted style, and the card may list the ``styles`` that the model
knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paraqd.errors import ArgumentError
from paraqd.generators import (
    CausalGenerator,
    Decoding,
    Generator,
    GeneratorUnavailableError,
    Prompt,
    load_generator,
    read_card,
)
from paraqd.operators import derive_rng
from paraqd.operators.apply import Question
from paraqd.paraphrasing.sources.base import Candidate, Found, check_styles, shares
from paraqd.reading import read
from paraqd.scoring.signature import with_hash

_STYLE = "{style}"
_NO_STYLE = "plain"  # the style in the prompt if none is wanted
# the prompt for a language model without a card
_PROMPT = Prompt("Rewrite the problem in other words.\n\nProblem: {text}\nIn other words: ", end="\n")


@dataclass(frozen=True)
class ModelSource:
    """The source that asks a model. ``template`` is the prompt with ``{style}``, or an empty string."""

    generator: Generator
    identity: str
    template: str = ""
    end: str = ""
    known_styles: tuple[str, ...] = ()
    decoding: Mapping[str, Any] = field(default_factory=lambda: {"do_sample": True, "top_p": 0.95, "temperature": 0.9})

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.generator.name

    @classmethod
    def load(cls, model: str | Path, *, device: str | None = None) -> ModelSource:
        """Load a model from its folder or by its name. Raise `GeneratorUnavailableError` if it is not available."""
        card = read_card(model)
        template, end = "", ""
        prompt: Prompt | None = None
        if _STYLE in card.get("prompt", {}).get("template", ""):
            template, end = card["prompt"]["template"], card["prompt"].get("end", "")
            prompt = _filled(template, end, "")
        generator = load_generator(model, device=device, prompt=prompt, needed_by="the source", option="source")
        if not hasattr(generator, "prompt"):
            raise GeneratorUnavailableError(
                f"{model} only fills gaps: choose a sequence-to-sequence model or a causal language model as the source"
            )
        if not card and isinstance(generator, CausalGenerator):
            generator = replace(generator, prompt=_PROMPT)
        return cls(generator, with_hash(str(model)), template, end, tuple(card.get("styles", ())))

    def candidates(
        self, questions: Sequence[Question], *, count: int, seed: int, styles: Sequence[str] = ()
    ) -> list[Found]:
        """Return up to ``count`` candidates for each question; see `CandidateSource`."""
        self._check(styles)
        found: list[list[Candidate]] = [[] for _ in questions]
        for style, share in shares(count, styles):
            if not share:
                continue
            generator = self._asking(style)
            seeds = [derive_rng(seed, each.id, f"{self.name}/{style}").getrandbits(63) for each in questions]
            decoding = Decoding(num_candidates=share, **self.decoding)
            for texts, kept in zip(_answers(generator, questions, seeds, decoding), found, strict=True):
                kept += [Candidate(text, self.name, style) for text in texts]
        return [Found(tuple(each), "" if each else "the model wrote nothing that it finished") for each in found]

    def _check(self, styles: Sequence[str]) -> None:
        if styles and not self.template:
            raise ArgumentError(
                f"the model {self.name} takes no style: leave out the styles, or choose rules or a model that was "
                "trained with styles"
            )
        if self.known_styles:
            check_styles(styles, self.known_styles, self.name)

    def _asking(self, style: str) -> Generator:
        """Return the generator with the style in its prompt."""
        if not self.template:
            return self.generator
        generator: Any = self.generator
        asking: Generator = replace(generator, prompt=_filled(self.template, self.end, style))
        return asking


def _filled(template: str, end: str, style: str) -> Prompt:
    """Return a prompt with a style.

    >>> _filled("{style}: {text} ->", "#", "exam").fill("How many?")
    'exam: How many? ->'
    """
    return Prompt(template.replace(_STYLE, style or _NO_STYLE), end)


def _answers(
    generator: Generator, questions: Sequence[Question], seeds: Sequence[int], decoding: Decoding
) -> list[list[str]]:
    """Return the model's texts for each question. A model for single sentences gets one sentence at a time."""
    if not generator.by_sentence:
        return generator.generate([each.text for each in questions], seed=seeds, decoding=decoding)
    parts = [[sentence.text for sentence in read(each.text).sentences] for each in questions]
    every = [sentence for part in parts for sentence in part]
    each_seed = [seed for part, seed in zip(parts, seeds, strict=True) for _ in part]
    written = iter(generator.generate(every, seed=each_seed, decoding=decoding))
    answers = []
    for part in parts:
        columns = [next(written) or [sentence] for sentence in part]
        most = max(map(len, columns), default=0)
        answers.append([" ".join(column[number % len(column)] for column in columns) for number in range(most)])
    return answers

"""Define the protocol of generators: texts in, candidate texts out, independent of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from paraqd.errors import ParaqdError


class GeneratorUnavailableError(ParaqdError, RuntimeError):
    """A model that is not available; the message is one line with its name and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """The settings of decoding; greedy by default.

    ``num_beams`` above 1 searches with beams and returns the best ``num_candidates`` of them. ``do_sample`` draws
    ``num_candidates`` samples at ``temperature`` from the smallest set of tokens with ``top_p`` of the probability.
    ``diversity`` above 0 is diverse beam search (Vijayakumar et al., 2018) with one beam in each of ``num_candidates``
    groups: a token costs ``diversity`` for every earlier group that chose it at the same step. Choose only one of the
    three.

    ``max_new_tokens`` limits the output, by default to one and a half times the input's length plus 16 tokens. A
    candidate that the model did not end within the limit is left out unless ``keep_unfinished``.

    >>> Decoding(num_beams=4).num_candidates
    1
    >>> Decoding(num_candidates=3)
    Traceback (most recent call last):
    ...
    ValueError: greedy decoding gives one candidate: set num_beams, do_sample or diversity for 3
    """

    max_new_tokens: int | None = None
    num_candidates: int = 1
    num_beams: int = 1
    do_sample: bool = False
    temperature: float = 1.0
    top_p: float = 1.0
    diversity: float = 0.0
    keep_unfinished: bool = False

    def __post_init__(self) -> None:
        if self.num_candidates < 1 or self.num_beams < 1:
            raise ValueError("num_candidates and num_beams must be at least 1")
        if self.max_new_tokens is not None and self.max_new_tokens < 1:
            raise ValueError("max_new_tokens must be at least 1")
        if self.temperature <= 0 or not 0 < self.top_p <= 1 or self.diversity < 0:
            raise ValueError("temperature must be above 0, top_p in (0, 1], and diversity at least 0")
        if (self.num_beams > 1) + self.do_sample + (self.diversity > 0) > 1:
            raise ValueError("choose one of num_beams, do_sample and diversity")
        if self.num_beams > 1 and self.num_candidates > self.num_beams:
            raise ValueError(f"{self.num_beams} beams cannot give {self.num_candidates} candidates")
        if self.num_candidates > 1 and self.num_beams == 1 and not self.do_sample and not self.diversity:
            raise ValueError(
                f"greedy decoding gives one candidate: set num_beams, do_sample or diversity for {self.num_candidates}"
            )

    @property
    def rows_per_text(self) -> int:
        """The number of rows of a batch that one text takes."""
        return max(self.num_beams, self.num_candidates)

    def limit(self, length: int) -> int:
        """Return the largest number of new tokens for an input of ``length`` tokens."""
        return self.max_new_tokens if self.max_new_tokens is not None else length + length // 2 + 16


GREEDY = Decoding()


@dataclass(frozen=True, slots=True)
class Prompt:
    r"""The template around a text, and the marker that ends the answer.

    >>> prompt = Prompt("Text: {text}\nParaphrase:\n", end="###")
    >>> prompt.fill("Is {text} kept?")
    'Text: Is {text} kept?\nParaphrase:\n'
    >>> prompt.answer(" Yes. ### Text: more")
    'Yes.'
    """

    template: str = "{text}"
    end: str = ""

    def __post_init__(self) -> None:
        if self.template.count("{text}") != 1:
            raise ValueError("the template of a prompt must contain {text} exactly once")

    def fill(self, text: str) -> str:
        """Put the text into the template."""
        before, _, after = self.template.partition("{text}")
        return before + text + after

    def answer(self, output: str) -> str:
        """Cut the output at the end marker and strip it."""
        return (output.partition(self.end)[0] if self.end else output).strip()


PLAIN = Prompt()


class Generator(Protocol):
    """A model that writes candidates for texts."""

    @property
    def name(self) -> str:
        """The model's name without its path, for the records of its outputs."""
        ...

    @property
    def stand_in(self) -> bool:
        """True if the model replaces one of the paper that is not available."""
        ...

    @property
    def by_sentence(self) -> bool:
        """True if the model was trained on single sentences and should get one at a time."""
        ...

    def generate(
        self, texts: Sequence[str], *, seed: int | Sequence[int], decoding: Decoding = GREEDY
    ) -> list[list[str]]:
        """Return the distinct candidates of each text, in the order of ``texts``.

        Candidates are sorted by their score, or by the order in which they were drawn. ``seed`` is one seed for all
        texts or one for each. The candidates depend on the text, its seed and ``decoding``, never on the other texts
        of a batch, except for the rounding of sums (in float32 unless a model is loaded in another precision). A text
        that is blank, too long for the model, or left unfinished by it gets an empty list. No text is truncated.
        """
        ...


def seeds_of(texts: Sequence[str], seed: int | Sequence[int]) -> list[int]:
    """Return one seed for each text.

    >>> seeds_of(["a", "b"], 7)
    [7, 7]
    """
    if isinstance(seed, int):
        return [seed] * len(texts)
    if len(seed) != len(texts):
        raise ValueError(f"{len(seed)} seeds for {len(texts)} texts")
    return list(seed)

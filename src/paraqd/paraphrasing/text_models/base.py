"""Define the protocol that generators implement, and their settings for decoding and prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from paraqd.errors import ArgumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """The decoding settings. By default, decoding is greedy.

    To select a different method, set exactly one of the following:

    - ``num_beams`` above 1 selects beam search, which returns the best ``num_candidates`` beams.
    - ``do_sample`` selects sampling. Each of the ``num_candidates`` candidates is sampled at ``temperature`` from the
      smallest set of tokens whose probabilities sum to at least ``top_p``.
    - ``diversity`` above 0 selects diverse beam search (Vijayakumar et al., 2018) with ``num_candidates`` groups of one
      beam each. A token's score falls by ``diversity`` for every earlier group that chose the token at the same step.

    ``max_new_tokens`` limits the length of the output. By default, the limit is one and a half times the length of the
    input plus 16 tokens. A candidate that the model does not finish within the limit is discarded unless
    ``keep_unfinished`` is set.

    >>> Decoding(num_beams=4).num_candidates
    1
    >>> Decoding(num_candidates=3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    paraqd.errors.ArgumentError: greedy decoding returns one candidate: ... set num_beams, do_sample or diversity
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
            raise ArgumentError("num_candidates and num_beams must be at least 1")
        if self.max_new_tokens is not None and self.max_new_tokens < 1:
            raise ArgumentError("max_new_tokens must be at least 1")
        if self.temperature <= 0 or not 0 < self.top_p <= 1 or self.diversity < 0:
            raise ArgumentError(
                "temperature must be above 0, top_p must be in (0, 1], and diversity must be at least 0"
            )
        if (self.num_beams > 1) + self.do_sample + (self.diversity > 0) > 1:
            raise ArgumentError("set only one of num_beams, do_sample and diversity")
        if self.num_beams > 1 and self.num_candidates > self.num_beams:
            raise ArgumentError(f"{self.num_beams} beams cannot return {self.num_candidates} candidates")
        if self.num_candidates > 1 and self.num_beams == 1 and not self.do_sample and not self.diversity:
            raise ArgumentError(
                f"greedy decoding returns one candidate: for {self.num_candidates} candidates, "
                "set num_beams, do_sample or diversity"
            )

    @property
    def rows_per_text(self) -> int:
        """The number of batch rows that one text occupies."""
        return max(self.num_beams, self.num_candidates)

    def limit(self, length: int) -> int:
        """Return the maximum number of new tokens for an input of ``length`` tokens."""
        return self.max_new_tokens if self.max_new_tokens is not None else length + length // 2 + 16


GREEDY = Decoding()


@dataclass(frozen=True, slots=True)
class Prompt:
    r"""A template into which a text is inserted, and the marker that ends the model's answer.

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
            raise ArgumentError("a prompt's template must contain {text} exactly once")

    def fill(self, text: str) -> str:
        """Insert the text into the template."""
        before, _, after = self.template.partition("{text}")
        return before + text + after

    def answer(self, output: str) -> str:
        """Return the output up to the end marker, without surrounding white space."""
        return (output.partition(self.end)[0] if self.end else output).strip()


PLAIN = Prompt()


class Generator(Protocol):
    """A model that generates candidate texts from a text."""

    @property
    def name(self) -> str:
        """The model's name without its path, to be recorded with the model's outputs."""
        ...

    @property
    def stand_in(self) -> bool:
        """True if the model stands in for an unavailable model from the paper."""
        ...

    @property
    def by_sentence(self) -> bool:
        """True if the model was trained on single sentences and should therefore receive one sentence at a time."""
        ...

    def generate(
        self, texts: Sequence[str], *, seed: int | Sequence[int], decoding: Decoding = GREEDY
    ) -> list[list[str]]:
        """Return a list of distinct candidates for each text, in the order of ``texts``.

        Candidates from beam search are sorted by score, best first. Other candidates are in the order in which they
        were generated. ``seed`` is either one seed for all texts or a sequence with one seed per text. A text's
        candidates depend only on the text, its seed and ``decoding``. The other texts in a batch can affect only
        rounding errors, which are small because models are loaded in float32 by default.

        A text's list is empty if the text is blank or too long for the model, or if the model does not finish any
        candidate. Texts are never truncated.
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
        raise ArgumentError(f"got {len(seed)} seeds for {len(texts)} texts: pass one seed, or one seed per text")
    return list(seed)

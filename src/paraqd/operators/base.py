"""What an operator is, and what it may ask for."""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from paraqd.errors import ParaqdError
from paraqd.reading import Problem

Polarity = Literal["valid", "invalid"]


class MissingResourceError(ParaqdError, RuntimeError):
    """An operator asked for something that was not given; the message says what to do."""


class Noted(str):
    """An operator's output with something to record beside it (the ``note`` column).

    >>> text = Noted("Sara has 5 apples.", note="consistent_renaming")
    >>> text, text.note
    ('Sara has 5 apples.', 'consistent_renaming')
    """

    note: str

    def __new__(cls, text: str, note: str = "") -> Noted:
        """Make a string that carries a note."""
        self = super().__new__(cls, text)
        self.note = note
        return self


class Resources:
    """What operators may ask for by name: ``encoder``, ``generator.f9``, ``vocabulary``, ``entities``, ``parser``.

    A value may be given as it is or as a factory without arguments (``lazy``), called at the first request.
    ``drops`` counts outputs that an operator made and threw away, by (operator, reason).

    >>> resources = Resources(parser="a pipeline")
    >>> resources.require("parser", needed_by="Rewrite"), "encoder" in resources
    ('a pipeline', False)
    """

    def __init__(self, lazy: Mapping[str, Callable[[], Any]] | None = None, **given: Any) -> None:
        self._values: dict[str, Any] = dict(given)
        self._lazy: dict[str, Callable[[], Any]] = dict(lazy or {})
        self.drops: Counter[tuple[str, str]] = Counter()

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._lazy

    def give(self, name: str, value: Any) -> None:
        """Add a resource that was not there at the beginning."""
        self._values[name] = value

    def get(self, name: str) -> Any:
        """Return the resource, or None where it was not given."""
        if name not in self._values and name in self._lazy:
            self._values[name] = self._lazy[name]()
        return self._values.get(name)

    def require(self, name: str, *, needed_by: str) -> Any:
        """Return the resource, or raise an error that names it and who needs it."""
        value = self.get(name)
        if value is None:
            raise MissingResourceError(f"{needed_by} needs the resource {name!r}, which was not given")
        return value

    def dropped(self, operator: str, reason: str) -> None:
        """Count an output that was made and thrown away."""
        self.drops[operator, reason] += 1


class Operator(ABC):
    """Makes one paraphrase of a problem: a valid one or an invalid one.

    Parameters are keyword-only and stored as given. ``apply`` returns None where the operator does not apply,
    never the unchanged text (SameSentence apart), and draws only from the ``rng`` passed in. ``needs`` names the
    resources without which it cannot work at all.
    """

    name: ClassVar[str]
    paper_id: ClassVar[str | None] = None
    polarity: ClassVar[Polarity]
    needs: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the paraphrase, or None where the operator does not apply."""

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Apply to many problems; operators that run a model override this."""
        return [self.apply(problem, rng, resources) for problem, rng in zip(problems, rngs, strict=True)]

    def source_model(self, resources: Resources) -> str:
        """Name the model that writes the output; empty for a rule."""
        del resources
        return ""


def derive_rng(seed: int, row_id: str, operator: str) -> random.Random:
    """Make the random generator of one (seed, id, operator name): the same wherever and whenever it runs.

    >>> derive_rng(3407, "q1", "NumberChange").random() == derive_rng(3407, "q1", "NumberChange").random()
    True
    """
    digest = hashlib.sha256(f"{seed}\x1f{row_id}\x1f{operator}".encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))

"""Define the base class for operators, operator declarations and the resources that operators may use."""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from paraqd.errors import ParaqdError
from paraqd.reading import Problem

Polarity = Literal["valid", "invalid"]

# The parts of a problem that an operator may change, each with a description.
PARTS: Mapping[str, str] = {
    "numbers": "numbers or their notation",
    "units": "units or their notation",
    "names": "names of people, places and organisations",
    "things": "nouns that name an object, such as apples",
    "pronouns": "names replaced with pronouns, or pronouns with names",
    "relations": "words that relate quantities, such as more, before and each",
    "wording": "any other words",
    "order": "the order of sentences or numbers",
    "sentences": "whole sentences or clauses, added or removed",
    "question": "the question",
    "punctuation": "punctuation, spaces and capitals",
}
EVERYTHING = frozenset(PARTS)
VARIES = ""  # the declared fault of an operator whose outputs have different faults


class MissingResourceError(ParaqdError, RuntimeError):
    """Raised when an operator needs a resource that is not available."""


class DeclarationError(ParaqdError, TypeError):
    """Raised when the declaration of an operator class is incomplete, invalid or contradictory."""


class Noted(str):
    """A paraphrase with a note, which is written to the column ``note``.

    >>> text = Noted("Sara has 5 apples.", note="consistent_renaming")
    >>> text, text.note
    ('Sara has 5 apples.', 'consistent_renaming')
    """

    note: str

    def __new__(cls, text: str, note: str = "") -> Noted:
        """Create a string with a note."""
        self = super().__new__(cls, text)
        self.note = note
        return self


class Resources:
    """The resources that operators request by name, such as ``encoder``, ``generator.f9`` and ``vocabulary``.

    Pass a resource as a keyword argument, or pass a factory without parameters in ``lazy``. A factory is called when
    its resource is first requested. ``drops`` counts the outputs that operators discarded, keyed by operator and
    reason.

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
        """Add a resource, or replace the resource with the same name."""
        self._values[name] = value

    def get(self, name: str) -> Any:
        """Return the resource, or None if it is not available."""
        if name not in self._values and name in self._lazy:
            self._values[name] = self._lazy[name]()
        return self._values.get(name)

    def require(self, name: str, *, needed_by: str) -> Any:
        """Return the resource, or raise `MissingResourceError` if it is not available."""
        value = self.get(name)
        if value is None:
            raise MissingResourceError(f"{needed_by} needs the resource {name!r}, which is not available")
        return value

    def dropped(self, operator: str, reason: str) -> None:
        """Count an output that an operator discarded."""
        self.drops[operator, reason] += 1


@dataclass(frozen=True)
class Declaration:
    """The declaration of an operator; see `Operator` for the meaning of the fields."""

    name: str
    paper_id: str | None
    polarity: Polarity
    fault: str | None
    changes: frozenset[str]
    needs: tuple[str, ...]
    extras: tuple[str, ...]
    stand_in: str | None
    baseline: str | None
    description: str


class Operator(ABC):
    """The base class for operators, which produce valid or invalid paraphrases.

    A subclass declares its properties as class attributes. Defining a subclass with an incomplete, invalid or
    contradictory declaration raises `DeclarationError`.

    The parameters of ``__init__`` must be keyword-only and are stored unchanged. ``apply`` must return None if the
    operator does not apply to a problem, and ``rng`` must be the only source of randomness. Only SameSentence may
    return the text unchanged.

    Attributes
    ----------
    name : str
        The operator's name, which must be the same as the class name.
    polarity : "valid" or "invalid"
        The label of the pairs that the operator produces.
    changes : frozenset of str
        The parts of a problem that the operator may change (keys of `PARTS`).
    fault : str, optional
        The fault in the outputs, given as an evidence kind such as ``number_lost``, or `VARIES` if the outputs have
        different faults. Required for an invalid operator; must be None for a valid operator.
    paper_id : str, optional
        The paper's name for the operator, such as ``f3``.
    needs : tuple of str
        The names of the resources that the operator requires.
    extras : tuple of str
        The extras of this package that the operator's own code requires, such as ``augment``. Do not list the extras
        that the operator's resources require.
    stand_in : str, optional
        The replacement to use if the paper's model is not available: the name of a rule operator, ``generator`` for a
        small model that the user trains, or the operator's own name if the operator can use rules instead.
    baseline : str, optional
        The published method that the operator reproduces, such as ``UDA``. The operator labels its outputs as the
        method does, although the label may be wrong for individual outputs.

    """

    name: ClassVar[str]
    polarity: ClassVar[Polarity]
    changes: ClassVar[frozenset[str]]
    fault: ClassVar[str | None] = None
    paper_id: ClassVar[str | None] = None
    needs: ClassVar[tuple[str, ...]] = ()
    extras: ClassVar[tuple[str, ...]] = ()
    stand_in: ClassVar[str | None] = None
    baseline: ClassVar[str | None] = None

    def __init_subclass__(cls, *, declared: bool = True, **kwargs: Any) -> None:
        """Check the declaration of a subclass, unless ``declared=False`` is passed."""
        super().__init_subclass__(**kwargs)
        if declared and cls.apply is not Operator.apply:
            _check_declaration(cls)

    @abstractmethod
    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return a paraphrase of the problem, or None if the operator does not apply."""

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Apply the operator to many problems, and return one output per problem.

        Operators that use a model override this method.
        """
        return [self.apply(problem, rng, resources) for problem, rng in zip(problems, rngs, strict=True)]

    def source_model(self, resources: Resources) -> str:
        """Return the name of the model that writes the outputs, or an empty string if the operator uses no model."""
        del resources
        return ""

    @property
    def description(self) -> str:
        """The first line of the class's docstring."""
        return (type(self).__doc__ or "").strip().partition("\n")[0]

    def declaration(self) -> Declaration:
        """Return the operator's declaration."""
        return Declaration(
            name=self.name,
            paper_id=self.paper_id,
            polarity=self.polarity,
            fault=self.fault,
            changes=self.changes,
            needs=tuple(dict.fromkeys(self.needs)),
            extras=tuple(dict.fromkeys(self.extras)),
            stand_in=self.stand_in,
            baseline=self.baseline,
            description=self.description,
        )


def _check_declaration(cls: type[Operator]) -> None:
    """Raise `DeclarationError` if the declaration of a class is incomplete, invalid or contradictory."""
    missing = [field for field in ("name", "polarity", "changes") if not hasattr(cls, field)]
    if missing:
        raise DeclarationError(f"the operator {cls.__name__} must declare {' and '.join(missing)} as class attributes")
    if cls.polarity not in ("valid", "invalid"):
        raise DeclarationError(f"{cls.__name__}.polarity must be 'valid' or 'invalid', not {cls.polarity!r}")
    unknown = sorted(set(cls.changes) - EVERYTHING) if isinstance(cls.changes, frozenset) else [repr(cls.changes)]
    if unknown:
        raise DeclarationError(
            f"{cls.__name__}.changes must be a frozenset of {', '.join(PARTS)}; it contains {', '.join(unknown)}"
        )
    if cls.polarity == "invalid" and cls.fault is None:
        raise DeclarationError(
            f"the invalid operator {cls.__name__} must declare its fault (an evidence kind such as 'number_lost', or "
            "VARIES)"
        )
    if cls.polarity == "valid" and cls.fault is not None:
        raise DeclarationError(f"the valid operator {cls.__name__} must not declare a fault ({cls.fault!r})")


def derive_rng(seed: int, row_id: str, operator: str) -> random.Random:
    """Create a random generator that depends only on a seed, a row id and an operator name.

    The generator produces the same numbers on every machine.

    >>> derive_rng(3407, "q1", "NumberChange").random() == derive_rng(3407, "q1", "NumberChange").random()
    True
    """
    digest = hashlib.sha256(f"{seed}\x1f{row_id}\x1f{operator}".encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))

"""Define candidates, and the protocol that all sources of candidates implement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from paraqd.errors import ArgumentError, ParaqdError

if TYPE_CHECKING:  # the command line imports this module for its help
    from paraqd.tables.questions import Question


class SourceError(ParaqdError, RuntimeError):
    """Raised when a source cannot be used at all, such as an endpoint that is down. The message is a single line."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be a paraphrase of a question.

    Attributes
    ----------
    text : str
        The text.
    source : str
        The name of the source that wrote it.
    style : str
        The style that was asked for, or an empty string.
    edits : tuple of str
        The operators and rules that made the text, in order. Empty for a model.

    """

    text: str
    source: str
    style: str = ""
    edits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates for one question. ``problem`` says why there are none or few, or is empty."""

    candidates: tuple[Candidate, ...] = ()
    problem: str = ""


def go_on() -> None:
    """Do nothing: the check of a source whose work nobody stops."""


class CandidateSource(Protocol):
    """A source of candidates.

    The candidates for a question do not depend on the other questions. Those of rules, and of a model on the same
    device, depend only on the question, its id, the seed and the styles. An endpoint writes other texts each time.
    """

    @property
    def name(self) -> str:
        """The name that is recorded with each paraphrase, such as ``rules``."""
        ...

    @property
    def identity(self) -> str:
        """A string that changes whenever the source would write other texts, such as a name with a hash."""
        ...

    def candidates(
        self, questions: Sequence[Question], *, count: int, seed: int, styles: Sequence[str] = ()
    ) -> list[Found]:
        """Return up to about ``count`` candidates for each question.

        ``styles`` are the wanted styles, which share the count equally. Raise a `SourceError` if the source cannot be
        used, so that work on all questions must stop.
        """
        ...


def shares(count: int, styles: Sequence[str]) -> list[tuple[str, int]]:
    """Divide a number of candidates among styles.

    >>> shares(5, ["plain", "exam"]), shares(4, [])
    ([('plain', 3), ('exam', 2)], [('', 4)])
    """
    wanted = list(dict.fromkeys(styles)) or [""]
    least, more = divmod(count, len(wanted))
    return [(style, least + (number < more)) for number, style in enumerate(wanted)]


def check_styles(styles: Sequence[str], known: Sequence[str], source: str) -> None:
    """Raise an `ArgumentError` if a source does not know a style.

    >>> check_styles(["exam"], ["plain", "exam"], "rules")
    """
    for style in styles:
        if style not in known:
            raise ArgumentError(
                f"the source {source} cannot write in the style {style!r}: choose among {', '.join(known)}, or choose "
                "a model or an endpoint as the source"
            )

"""The report on paraphrasing a file or a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Short(NamedTuple):
    """A question with fewer paraphrases than wanted: its row, its id, the number found, and the reason."""

    file: str
    row: int
    id: str
    found: int
    why: str


class Unusable(NamedTuple):
    """A row without a usable question: its number, its id, and the reason."""

    file: str
    row: int
    id: str
    why: str


@dataclass(frozen=True)
class ParaphraseReport:
    """The result of paraphrasing a file or a folder.

    ``questions`` is the number of questions, ``skipped`` the number of rows without a usable question, ``written`` the
    number of paraphrases, and ``complete`` the number of questions with as many paraphrases as wanted. ``candidates``
    counts the texts that the source wrote, ``passed`` those that passed the gate as they were, ``mended`` those that
    were mended, and ``repaired`` those that passed the gate after that. ``short`` lists the first thousand questions
    with fewer paraphrases than wanted, and ``unusable`` the first thousand rows without a usable question. ``resumed``
    is the number of rows that an earlier run had already finished.
    """

    source: str
    out: str
    signature: str
    rows: int
    questions: int
    skipped: int
    written: int
    complete: int
    without: int
    candidates: int
    passed: int
    mended: int
    repaired: int
    short: tuple[Short, ...] = ()
    unusable: tuple[Unusable, ...] = ()
    resumed: int = 0
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary, with the numbers of rows that the lists leave out."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            **fields,
            "short": [each._asdict() for each in self.short],
            "short_left_out": self.questions - self.complete - len(self.short),
            "unusable": [each._asdict() for each in self.unusable],
            "unusable_left_out": self.skipped - len(self.unusable),
            "problems": list(self.problems),
        }

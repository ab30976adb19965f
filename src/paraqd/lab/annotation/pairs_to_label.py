"""Read the pairs that annotators label, and identify each pair by a hash of its two texts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from paraqd.errors import ParaqdError
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Dialect, Row, open_table, row_id, text_in


class AnnotationError(ParaqdError, ValueError):
    """Raised when annotations cannot be recorded or used; the one-line message says what to do."""


@dataclass(frozen=True)
class PairToLabel:
    """A pair to label; ``key`` identifies the pair by its texts, and ``number`` is its row number in the file."""

    key: str
    number: int
    id: str
    question: str
    paraphrase: str
    row: Row


@dataclass(frozen=True)
class PairsToLabel:
    """The pairs in a file; ``digest`` identifies the set of pairs regardless of their order and the file format."""

    name: str
    pairs: tuple[PairToLabel, ...]
    digest: str
    columns: Columns
    names: tuple[str, ...]
    dialect: Dialect


def pair_key(question: str, paraphrase: str) -> str:
    """Return a hash of the two texts; white space is normalised, because spreadsheets may change it.

    >>> pair_key("How  many?", "How much?") == pair_key("How many? ", "How much?")
    True
    """
    texts = "\x1f".join(" ".join(text.split()) for text in (question, paraphrase))
    return hashlib.sha256(texts.encode("utf-8")).hexdigest()[:16]


def read_pairs_to_label(
    source: str | Path, *, columns: Columns = DEFAULT_COLUMNS, encoding: str | None = None
) -> PairsToLabel:
    """Read the pairs to label from a file.

    Raises
    ------
    TableError
        If a question is blank or a text is not usable.
    AnnotationError
        If there are no pairs, a pair appears twice, or two questions have the same id.

    """
    table = open_table(source, encoding=encoding)
    columns = Columns(**{role: table.written_as(name) for role, name in vars(columns).items()})
    table.require(columns, ("question", "paraphrase"))
    pairs: dict[str, PairToLabel] = {}
    questions: dict[str, PairToLabel] = {}
    for number, row in numbered(table.rows()):
        where = f"{table.name}, row {number}"
        question = text_in(row, "question", where, column=columns.question)
        paraphrase = text_in(row, "paraphrase", where, column=columns.paraphrase, allow_blank=True)
        key = pair_key(question, paraphrase)
        if key in pairs:
            raise AnnotationError(
                f"{table.name}: rows {pairs[key].number} and {number} are the same pair; remove one of the rows"
            )
        name = row_id(row, columns, question)
        pairs[key] = PairToLabel(key=key, number=number, id=name, question=question, paraphrase=paraphrase, row=row)
        first = questions.setdefault(name, pairs[key])
        if first.question != question:
            raise AnnotationError(
                f"{table.name}: rows {first.number} and {number} have the id {name!r} but different questions; "
                "give each question its own id"
            )
    if not pairs:
        raise AnnotationError(f"{table.name} has no rows; pass a file with at least one pair")
    digest = hashlib.sha256(" ".join(sorted(pairs)).encode()).hexdigest()
    return PairsToLabel(table.name, tuple(pairs.values()), digest, columns, table.columns, table.dialect)

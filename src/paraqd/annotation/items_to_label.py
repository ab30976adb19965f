"""Pairs of question and paraphrase to label, read from a file, each told apart by its texts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from paraqd.data.tables import DEFAULT_COLUMNS, Columns, Dialect, Row, open_table, row_id
from paraqd.errors import ParaqdError


class AnnotationError(ParaqdError, ValueError):
    """Annotations that cannot be made or used as asked; the message is one line that says what to do."""


@dataclass(frozen=True)
class Item:
    """One pair; ``key`` is told by its two texts, ``row`` is the whole row of the file, ``number`` counts from 1."""

    key: str
    number: int
    id: str
    question: str
    paraphrase: str
    row: Row


@dataclass(frozen=True)
class Items:
    """The pairs of a file. ``digest`` is the same for the same pairs, whatever their order or the file's format."""

    name: str
    pairs: tuple[Item, ...]
    digest: str
    columns: Columns
    names: tuple[str, ...]
    dialect: Dialect


def pair_key(question: str, paraphrase: str) -> str:
    """Return what identifies a pair: its texts, but for white space, which spreadsheets change.

    >>> pair_key("How  many?", "How much?") == pair_key("How many? ", "How much?")
    True
    """
    texts = "\x1f".join(" ".join(text.split()) for text in (question, paraphrase))
    return hashlib.sha256(texts.encode("utf-8")).hexdigest()[:16]


def read_items(source: str | Path, *, columns: Columns = DEFAULT_COLUMNS, encoding: str | None = None) -> Items:
    """Read the pairs of a file; what could not be told apart or shown is refused."""
    table = open_table(source, encoding=encoding)
    table.require(columns, ("question", "paraphrase"))
    pairs: dict[str, Item] = {}
    questions: dict[str, Item] = {}
    for number, row in enumerate(table.rows(), start=1):
        where = f"{table.name}: row {number}"
        question, paraphrase = _text(row, columns.question, where), _text(row, columns.paraphrase, where)
        if not question.strip():
            raise AnnotationError(f"{where} has a blank {columns.question!r}; mend or remove it")
        key = pair_key(question, paraphrase)
        if key in pairs:
            raise AnnotationError(f"{table.name}: rows {pairs[key].number} and {number} are the same pair; remove one")
        name = row_id(row, columns, question)
        pairs[key] = Item(key=key, number=number, id=name, question=question, paraphrase=paraphrase, row=row)
        first = questions.setdefault(name, pairs[key])
        if first.question != question:
            raise AnnotationError(
                f"{table.name}: rows {first.number} and {number} have the id {name!r} but different questions; "
                "give each question an id of its own"
            )
    if not pairs:
        raise AnnotationError(f"{table.name} has no rows")
    digest = hashlib.sha256(" ".join(sorted(pairs)).encode()).hexdigest()
    return Items(table.name, tuple(pairs.values()), digest, columns, table.columns, table.dialect)


def _text(row: Row, column: str, where: str) -> str:
    """Return a text of the row; an absent one is blank, as in a paraphrase that lost everything."""
    text = row.get(column)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise AnnotationError(f"{where} has a {column!r} that is not text; mend or remove it")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise AnnotationError(f"{where} has a {column!r} that is not valid Unicode; mend or remove it") from None
    return text

"""Questions read from a file, in chunks of a fixed number of rows."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from paraqd.data.formats import explained
from paraqd.data.tables import Columns, Row, Table, TableError, default_id
from paraqd.operators.apply import Chunk, Question
from paraqd.operators.wording.vocabulary import Vocabulary

CHUNK = 256  # rows; the same whatever the number of workers, so that parts fit together

# called with (stage, rows done, rows in all or None); stages are "reading", "augmenting" and "joining"
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Survey:
    """What a first pass over the input tells."""

    rows: int
    sha256: str
    vocabulary: Vocabulary | None


def read_chunks(table: Table, columns: Columns) -> Iterator[Chunk]:
    """Cut the input into chunks of a fixed number of rows."""
    rows = enumerate(table.rows([columns.question, columns.id]), start=1)
    index = 0
    while piece := list(islice(rows, CHUNK)):
        questions: list[Question] = []
        skipped: list[tuple[int, str]] = []
        for number, row in piece:
            found = question_of(row, columns)
            if isinstance(found, Question):
                questions.append(found)
            else:
                skipped.append((number, found))
        yield Chunk(index=index, questions=tuple(questions), skipped=tuple(skipped))
        index += 1


def question_of(row: Row, columns: Columns) -> Question | str:
    """Return the row's question, or the reason why it has none."""
    text = row.get(columns.question)
    if text is None:
        return "blank question"
    if not isinstance(text, str):
        return "question is not text"
    if not text.strip():
        return "blank question"
    given = row.get(columns.id)
    name = default_id(text) if given is None or not str(given).strip() else str(given)
    try:
        (text + name).encode("utf-8")
    except UnicodeEncodeError:
        return "question is not valid Unicode"
    return Question(id=name, text=text)


def look_through(table: Table, columns: Columns, *, words: bool, progress: Progress) -> Survey:
    """Read the whole input once: flaws are found before any work is done, and the rows are counted."""
    rows = 0

    def texts() -> Iterator[str]:
        nonlocal rows
        for row in table.rows([columns.question]):
            rows += 1
            if rows % 4096 == 0:
                progress("reading", rows, None)
            text = row.get(columns.question)
            if isinstance(text, str):
                yield text

    progress("reading", 0, None)
    vocabulary = Vocabulary.of(texts()) if words else None
    if not words:
        deque(texts(), maxlen=0)
    if not rows:
        raise TableError(f"{table.name} has no rows")
    with explained(table.path), open(table.path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Survey(rows=rows, sha256=digest, vocabulary=vocabulary)

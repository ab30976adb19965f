"""Read the questions of a file, in chunks of a fixed number of rows."""

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
from paraqd.progress import silent
from paraqd.text_check import text_problem

Progress = Callable[[str, int, int | None], None]
CHUNK = 256  # rows; it does not depend on the number of workers, so that parts fit together


@dataclass(frozen=True)
class Survey:
    """The result of a first pass over the input."""

    rows: int
    sha256: str
    vocabulary: Vocabulary | None


def read_chunks(table: Table, columns: Columns) -> Iterator[Chunk]:
    """Yield the questions of a table in chunks of a fixed number of rows."""
    rows = enumerate(table.rows([columns.question, columns.id]), start=1)
    index = 0
    while chunk := list(islice(rows, CHUNK)):
        questions: list[Question] = []
        skipped: list[tuple[int, str]] = []
        for number, row in chunk:
            found = question_of(row, columns)
            if isinstance(found, Question):
                questions.append(found)
            else:
                skipped.append((number, found))
        yield Chunk(index=index, questions=tuple(questions), skipped=tuple(skipped))
        index += 1


def question_of(row: Row, columns: Columns) -> Question | str:
    """Return the question of a row, or the reason why it has none."""
    text = row.get(columns.question)
    if problem := text_problem(text, "question", unicode=True):
        return problem
    given = row.get(columns.id)  # spaces around it are kept, because random draws depend on the id
    name = default_id(str(text)) if given is None or not str(given).strip() else str(given)
    return text_problem(name, "id", unicode=True) or Question(id=name, text=str(text))


def look_through(table: Table, columns: Columns, *, words: bool, progress: Progress = silent) -> Survey:
    """Read the whole input once to count the rows and to find errors before the work starts.

    With ``words``, also collect the vocabulary of the questions.
    """
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

"""Read a row's question and its id."""

from __future__ import annotations

from typing import NamedTuple

from paraqd.tables.table import Columns, Row, default_id
from paraqd.text_check import text_problem


class Question(NamedTuple):
    """A question in a corpus, with its id."""

    id: str
    text: str


CHUNK = 256  # the number of rows in a chunk; it is fixed, so that all runs have the same chunks


def question_of(row: Row, columns: Columns) -> Question | str:
    """Return the row's question, or the reason why the row has no usable question.

    >>> question_of({"id": "7", "question": "How many?"}, Columns())
    Question(id='7', text='How many?')
    >>> question_of({"question": " "}, Columns())
    'blank question'
    """
    text = row.get(columns.question)
    if problem := text_problem(text, "question", unicode=True):
        return problem
    given = row.get(columns.id)  # spaces around the id are kept, because random choices depend on the id
    name = default_id(str(text)) if given is None or not str(given).strip() else str(given)
    return text_problem(name, "id", unicode=True) or Question(id=name, text=str(text))

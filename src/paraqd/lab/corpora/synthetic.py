"""Read the synthetic training text: problems, valid paraphrases, and invalid paraphrases with one fault each.

Language models wrote the text for this project. The files are in the repository's folder ``datasets/synthetic``, not in
the package. The ``README.md`` in that folder describes the fields and how the labels were checked. Each row of a file
contains one paraphrase.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.awp_variants import EVIDENCE_KINDS
from paraqd.lab.corpora.faulty_pairs import FaultyPair, Span, find_words_again
from paraqd.tables.datasets import find_files
from paraqd.tables.rows import numbered
from paraqd.tables.table import Row, TableError, open_table, text_in

KINDS = frozenset(EVIDENCE_KINDS.values()) | {"number_added"}
# the source of pairs that consist of a problem and a paraphrase, and the source of pairs of two paraphrases
SOURCE, ACROSS = "synthetic", "synthetic-across"


@dataclass(frozen=True)
class InvalidParaphrase:
    """An invalid paraphrase with the kind of its fault and the spans at fault in the question and in the paraphrase."""

    text: str
    kind: str
    question_spans: tuple[Span, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class SyntheticProblem:
    """A problem and its paraphrases."""

    id: str
    question: str
    valid: tuple[str, ...]
    invalid: tuple[InvalidParaphrase, ...]


def synthetic_problems(data_dir: str | Path | None = None, *, name: str = "synthetic") -> list[SyntheticProblem]:
    """Return all problems of the data set ``synthetic``, ``styles`` or ``model_rewrites``, sorted by id.

    The order does not depend on the file names, so training always sees the problems in the same order.
    """
    return read_problems(find_files(name, data_dir))


def synthetic_part(problem: SyntheticProblem) -> str:
    """Return the part to which a problem belongs, ``train`` or ``validation``.

    Problems are assigned by a hash of the question; about a tenth of them go to validation.

    >>> sorted({synthetic_part(SyntheticProblem("order-1", f"Has Ann {n} pens?", (), ())) for n in range(40)})
    ['train', 'validation']
    """
    return "validation" if hashlib.sha256(problem.question.encode()).digest()[0] % 10 == 1 else "train"


def read_problems(paths: Iterable[str | Path]) -> list[SyntheticProblem]:
    """Return the problems in the given files, sorted by id (``pronouns-2`` comes before ``pronouns-10``).

    Raises
    ------
    TableError
        If a row is not a labelled paraphrase. The message names the file and the row.

    """
    questions: dict[str, str] = {}
    valid: dict[str, list[str]] = {}
    invalid: dict[str, list[InvalidParaphrase]] = {}
    for path in paths:
        table = open_table(path)
        for number, row in numbered(table.rows()):
            where = f"{table.name}, row {number}"
            name, question = text_in(row, "id", where), text_in(row, "question", where)
            if questions.setdefault(name, question) != question:
                raise TableError(
                    f"{where}: the id {name!r} already belongs to another question; give each question its own id"
                )
            paraphrase = text_in(row, "paraphrase", where)
            if row.get("label") == 1:
                valid.setdefault(name, []).append(paraphrase)
            elif row.get("label") == 0 and row.get("kind") in KINDS:
                spans = (
                    _spans(row, "question_spans", question, where),
                    _spans(row, "paraphrase_spans", paraphrase, where),
                )
                invalid.setdefault(name, []).append(InvalidParaphrase(paraphrase, str(row["kind"]), *spans))
            else:
                raise TableError(
                    f"{where}: the label must be 1, or 0 with a kind of fault ({', '.join(sorted(KINDS))})"
                )
    return [
        SyntheticProblem(name, questions[name], tuple(valid.get(name, ())), tuple(invalid.get(name, ())))
        for name in sorted(questions, key=_order)
    ]


def problem_pairs(problems: Iterable[SyntheticProblem]) -> Iterator[FaultyPair]:
    """Pair each paraphrase with its problem and with the problem's other valid paraphrases, and yield the pairs."""
    for problem in problems:
        for text in problem.valid:
            if text != problem.question:
                yield FaultyPair(problem.id, problem.question, text, 1, source=SOURCE)
        for one, other in permutations(problem.valid, 2):
            if one != other:
                yield FaultyPair(problem.id, one, other, 1, source=ACROSS)
        for faulty in problem.invalid:
            yield _pair(problem, problem.question, faulty, faulty.question_spans, SOURCE)
            for text in problem.valid:
                spans = find_words_again(problem.question, faulty.question_spans, text)
                yield _pair(problem, text, faulty, spans, ACROSS)


def _pair(
    problem: SyntheticProblem, question: str, faulty: InvalidParaphrase, spans: tuple[Span, ...], source: str
) -> FaultyPair:
    placed = bool(spans or faulty.spans)
    return FaultyPair(problem.id, question, faulty.text, 0, faulty.kind, source, spans, faulty.spans, placed)


def _order(name: str) -> tuple[str, int, str]:
    prefix, _, number = name.rpartition("-")
    return (prefix, int(number), "") if number.isdecimal() else (name, 0, name)


def _spans(row: Row, name: str, text: str, where: str) -> tuple[Span, ...]:
    value: Any = row.get(name)
    if not isinstance(value, list) or not all(_is_span(span, len(text)) for span in value):
        raise TableError(f"{where}: {name!r} must be a list of [start, end] positions inside the text")
    return tuple((start, end) for start, end in value)


def _is_span(value: Sequence[object], length: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(place) is int for place in value)
        and 0 <= value[0] < value[1] <= length
    )

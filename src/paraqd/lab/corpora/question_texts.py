"""Read and write single questions that are labelled as solvable or broken, with the faults of the broken ones.

A question is *solvable* if it has all that a solver needs. The data set ``solvable`` contains questions for
training, and ``solvable_test`` contains questions for reports. Language models wrote them one by one; see
``datasets/solvable/README.md``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.faulty_pairs import Span
from paraqd.tables.datasets import find_files
from paraqd.tables.rows import numbered
from paraqd.tables.table import Row, TableError, open_table, text_in
from paraqd.tables.writers import replacing

# the kinds of faults in single questions; `scoring.solvable` describes them
KINDS = ("question_missing", "number_missing", "reference_dangling", "cut_off", "fact_missing", "incoherent")
# the families of faults, each with its kind; a family can be held out of training to test the model on unseen faults
FAMILIES: Mapping[str, str] = {
    "lost_questions": "question_missing",
    "cuts": "cut_off",
    "cuts_in_words": "cut_off",
    "lost_numbers": "number_missing",
    "vague_numbers": "number_missing",
    "lost_references": "reference_dangling",
    "lost_facts": "fact_missing",
    "misplaced_words": "incoherent",
    "nonsense_words": "incoherent",
}
_VALIDATION_SHARE = 5  # every fifth problem of the data set ``solvable`` is for validation


@dataclass(frozen=True, slots=True)
class QuestionText:
    """A labelled question.

    ``label`` is 1 if the question is solvable and 0 if it is broken. ``family`` is empty for a solvable question.
    ``counterpart`` is the family of faults that the question resembles without having the fault: a model that does not
    learn the family does not learn this question either. ``placed`` is True if the spans at fault are known or the
    question is solvable.
    """

    id: str
    text: str
    label: int
    kind: str = ""
    family: str = ""
    source: str = ""
    spans: tuple[Span, ...] = ()
    placed: bool = True
    counterpart: str = ""


def written_questions(name: str = "solvable", data_dir: str | Path | None = None) -> list[QuestionText]:
    """Return the questions of the data set ``solvable`` or ``solvable_test``, in the order of the files."""
    return [text for path in find_files(name, data_dir) for text in read_written_questions(path)]


def written_question_part(problem_id: str) -> str:
    """Return the part to which a problem of the data set ``solvable`` belongs, ``train`` or ``validation``.

    >>> sorted({written_question_part(f"school-{n:03}") for n in range(40)})
    ['train', 'validation']
    """
    fifth = int(hashlib.sha256(problem_id.encode("utf-8")).hexdigest(), 16) % _VALIDATION_SHARE
    return "validation" if fifth == 0 else "train"


def read_written_questions(path: str | Path) -> Iterator[QuestionText]:
    """Yield the questions in a file of the data set ``solvable`` or ``solvable_test``.

    Raises
    ------
    TableError
        If a row is not a labelled question. The message names the file and the row.

    """
    table = open_table(path)
    for number, row in numbered(table.rows()):
        where = f"{table.name}, row {number}"
        name, text = text_in(row, "id", where), text_in(row, "text", where)
        label, family = row.get("label"), "" if row.get("family") is None else row["family"]
        if type(label) is not int or not _fits(label, family):
            raise TableError(
                f"{where}: the label must be 1, or 0 with a family of faults ({', '.join(sorted(FAMILIES))})"
            )
        spans = _spans(row, text, where)
        yield QuestionText(
            name, text, label, FAMILIES.get(family, ""), family, Path(path).stem, spans, bool(spans or label)
        )


def write_texts(texts: Iterable[QuestionText], path: str | Path) -> int:
    """Write questions atomically as compressed JSON Lines, and return the number of questions."""
    count = 0
    with replacing(Path(path)) as temporary, gzip.open(temporary, "wt", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps(asdict(text), ensure_ascii=False) + "\n")
            count += 1
    return count


def read_texts(path: str | Path) -> Iterator[QuestionText]:
    """Yield the questions in a file written by `write_texts`."""
    for row in open_table(path).rows():
        yield QuestionText(**{**row, "spans": tuple((int(a), int(b)) for a, b in row["spans"])})


def _fits(label: int, family: object) -> bool:
    """Return True if a question is solvable and has no family of faults, or is broken and has one."""
    return family == "" if label == 1 else label == 0 and isinstance(family, str) and family in FAMILIES


def _spans(row: Row, text: str, where: str) -> tuple[Span, ...]:
    value: Any = [] if row.get("spans") is None else row["spans"]
    if not isinstance(value, list) or not all(_is_span(span, text) for span in value):
        raise TableError(f"{where}: 'spans' must be a list of [start, end] positions inside the text")
    return tuple((start, end) for start, end in value)


def _is_span(value: Any, text: str) -> bool:
    if not isinstance(value, list) or [type(each) for each in value] != [int, int]:
        return False
    start, end = value
    return bool(0 <= start < end <= len(text))

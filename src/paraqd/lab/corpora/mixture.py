"""Build the training mixture: clean questions from public corpora, without duplicates or test questions."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.mathqa_formula import compute
from paraqd.lab.corpora.public_corpora import READERS, CorpusQuestion
from paraqd.progress import Progress, silent
from paraqd.tables.datasets import DatasetError
from paraqd.tables.table import Row
from paraqd.tables.writers import write_rows

SHORTEST, LONGEST = 6, 120  # the minimum and maximum number of words in a question
PAPER_QUESTIONS = 30_000  # the number of training questions in the paper
VALIDATION = 50  # about one in 50 skeletons is used for validation
SCHEMA: Mapping[str, type] = {
    "id": str,
    "question": str,
    "source": str,
    "cased": bool,
    "skeleton": int,
    "split": str,
    "formula": str,
    "answer": str,
}

_NUMBER = re.compile(r"[\d¼½¾⅐-⅞]+(?:[.,]\d+)*")
_NUMBERS = re.compile(r"#+")
_MARKS = re.compile(r"[\W_]+")
_NOT_SKELETON = re.compile(r"[^\w#]+|_+")
_OPTIONS = re.compile(
    # "a) 3 b) 4 c) 5" anywhere; "(a) 3 (b) 4 (c) 5" only after the question, because (a) can also label a person or car
    r"(?<![\w(])(?<![-+*/=^] )a ?\).{0,400}?(?<![\w(])b ?\).{0,400}?(?<![\w(])c ?\)"
    r"|\?[^?]{0,100}\( ?a ?\)[^?]{0,400}?\( ?b ?\)[^?]{0,400}?\( ?c ?\)",
    re.IGNORECASE,
)
_REFERS_TO_OPTIONS = re.compile(
    r"\b(?:which|what|any|each|all|one|none|two|three) (?:one )?of the following\b|\banswer choices?\b"
    r"|\b(?:none|all) of (?:the above|these)\b|\bgiven options?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class CorpusCount:
    """The counts for one corpus; ``left_out`` counts the skipped questions by reason."""

    source: str
    read: int
    kept: int
    validation: int
    formulas: int
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class Mixture:
    """The rows of the mixture, the counts for each corpus, and the number of excluded skeletons."""

    rows: tuple[Row, ...] = field(repr=False)
    corpora: tuple[CorpusCount, ...]
    excluded: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON-serialisable dictionary."""
        return {
            "rows": len(self.rows),
            "validation": sum(corpus.validation for corpus in self.corpora),
            "test_questions": self.excluded,
            "words": [SHORTEST, LONGEST],
            "corpora": [
                {
                    "source": corpus.source,
                    "read": corpus.read,
                    "kept": corpus.kept,
                    "validation": corpus.validation,
                    "formulas": corpus.formulas,
                    "left_out": dict(corpus.left_out),
                }
                for corpus in self.corpora
            ],
        }


def plain(text: str) -> str:
    """Return a question in lower case and without punctuation so that duplicates can be recognised.

    >>> plain("How many  apples, Tom?") == plain("how many apples tom")
    True
    """
    return _MARKS.sub(" ", text.lower()).strip()


def skeleton(text: str) -> str:
    """Return a question's skeleton, which is the same for all questions that differ only in their numbers.

    The skeleton is the question in lower case, without spaces or punctuation and with ``#`` in place of each number.

    >>> skeleton("Tom has 5 apples, Ann 1,250.") == skeleton("tom has 7 apples , ann 3/4 .")
    True
    """
    return _NUMBERS.sub("#", _NOT_SKELETON.sub("", _NUMBER.sub("#", text.lower())))


def is_multiple_choice(text: str) -> bool:
    """Return True if a question contains answer options, or refers to options that are missing.

    >>> is_multiple_choice("What is 2 + 2? a) 3 b) 4 c) 5"), is_multiple_choice("Which of the following is odd?")
    (True, True)
    >>> is_multiple_choice("At 9 am car (A) starts, at 10 am car (B), then car (C). When do they meet?")
    False
    """
    return bool(_OPTIONS.search(text) or _REFERS_TO_OPTIONS.search(text))


def build_mixture(
    corpora: Mapping[str, Path],
    *,
    test_questions: Iterable[str],
    progress: Progress = silent,
) -> Mixture:
    """Build the training mixture from public corpora.

    Parameters
    ----------
    corpora : mapping of str to Path
        The files of the corpora, keyed by the names ``aqua_rat``, ``mathqa`` and ``gsm8k``. The rows keep the order of
        the mapping, and only the first of several equal questions is kept.
    test_questions : iterable of str
        Questions to exclude, together with all questions that differ from them only in their numbers.
    progress : Progress
        The progress callback, which is called after every 1,000 rows.

    Returns
    -------
    Mixture
        The counts, and rows with the keys ``id``, ``question``, ``source``, ``cased``, ``skeleton`` (an index that is
        the same for questions that differ only in their numbers), ``split`` (``train`` or ``validation``), ``formula``
        and ``answer``. If there is no formula that can be evaluated, ``formula`` and ``answer`` are None.

    """
    unknown = [name for name in corpora if name not in READERS]
    if unknown:
        raise DatasetError(f"there is no corpus {unknown[0]!r}; choose from {', '.join(READERS)}")
    excluded = {skeleton(text) for text in test_questions}
    sieve = _Sieve(excluded)
    counts = []
    for name, path in corpora.items():
        counts.append(_add(sieve, name, READERS[name](path), progress))
    return Mixture(rows=tuple(sieve.rows), corpora=tuple(counts), excluded=len(excluded))


def write_mixture(mixture: Mixture, out: str | Path) -> Path:
    """Write the rows to a file atomically, in the format that the file name determines, and return the path."""
    return write_rows(out, SCHEMA, mixture.rows)


class _Sieve:
    """A collector that accepts rows and recognises unsuitable, excluded and duplicate questions."""

    def __init__(self, excluded: set[str]) -> None:
        self.rows: list[Row] = []
        self._excluded = excluded
        self._texts: set[str] = set()
        self._plain: set[str] = set()
        self._skeletons: dict[str, int] = {}

    def reason_against(self, text: str) -> str | None:
        """Return the reason for skipping a question, or None if the question is suitable."""
        words = len(text.split())
        if words < SHORTEST:
            return f"shorter than {SHORTEST} words"
        if words > LONGEST:
            return f"longer than {LONGEST} words"
        if is_multiple_choice(text):
            return "multiple choice"
        if skeleton(text) in self._excluded:
            return "in a test set, apart from numbers"
        if text in self._texts:
            return "repeated"
        return "repeated apart from case and punctuation" if plain(text) in self._plain else None

    def add(self, question: CorpusQuestion) -> Row:
        key = skeleton(question.text)
        formula, answer = compute(question.formula) or (None, None)
        row: Row = {
            "id": f"{question.source}-{len(self.rows):05d}",
            "question": question.text,
            "source": question.source,
            "cased": question.cased,
            "skeleton": self._skeletons.setdefault(key, len(self._skeletons)),
            "split": split_of(key),
            "formula": formula,
            "answer": answer,
        }
        self.rows.append(row)
        self._texts.add(question.text)
        self._plain.add(plain(question.text))
        return row


def split_of(key: str) -> str:
    """Return the split to which a skeleton belongs.

    The split depends only on the skeleton, so adding a corpus never moves a question to a different split.
    """
    share = int(hashlib.sha256(key.encode("utf-8")).hexdigest(), 16) % VALIDATION
    return "validation" if share == 0 else "train"


def _add(sieve: _Sieve, name: str, questions: Iterator[CorpusQuestion], progress: Progress) -> CorpusCount:
    read, left_out = 0, Counter[str]()
    before = len(sieve.rows)
    for question in questions:
        read += 1
        why = sieve.reason_against(question.text)
        if why is None:
            sieve.add(question)
        else:
            left_out[why] += 1
        if read % 1000 == 0:
            progress(f"reading {name}", read, None)
    added = sieve.rows[before:]
    return CorpusCount(
        source=name,
        read=read,
        kept=len(added),
        validation=sum(row["split"] == "validation" for row in added),
        formulas=sum(row["formula"] is not None for row in added),
        left_out=dict(left_out.most_common()),
    )


def paper_training(rows: Sequence[Row], *, size: int = PAPER_QUESTIONS, seed: int = 3407) -> list[Row]:
    """Return the algebraic questions on which the paper's recipe is trained, in the order of ``rows``.

    The result has ``size`` rows: all training rows from AQuA-RAT and a random sample of the training rows from MathQA.
    If AQuA-RAT has more than ``size`` training rows, the result is a random sample from AQuA-RAT.
    """
    training = [row for row in rows if row["split"] == "train"]
    aqua = [row for row in training if row["source"] == "aqua"]
    mathqa = [row for row in training if row["source"] == "mathqa"]
    if size > len(aqua) + len(mathqa):
        raise DatasetError(
            f"aqua and mathqa have {len(aqua) + len(mathqa):,} training questions together, which is fewer than "
            f"{size:,}; choose a smaller size"
        )
    if size <= len(aqua):
        pick = {row["id"] for row in random.Random(seed).sample(aqua, size)}
    else:
        pick = {row["id"] for row in random.Random(seed).sample(mathqa, size - len(aqua))}
        pick |= {row["id"] for row in aqua}
    return [row for row in training if row["id"] in pick]


def paper_validation(rows: Sequence[Row]) -> list[Row]:
    """Return the validation rows from AQuA-RAT and MathQA, in the order of ``rows``."""
    return [row for row in rows if row["split"] == "validation" and row["source"] in ("aqua", "mathqa")]

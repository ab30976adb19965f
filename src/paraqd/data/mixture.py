"""The training mixture: questions of public corpora, cleaned, without repeats and without the test sets' questions."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paraqd.data.datasets import DatasetError
from paraqd.data.mathqa_formula import compute
from paraqd.data.public_corpora import READERS, CorpusQuestion
from paraqd.data.tables import Row, check_writable, open_writer, replacing

SHORTEST, LONGEST = 6, 120  # words
VALIDATION = 50  # one skeleton in so many is for validation
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

# called with (stage, rows done, rows in all or None)
Progress = Callable[[str, int, int | None], None]

_NUMBER = re.compile(r"[\d¼½¾⅐-⅞]+(?:[.,]\d+)*")
_NUMBERS = re.compile(r"#+")
_MARKS = re.compile(r"[\W_]+")
_NOT_SKELETON = re.compile(r"[^\w#]+|_+")
_OPTIONS = re.compile(
    # "a) 3 b) 4 c) 5" anywhere; "(a) 3 (b) 4 (c) 5" only after the question, for (a) may also name a person or a car
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
    """What became of one corpus: rows read, kept, for validation, and left out by reason."""

    source: str
    read: int
    kept: int
    validation: int
    formulas: int
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class Mixture:
    """The mixture's rows and where they come from."""

    rows: tuple[Row, ...] = field(repr=False)
    corpora: tuple[CorpusCount, ...]
    excluded: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
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
    """Return a question in lower case without punctuation: the same for repeats.

    >>> plain("How many  apples, Tom?") == plain("how many apples tom")
    True
    """
    return _MARKS.sub(" ", text.lower()).strip()


def skeleton(text: str) -> str:
    """Return what is left of a question without its numbers: the same for questions that differ only in them.

    >>> skeleton("Tom has 5 apples, Ann 1,250.") == skeleton("tom has 7 apples , ann 3/4 .")
    True
    """
    return _NUMBERS.sub("#", _NOT_SKELETON.sub("", _NUMBER.sub("#", text.lower())))


def is_multiple_choice(text: str) -> bool:
    """Whether a question carries its options, or asks about options that are no longer there.

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
    progress: Progress | None = None,
) -> Mixture:
    """Make the mixture.

    Parameters
    ----------
    corpora : mapping of str to Path
        File of each corpus by its name: aqua_rat, mathqa, gsm8k. Their order is the order of the rows; of questions
        that repeat each other the first stays.
    test_questions : iterable of str
        Questions that must not be in it, nor others that differ from them only in numbers.
    progress : callable, optional
        Called with (stage, rows done, None).

    Returns
    -------
    Mixture
        Rows with ``id``, ``question``, ``source``, ``cased``, ``skeleton`` (a number, the same for questions that
        differ only in numbers), ``split`` (train or validation, by the skeleton's hash), ``formula`` and ``answer``
        (None where there is none that can be computed).

    """
    unknown = [name for name in corpora if name not in READERS]
    if unknown:
        raise DatasetError(f"there is no corpus {unknown[0]!r}; known are {', '.join(READERS)}")
    excluded = {skeleton(text) for text in test_questions}
    sieve = _Sieve(excluded)
    counts = []
    for name, path in corpora.items():
        counts.append(_add(sieve, name, READERS[name](path), progress))
    return Mixture(rows=tuple(sieve.rows), corpora=tuple(counts), excluded=len(excluded))


def write_mixture(mixture: Mixture, out: str | Path) -> Path:
    """Write the rows to a file, whole or not at all; the format by its name."""
    kind = check_writable(out)
    path = Path(out)
    with replacing(path) as temporary, open_writer(temporary, SCHEMA, kind=kind) as writer:
        writer.write(mixture.rows)
    return path


class _Sieve:
    """The rows so far, and what tells that the next question is one of them."""

    def __init__(self, excluded: set[str]) -> None:
        self.rows: list[Row] = []
        self._excluded = excluded
        self._texts: set[str] = set()
        self._plain: set[str] = set()
        self._skeletons: dict[str, int] = {}

    def refuses(self, text: str) -> str | None:
        """Say why a question is left out, or None."""
        words = len(text.split())
        if words < SHORTEST:
            return f"shorter than {SHORTEST} words"
        if words > LONGEST:
            return f"longer than {LONGEST} words"
        if is_multiple_choice(text):
            return "multiple choice"
        if skeleton(text) in self._excluded:
            return "in a test set, numbers apart"
        if text in self._texts:
            return "repeated"
        return "repeated but for case and punctuation" if plain(text) in self._plain else None

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
    """Return the split of a skeleton: it depends on nothing else, so that no new corpus moves a question."""
    share = int(hashlib.sha256(key.encode("utf-8")).hexdigest(), 16) % VALIDATION
    return "validation" if share == 0 else "train"


def _add(sieve: _Sieve, name: str, questions: Iterator[CorpusQuestion], progress: Progress | None) -> CorpusCount:
    read, left_out = 0, Counter[str]()
    before = len(sieve.rows)
    for question in questions:
        read += 1
        why = sieve.refuses(question.text)
        if why is None:
            sieve.add(question)
        else:
            left_out[why] += 1
        if progress is not None and read % 1000 == 0:
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


def paper_training(rows: Sequence[Row], *, size: int = 30_000, seed: int = 3407) -> list[Row]:
    """Return the algebraic questions that the paper's recipe is trained on, in the order of ``rows``.

    All training rows of AQuA-RAT, and the rest drawn from those of MathQA; where AQuA-RAT alone has more than
    ``size``, drawn from it alone.
    """
    training = [row for row in rows if row["split"] == "train"]
    aqua = [row for row in training if row["source"] == "aqua"]
    mathqa = [row for row in training if row["source"] == "mathqa"]
    if size > len(aqua) + len(mathqa):
        raise DatasetError(
            f"there are {len(aqua) + len(mathqa):,} training questions of aqua and mathqa, fewer than the {size:,} "
            "that were asked for"
        )
    if size <= len(aqua):
        pick = {row["id"] for row in random.Random(seed).sample(aqua, size)}
    else:
        pick = {row["id"] for row in random.Random(seed).sample(mathqa, size - len(aqua))}
        pick |= {row["id"] for row in aqua}
    return [row for row in training if row["id"] in pick]


def paper_validation(rows: Sequence[Row]) -> list[Row]:
    """Return the validation rows of AQuA-RAT and MathQA, in the order of ``rows``."""
    return [row for row in rows if row["split"] == "validation" and row["source"] in ("aqua", "mathqa")]

"""Build the open benchmark ``awp-variants``, in which each pair consists of two rewrites of the same problem.

A language model wrote both texts of each pair for this project. The original problem, which comes from a public corpus,
is never part of a pair. Rewrites that are too similar to the original problem are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paraqd.tables.datasets import DatasetError, written_split
from paraqd.tables.table import Row, text_in
from paraqd.tables.writers import write_rows

NEAR = 95.0  # the highest similarity to the original problem, in percent, that a rewrite may have
SCHEMA: Mapping[str, type] = {
    "id": str,
    "problem": str,
    "question": str,
    "paraphrase": str,
    "label": int,
    "fault": str,
    "evidence_kind": str,
    "source": str,
    "form": str,
}
# maps the name of a fault in the data to the kind of evidence that a scorer should report
EVIDENCE_KINDS: Mapping[str, str] = {
    "number_changed": "number_changed",
    "number_lost": "number_lost",
    "number_swapped": "number_changed",
    "unit_changed": "unit_changed",
    "relation_flipped": "relation_changed",
    "question_changed": "question_changed",
    "question_lost": "question_lost",
    "condition_lost": "content_lost",
    "condition_added": "content_added",
    "entity_mixed": "entity_changed",
    "incoherent": "incoherent",
}
SOURCES = ("aqua", "mathqa", "gsm8k")

# the columns of the question and the paraphrase of each pair; the position in this tuple determines the id's letter
_PAIRS = (
    ("heavy_valid", "moderate_valid"),
    ("moderate_valid", "heavy_valid"),
    ("heavy_valid", "heavy_invalid"),
    ("moderate_valid", "moderate_invalid"),
    ("heavy_valid", "moderate_invalid"),
    ("moderate_valid", "heavy_invalid"),
)
_TEXTS = tuple(dict.fromkeys(name for pair in _PAIRS for name in pair))


@dataclass(frozen=True)
class Variants:
    """The rows of the benchmark, and counts of the problems and the dropped pairs.

    ``near`` counts the texts that are too similar to the original problem, by kind of text. ``same`` is the number of
    pairs whose two texts are equal. ``dropped`` is the total number of pairs dropped for either reason.
    """

    rows: tuple[Row, ...] = field(repr=False)
    problems: int
    dropped: int
    near: Mapping[str, int]
    same: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a JSON-serialisable dictionary."""
        return {
            "rows": len(self.rows),
            "problems": self.problems,
            "dropped": self.dropped,
            "near": dict(self.near),
            "same": self.same,
        }


def is_near(text: str, original: str) -> bool:
    """Return True if a text is nearly identical to the original, ignoring case and white space.

    >>> is_near("Tom has 5 pens. How many are left?", "tom has 5 pens . how many are left ?")
    True
    >>> is_near("How many of his 5 pens does Tom still have?", "tom has 5 pens . how many are left ?")
    False
    """
    from rapidfuzz import fuzz

    return fuzz.ratio(_plain(text), _plain(original), score_cutoff=NEAR) > NEAR


def build_variants(written: Iterable[Row]) -> Variants:
    """Build the benchmark from written pairs.

    Parameters
    ----------
    written : iterable of dict
        The rows of ``written_pairs``, with the keys ``id`` (the corpus, a hyphen and a number), ``question``,
        ``heavy_valid``, ``moderate_valid``, ``heavy_invalid``, ``moderate_invalid``, ``heavy_fault`` and
        ``moderate_fault``. Only the tenth of the rows that `written_split` assigns to the benchmark is used.

    Returns
    -------
    Variants
        Up to six rows for each problem: the problem's two valid texts in both orders, and each valid text with each
        invalid text. The column ``form`` contains the degree of rewording of the question and of the paraphrase, such
        as ``heavy-moderate``.

    Raises
    ------
    DatasetError
        If a fault or a source is unknown, or if no problem belongs to the benchmark.
    TableError
        If a text is blank or not a string.

    """
    rows: list[Row] = []
    near: Counter[str] = Counter()
    problems = dropped = same = 0
    for row in written:
        key = str(row.get("id") or "")
        if written_split(key) != "benchmark":
            continue
        problems += 1
        _check(row, key)
        copied = {name for name in _TEXTS if is_near(row[name], str(row["question"]))}
        near.update(copied)
        for pair in _pairs(row, key, problems):
            if {pair["question"], pair["paraphrase"]} & {row[name] for name in copied}:
                dropped += 1
            elif pair["question"] == pair["paraphrase"]:
                dropped, same = dropped + 1, same + 1
            else:
                rows.append(pair)
    if not rows:
        raise DatasetError(
            "none of these written pairs belongs to the benchmark, so there is nothing to build; pass all written pairs"
        )
    return Variants(rows=tuple(rows), problems=problems, dropped=dropped, near=dict(near), same=same)


def write_variants(variants: Variants, out: str | Path) -> Path:
    """Write the rows to a file atomically, in the format that the file name determines, and return the path.

    The same rows always produce the same bytes.
    """
    return write_rows(out, SCHEMA, variants.rows)


def _pairs(row: Row, key: str, number: int) -> Iterator[Row]:
    problem = f"awp-{number:04d}"
    for letter, (question, paraphrase) in zip("abcdef", _PAIRS, strict=True):
        form = paraphrase.partition("_")[0]
        valid = paraphrase.endswith("_valid")
        fault = None if valid else str(row[f"{form}_fault"])
        yield {
            "id": f"{problem}-{letter}",
            "problem": problem,
            "question": row[question],
            "paraphrase": row[paraphrase],
            "label": int(valid),
            "fault": fault,
            "evidence_kind": None if fault is None else EVIDENCE_KINDS[fault],
            "source": key.partition("-")[0],
            "form": f"{question.partition('_')[0]}-{form}",
        }


def _check(row: Row, key: str) -> None:
    for name in ("question", *_TEXTS):
        text_in(row, name, f"written pairs, {key}")
    for name in ("heavy_fault", "moderate_fault"):
        if row.get(name) not in EVIDENCE_KINDS:
            raise DatasetError(
                f"written pairs, {key}: {name!r} is {row.get(name)!r}; it must be one of {', '.join(EVIDENCE_KINDS)}"
            )
    if key.partition("-")[0] not in SOURCES:
        raise DatasetError(f"written pairs: the id {key!r} must begin with one of {', '.join(SOURCES)}")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())

"""Build the learned judge's training pairs, with their labels, kinds of faults and words at fault."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.awp_variants import EVIDENCE_KINDS
from paraqd.lab.operators.registry import fault_of
from paraqd.tables.table import open_table
from paraqd.tables.writers import replacing

Span = tuple[int, int]
UNLABELLED = -1  # the label of a pair about which only a teacher says something
_TOKEN = re.compile(r"\w+|[^\w\s]")
_HARMLESS = frozenset("a an the that is are was were be been has have had do does did , ; .".split())


@dataclass(frozen=True, slots=True)
class FaultyPair:
    """A labelled pair with its fault.

    ``label`` is 1 if the pair is valid, 0 if it is invalid, and `UNLABELLED` if only a teacher judges it. ``kind`` is
    empty if the pair is valid or the kind of its fault is not known. ``placed`` is True if the spans at fault are known
    or the pair is valid.
    """

    id: str
    question: str
    paraphrase: str
    label: int
    kind: str = ""
    source: str = ""
    question_spans: tuple[Span, ...] = ()
    paraphrase_spans: tuple[Span, ...] = ()
    placed: bool = True


def changed_spans(before: str, after: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the spans of the words removed from ``before`` and the spans of the words added in ``after``.

    >>> changed_spans("Tom has 5 red pens.", "Tom has red caps.")
    (((8, 9), (14, 18)), ((12, 16),))
    """
    old, new = list(_TOKEN.finditer(before)), list(_TOKEN.finditer(after))
    matcher = difflib.SequenceMatcher(
        None, [t.group().lower() for t in old], [t.group().lower() for t in new], autojunk=False
    )
    removed, added = [], []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        if b > a:
            removed.append((old[a].start(), old[b - 1].end()))
        if d > c:
            added.append((new[c].start(), new[d - 1].end()))
    return tuple(removed), tuple(added)


def find_words_again(text: str, spans: Iterable[Span], other: str) -> tuple[Span, ...]:
    """Return the spans of the words in ``other`` that also occur inside the given spans of ``text``.

    Words of up to three letters and words that occur more than once in ``other`` are ignored.
    """
    words = {m.group().lower() for start, end in spans for m in _TOKEN.finditer(text, start, end)}
    places: dict[str, list[Span]] = {}
    for match in _TOKEN.finditer(other):
        if match.group().lower() in words and (match.group()[0].isdigit() or len(match.group()) > 3):
            places.setdefault(match.group().lower(), []).append(match.span())
    return tuple(sorted(found[0] for found in places.values() if len(found) == 1))


def written_faults(rows: Iterable[Mapping[str, Any]]) -> Iterator[FaultyPair]:
    """Yield pairs from the rows of ``written_pairs``.

    Each rewrite is paired with the question and with each of the question's other valid rewrites.
    """
    for row in rows:
        name, question = str(row["id"]), str(row["question"])
        valid = {form: str(row[f"{form}_valid"]) for form in ("heavy", "moderate")}
        for form, text in valid.items():
            yield FaultyPair(name, question, text, 1, source=f"written-{form}")
            faulty, kind = str(row[f"{form}_invalid"]), EVIDENCE_KINDS[str(row[f"{form}_fault"])]
            removed, added = changed_spans(text, faulty)
            lost = find_words_again(text, removed, question)
            yield FaultyPair(name, question, faulty, 0, kind, f"written-{form}", lost, added, bool(lost or added))
            for other_form, other in valid.items():
                spans = removed if other_form == form else find_words_again(text, removed, other)
                if other != faulty:
                    yield FaultyPair(name, other, faulty, 0, kind, f"across-{form}", spans, added, bool(spans or added))
        yield FaultyPair(name, valid["heavy"], valid["moderate"], 1, source="across")
        yield FaultyPair(name, valid["moderate"], valid["heavy"], 1, source="across")


def operator_faults(rows: Iterable[Mapping[str, Any]], questions: Mapping[str, str]) -> Iterator[FaultyPair]:
    """Yield pairs of an original question and an augmented text; ``questions`` maps each id to the original question.

    A row's own question is the text to which the operator was applied, which can be a rewording of the original
    question.
    """
    for row in rows:
        name, start, text = str(row["id"]), str(row["question"]), str(row["paraphrase"])
        question = questions.get(name, start)
        last = str(row["operator"]).rpartition("+")[2]
        source = "composed" if question != start else "rules"
        if int(row["label"]):
            if text != question:
                yield FaultyPair(name, question, text, 1, source=f"{source}-{last}")
            continue
        removed, added = changed_spans(start, text)
        if last == "RandomDeletion" and _harmless(start, removed) and not added:
            yield FaultyPair(name, question, text, 1, source=f"{source}-{last}")  # clumsy, but still the same problem
            continue
        lost = removed if question == start else find_words_again(start, removed, question)
        simple = "+" not in str(row["operator"])  # a composed operator's changes include a rewording
        yield FaultyPair(
            name,
            question,
            text,
            0,
            fault_of(last),
            f"{source}-{last}",
            lost if simple else (),
            added if simple else (),
            simple and bool(lost or added),
        )


def _harmless(text: str, spans: Iterable[Span]) -> bool:
    """Return True if the spans contain only articles, auxiliary verbs, *that* and punctuation."""
    return all(m.group().lower() in _HARMLESS for start, end in spans for m in _TOKEN.finditer(text, start, end))


def write_faults(pairs: Iterable[FaultyPair], path: str | Path) -> int:
    """Write pairs atomically as compressed JSON Lines, and return the number of pairs."""
    import gzip

    count = 0
    with replacing(Path(path)) as temporary, gzip.open(temporary, "wt", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")
            count += 1
    return count


def read_faults(path: str | Path) -> Iterator[FaultyPair]:
    """Yield the pairs in a file written by `write_faults`."""
    for row in open_table(path).rows():
        spans = {name: tuple((int(a), int(b)) for a, b in row[name]) for name in ("question_spans", "paraphrase_spans")}
        yield FaultyPair(**{**row, **spans})

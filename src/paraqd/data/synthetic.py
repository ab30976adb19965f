"""Pairs written one by one for this project: a problem, valid paraphrases, and invalid ones with one fault each.

They were written by language models to a brief that names the fault and its innocent twin, not made from templates; a
second reader went through 3,000 lines and found 4 wrong labels.

A block of a file reads::

    Q: Priya has 12 more stickers than Tom. Together they have 48. How many has Tom?
    V: Tom has 12 fewer stickers than Priya, and 48 is what the two have together. How many are Tom's?
    X number_changed: Tom has 12 fewer stickers than Priya; together they have 84. How many has Tom? | 48 | 84

After the bars of an invalid one stand the words at fault in the problem and in the paraphrase, several joined by
`` ; ``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import permutations

from paraqd.data.awp_variants import EVIDENCE_KINDS
from paraqd.data.faulty_pairs import FaultyPair, Span, found_again

_KINDS = frozenset(EVIDENCE_KINDS.values()) | {"number_added"}
_INVALID = re.compile(r"X (?P<kind>\w+): (?P<text>.+)")


@dataclass(frozen=True)
class Faulty:
    """An invalid paraphrase: its text, the kind of fault, and where it shows in both texts."""

    text: str
    kind: str
    question_spans: tuple[Span, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Block:
    """A problem and its paraphrases."""

    id: str
    question: str
    valid: tuple[str, ...]
    invalid: tuple[Faulty, ...]


def read_blocks(text: str, name: str) -> Iterator[Block]:
    r"""Read the blocks of a file; a line that cannot be read is a ValueError that names it.

    >>> text = "Q: Ann has 5 pens.\nV: Ann owns five pens.\nX number_changed: Ann owns 6 pens. | 5 | 6"
    >>> block = next(read_blocks(text, "some"))
    >>> block.valid, block.invalid[0].spans
    (('Ann owns five pens.',), ((9, 10),))
    """
    for place, piece in enumerate(re.split(r"\n\s*\n", text.strip())):
        lines = [line.strip() for line in piece.splitlines() if line.strip() and not line.startswith("#")]
        if not lines:
            continue
        question = lines[0].removeprefix("Q: ")
        if question == lines[0]:
            raise ValueError(f"{name}, block {place + 1}: begins with {lines[0][:40]!r}, not with Q:")
        valid, invalid = [], []
        for line in lines[1:]:
            match = _INVALID.fullmatch(line)
            if line.startswith("V: "):
                valid.append(line.removeprefix("V: "))
            elif match is not None and match["kind"] in _KINDS:
                invalid.append(_faulty(question, match["kind"], match["text"]))
            else:
                raise ValueError(f"{name}, block {place + 1}: cannot read {line[:60]!r}")
        yield Block(f"{name}-{place + 1}", question, tuple(valid), tuple(invalid))


def _faulty(question: str, kind: str, line: str) -> Faulty:
    text, mine, theirs = ([part.strip() for part in line.split("|")] + ["", ""])[:3]
    return Faulty(text, kind, _places(question, mine), _places(text, theirs))


def _places(text: str, words: str) -> tuple[Span, ...]:
    """Return where words stand that are quoted from a text, each at a place of its own; what does not is left out."""
    found: list[Span] = []
    for part in words.split(" ; "):
        part = part.strip()
        if not part:
            continue
        pattern = rf"(?<!\w){re.escape(part)}(?!\w)" if part[0].isalnum() and part[-1].isalnum() else re.escape(part)
        match = next(
            (m for m in re.finditer(pattern, text) if not any(a < m.end() and m.start() < b for a, b in found)), None
        )
        if match is not None:
            found.append(match.span())
    return tuple(sorted(found))


def block_pairs(blocks: Iterable[Block]) -> Iterator[FaultyPair]:
    """Yield the pairs of blocks: paraphrases beside their problem, and beside each other."""
    for block in blocks:
        for text in block.valid:
            if text != block.question:
                yield FaultyPair(block.id, block.question, text, 1, source="hand")
        for one, other in permutations(block.valid, 2):
            if one != other:
                yield FaultyPair(block.id, one, other, 1, source="hand-across")
        for faulty in block.invalid:
            yield _pair(block, block.question, faulty, faulty.question_spans, "hand")
            for text in block.valid:
                spans = found_again(block.question, faulty.question_spans, text)
                yield _pair(block, text, faulty, spans, "hand-across")


def _pair(block: Block, question: str, faulty: Faulty, spans: tuple[Span, ...], source: str) -> FaultyPair:
    placed = bool(spans or faulty.spans)
    return FaultyPair(block.id, question, faulty.text, 0, faulty.kind, source, spans, faulty.spans, placed)


def hand_blocks() -> list[Block]:
    """Return all blocks that come with the package."""
    folder = resources.files("paraqd.data") / "files" / "synthetic"
    files = sorted((path for path in folder.iterdir() if path.name.endswith(".txt")), key=lambda path: path.name)
    return [block for path in files for block in read_blocks(path.read_text("utf-8"), path.name.removesuffix(".txt"))]

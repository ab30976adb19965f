"""The pairs that are measured on: shipped ones, the paper's test sets where they are there, and as many as you like."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from paraqd.corpus.datasets import DatasetError, load_pairs

TextPair = tuple[str, str]

SHIPPED = "awp-variants"
OTHERS = {"aquarat": "AquaRAT", "sawp": "SAWP"}
_WARM, _SINGLE = 32, 220  # the first 20 single pairs warm up
_NUMBER = re.compile(r"(?<![\d.,])\d{1,6}(?!\d)")


@dataclass(frozen=True)
class Material:
    """Pairs by set, and others to warm up with and to score alone; no text of these is in a set."""

    sets: dict[str, list[TextPair]]
    warm: list[TextPair]
    single: list[TextPair]
    absent: dict[str, str]


def gather(*, quick: bool = False) -> Material:
    """Return what is measured on; a scorer that remembers texts has no use of that on the shipped pairs."""
    shipped = shipped_pairs()
    warm, rest = shipped[:_WARM], shipped[_WARM:]
    single, batch = rest[:_SINGLE], rest[_SINGLE:]
    sets, absent = {SHIPPED: batch}, {}
    for name, shown in OTHERS.items():
        try:
            sets[shown] = [(pair.question, pair.paraphrase) for pair in load_pairs(name)]
        except DatasetError as error:
            absent[shown] = str(error)
    if quick:
        return Material({name: pairs[:32] for name, pairs in sets.items()}, warm[:8], single[:24], absent)
    return Material(sets, warm, single, absent)


def shipped_pairs() -> list[TextPair]:
    """Return pairs of the shipped benchmark in which no text is there twice, a third of them valid.

    A problem has one valid pair or, of the same texts and two more, two invalid ones: every other problem gives these.
    """
    found: dict[str, list[TextPair]] = {}
    for pair in load_pairs(SHIPPED):
        found.setdefault(str(pair.group), []).append((pair.question, pair.paraphrase))
    problems = list(found.values())
    random.Random(0).shuffle(problems)  # they come source by source, and one source's are longer than another's
    turned = (pairs[:: 1 if number % 2 else -1] for number, pairs in enumerate(problems))
    return without_repeats(pair for pairs in turned for pair in pairs)


def without_repeats(pairs: Iterable[TextPair]) -> list[TextPair]:
    """Keep pairs of which neither text was there before.

    >>> without_repeats([("a", "b"), ("a", "c"), ("c", "d")])
    [('a', 'b'), ('c', 'd')]
    """
    seen: set[str] = set()
    kept = []
    for pair in pairs:
        if seen.isdisjoint(pair):
            kept.append(pair)
            seen.update(pair)
    return kept


def made_pairs(number: int) -> list[TextPair]:
    """Return so many pairs, no two of them the same: shipped pairs over and over, each time with other numbers."""
    return list(islice(_renumbered(shipped_pairs()), number))


def _renumbered(shipped: list[TextPair]) -> Iterator[TextPair]:
    usable = [pair for pair in shipped if _shared(*pair)]
    for turn in count():
        for pair in usable:
            yield with_other_numbers(pair, turn)


def with_other_numbers(pair: TextPair, turn: int) -> TextPair:
    """Put other numbers for those that both texts have in digits: what was the same stays the same, and else not.

    They have three digits (four from turn 900 on), whatever the turn, so that texts of a large set are no longer.

    >>> with_other_numbers(("Tom has 5 of 12 pens.", "Of 12 pens Tom has 6."), 0)
    ('Tom has 5 of 544 pens.', 'Of 544 pens Tom has 6.')
    """
    shared = _shared(*pair)
    least = 100 if turn < 900 else 1000

    def other(match: re.Match[str]) -> str:
        if match[0] not in shared:
            return match[0]
        return str(least + (int(match[0]) * 37 + turn * 7) % (9 * least))

    question, paraphrase = (_NUMBER.sub(other, text) for text in pair)
    return question, paraphrase


def _shared(question: str, paraphrase: str) -> set[str]:
    return set(_NUMBER.findall(question)) & set(_NUMBER.findall(paraphrase))


def write_pairs(pairs: Iterable[TextPair], path: Path) -> str:
    """Write pairs for a measuring process, and for ``paraqd score`` where the name says so."""
    named = path.name.endswith(".score.jsonl")
    with path.open("w", encoding="utf-8") as file:
        for question, paraphrase in pairs:
            row = {"question": question, "paraphrase": paraphrase} if named else [question, paraphrase]
            file.write(json.dumps(row) + "\n")
    return str(path)

"""Provide pairs for measurements: shipped pairs, the paper's test sets if available, and generated pairs."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from paraqd.tables.datasets import DatasetError, load_pairs

TextPair = tuple[str, str]

SHIPPED = "awp-variants"
WHOLE, ONCE = "awp-variants, problems with all their pairs", "awp-variants, no text twice"
OTHERS = {"aquarat": "AquaRAT", "sawp": "SAWP"}
_WARM = 32  # the number of pairs for warming up
_SINGLE = 220  # the number of pairs that are scored one at a time; the first 20 are a warm-up
_WHOLE = 60  # the number of problems in the set of whole problems
_SHORT = 250  # the maximum number of characters in both texts together; a million such pairs take less than an hour
_TURNS = 9000  # the number of turns after which the generated numbers repeat
_NUMBER = re.compile(r"(?<![\d.,])\d{1,6}(?!\d)")


@dataclass(frozen=True)
class Material:
    """The pairs for measurements.

    ``sets`` maps the name of each set to its pairs. ``warm`` and ``single`` contain pairs for warming up and for
    scoring one pair at a time; their texts do not occur in any set. ``absent`` maps each missing set to the reason.
    """

    sets: dict[str, list[TextPair]]
    warm: list[TextPair]
    single: list[TextPair]
    absent: dict[str, str]


def gather(*, quick: bool = False) -> Material:
    """Return the pairs for measurements. In one of the sets, no text occurs twice, so that caching does not help."""
    shipped = shipped_pairs()
    warm, rest = shipped[:_WARM], shipped[_WARM:]
    single, batch = rest[:_SINGLE], rest[_SINGLE:]
    sets, absent = {ONCE: batch[_WHOLE:], WHOLE: whole_problems(batch[:_WHOLE])}, {}
    for name, shown in OTHERS.items():
        try:
            sets[shown] = [(pair.question, pair.paraphrase) for pair in load_pairs(name)]
        except DatasetError as error:
            absent[shown] = str(error)
    if quick:
        return Material({name: pairs[:32] for name, pairs in sets.items()}, warm[:8], single[:24], absent)
    return Material(sets, warm, single, absent)


def shipped_pairs() -> list[TextPair]:
    """Return pairs from the shipped benchmark such that no text occurs twice and a third of the pairs are valid.

    Problems alternate: one problem contributes a valid pair, and the next problem contributes two invalid pairs.
    """
    turned = (pairs[:: 1 if number % 2 else -1] for number, pairs in enumerate(_problems()))
    return without_repeats(pair for pairs in turned for pair in pairs)


def whole_problems(some: Sequence[TextPair]) -> list[TextPair]:
    """Return all pairs of the problems to which the given pairs belong, in their shipped order.

    Problems that have a text in another set are skipped.
    """
    wanted = {text for pair in some for text in pair}
    others = {text for pair in shipped_pairs() for text in pair} - wanted
    found = []
    for problem in _problems():
        texts = {text for pair in problem for text in pair}
        if wanted & texts and not others & texts:
            found += problem
    return found


@cache
def _problems() -> list[list[TextPair]]:
    found: dict[str, list[TextPair]] = {}
    for pair in load_pairs(SHIPPED):
        found.setdefault(str(pair.group), []).append((pair.question, pair.paraphrase))
    problems = list(found.values())
    # the problems are sorted by source, and the sources differ in the length of their texts
    random.Random(0).shuffle(problems)
    return problems


def without_repeats(pairs: Iterable[TextPair]) -> list[TextPair]:
    """Remove each pair that shares a text with a pair kept before it.

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


def made_pairs(number: int) -> Iterator[TextPair]:
    """Return an iterator over different pairs, which are short shipped pairs, repeated with other numbers each time."""
    usable = [pair for pair in shipped_pairs() if _shared(*pair) and sum(map(len, pair)) <= _SHORT]
    if number > _TURNS * len(usable):
        raise ValueError(f"{number:,} pairs cannot be generated: the maximum is {_TURNS * len(usable):,}")
    return islice((with_other_numbers(pair, turn) for turn in range(_TURNS) for pair in usable), number)


def with_other_numbers(pair: TextPair, turn: int) -> TextPair:
    """Replace the numbers that both texts contain in digits. Equal numbers stay equal.

    New numbers always have four digits, so that the texts do not become longer in later turns.

    >>> with_other_numbers(("Tom has 5 of 12 pens.", "Of 12 pens Tom has 6."), 0)
    ('Tom has 5 of 1444 pens.', 'Of 1444 pens Tom has 6.')
    """
    shared = _shared(*pair)

    def other(match: re.Match[str]) -> str:
        if match[0] not in shared:
            return match[0]
        return str(1000 + (int(match[0]) * 37 + turn * 7) % _TURNS)

    question, paraphrase = (_NUMBER.sub(other, text) for text in pair)
    return question, paraphrase


def _shared(question: str, paraphrase: str) -> set[str]:
    return set(_NUMBER.findall(question)) & set(_NUMBER.findall(paraphrase))


def write_pairs(pairs: Iterable[TextPair], path: Path) -> str:
    """Write pairs to a JSON Lines file, and return the file's path."""
    with path.open("w", encoding="utf-8") as file:
        for question, paraphrase in pairs:
            file.write(json.dumps({"question": question, "paraphrase": paraphrase}) + "\n")
    return str(path)

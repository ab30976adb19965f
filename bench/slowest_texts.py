"""Search for texts that take long to read or to compare, and print the slowest one of each module.

    python bench/slowest_texts.py [--fragments 3000] [--data DIR] [--seed 1] [--only NAME]
    python bench/slowest_texts.py --fuzz 20000

The search draws fragments from every text of the repository and of the data folder (``PARAQD_DATA_DIR``), builds long
pairs from them, and times each module apart. It first tries all of them on short texts, and then the slowest ones of
each module on texts of 10,000 and 40,000 characters. Times are processor times; the noise of the machine is printed.

With ``--fuzz``, damaged pairs are scored instead, and every verdict is checked.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hostilelib.corpora import corpus_files, corpus_pairs, corpus_texts, fragments
from hostilelib.fuzz import check_verdicts, damaged
from hostilelib.shapes import SHAPES, Pair
from hostilelib.steps import RULES, STEPS, Material, seconds

from paraqd import Scorer
from paraqd.scoring.pair_preparation import prepare_pair

_TRIED, _WANTED, _LONGEST = 2_500, 10_000, 40_000  # characters
_KEPT = 12  # the slowest pairs of a module that are tried again
_LIMIT = 0.5  # seconds for a text of 10,000 characters
_SHOWN = 60
_CHUNK = 500


@dataclass(frozen=True)
class Candidate:
    """A pair that can be built in any length."""

    shape: str
    pieces: tuple[str, ...]
    seed: int

    def build(self, size: int) -> Pair:
        """Return the pair, with texts of about ``size`` characters."""
        question, paraphrase = SHAPES[self.shape](self.pieces, size, random.Random(self.seed))
        return question[:size] or "x", paraphrase[:size]


def candidates(pieces: Sequence[str], rng: random.Random, shapes: int = 2) -> list[Candidate]:
    """Return some candidates for each piece."""
    found = []
    for piece in pieces:
        for shape in rng.sample(list(SHAPES), shapes):
            others = rng.choices(pieces, k=2)
            found.append(Candidate(shape, (piece, *others), rng.randrange(2**31)))
    return found


def times(candidate: Candidate, size: int, names: Sequence[str]) -> dict[str, float]:
    """Return the seconds of each step for a candidate of a given length."""
    question, paraphrase = candidate.build(size)
    material = Material(question, paraphrase, prepare_pair(question, paraphrase))
    return {name: seconds(STEPS[name], material) for name in names}


def search(
    found: Sequence[Candidate],
    names: Sequence[str],
    *,
    tried: int = _TRIED,
    wanted: int = _WANTED,
    longest: int = _LONGEST,
) -> dict[str, tuple[Candidate, float, float]]:
    """Return the slowest candidate of each step, with its seconds for texts of the wanted and of the longest length."""
    slowest: dict[str, list[tuple[float, int]]] = {name: [] for name in names}
    for number, candidate in enumerate(found):
        for name, spent in times(candidate, tried, names).items():
            slowest[name] = sorted([*slowest[name], (spent, number)], reverse=True)[:_KEPT]
        if number % 200 == 0:
            print(f"{number:,} of {len(found):,} pairs tried", file=sys.stderr, flush=True)
    best = {}
    for name in names:
        _, number = max((times(found[number], wanted, [name])[name], number) for _, number in slowest[name])
        spent = min(times(found[number], wanted, [name])[name] for _ in range(3))
        more = times(found[number], longest, [name])[name] if spent < 4 * _LIMIT else float("nan")
        best[name] = found[number], spent, more
        print(f"{name}: {spent:.3f} s", file=sys.stderr, flush=True)
    return best


def noise() -> str:
    """Return how much the time of one and the same text varies on this machine."""
    candidate = Candidate("counted", ("Ann buys 5 pens for $3 each.", "", ""), 1)
    spent = [times(candidate, _WANTED, [RULES])[RULES] for _ in range(20)]
    return (
        f"one text of {_WANTED:,} characters, twenty times: median {statistics.median(spent):.3f} s, "
        f"from {min(spent):.3f} to {max(spent):.3f} s"
    )


def fuzz(count: int, seed: int, data: Path | None) -> None:
    """Score damaged pairs, and check every verdict."""
    rng = random.Random(seed)
    pairs = corpus_pairs(corpus_files(data))
    scorer = Scorer.load(judge="small")
    done = 0
    while done < count:
        made = [damaged(rng.choice(pairs), rng, [rng.choice(pairs)]) for _ in range(min(_CHUNK, count - done))]
        check_verdicts(made, scorer.score_pairs(made))
        done += len(made)
        print(f"{done:,} of {count:,} pairs scored", file=sys.stderr, flush=True)
    print(f"{done:,} damaged pairs: a verdict with a finite score for each, all spans inside the texts")


def main() -> None:
    """Run the search, or score damaged pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fragments", type=int, default=3000)
    parser.add_argument("--data", type=Path, default=os.environ.get("PARAQD_DATA_DIR"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="time only the modules whose name contains this")
    parser.add_argument("--fuzz", type=int, metavar="PAIRS")
    given = parser.parse_args()
    data = Path(given.data) if given.data else None
    if given.fuzz:
        fuzz(given.fuzz, given.seed, data)
        return
    rng = random.Random(given.seed)
    pieces = fragments(corpus_texts(corpus_files(data)), given.fragments, rng)
    names = [name for name in STEPS if (given.only or "") in name]
    best = search(candidates(pieces, rng), names)
    print(f"The noise of this machine: {noise()}\n")
    print("| module | 10,000 characters (s) | 40,000 characters (s) | shape | the text begins with |")
    print("| --- | --- | --- | --- | --- |")
    for name, (candidate, spent, more) in sorted(best.items(), key=lambda item: -item[1][1]):
        shown = candidate.build(_WANTED)[0][:_SHOWN].replace("|", "\\|").replace("\n", "⏎")
        mark = " !" if spent > _LIMIT else ""
        print(f"| {name} | {spent:.3f}{mark} | {more:.2f} | {candidate.shape} | `{shown}` |")


if __name__ == "__main__":
    main()

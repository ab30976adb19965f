"""Derive the word tables of the operators from WordNet 3.0 and from the word lists of SCOWL.

    python bench/word_tables.py --wordnet /usr/share/wordnet --scowl /usr/share/dict/scowl

The folders are those of the Debian packages ``wordnet-base`` and ``scowl``. The script writes two files:

``words.txt.gz``
    One line per level of SCOWL: the level (10 for the most common words, 70 for rare words) and its words.
``wordnet.txt.gz``
    One line per synset: its part of speech and lexicographer file, the numbers of the lines of its hypernyms, and its
    words, each with the rank of the sense among the word's senses and its count in tagged texts. Only single words of
    SCOWL's levels up to 60 are kept, so most of WordNet is left out.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LEVELS = (10, 20, 35, 40, 50, 55, 60, 70)
RAREST = 60  # the last level of the words in the table of synsets
LISTS = ("english", "american", "british")
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
KINDS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}  # the parts of speech in the keys of senses
OUT = Path(__file__).parents[1] / "src" / "paraqd" / "lab" / "operators" / "files"


@dataclass
class Synset:
    """A synset of WordNet: its lexicographer file, words and hypernyms."""

    file: str
    words: list[str]
    hypernyms: list[tuple[str, str]]


def levels(folder: Path) -> dict[int, list[str]]:
    """Read the plain words of each level; a word belongs to the first level that lists it."""
    seen: set[str] = set()
    found: dict[int, list[str]] = {}
    for level in LEVELS:
        words: set[str] = set()
        for name in LISTS:
            text = (folder / f"{name}-words.{level}").read_text("iso-8859-1")
            words |= {word for word in text.split() if word.isascii() and word.isalpha() and word.islower()}
        found[level] = sorted(words - seen)
        seen |= words
    return found


def synsets(folder: Path) -> Iterator[tuple[tuple[str, str], Synset]]:
    """Read every synset, keyed by part of speech and offset."""
    for name, part in PARTS.items():
        for line in (folder / f"data.{name}").read_text("utf-8").splitlines():
            if line.startswith(" "):  # the licence
                continue
            offset, file, _, count, *rest = line.partition(" | ")[0].split()
            size = 2 * int(count, 16)
            words = [word.partition("(")[0] for word in rest[:size:2]]
            pointers = rest[size + 1 : size + 1 + 4 * int(rest[size])]
            above = [
                (pointers[i + 2], pointers[i + 1]) for i in range(0, len(pointers), 4) if pointers[i] in ("@", "@i")
            ]
            yield (part, offset), Synset(file, words, above)


def ranks(folder: Path) -> dict[tuple[str, str, str], int]:
    """Read the rank of each sense, keyed by part of speech, word and offset."""
    found = {}
    for name, part in PARTS.items():
        for line in (folder / f"index.{name}").read_text("utf-8").splitlines():
            if not line.startswith(" "):
                word, _, count, *rest = line.split()
                for rank, offset in enumerate(rest[-int(count) :], 1):
                    found[part, word, offset] = rank
    return found


def counts(folder: Path) -> dict[tuple[str, str, int], int]:
    """Read how often each sense occurs in the tagged texts, keyed by part of speech, word and rank."""
    found = {}
    for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
        key, rank, count = line.split()
        word, _, place = key.partition("%")
        found[KINDS[place[0]], word, int(rank)] = int(count)
    return found


def table(folder: Path, kept: frozenset[str]) -> list[str]:
    """Return the lines of the table of synsets."""
    everything = dict(synsets(folder))
    rank, count = ranks(folder), counts(folder)

    def usable(key: tuple[str, str]) -> bool:
        return any(word in kept for word in everything[key].words)

    def above(key: tuple[str, str]) -> set[tuple[str, str]]:
        """Return the nearest hypernyms with a usable word."""
        found = set()
        for parent in everything[key].hypernyms:
            found |= {parent} if usable(parent) else above(parent)
        return found

    order = {key: number for number, key in enumerate(filter(usable, everything))}
    lines = []
    for key in order:
        synset = everything[key]
        words = []
        for word in filter(kept.__contains__, synset.words):
            place = rank[key[0], word, key[1]]
            words.append(f"{word}/{place}/{count.get((key[0], word, place), 0)}")
        parents = ",".join(str(number) for number in sorted(order[parent] for parent in above(key)))
        lines.append(f"{key[0]}{synset.file}\t{parents}\t{' '.join(words)}")
    return lines


def write(path: Path, lines: list[str]) -> None:
    """Write a compressed text file whose bytes do not depend on the time."""
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode("ascii"), 9, mtime=0))
    print(f"{path.name}: {len(lines):,} lines, {path.stat().st_size:,} bytes")


def main(arguments: Mapping[str, Path]) -> None:
    by_level = levels(arguments["scowl"])
    write(OUT / "words.txt.gz", [f"{level}\t{' '.join(words)}" for level, words in by_level.items()])
    kept = frozenset(word for level, words in by_level.items() if level <= RAREST for word in words if len(word) > 1)
    write(OUT / "wordnet.txt.gz", table(arguments["wordnet"], kept))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--scowl", type=Path, default=Path("/usr/share/dict/scowl"))
    main(vars(parser.parse_args()))

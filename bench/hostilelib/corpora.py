"""Read every text of the repository and of the data folder, and draw fragments from the texts."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_TEXTS = ("question", "paraphrase", "text", "augmented", "a", "b", "heavy_valid", "moderate_valid")
_PIECE = re.compile(r"\s*(?:[^\W\d_]+|\d+(?:[.,]\d+)*|[^\w\s]|_)")
_LONGEST = 8  # tokens in a fragment
_WORDS_ALONE = 0.25  # of the fragments

Pair = tuple[str, str]


def corpus_files(data: Path | None) -> list[Path]:
    """Return the files with texts, sorted."""
    found = [*(_ROOT / "samples").glob("*.csv"), *(_ROOT / "datasets").rglob("*.jsonl")]
    if data is not None:
        found += [path for path in data.iterdir() if path.name.endswith((".csv", ".jsonl", ".jsonl.gz", ".txt.gz"))]
    return sorted(found)


def corpus_texts(files: Iterable[Path]) -> list[str]:
    """Return the distinct texts of the files, sorted."""
    return sorted({text for path in files for text in _texts(path) if text.strip()})


def corpus_pairs(files: Iterable[Path]) -> list[Pair]:
    """Return the pairs of a question and a paraphrase in the files."""
    found = []
    for path in files:
        for row in _rows(path):
            question = row.get("question") or row.get("Question")
            paraphrase = row.get("paraphrase") or row.get("augmented") or row.get("V1")
            if isinstance(question, str) and isinstance(paraphrase, str) and question.strip():
                found.append((question, paraphrase))
    return found


def _texts(path: Path) -> Iterator[str]:
    if path.name.endswith(".txt.gz"):
        yield from gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    for row in _rows(path):
        yield from (value for name, value in row.items() if name in _TEXTS and isinstance(value, str))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    if ".csv" in path.suffixes:
        yield from csv.DictReader(text.splitlines(keepends=True))
    elif ".jsonl" in path.suffixes:
        yield from (json.loads(line) for line in text.splitlines() if line)


def fragments(texts: list[str], count: int, rng: random.Random) -> list[str]:
    """Return distinct fragments of texts: single words, and up to eight neighbouring words, numbers and marks."""
    words = sorted({piece.strip() for text in texts for piece in _PIECE.findall(text)})
    found = dict.fromkeys(rng.sample(words, min(len(words), int(count * _WORDS_ALONE))))
    while len(found) < count:
        pieces = _PIECE.findall(rng.choice(texts))
        size = rng.randint(1, _LONGEST)
        start = rng.randrange(max(1, len(pieces) - size + 1))
        if piece := "".join(pieces[start : start + size]).strip():
            found[piece] = None
    return list(found)

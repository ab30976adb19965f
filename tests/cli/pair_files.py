"""Write and read the files of pairs that the tests of ``paraqd score`` share."""

import csv
import gzip
import io
import json
import os
from pathlib import Path

import paraqd

QUESTION = "Tom has 5 apples and buys 3 more. How many apples has he now?"
SAME, REWORDED = QUESTION, "Tom buys 3 apples and had 5. How many are there now?"
LOST, ADDED = "Tom has 5 apples. How many has he?", "Tom has 5 apples, buys 3 and eats 2. How many has he?"
PARAPHRASES = [SAME, REWORDED, LOST, ADDED]
NEW = ["score", "valid", "evidence", "warnings", "error", "signature"]


def write_csv(path, rows, encoding="utf-8", delimiter=","):
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path, delimiter=","):
    raw = Path(path).read_bytes()
    raw = gzip.decompress(raw) if str(path).endswith(".gz") else raw
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""), delimiter=delimiter))


def read_jsonl(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def names(folder):
    """Return the names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def environment():
    """Return the environment in which a program finds this version of the package."""
    return dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]))

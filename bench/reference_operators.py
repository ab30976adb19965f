"""Why a model trained on our operators differs from the paper's: what the public code's operators really made.

    PARAQD_DATA_DIR=data python bench/reference_operators.py MODEL [MODEL...]

Reads ``aquarat_validation_reference.csv``, the public code's outputs of f1–f10, and prints for each operator how the
words were edited, and the mean score and share accepted (> 0.5) by each model.
"""

from __future__ import annotations

import csv
import difflib
import os
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from paraqd.corpus.encoder import load_encoder
from paraqd.scoring.cosine import cosine_scores

_WORD = re.compile(r"\w+")
COLUMNS = {f"positive{n}": f"f{n}" for n in range(1, 5)} | {f"neg_{n}": f"f{n + 4}" for n in range(1, 7)}


def edit_kind(question: str, paraphrase: str) -> str:
    """Say how the words of a paraphrase came from the question's.

    >>> edit_kind("Ann has 3 apples.", "Ann has 3 sona.")
    'words replaced'
    """
    before, after = _WORD.findall(question.lower()), _WORD.findall(paraphrase.lower())
    edits = [
        (kind, end - start, last - first)
        for kind, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if kind != "equal"
    ]
    if not edits:
        return "same words"
    if all(kind == "delete" for kind, *_ in edits):
        return "words deleted"
    if all(kind == "replace" and abs(old - new) <= 1 for kind, old, new in edits):
        return "words replaced"
    return "reworded"


def main() -> None:
    """Print a table in Markdown."""
    models = sys.argv[1:]
    path = Path(os.environ["PARAQD_DATA_DIR"]) / "aquarat_validation_reference.csv"
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    encoders = [load_encoder(model) for model in models]
    kinds = ("same words", "words deleted", "words replaced", "reworded")
    print("| operator | outputs |", " | ".join([*kinds, *(f"{m}: mean, accepted" for m in models)]), "|")
    print("| --- |", " | ".join(["---:"] * (1 + len(kinds) + len(models))), "|")
    for column, name in COLUMNS.items():
        pairs = [(row["question"], row[column]) for row in rows if row[column].strip()]
        counted = Counter(edit_kind(*pair) for pair in pairs)
        cells = [str(counted[kind]) for kind in kinds]
        for encoder in encoders:
            scores = np.asarray(cosine_scores(encoder, pairs))
            cells.append(f"{scores.mean():.2f}, {100 * (scores > 0.5).mean():.0f} %")
        print(f"| {name} | {len(pairs)} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()

"""Measure the accuracy and speed with which the light reader and spaCy find names in labelled texts.

python bench/entities.py [--fixture tests/reading/names.jsonl]
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

from paraqd.reading import EntityReader, LightEntities, read
from paraqd.reading.entities import SpacyEntities, load_spacy

FIXTURE = Path(__file__).parent.parent / "tests" / "reading" / "names.jsonl"


def measure(rows: list[dict[str, list[list[str]]]], reader: EntityReader) -> tuple[float, float, float, float, float]:
    """Measure a reader on labelled texts.

    Return precision, recall and F1 for mentions, F1 for mentions with the right category, and texts per second.
    """
    found_right = found = wanted = category_right = 0
    started = time.perf_counter()
    readings = [read(str(row["text"]), entities=reader).entities for row in rows]
    seconds = time.perf_counter() - started
    for row, entities in zip(rows, readings, strict=True):
        want = Counter(name for name, _ in row["entities"])
        got = Counter(entity.text for entity in entities)
        found_right += sum((want & got).values())
        found += sum(got.values())
        wanted += sum(want.values())
        both = Counter(map(tuple, row["entities"])) & Counter((e.text, e.category) for e in entities)
        category_right += sum(both.values())
    precision, recall = found_right / max(1, found), found_right / max(1, wanted)
    return (
        precision,
        recall,
        2 * found_right / max(1, found + wanted),
        2 * category_right / max(1, found + wanted),
        len(rows) / seconds,
    )


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fixture", type=Path, default=FIXTURE)
    rows = [json.loads(line) for line in parser.parse_args().fixture.read_text(encoding="utf-8").splitlines()]
    parts = {
        "normal case": [row for row in rows if row["text"] != row["text"].lower()],
        "lower case": [row for row in rows if row["text"] == row["text"].lower()],
    }
    print("| texts | reader | precision | recall | F1 | F1 with category | texts/s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for part, chosen in parts.items():
        for name, reader in (("light", LightEntities()), ("spaCy", SpacyEntities(load_spacy()))):
            p, r, f, c, speed = measure(chosen, reader)
            print(f"| {part} ({len(chosen)}) | {name} | {p:.3f} | {r:.3f} | {f:.3f} | {c:.3f} | {speed:,.0f} |")


if __name__ == "__main__":
    main()

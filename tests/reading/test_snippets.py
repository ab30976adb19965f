"""Labelled snippets: the F1 of quantities by value and unit, and by kind as well."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paraqd.reading import Kind, read

HERE = Path(__file__).parent
# file and the least number of rows in it: these keep rows from getting lost
FILES = {"snippets.jsonl": 480, "snippets_second.jsonl": 280}
THRESHOLD = 0.99

Row = dict[str, Any]
each_file = pytest.mark.parametrize("name", FILES)


def load(name: str) -> list[Row]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def labelled(row: Row) -> list[tuple[Fraction, str | None, str]]:
    return [(Fraction(value), unit, kind) for value, unit, kind in row["quantities"]]


def found(row: Row) -> list[tuple[Fraction, str | None, str]]:
    return [(q.value, q.unit, q.kind.value) for q in read(row["text"]).quantities]


def f1(rows: list[Row], key: Callable[[tuple[Fraction, str | None, str]], Hashable]) -> tuple[float, list[str]]:
    """Return the micro F1 over the multisets of each snippet, and a line for each snippet that is wrong."""
    hits = expected_total = got_total = 0
    wrong = []
    for row in rows:
        expected, got = Counter(map(key, labelled(row))), Counter(map(key, found(row)))
        hits += (expected & got).total()
        expected_total += expected.total()
        got_total += got.total()
        if expected != got:
            wrong.append(f"{row['text']!r}: missing {show(expected - got)}, too much {show(got - expected)}")
    return 2 * hits / (expected_total + got_total), wrong


def show(items: Counter[Hashable]) -> str:
    parts = [
        " ".join(str(part) for part in item) if isinstance(item, tuple) else str(item) for item in items.elements()
    ]
    return "[" + ", ".join(parts) + "]"


@each_file
def test_file_has_the_promised_rows(name: str):
    rows = load(name)
    assert len(rows) >= FILES[name]
    assert len({row["text"] for row in rows}) == len(rows), "a text stands twice"


def test_no_snippet_stands_in_both_files():
    first, second = ({row["text"] for row in load(name)} for name in FILES)
    assert not first & second


@each_file
def test_labels_are_well_formed(name: str):
    kinds = {kind.value for kind in Kind}
    for row in load(name):
        assert row["tags"], row
        for _, unit, kind in labelled(row):
            assert kind in kinds, row
            assert unit is None or unit == unit.strip(), row


@each_file
def test_value_and_unit(name: str):
    score, wrong = f1(load(name), key=lambda item: item[:2])
    assert score >= THRESHOLD, f"F1 {score:.4f}; wrong snippets:\n" + "\n".join(wrong)


@each_file
def test_value_unit_and_kind(name: str):
    score, wrong = f1(load(name), key=lambda item: item)
    assert score >= THRESHOLD, f"F1 {score:.4f}; wrong snippets:\n" + "\n".join(wrong)


def test_a_wrong_reading_lowers_the_score():
    rows = [{"text": "5 apples", "quantities": [["5", "metre", "measure"]]}, {"text": "6 pears", "quantities": []}]
    score, wrong = f1(rows, key=lambda item: item[:2])
    assert score == 0
    assert len(wrong) == 2

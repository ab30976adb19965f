"""The figures that the paper reports, to stand beside ours.

They are kept in ``published.toml``. The paper's F1 is always ``*_f1_paper``: see `paraqd.evaluation.metrics`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from paraqd.evaluation.errors import EvaluationError

# what tells the rows of a table apart, outermost first
KEYS: Mapping[str, tuple[str, ...]] = {
    "main": ("dataset", "method"),
    "operators": ("dataset", "operator"),
    "loss": ("loss",),
    "seed": ("seed", "method"),
    "train_operators": ("method",),
    "encoder": ("encoder", "method"),
    "pseudo_labels": ("dataset", "method"),
}
_OWN_COLUMNS = {"pseudo_labels": ("valid_percent", "invalid_percent")}


@dataclass(frozen=True)
class Published:
    """A row of a table of the paper: what it is of, and its figures by metric."""

    table: str
    keys: Mapping[str, str]
    values: Mapping[str, float]


@dataclass(frozen=True)
class Example:
    """A pair of the paper's table of examples, with its label and the paper's score."""

    question: str
    paraphrase: str
    label: int
    score: float


def published(table: str, **where: str) -> tuple[Published, ...]:
    """Return the rows of a table of the paper, in the paper's order, those that fit ``where``.

    Names are compared without regard to case and punctuation.

    >>> [row] = published("main", dataset="aquarat", method="ParaQD")
    >>> row.values["separation"], row.values["macro_f1_paper"]
    (0.78, 0.687)
    """
    if table not in KEYS:
        raise EvaluationError(f"the paper has no table {table!r} here; known are {', '.join(KEYS)}")
    unknown = sorted(set(where) - set(KEYS[table]))
    if unknown:
        raise EvaluationError(f"the rows of {table} are told apart by {', '.join(KEYS[table])}, not by {unknown[0]}")
    found = _rows(table, _content()[table], KEYS[table], {})
    return tuple(row for row in found if all(same_name(row.keys[key], name) for key, name in where.items()))


def examples() -> tuple[Example, ...]:
    """Return the paper's five scored examples."""
    return tuple(Example(**example) for example in _content()["examples"])


def top_operators() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the paper's two most important valid and invalid operators for each data set.

    >>> top_operators()["AquaRAT"]["invalid"]
    ('f9', 'f5')
    """
    return {
        dataset: {polarity: tuple(names) for polarity, names in both.items()}
        for dataset, both in _content()["top_operators"].items()
    }


def sizes() -> Mapping[str, tuple[int, int]]:
    """Return how many valid and invalid pairs each test set of the paper has."""
    return {dataset: (sizes[0], sizes[1]) for dataset, sizes in _content()["test_sets"].items()}


def same_name(one: str, other: str) -> bool:
    """Whether two names differ at most in case and punctuation.

    >>> same_name("EM_Math", "em-math"), same_name("UDA", "UDA (w pl)")
    (True, False)
    """
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


@lru_cache(maxsize=1)
def _content() -> dict[str, Any]:
    return tomllib.loads(files("paraqd.evaluation").joinpath("published.toml").read_text("utf-8"))


def _rows(table: str, node: Mapping[str, Any], keys: tuple[str, ...], above: Mapping[str, str]) -> list[Published]:
    found = []
    for name, below in node.items():
        named = {**above, keys[0]: name}
        if len(keys) > 1:
            found += _rows(table, below, keys[1:], named)
        else:
            columns = _OWN_COLUMNS.get(table, _content()["columns"])
            found.append(Published(table, named, dict(zip(columns, below, strict=True))))
    return found

"""Read the results that the paper reports, to compare them with ours.

They are in ``published.toml``. The F1 of the paper is always ``*_f1_paper``; see `paraqd.evaluation.metrics`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from paraqd.evaluation.errors import EvaluationError

# the keys of the rows of each table, outermost first
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
    """A row of a table of the paper: its keys, and its values by metric."""

    table: str
    keys: Mapping[str, str]
    values: Mapping[str, float]


@dataclass(frozen=True)
class PublishedExample:
    """A pair from the examples in the paper, with its label and score there."""

    question: str
    paraphrase: str
    label: int
    score: float


def published(table: str, **where: str) -> tuple[Published, ...]:
    """Return the rows of a table of the paper that match ``where``, in the order of the paper.

    Case and punctuation of names do not matter.

    >>> [row] = published("main", dataset="aquarat", method="ParaQD")
    >>> row.values["separation"], row.values["macro_f1_paper"]
    (0.78, 0.687)
    """
    if table not in KEYS:
        raise EvaluationError(f"there is no table {table!r} of the paper; choose from {', '.join(KEYS)}")
    unknown = sorted(set(where) - set(KEYS[table]))
    if unknown:
        raise EvaluationError(f"the keys of table {table} are {', '.join(KEYS[table])}, not {unknown[0]}")
    found = _rows(table, _content()[table], KEYS[table], {})
    return tuple(row for row in found if all(same_name(row.keys[key], name) for key, name in where.items()))


def examples() -> tuple[PublishedExample, ...]:
    """Return the paper's five scored examples."""
    return tuple(PublishedExample(**example) for example in _content()["examples"])


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
    """Return the numbers of valid and invalid pairs in each test set of the paper."""
    return {dataset: (sizes[0], sizes[1]) for dataset, sizes in _content()["test_sets"].items()}


def same_name(one: str, other: str) -> bool:
    """Return True if two names differ at most in case and punctuation.

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

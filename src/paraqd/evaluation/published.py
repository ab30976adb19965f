"""Read the paper's published results from ``published.toml`` so that our results can be compared with them.

The names of the paper's F1 metrics end in ``_f1_paper``, because the paper defines F1 in its own way; see
`paraqd.evaluation.metrics`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from paraqd.evaluation.errors import EvaluationError

# the keys that identify a row in each table, with the outermost key first
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
    """A row in one of the paper's tables; ``keys`` identifies the row, and ``values`` is keyed by metric."""

    table: str
    keys: Mapping[str, str]
    values: Mapping[str, float]


@dataclass(frozen=True)
class PublishedExample:
    """One of the paper's example pairs, with the label and score that the paper reports."""

    question: str
    paraphrase: str
    label: int
    score: float


def published(table: str, **where: str) -> tuple[Published, ...]:
    """Return the rows that match ``where`` in one of the paper's tables, in the paper's order.

    Case and punctuation are ignored when names are compared.

    >>> [row] = published("main", dataset="aquarat", method="ParaQD")
    >>> row.values["separation"], row.values["macro_f1_paper"]
    (0.78, 0.687)
    """
    if table not in KEYS:
        raise EvaluationError(f"the paper has no table {table!r}; choose from {', '.join(KEYS)}")
    unknown = sorted(set(where) - set(KEYS[table]))
    if unknown:
        raise EvaluationError(
            f"the keys of table {table} are {', '.join(KEYS[table])}, not {unknown[0]}; use one of these keys"
        )
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
    """Return the numbers of valid and invalid pairs in each of the paper's test sets."""
    return {dataset: (sizes[0], sizes[1]) for dataset, sizes in _content()["test_sets"].items()}


def operator_averages() -> Mapping[str, float]:
    """Return the mean precision, recall and accuracy that the paper reports for its test operators.

    >>> operator_averages()["recall"]
    0.59
    """
    averages: dict[str, float] = _content()["test_operator_averages"]
    return averages


def same_name(one: str, other: str) -> bool:
    """Return True if two names are equal when case and punctuation are ignored.

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

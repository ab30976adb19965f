"""Load the lists of names that ship with the package: people, places and organisations."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"


def _lines(name: str) -> list[str]:
    lines = (_DATA / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def people() -> dict[str, str]:
    """Return a dictionary that maps first names to a gender: ``f``, ``m`` or ``u`` (unisex).

    >>> people()["Meera"]
    'f'
    """
    return {name: gender for name, gender, *_ in _people()}


@cache
def common_names() -> frozenset[str]:
    """Return the most common first names, in lower case.

    >>> "tom" in common_names()
    True
    """
    return frozenset(name.lower() for name, _, *common in _people() if common)


def _people() -> list[list[str]]:
    return [line.split("\t") for line in _lines("people.tsv")]


@cache
def places() -> dict[str, str]:
    """Return a dictionary that maps names of places to their kinds (city, country, river …).

    >>> places()["New York"]
    'city'
    """
    return dict(line.split("\t") for line in _lines("places.tsv"))


@cache
def organisations() -> tuple[str, ...]:
    """Return the names of companies, schools and teams."""
    return tuple(_lines("organisations.txt"))


@cache
def not_names() -> frozenset[str]:
    """Return names, in lower case, that are more common as ordinary words."""
    return frozenset(_lines("not_names.txt"))


@cache
def capitalised_words() -> frozenset[str]:
    """Return words, in lower case, that are often capitalised although they are not names."""
    return frozenset(word.lower() for word in _lines("capitalised.txt"))

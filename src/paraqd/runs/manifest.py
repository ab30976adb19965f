"""Describe a run by its settings and its input, and say in which of them two runs differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from paraqd.parameters import named
from paraqd.runs.survey import Inputs
from paraqd.scoring.signature import difference

FORMAT = 1
# descriptions of the settings that can differ between two runs, for messages
_NAMES = {
    "command": "another command",
    "input": "another input",
    "part_rows": "parts of another size",
    "columns": "other columns",
    "set_of_columns": "another set of columns",
    "set_of_operators": "other operators",
    "set_of_models": "other models",
    "choice_of_stand-ins": "another choice of stand-ins",
    "choice_to_keep_going": "another choice of keep_going",
    "form_of_verdicts": "verdicts in an older form",
    "choice_to_skip_empty_cells": "another choice of wide or of several paraphrases",
    "choice_of_rows": "another choice of rows (only)",
    "version": "another version of paraqd",
}
_SHOWN = ("seed", "version", "entity_reader", "encoding", "threshold", "encoder")  # messages show both values


def make_manifest(command: str, settings: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Return the manifest of a run: its settings, its input, and the rows that each part contains."""
    files = [[file.entry.name, file.entry.size, file.entry.state, file.rows] for file in inputs.files]
    parts = [[piece.file, piece.start, piece.rows] for piece in inputs.pieces]
    found = {
        "format": FORMAT,
        "command": command,
        **settings,
        "part_rows": inputs.part_rows,
        "input": files,
        "parts": parts,
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))  # equal to the manifest as read back from the file
    return plain


def run_name(manifest: Mapping[str, Any]) -> str:
    """Return the name of a run, which is a hash of the manifest. Each part contains the name of its run."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:16]


def what_differs(before: Mapping[str, Any], now: Mapping[str, Any], sources: tuple[str, str] = ("", "")) -> str:
    """Return a message that states which settings differ between two runs and how to proceed.

    ``sources`` contains the names of the two inputs, which are empty if unknown.

    >>> what_differs({"seed": 1, "input": []}, {"seed": 2, "input": []}).partition(";")[0]
    'another seed (1, now 2)'
    """
    keys = [key for key in {**now, **before} if key != "parts" and before.get(key) != now.get(key)]
    phrases = [phrase for key in keys for phrase in _phrases(key, before.get(key), now.get(key), sources)]
    remedy = f"pass {named('restart')} to discard it and start again"
    if keys != ["input"]:
        remedy = f"use the same options to continue it, or {remedy}"
    return f"{' and '.join(phrases) or 'another form'}; {remedy}"


def _phrases(key: str, before: Any, now: Any, sources: tuple[str, str]) -> list[str]:
    if key == "model":
        return [f"another {name}" for name in difference(str(before), str(now))]
    if key == "input" and all(sources) and sources[0] != sources[1]:
        return [f"another input ({sources[0]}, now {sources[1]})"]
    if key == "input":
        return [f"another input ({_changed(before or (), now or ())})"]
    if key not in _NAMES and isinstance(before, dict) and isinstance(now, dict):
        return _changes(before, now)
    shown = f" ({before}, now {now})" if key in _SHOWN else ""
    return [_NAMES.get(key, f"another {key.replace('_', ' ')}") + shown]


def _changes(before: Mapping[str, Any], now: Mapping[str, Any], of: str = "") -> list[str]:
    """Return a phrase for each of several settings that has changed.

    >>> _changes({"n": 2, "limits": {"others": 0.8}}, {"n": 3, "limits": {"others": 0.5}})
    ['n=2, not 3', 'limits.others=0.8, not 0.5']
    """
    found = []
    for name in {**before, **now}:
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _changes(old, new, f"{of}{name}.")
        elif old != new:
            found.append(f"{of}{name}={old}, not {new}")
    return found


def _changed(before: Sequence[Sequence[Any]], now: Sequence[Sequence[Any]]) -> str:
    """Return a phrase that names the first input file in which two manifests differ.

    >>> _changed([["a.csv", 9, 1, 2], ["b.csv", 9, 1, 2]], [["a.csv", 9, 5, 2], ["b.csv", 9, 1, 2]])
    'a.csv has changed'
    """
    old, new = ({name: rest for name, *rest in files} for files in (before, now))
    names = sorted(name for name in {**old, **new} if old.get(name) != new.get(name))
    first = names[0] if names else ""
    how = "has changed" if first in old and first in new else "is new" if first in new else "is gone"
    more = f", and {len(names) - 1:,} more files" if len(names) > 1 else ""
    return f"{first or 'the file'} {how}{more}"

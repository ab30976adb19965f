"""Write the record of a run, its tables and its report to the run's folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from paraqd.evaluation.tables import write_tables
from paraqd.lab.experiments.data import RunData
from paraqd.lab.experiments.errors import ExperimentError, without_data_path
from paraqd.lab.experiments.outcomes import ExperimentOutcome
from paraqd.lab.experiments.report import write_report
from paraqd.lab.experiments.scales import SCALES, Scale
from paraqd.lab.training.encoders import encoder_hash
from paraqd.lab.training.recipe_corpus import generator_facts
from paraqd.tables.locks import exclusive
from paraqd.tables.writers import replace_json
from paraqd.version import __version__

_PACKAGES = ("torch", "transformers", "sentence-transformers", "accelerate", "numpy", "scikit-learn")
_FORMAT = 2


def begin_run(folder: Path, data: RunData, *, train: bool) -> None:
    """Record the scale, models and data of a run in ``run.json``, or check that they match the existing record.

    Raise `ExperimentError` if the folder contains a different run or other files, or is not writable.
    """
    asked: dict[str, Any] = {
        "format": _FORMAT,
        "scale": _scale_facts(data.scale),
        "encoder hash": encoder_hash(data.scale.encoder),
        "stand-ins": data.stand_ins,
        "generators": generator_facts(data.generators),
        "questions": data.source_hash(),
    }
    path = folder / "run.json"
    if not train:  # nothing is trained, so only the declarations must match
        asked = {key: asked[key] for key in ("format", "scale")}
        if not path.is_file():
            raise ExperimentError(f"there is no run in {folder}: run the experiments with training first")
    above = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise ExperimentError(f"cannot write {folder}: {above} is not a writable folder")
    with exclusive(folder / "locks" / "run.lock"):
        if path.is_file():
            there = _read(path)
            for key, value in json.loads(json.dumps(asked)).items():
                known = there.get(key)
                if key == "scale" and isinstance(known, dict):
                    known = {**_usual_settings(known), **known}
                # if the questions' source is missing, the questions stored in the run's folder are used
                if known != value and not (key == "questions" and (value is None or known is None)):
                    difference = _first_difference(key, known, value)
                    raise ExperimentError(f"{folder} holds a run with another {difference}: choose another --out")
            return
        foreign = [item.name for item in folder.iterdir() if item.name not in ("data", "generators", "locks")]
        if any(not name.startswith(".run.json.") for name in foreign):
            raise ExperimentError(f"{folder} is not empty and does not contain a run: choose another --out")
        replace_json(path, asked)


def write_outcome(
    outcome: ExperimentOutcome, folder: Path, data_dir: str | Path | None, *, figures: bool = True
) -> None:
    """Write an experiment's tables in three formats, and the data for its section of the report.

    The data does not contain the path of the data folder. If ``figures`` is False, no figures were plotted, and the
    report keeps the figures of an earlier call whose files still exist.
    """
    name = outcome.experiment.name
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for ending in ("md", "tex", "json"):
        if outcome.tables:
            write_tables(outcome.tables, tables / f"{name}.{ending}")
        else:  # a table from an earlier call is out of date
            (tables / f"{name}.{ending}").unlink(missing_ok=True)
    path = folder / "experiments" / f"{name}.json"
    shown = [{"path": figure.path, "title": figure.title} for figure in outcome.figures]
    if not figures and path.is_file():
        shown = [figure for figure in _read(path)["figures"] if (folder / figure["path"]).is_file()]
    facts = {
        "name": name,
        "title": outcome.experiment.title,
        "not_run": {what: without_data_path(why, data_dir) for what, why in outcome.not_run.items()},
        "figures": shown,
    }
    replace_json(path, facts)


def finish_run(folder: Path, data: RunData, *, worked: bool) -> None:
    """Record the package versions and the hashes of the test sets in ``run.json``, and write the report.

    If ``worked`` is False, no model was trained or scored, so the recorded versions do not change.
    """
    path = folder / "run.json"
    with exclusive(folder / "locks" / "run.lock"):
        facts = _read(path)
        if worked or "versions" not in facts:
            facts["versions"] = _combined_versions(facts.get("versions", {}), _versions())
        facts["test_sets"] = {**facts.get("test_sets", {}), **{t.name: t.sha256 for t in data.loaded() if t.sha256}}
        replace_json(path, facts)
        write_report(folder)


def _first_difference(key: str, known: Any, value: Any) -> str:
    """Return the name of the first (possibly nested) setting that differs, with its recorded and its new value."""
    while isinstance(known, dict) and isinstance(value, dict):
        name = next((name for name in [*value, *known] if known.get(name) != value.get(name)), None)
        if name is None:
            break
        key, known, value = name, known.get(name), value.get(name)
    return f"{key.replace('_', ' ')} ({known}, not {value})"


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError:
        raise ExperimentError(f"{path} cannot be read: choose another --out") from None
    return found


def _scale_facts(scale: Scale) -> dict[str, Any]:
    facts = {name: getattr(scale, name) for name in scale.__dataclass_fields__ if name != "settings"}
    return {**facts, "settings": scale.settings.to_dict()}


def _usual_settings(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default settings of a recorded scale.

    They replace the settings that were added after the run, which its record does not contain.
    """
    name = str(recorded.get("name", ""))
    found: dict[str, Any] = json.loads(json.dumps(_scale_facts(SCALES.get(name) or Scale(name=name))))
    return found


def _combined_versions(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Combine the recorded package versions with the current versions.

    The versions can differ because several machines can contribute to a run.

    >>> _combined_versions({"torch": "2.11.0"}, {"torch": "2.13.0", "numpy": "2.1"})
    {'torch': '2.11.0, 2.13.0', 'numpy': '2.1'}
    """
    joined = {name: [*before.get(name, "").split(", "), number] for name, number in now.items()}
    return {**before, **{name: ", ".join(filter(None, dict.fromkeys(all_))) for name, all_ in joined.items()}}


def _versions() -> dict[str, str]:
    found = {"paraqd": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found

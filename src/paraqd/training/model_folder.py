"""The model folder: what sentence-transformers loads as it is, with a model card and ``paraqd.json`` beside."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraqd.errors import ModelError
from paraqd.generators.runtime import quiet
from paraqd.model_folder import FACTS_FILE, read_model_folder, write_facts
from paraqd.training.settings import TrainingError

_NEEDED = ("modules.json", "config.json", "model.safetensors")


def save_model(model: Any, out: Path, facts: Mapping[str, Any]) -> None:
    """Write the folder beside its place and move it there whole."""
    temporary = out.with_name(f".{out.name}.writing-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        with quiet():
            model.save_pretrained(str(temporary), create_model_card=False, safe_serialization=True)
        write_facts(temporary, facts)
        (temporary / "README.md").write_text(model_card(facts), encoding="utf-8")
        if out.exists():
            shutil.rmtree(out)
        temporary.rename(out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_out(folder: Path, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a place where no model may be written."""
    if folder.is_dir():
        if any(folder.iterdir()) and not (folder / FACTS_FILE).is_file():
            raise TrainingError(f"{folder} is a folder with other things in it: choose another --out")
    elif folder.exists():
        raise TrainingError(f"{folder} is a file: choose another --out")
    elif not folder.name:
        raise TrainingError(f"{folder} cannot be a model folder: give it a name")
    above = next((parent for parent in folder.absolute().parents if parent.exists()), folder)
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise TrainingError(f"cannot write {folder}: {above} is not a folder that may be written to")
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        read_facts(folder)  # a broken one is said to be so


def read_facts(folder: Path) -> dict[str, Any]:
    """Return what ``paraqd.json`` says; one line where the folder is broken or of another version."""
    for name in _NEEDED:
        if not (folder / name).is_file():
            raise TrainingError(f"{folder} is not a whole model folder: it holds no {name}; train or copy it again")
    try:
        return dict(read_model_folder(folder).facts)
    except ModelError as error:
        raise TrainingError(str(error)) from None


def model_card(facts: Mapping[str, Any]) -> str:
    """Return the model card: what it is, what it was trained on, how, and what it measured."""
    settings, data, found = facts["settings"], facts["data"], facts.get("validation")
    lines = [
        "---",
        "library_name: sentence-transformers",
        "pipeline_tag: sentence-similarity",
        "language: en",
        "license: apache-2.0",
        f"base_model: {facts['encoder']}",
        "tags: [paraqd, paraphrase, word-problems]",
        "---",
        f"# {facts['name']}",
        "",
        "A bi-encoder that scores whether a paraphrase of a word problem is still the same problem: the cosine of the"
        " two embeddings, from -1 to 1; above 0.5 counts as valid. Trained with [paraqd](https://pypi.org/project/paraqd/)"
        " by the method of ParaQD (ECML-PKDD 2022).",
        "",
        "```python",
        "from sentence_transformers import SentenceTransformer",
        f'model = SentenceTransformer("{facts["name"]}")',
        "```",
        "",
        "## Training",
        f"- Encoder: {facts['encoder']}" + (f", its first {facts['layers']} layers" if facts.get("layers") else ""),
        f"- Recipe: {facts['recipe']}; {data['triplets']:,} triplets of {data['questions']:,} questions"
        f" (sha256 {data['sha256'][:16]}…)",
        f"- Settings: {', '.join(f'{key} {value}' for key, value in settings.items())}",
    ]
    if facts.get("processes", 1) > 1:
        lines.append(f"- Trained in {facts['processes']} processes, which shared every batch")
    if facts.get("stand_ins"):
        lines.append(f"- Made with stand-ins for models that were not to be had: {', '.join(facts['stand_ins'])}")
    if facts.get("left_out"):
        lines.append(f"- Operators left out for want of a model: {', '.join(facts['left_out'])}")
    if found:
        overlap = facts.get("validation_overlap") or 0
        whose = "other questions" if not overlap else f"questions of which {overlap:,} were trained on, too"
        lines += [
            "",
            "## Validation",
            f"{found['triplets']:,} triplets of {whose}: accuracy {found['accuracy']:.3f},"
            f" separation {found['separation']:.3f} (valid {found['mu_pos']:.3f}, invalid {found['mu_neg']:.3f}).",
        ]
    lines += [
        "",
        "## Limits",
        "One vector for a text cannot hold every number of it: a changed number often goes unseen. It was trained on"
        " rule-made pairs and takes heavy but honest rewording for a fault more often than a person would.",
        "",
    ]
    return "\n".join(lines)

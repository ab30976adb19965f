"""The model folder: what sentence-transformers loads as it is, with a model card and ``paraqd.json`` beside."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraqd.training.settings import EncoderTrainingError

FORMAT = 1  # of paraqd.json; a folder of a later one is refused
_NEEDED = ("modules.json", "config.json", "model.safetensors")


def save_model(model: Any, out: Path, facts: Mapping[str, Any]) -> None:
    """Write the folder beside its place and move it there whole."""
    temporary = out.with_name(f".{out.name}.writing-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        model.save_pretrained(str(temporary), create_model_card=False, safe_serialization=True)
        (temporary / "paraqd.json").write_text(
            json.dumps({"format": FORMAT, **facts}, indent=2) + "\n", encoding="utf-8"
        )
        (temporary / "README.md").write_text(model_card(facts), encoding="utf-8")
        if out.exists():
            shutil.rmtree(out)
        temporary.rename(out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_facts(folder: Path) -> dict[str, Any]:
    """Return what ``paraqd.json`` says; one line where the folder is broken or of another version."""
    for name in _NEEDED:
        if not (folder / name).is_file():
            raise EncoderTrainingError(
                f"{folder} is not a whole model folder: it holds no {name}; train or copy it again"
            )
    try:
        facts = json.loads((folder / "paraqd.json").read_text(encoding="utf-8"))
        version = facts["format"]
    except FileNotFoundError:
        raise EncoderTrainingError(f"{folder} was not made by paraqd: it holds no paraqd.json") from None
    except (ValueError, KeyError, TypeError):
        raise EncoderTrainingError(f"{folder}: paraqd.json cannot be read; train or copy the model again") from None
    if version != FORMAT:
        raise EncoderTrainingError(
            f"{folder} is of format {version}, and this version of paraqd reads format {FORMAT}: "
            "install the version it was made with, or train it again"
        )
    return dict(facts)


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
    if facts.get("stand_ins"):
        lines.append(f"- Made with stand-ins for models that were not to be had: {', '.join(facts['stand_ins'])}")
    if found:
        lines += [
            "",
            "## Validation",
            f"{found['triplets']:,} triplets of other questions: accuracy {found['accuracy']:.3f},"
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

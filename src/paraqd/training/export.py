"""A trained folder in the form that scores without torch: an ONNX graph with weights in eight bits, checked."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.errors import ModelError
from paraqd.scoring.onnx_session import MODEL, TOKENIZER
from paraqd.scoring.scorer import Scorer
from paraqd.training.judge_model import HEADS_FILE
from paraqd.training.onnx_graph import encoder_graph, judge_graph, write_graph

MOST_MOVED = 0.02
_COPIED = ("paraqd.json", TOKENIZER, "config.json", "README.md", "LICENSE")


@dataclass(frozen=True)
class Exported:
    """What came of an export: the folder, its size, and how far scores moved on the pairs they were checked on."""

    folder: Path
    kind: str
    megabytes: float
    pairs: int
    most: float
    mean: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "folder": str(self.folder),
            "kind": self.kind,
            "megabytes": round(self.megabytes, 1),
            "pairs": self.pairs,
            "most": round(self.most, 5),
            "mean": round(self.mean, 5),
        }


def export_model(
    folder: str | Path,
    out: str | Path,
    *,
    pairs: Sequence[tuple[str, str]],
    bits: int = 8,
    most_moved: float = MOST_MOVED,
) -> Exported:
    """Write a trained folder in the form that `Scorer` loads.

    Parameters
    ----------
    folder : str or Path
        A bi-encoder or a judge, as training writes them.
    out : str or Path
        Where to; it may be the same folder, which then gains ``onnx/``.
    pairs : sequence of (question, paraphrase)
        Scores are compared on these with those of the full weights.
    bits : int
        8, 16, or 32 for the full weights.
    most_moved : float
        Refuse where a score moves further.

    Raises
    ------
    ModelError
        Where the folder holds no such model, or a score moved too far; nothing is written then.

    """
    if bits not in (8, 16, 32):
        raise ModelError(f"weights in {bits} bits cannot be written: choose 8, 16 or 32")
    source, target = Path(folder), Path(out)
    facts = _facts(source)
    kind = str(facts.get("kind", "bi-encoder"))
    config, weights = _config(source), _weights(source)
    with tempfile.TemporaryDirectory() as work:
        scored = {}
        for precision in dict.fromkeys((32, bits)):
            made = Path(work) / str(precision)
            made.mkdir()
            for name in _COPIED:
                if (source / name).is_file():
                    shutil.copyfile(source / name, made / name)
            build = encoder_graph if kind == "bi-encoder" else judge_graph
            write_graph(build(weights, config, bits=precision), made / MODEL)
            _sign(made, facts)
            mode = "encoder" if kind == "bi-encoder" else "fused"
            verdicts = Scorer.load(made, mode=mode).score_pairs(list(pairs))
            scored[precision] = np.array([verdict.score for verdict in verdicts])
        moved = np.abs(scored[bits] - scored[32]) if len(pairs) else np.zeros(1)
        if moved.max() > most_moved:
            raise ModelError(
                f"not exported: a score moved by {moved.max():.3f} with weights in {bits} bits, more than "
                f"{most_moved:g}; give --bits 16 or 32"
            )
        target.mkdir(parents=True, exist_ok=True)
        shutil.copytree(Path(work) / str(bits), target, dirs_exist_ok=True)
    size = sum(path.stat().st_size for path in ((target / MODEL), (target / TOKENIZER))) / 1e6
    return Exported(target, kind, size, len(pairs), float(moved.max()), float(moved.mean()))


def _sign(folder: Path, facts: dict[str, Any]) -> None:
    """Write what the weights are into ``paraqd.json``, so that other weights are another signature."""
    with open(folder / MODEL, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    text = json.dumps({**facts, "onnx_sha256": digest}, indent=2)
    (folder / "paraqd.json").write_text(text + "\n", encoding="utf-8")


def _facts(folder: Path) -> dict[str, Any]:
    path = folder / "paraqd.json"
    if not path.is_file():
        raise ModelError(f"{folder} is no model folder: it has no paraqd.json (paraqd train makes one)")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise ModelError(f"{folder} holds no weights to export: it has no config.json")
    config: dict[str, Any] = json.loads(path.read_text("utf-8"))
    if config.get("model_type") != "bert":
        raise ModelError(f"{folder} holds a model of type {config.get('model_type')}: only bert can be exported")
    if config.get("hidden_act", "gelu") != "gelu":
        raise ModelError(
            f"{folder} holds a model with the activation {config['hidden_act']}: only gelu can be exported"
        )
    return config


def _weights(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Return the weights by the names that the graphs use."""
    from safetensors.numpy import load_file

    path = folder / "model.safetensors"
    if not path.is_file():
        raise ModelError(f"{folder} holds no weights to export: it has no model.safetensors")
    held = {name: array for name, array in load_file(str(path)).items() if array.dtype.kind == "f"}
    if (folder / HEADS_FILE).is_file():
        held = {f"classifier.{name}": array for name, array in held.items()}
        held |= load_file(str(folder / HEADS_FILE))
    return {name: array.astype(np.float32) for name, array in held.items()}

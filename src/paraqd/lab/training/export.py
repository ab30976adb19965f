"""Export a trained model to an ONNX graph with rounded weights, and measure how much the scores change."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError, reason_of
from paraqd.lab.training.input_ranges import observed_ranges, trained_ranges
from paraqd.lab.training.judge_model import HEADS_FILE, WEIGHTS_FILE
from paraqd.lab.training.onnx_graph import InputRange, Weights, encoder_graph, judge_graph, write_graph
from paraqd.model_folder import (
    FACTS_FILE,
    ONNX_FILE,
    PACKED_FILE,
    SOLVABLE_MODEL,
    TOKENIZER_FILE,
    read_model_folder,
    write_facts,
)
from paraqd.scoring.judge.bi_encoder import BiEncoder
from paraqd.scoring.judge.cross_encoder import CrossEncoder
from paraqd.scoring.judge.single_text import SingleTextJudge
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.scoring.scorer import Scorer
from paraqd.scoring.solvable import Solvability, SolvableChecker
from paraqd.scoring.verdict import Verdict
from paraqd.text_check import is_blank

MOST_MOVED, TRAINED_MOVED = 0.02, 0.05  # the default limits; see `export_model`
_NEARLY_ALL = 0.99
_AGAIN = "train the model again, or copy it again"
_COPIED = (FACTS_FILE, TOKENIZER_FILE, "config.json", "README.md", "LICENSE")


@dataclass(frozen=True)
class Exported:
    """The result of an export: the folder, its size, and how much the scores of the compared pairs changed.

    ``most`` is the largest change in a score, ``mean`` is the mean change, and ``nearly_all`` is the 99th percentile of
    the changes.
    """

    folder: Path
    kind: str
    megabytes: float
    pairs: int
    most: float
    nearly_all: float
    mean: float

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-serialisable dictionary."""
        return {
            "folder": str(self.folder),
            "kind": self.kind,
            "megabytes": round(self.megabytes, 1),
            "pairs": self.pairs,
            "most": round(self.most, 5),
            "nearly_all": round(self.nearly_all, 5),
            "mean": round(self.mean, 5),
        }


def export_model(
    folder: str | Path,
    out: str | Path,
    *,
    pairs: Sequence[tuple[str, str]],
    bits: int = 8,
    most_moved: float | None = None,
) -> Exported:
    """Export a trained model to the format that `Scorer` or `SolvableChecker` loads.

    Parameters
    ----------
    folder : str or Path
        The folder of a bi-encoder or a judge that was trained with this package.
    out : str or Path
        The output folder. If it is the model's own folder, the subfolder ``onnx`` is added.
    pairs : sequence of (question, paraphrase)
        The pairs on which the exported model's scores are compared with the original model's scores. If the model was
        trained without rounded inputs, every second pair is also used to measure the input ranges. A model for single
        questions is compared on the texts of the pairs.
    bits : int
        The number of bits per weight: 8, 16 or 32. With 8 bits, the layers' inputs are also rounded, so the layers
        multiply integers. With 32 bits, the weights are unchanged.
    most_moved : float, optional
        The change in the score that at most 1 % of the pairs may exceed. The default is 0.02. For a model that was
        trained with rounded inputs, the default is 0.05, because inputs can be rounded differently if sums are computed
        in a different order.

    Raises
    ------
    ModelError
        If the folder does not contain such a model, or if the scores change too much. In either case, nothing is
        written.

    """
    if bits not in (8, 16, 32):
        raise ModelError(f"weights cannot have {bits} bits: choose 8, 16 or 32")
    source, target = Path(folder), Path(out)
    facts = dict(read_model_folder(source).facts)
    kind = str(facts.get("kind", "bi-encoder"))
    config, weights = _config(source), _weights(source)
    build = encoder_graph if kind == "bi-encoder" else judge_graph
    with tempfile.TemporaryDirectory() as work:
        made = {precision: Path(work) / str(precision) for precision in (32, bits)}
        scored = {}
        ranges = trained_ranges(weights)  # if the model was trained with rounded inputs, they are always rounded
        for precision, place in made.items():
            if precision == 8 and not ranges:
                ranges = _observed(kind, weights, config, made[32], pairs[::2])
            try:
                graph = build(weights, config, bits=precision, ranges=ranges)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise ModelError(
                    f"{source} cannot be exported, because its files do not belong together ({error!r}): {_AGAIN}"
                ) from None
            _write(source, place, facts, graph)
            try:
                scored[precision] = _scores(kind, place, pairs)
            except ModelError as error:
                raise ModelError(str(error).replace(str(place), str(source))) from None
        moved = np.abs(scored[bits] - scored[32]) if len(pairs) else np.zeros(1)
        nearly_all = float(np.quantile(moved, _NEARLY_ALL))
        most_moved = most_moved or (TRAINED_MOVED if trained_ranges(weights) else MOST_MOVED)
        if nearly_all > most_moved:
            raise ModelError(
                f"not exported: with {bits} bits, 1 % of the scores change by {nearly_all:.3f} or more, and the limit "
                f"is {most_moved:g}; pass --bits 16 or 32"
            )
        target.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made[bits], target, dirs_exist_ok=True)
        write_facts(target, facts)  # write the facts again, because the folder may also contain the full weights
    size = sum(path.stat().st_size for path in ((target / ONNX_FILE), (target / TOKENIZER_FILE))) / 1e6
    return Exported(target, kind, size, len(scored[32]), float(moved.max()), nearly_all, float(moved.mean()))


def _write(source: Path, place: Path, facts: dict[str, Any], graph: Any) -> None:
    place.mkdir()
    for name in _COPIED:
        if (source / name).is_file():
            shutil.copyfile(source / name, place / name)
    write_graph(graph, place / ONNX_FILE)
    write_facts(place, facts)


def _scores(kind: str, folder: Path, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Return an exported model's scores of pairs. A model for single questions scores all texts of the pairs."""
    verdicts: Sequence[Verdict | Solvability]
    if kind == SOLVABLE_MODEL:
        verdicts = SolvableChecker.load(folder).check_texts(_texts(pairs))
    elif kind == "bi-encoder":
        verdicts = Scorer.load(folder, mode="encoder", skip=False).score_pairs(pairs)
    else:
        verdicts = Scorer.load(folder, skip=False, judge="small").score_pairs(pairs)
    return np.array([verdict.score for verdict in verdicts])


def _texts(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys(text for pair in pairs for text in pair if not is_blank(text)))


def _observed(
    kind: str, weights: Weights, config: dict[str, Any], exact: Path, pairs: Sequence[tuple[str, str]]
) -> dict[str, InputRange]:
    """Measure a model's input ranges on pairs.

    If there are no pairs, return an empty dictionary; the inputs are then not rounded.
    """
    if not pairs:
        return {}
    if kind == "bi-encoder":
        return observed_ranges(weights, encoder_graph, config, BiEncoder(exact).feeds(_texts(pairs)))
    if kind == SOLVABLE_MODEL:
        judge = SingleTextJudge(exact, kinds=len(read_model_folder(exact).evidence_kinds))
        return observed_ranges(weights, judge_graph, config, judge.feeds(_texts(pairs)))
    prepared = [prepare_pair(*pair) for pair in pairs]
    return observed_ranges(weights, judge_graph, config, CrossEncoder(exact).feeds(prepared))


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file() and (folder / PACKED_FILE).is_file():
        raise ModelError(f"{folder} has a large model, which needs no export: --as-package makes a package of it")
    if not path.is_file():
        raise ModelError(f"{folder} has no weights to export: it has no config.json")
    try:
        config: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read ({reason_of(error)}): {_AGAIN}") from None
    if not isinstance(config, dict):
        raise ModelError(f"{path} cannot be read (it is not a JSON object): {_AGAIN}")
    if config.get("model_type") != "bert":
        raise ModelError(f"{folder} has a model of type {config.get('model_type')}: only bert models can be exported")
    if config.get("hidden_act", "gelu") != "gelu":
        raise ModelError(f"{folder} has a model with the activation {config['hidden_act']}: only gelu is supported")
    return config


def _weights(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Return the weights in a folder, keyed by the names that the graphs use."""
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise ModelError(f"{folder} has no weights to export: it has no {WEIGHTS_FILE}")
    found = {name: array for name, array in _arrays(path).items() if array.dtype.kind == "f"}
    if (folder / HEADS_FILE).is_file():
        found = {f"classifier.{name}": array for name, array in found.items()}
        found |= _arrays(folder / HEADS_FILE)
    return {name: array.astype(np.float32) for name, array in found.items()}


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays in a safetensors file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found: dict[str, NDArray[Any]] = load_file(str(path))
    except (SafetensorError, OSError, LookupError, TypeError, ValueError) as error:
        raise ModelError(f"{path} cannot be read ({reason_of(error)}): {_AGAIN}") from None
    return found

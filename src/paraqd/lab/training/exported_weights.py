"""Read the weights of an exported judge, so that training can go on from a model that ships without its exact weights.

The weights are those of the 8-bit graph that `onnx_graph.judge_graph` builds: integers multiplied by their scales.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import reason_of
from paraqd.lab.training.judge_model import make_judge, narrow
from paraqd.lab.training.settings import TrainingError
from paraqd.model_folder import ONNX_FILE
from paraqd.scoring.judge.graph_check import check_graph

_LAYER = ("attention.output.dense", "intermediate.dense", "output.dense")
_NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


def load_exported(folder: str | Path, encoder: str | Path, *, inner: int | None = None) -> Any:
    """Build a judge from the weights of an exported judge, which was made from ``encoder``."""
    import torch

    weights = exported_weights(folder)
    judge = make_judge(encoder, inner=len(weights["classifier.bert.encoder.layer.0.intermediate.dense.weight"]))
    try:
        judge.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    except RuntimeError:
        raise TrainingError(
            f"the judge in {folder} was not made from the encoder {encoder}: start from another judge, or from the "
            "encoder with --set \"start=''\""
        ) from None
    if inner is not None:
        narrow(judge.classifier, inner)
    return judge


def exported_weights(folder: str | Path) -> dict[str, NDArray[np.float32]]:
    """Return the weights of an exported judge, keyed as in the ``state_dict`` of a ``CrossEncoderJudge``.

    Raise `TrainingError` if the folder does not contain a judge that was exported with 8 bits.
    """
    from onnx import numpy_helper

    try:
        graph = read_graph(Path(folder) / ONNX_FILE)
        arrays = [(each.name, numpy_helper.to_array(each)) for each in graph.initializer]
    except (OSError, ValueError, TypeError) as error:
        raise TrainingError(
            f"{folder} has no exported judge, or it is damaged ({reason_of(error)}): start from another folder"
        ) from None
    return named_weights(arrays, folder)


def read_graph(path: Path, supplied: Collection[str] = ()) -> Any:
    """Read a graph with the package ``onnx``, or raise `ValueError` if it is damaged.

    The initializers in ``supplied`` may lack values. No values are read from another file.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # has no stubs

    content = path.read_bytes()
    check_graph(content, supplied)
    try:
        return onnx.load_model_from_string(content).graph
    except DecodeError as error:
        raise ValueError(reason_of(error)) from None


def named_weights(arrays: Iterable[tuple[str, NDArray[Any]]], folder: str | Path) -> dict[str, NDArray[np.float32]]:
    """Return the weights of an exported judge, given the names and arrays of its graph in ``folder``."""
    stored: dict[str, list[NDArray[Any]]] = {}
    for name, array in arrays:  # the graph numbers all its names, and their order is that of the layers
        stored.setdefault(name.rpartition("_")[0], []).append(array)
    try:
        return dict(_named(stored))
    except (KeyError, IndexError, ValueError):
        raise TrainingError(f"{folder} has no judge that was exported with 8 bits: start from another folder") from None


def _named(stored: dict[str, list[NDArray[Any]]]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield each weight with its name."""

    def unpacked(hint: str) -> NDArray[np.float32]:
        """Return the next matrix (out, in)."""
        scale = stored[f"{hint}_scale"].pop(0)
        matrix: NDArray[np.float32] = (stored[hint].pop(0).astype(np.float32) * scale).T
        # a judge that was trained without rounding multiplies its inputs first
        return matrix * stored["spread"].pop(0) if "spread" in stored else matrix

    def next_of(hint: str) -> NDArray[np.float32]:
        array: NDArray[np.float32] = stored[hint].pop(0).astype(np.float32)
        return array

    bert = "classifier.bert"
    words, scale = next_of("words"), next_of("words_scale")
    yield f"{bert}.embeddings.word_embeddings.weight", words * scale
    yield f"{bert}.embeddings.token_type_embeddings.weight", next_of("types")
    yield f"{bert}.embeddings.position_embeddings.weight", next_of("positions")
    yield f"{bert}.embeddings.LayerNorm.weight", next_of("norm")
    yield f"{bert}.embeddings.LayerNorm.bias", next_of("norm_bias")
    for number in range(len(stored["attention"])):
        layer = f"{bert}.encoder.layer.{number}"
        joined, bias = unpacked("attention"), next_of("bias")
        for part, weight, offset in zip(("query", "key", "value"), np.split(joined, 3), np.split(bias, 3), strict=True):
            yield f"{layer}.attention.self.{part}.weight", weight
            yield f"{layer}.attention.self.{part}.bias", offset
        for name in _LAYER:
            yield f"{layer}.{name}.bias", next_of("bias")
            yield f"{layer}.{name}.weight", unpacked("dense")
        for name in _NORMS:
            yield f"{layer}.{name}.weight", next_of("norm")
            yield f"{layer}.{name}.bias", next_of("norm_bias")
    for name, hint in ((f"{bert}.pooler.dense", "dense"), ("classifier.classifier", "classifier")):
        yield f"{name}.bias", next_of("bias")
        yield f"{name}.weight", next_of(hint).T
    for name in ("kinds", "places"):
        yield f"{name}.bias", next_of("bias")
        yield f"{name}.weight", next_of(name).T

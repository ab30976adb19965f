"""Score pairs with torch, on a machine without onnxruntime.

The scorer is the shipped one: the same rules, the same fusion and the same weights of the judge. torch multiplies exact
numbers where onnxruntime multiplies integers, so the scores differ a little.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraqd.lab.training.exported_weights import named_weights
from paraqd.lab.training.judge_model import make_judge
from paraqd.model_folder import DEFAULT_MODEL, ONNX_FILE, read_model_folder
from paraqd.model_runtime import quiet
from paraqd.scoring.fused import FusedMethod
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.cross_encoder import CrossEncoder
from paraqd.scoring.judge.pair_tokens import Row
from paraqd.scoring.judge.session import batches_of, check_finite, feed
from paraqd.scoring.scorer import Scorer
from rewardlib.onnx_arrays import read_arrays

HEADS = 12  # of attention; the only number that the weights do not tell


class TorchCrossEncoder(CrossEncoder):
    """The cross-encoder of a model folder, run by torch."""

    def __init__(self, folder: Path, *, kinds: Sequence[str], device: str = "cpu") -> None:
        super().__init__(folder, kinds=kinds)
        self.device = device
        self.module = load_module(folder).to(device).eval()

    def start(self, rows: Sequence[Row], outputs: Sequence[str]) -> Any:
        """Return a function that runs the rows, and returns each row's outputs."""
        del outputs  # the module's outputs are those of the graph, in the same order
        return lambda: self._run(rows)

    def _run(self, rows: Sequence[Row]) -> list[list[Any]]:
        import torch

        found: list[list[Any]] = [[] for _ in rows]
        for batch in batches_of([len(row.ids) for row in rows]):
            inputs = {name: torch.from_numpy(array) for name, array in feed([rows[i] for i in batch]).items()}
            inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
            with torch.inference_mode():
                answers = self.module(**{name: tensor.to(self.device) for name, tensor in inputs.items()})
            arrays = [answer.float().cpu().numpy() for answer in answers]
            check_finite(arrays)
            for place, number in enumerate(batch):
                found[number] = [array[place] for array in arrays]
        return found


def load_module(folder: Path) -> Any:
    """Return the judge of a model folder as a torch module, with the weights of the exported graph."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    weights = named_weights(read_arrays(folder / ONNX_FILE), folder)
    bert = "classifier.bert"
    words = weights[f"{bert}.embeddings.word_embeddings.weight"]
    layers = sum(name.endswith("attention.self.query.weight") for name in weights)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=words.shape[1],
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        intermediate_size=len(weights[f"{bert}.encoder.layer.0.intermediate.dense.weight"]),
        max_position_embeddings=len(weights[f"{bert}.embeddings.position_embeddings.weight"]),
        num_labels=1,
    )
    with tempfile.TemporaryDirectory() as place, quiet():
        BertForSequenceClassification(config).save_pretrained(place)
        judge = make_judge(place)
    judge.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights.items()})
    return judge


def load_torch_scorer(model: str | Path = DEFAULT_MODEL, *, device: str = "cpu") -> Scorer:
    """Load the scorer of a model folder with a judge that torch runs."""
    folder = read_model_folder(model)
    judge = TorchCrossEncoder(folder.path, kinds=folder.evidence_kinds, device=device)
    method = FusedMethod(Fusion.from_dict(folder.facts["fusion"]), judge)
    return Scorer(name=f"{folder.name}-torch", digest=folder.hash8(folder.verified_hashes()), method=method)

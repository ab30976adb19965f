"""The learned judge: a cross-encoder with three heads: valid or not, the kind of fault, and where it shows.

The encoder and the first head are a stock sequence classifier, which sentence-transformers' ``CrossEncoder`` loads as
it is; the other two heads lie beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paraqd.scoring.verdict import EvidenceKind
from paraqd.training.onnx_graph import RANGE
from paraqd.training.rounding import round_inputs

KINDS = tuple(kind.value for kind in EvidenceKind)
HEADS_FILE = "heads.safetensors"
WEIGHTS_FILE = "model.safetensors"


def make_judge(folder: str | Path, *, inner: int | None = None) -> Any:
    """Return an untrained judge on top of an encoder's weights; its layers are narrowed where ``inner`` is given."""
    import torch
    from transformers import AutoModelForSequenceClassification

    classifier = AutoModelForSequenceClassification.from_pretrained(str(folder), num_labels=1, local_files_only=True)
    classifier = classifier.float()  # weights may be stored in half precision
    if inner is not None:
        narrow(classifier, inner)
    width = int(classifier.config.hidden_size)

    class Judge(torch.nn.Module):  # type: ignore[misc]  # torch is not looked into
        """Valid, kind and place from one pass."""

        def __init__(self) -> None:
            super().__init__()
            self.classifier = classifier
            self.kinds = torch.nn.Linear(width, len(KINDS))
            self.places = torch.nn.Linear(width, 1)

        def forward(self, **inputs: Any) -> tuple[Any, Any, Any]:
            """Return the logits of all three heads."""
            states = self.classifier.base_model(**inputs)
            pooled = self.classifier.dropout(states.pooler_output)
            valid = self.classifier.classifier(pooled)[:, 0]
            return valid, self.kinds(pooled), self.places(states.last_hidden_state)[:, :, 0]

    return Judge()


def narrow(classifier: Any, inner: int) -> None:
    """Keep of each layer's inner units those with the largest weights; no fewer are all."""
    import torch

    if inner >= int(classifier.config.intermediate_size):
        return
    for layer in classifier.base_model.encoder.layer:
        up, down = layer.intermediate.dense, layer.output.dense
        size = up.weight.data.norm(dim=1) * down.weight.data.norm(dim=0)
        kept = size.topk(inner).indices.sort().values
        up.weight = torch.nn.Parameter(up.weight.data[kept].clone())
        up.bias = torch.nn.Parameter(up.bias.data[kept].clone())
        down.weight = torch.nn.Parameter(down.weight.data[:, kept].clone())
        up.out_features = down.in_features = inner
    classifier.config.intermediate_size = inner


def save_judge(judge: Any, tokenizer: Any, folder: str | Path) -> None:
    """Write a judge as a model folder: a stock classifier, and the other heads beside it."""
    from safetensors.torch import save_file

    judge.classifier.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    heads = {
        f"{name}.{part}": value.contiguous().cpu()
        for name in ("kinds", "places")
        for part, value in getattr(judge, name).state_dict().items()
    }
    save_file(heads, str(Path(folder) / HEADS_FILE))


def load_judge(folder: str | Path) -> Any:
    """Load a judge that `save_judge` wrote."""
    from safetensors.torch import load_file

    judge = make_judge(folder)
    ranges = {
        name: value for name, value in load_file(str(Path(folder) / WEIGHTS_FILE)).items() if name.endswith(RANGE)
    }
    if ranges:  # it was trained with its inputs rounded, and works with them rounded
        round_inputs(judge)
        judge.classifier.load_state_dict(ranges, strict=False)
    heads = load_file(str(Path(folder) / HEADS_FILE))
    for name in ("kinds", "places"):
        parts = {key.partition(".")[2]: value for key, value in heads.items() if key.startswith(f"{name}.")}
        getattr(judge, name).load_state_dict(parts)
    return judge

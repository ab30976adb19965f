"""The learned judge: a cross-encoder with three heads: valid or not, the kind of fault, and where it shows.

The encoder and the first head are a stock sequence classifier, which sentence-transformers' ``CrossEncoder`` loads as
it is; the other two heads lie beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paraqd.scoring.verdict import EvidenceKind

KINDS = tuple(kind.value for kind in EvidenceKind)
HEADS_FILE = "heads.safetensors"


def make_judge(folder: str | Path) -> Any:
    """Return an untrained judge on top of an encoder's weights."""
    import torch
    from transformers import AutoModelForSequenceClassification

    classifier = AutoModelForSequenceClassification.from_pretrained(str(folder), num_labels=1, local_files_only=True)
    classifier = classifier.float()  # weights may be stored in half precision
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
    heads = load_file(str(Path(folder) / HEADS_FILE))
    for name in ("kinds", "places"):
        parts = {key.partition(".")[2]: value for key, value in heads.items() if key.startswith(f"{name}.")}
        getattr(judge, name).load_state_dict(parts)
    return judge

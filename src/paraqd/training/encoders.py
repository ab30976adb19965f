"""Load bi-encoders for training, by name or folder.

These are SentenceTransformers with any pooling. `paraqd.generators.encoder` embeds texts with finished encoders, and
needs neither sentence-transformers nor the extra ``train``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paraqd.generators.encoder import DEFAULT_ENCODER, encoder_folder, fetch_encoder
from paraqd.scoring.signature import folder_hash
from paraqd.training.settings import TrainingError, require_training

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The encoders of the paper's table, which calls the third only "MPNet". The paper puts MPNet below both MiniLMs in
# semantic search, which fits paraphrase-mpnet-base-v2 better than all-mpnet-base-v2; see results/arms/README.md.
PAPER_ENCODERS = {
    "all-MiniLM-L6-v2": DEFAULT_ENCODER,
    "all-MiniLM-L12-v1": "sentence-transformers/all-MiniLM-L12-v1",
    "all-mpnet-base-v2": "sentence-transformers/all-mpnet-base-v2",
}


def load_trainable(name: str = DEFAULT_ENCODER, *, layers: int | None = None, device: str | None = None) -> Any:
    """Load a SentenceTransformer for training; ``layers`` is the number of first layers to keep.

    Only stock modules are used: no code of the folder is run.
    """
    require_training()
    from sentence_transformers import SentenceTransformer

    model = fetch_encoder(
        PAPER_ENCODERS.get(name, name),
        lambda place, local: SentenceTransformer(place, device=device, local_files_only=local, trust_remote_code=False),
    )
    if layers is not None:
        cut(model, layers)
    return model.float()  # weights stored in half precision are trained in full precision


def encoder_hash(name: str) -> str:
    """Return 8 hex digits for the weights of an encoder in a folder; empty for an encoder from the hub."""
    place = PAPER_ENCODERS.get(name, name)
    folder = encoder_folder(place)
    return folder_hash(folder) if (folder / "config.json").is_file() else ""


def cut(model: Any, layers: int) -> None:
    """Remove all but the first layers of a transformer."""
    backbone = model[0].model if hasattr(model[0], "model") else model[0].auto_model
    stack = getattr(getattr(backbone, "encoder", None), "layer", None)
    if stack is None:
        raise TrainingError(
            f"layers can be removed from models of BERT's kind only, not from {type(backbone).__name__}"
        )
    if not 1 <= layers <= len(stack):
        raise TrainingError(f"the encoder has {len(stack)} layers: {layers} cannot be kept")
    backbone.encoder.layer = stack[:layers]
    backbone.config.num_hidden_layers = layers


def embedder(model: Any, *, batch_size: int = 128) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Return a function from texts to unit vectors of this model."""

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = model.encode(
            list(texts), batch_size=batch_size, show_progress_bar=False, normalize_embeddings=True
        )
        return vectors

    return embed

"""Load bi-encoders for training from a folder or by name.

The bi-encoders are SentenceTransformers with any pooling. To embed texts with a trained encoder, use
`paraqd.scoring.torch_encoder`, which needs neither sentence-transformers nor the extra ``train``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paraqd.lab.training.settings import TrainingError, require_training
from paraqd.scoring.signature import folder_hash
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, check_tokens, encoder_folder, fetch_encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# the encoders in the paper's table; the third is an inference, because the paper says only "MPNet"
PAPER_ENCODERS = {
    "all-MiniLM-L6-v2": DEFAULT_ENCODER,
    "all-MiniLM-L12-v1": "sentence-transformers/all-MiniLM-L12-v1",
    "paraphrase-mpnet-base-v2": "sentence-transformers/paraphrase-mpnet-base-v2",
}
MPNET_NOTE = (
    'the paper says only "MPNet"; we infer paraphrase-mpnet-base-v2, because the paper ranks MPNet below both MiniLM '
    "models in semantic search, whereas, as far as we know, all-mpnet-base-v2 ranks above them"
)


def load_trainable(name: str = DEFAULT_ENCODER, *, layers: int | None = None, device: str | None = None) -> Any:
    """Load a SentenceTransformer for training.

    If ``layers`` is passed, keep only that many of the first layers. Code in the model's folder is never run.
    """
    require_training()
    from sentence_transformers import SentenceTransformer

    model = fetch_encoder(
        PAPER_ENCODERS.get(name, name),
        lambda place, local: SentenceTransformer(place, device=device, local_files_only=local, trust_remote_code=False),
    )
    check_tokens(name, model.tokenizer, backbone(model))
    if layers is not None:
        cut(model, layers)
    return model.float()  # the weights may be stored in half precision, but training needs full precision


def check_available(name: str, *, remedy: str = "pass a folder with --encoder") -> None:
    """Raise `EncoderUnavailableError` if an encoder is not on this machine and cannot be downloaded.

    Only the encoder's configuration is read. ``remedy`` is the advice in the error message.
    """
    require_training()
    from transformers import AutoConfig

    fetch_encoder(
        PAPER_ENCODERS.get(name, name),
        lambda place, local: AutoConfig.from_pretrained(place, local_files_only=local, trust_remote_code=False),
        remedy=remedy,
    )


def encoder_hash(name: str) -> str:
    """Return an 8-digit hexadecimal hash of an encoder's folder, or an empty string if the encoder is on the hub."""
    place = PAPER_ENCODERS.get(name, name)
    folder = encoder_folder(place)
    return folder_hash(folder) if (folder / "config.json").is_file() else ""


def cut(model: Any, layers: int) -> None:
    """Keep only the first ``layers`` layers of an encoder."""
    body = backbone(model)
    stack = getattr(getattr(body, "encoder", None), "layer", None)
    if stack is None:
        raise TrainingError(
            f"layers can only be removed from models with the structure of BERT, not from {type(body).__name__}"
        )
    if not 1 <= layers <= len(stack):
        raise TrainingError(f"the encoder has {len(stack)} layers: {layers} cannot be kept")
    body.encoder.layer = stack[:layers]
    body.config.num_hidden_layers = layers


def backbone(model: Any) -> Any:
    """Return the transformer inside a SentenceTransformer."""
    return model[0].model if hasattr(model[0], "model") else model[0].auto_model


def embedder(model: Any, *, batch_size: int = 128) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Return a function that embeds texts as unit vectors with the given model."""

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = model.encode(
            list(texts), batch_size=batch_size, show_progress_bar=False, normalize_embeddings=True
        )
        return vectors

    return embed

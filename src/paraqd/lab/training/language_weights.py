"""Load, store and export the weights of a language-model judge.

The language model is MPNet. Its vocabulary contains all tokens of the small judge's encoder, so both judges can read
the same tokens: the rows of the table of word embeddings are put into the order of the encoder's tokens.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.files import sha256_of
from paraqd.judge_package import JUDGE
from paraqd.lab.training.exported_language import exported_language_judge
from paraqd.lab.training.judge_model import make_language_judge
from paraqd.lab.training.language_onnx import Shape, layers_in
from paraqd.lab.training.quantisation_aware import exact_weights
from paraqd.lab.training.settings import TrainingError
from paraqd.model_folder import ONNX_FILE, PACKED_FILE, TOKENIZER_FILE
from paraqd.model_runtime import GeneratorUnavailableError, load_pretrained
from paraqd.scoring.judge.installed import required_judge

CONFIG_FILE, WEIGHTS_FILE = "config.json", "judge.safetensors"
_ARCHITECTURE = "mpnet"
# the encoder's special tokens, and what MPNet calls them
_SPECIAL = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>"}


def base_path(model: str) -> Path:
    """Return the folder of a language model, which is downloaded if it is the name of a model on the hub.

    Raise an exception if the model is missing or is not MPNet.
    """
    from transformers import AutoConfig

    try:
        path = load_pretrained(
            model,
            lambda local: _folder_of(model, local),
            needed_by="the language-model judge",
            remedy="pass the folder of an MPNet model with --set \"language_judge.model='DIR'\"",
        )
    except GeneratorUnavailableError as error:
        raise TrainingError(str(error)) from None
    found = AutoConfig.from_pretrained(str(path), local_files_only=True).model_type
    if found != _ARCHITECTURE:
        raise TrainingError(f"language model {model}: its architecture is {found}, but the judge needs {_ARCHITECTURE}")
    return path


def _folder_of(model: str, local: bool) -> Path:
    from huggingface_hub import snapshot_download

    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    return Path(
        snapshot_download(model, local_files_only=local, allow_patterns=["*.json", "*.txt", "model.safetensors"])
    )


def start_folder(start: str) -> Path:
    """Return the folder of the judge from which training starts. ``start`` is its path or the judge package's name."""
    return required_judge().path if start == JUDGE.name and not Path(start).is_dir() else Path(start)


def source_files(model: str, start: str) -> list[Path]:
    """Return the files of the weights with which training starts: those of ``start``, or of the language model.

    Raise an exception if they are missing.
    """
    if start:
        folder = start_folder(start)
        weights = (ONNX_FILE, PACKED_FILE) if _is_exported(folder) else (WEIGHTS_FILE,)
        for name in (*weights, TOKENIZER_FILE):
            if not (folder / name).is_file():
                raise TrainingError(
                    f"{start} has no language-model judge to start from: it has no {name}; name another folder"
                )
        return [folder / name for name in weights]
    return sorted(base_path(model).glob("*.safetensors"))


def source_digest(model: str, start: str) -> str:
    """Return a hash of the weights with which training starts."""
    return hashlib.sha256("".join(map(sha256_of, source_files(model, start))).encode()).hexdigest()


def load_base(model: str, tokenizer: Any) -> Any:
    """Load a language model, put its words into the order of a tokenizer, and build an untrained judge on top of it."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    path = base_path(model)
    body = AutoModel.from_pretrained(
        str(path), dtype=torch.float32, local_files_only=True, add_pooling_layer=False, use_safetensors=True
    )
    own = AutoTokenizer.from_pretrained(str(path), local_files_only=True).get_vocab()
    names = [tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size())]
    missing = [name for name in names if _SPECIAL.get(name, name) not in own]
    if missing:
        raise TrainingError(f"language model {model}: its vocabulary has no token {missing[0]!r} of the encoder")
    rows = torch.tensor([own[_SPECIAL.get(name, name)] for name in names])
    table = body.embeddings.word_embeddings.weight.data[rows].clone()
    body.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(table, freeze=False)
    body.config.vocab_size = len(names)
    return make_language_judge(body)


def save_weights(judge: Any, tokenizer_file: Path, folder: Path) -> dict[str, NDArray[np.float32]]:
    """Store a judge's exact weights in half precision, and return the stored weights."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    halves = {name: value.to(torch.float16).contiguous() for name, value in exact_weights(judge).items()}
    judge.body.config.save_pretrained(str(folder))
    shutil.copyfile(tokenizer_file, folder / TOKENIZER_FILE)
    save_file(halves, str(folder / WEIGHTS_FILE))
    return {name: value.float().numpy() for name, value in halves.items()}


def read_weights(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Read the weights that `save_weights` stored."""
    from safetensors.numpy import load_file

    return {name: array.astype(np.float32) for name, array in load_file(str(folder / WEIGHTS_FILE)).items()}


def load_weights(folder: Path) -> Any:
    """Build a judge from the weights that `save_weights` stored or from an exported judge."""
    import torch
    from transformers import AutoConfig, AutoModel

    if _is_exported(folder):
        weights, shape = exported_language_judge(folder)
        config = _config_of(shape, weights)
    else:
        weights, config = read_weights(folder), AutoConfig.from_pretrained(str(folder), local_files_only=True)
    judge = make_language_judge(AutoModel.from_config(config, dtype=torch.float32, add_pooling_layer=False))
    judge.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return judge


def _is_exported(folder: Path) -> bool:
    return (folder / PACKED_FILE).is_file() and not (folder / WEIGHTS_FILE).is_file()


def _config_of(shape: Shape, weights: Mapping[str, NDArray[np.float32]]) -> Any:
    """Return the configuration of an exported model, whose folder does not contain one."""
    from transformers import MPNetConfig

    words = weights["body.embeddings.word_embeddings.weight"]
    return MPNetConfig(
        vocab_size=len(words),
        hidden_size=words.shape[1],
        intermediate_size=len(weights["body.encoder.layer.0.intermediate.dense.bias"]),
        num_hidden_layers=layers_in(weights),
        num_attention_heads=shape.heads,
        max_position_embeddings=len(weights["body.embeddings.position_embeddings.weight"]),
        relative_attention_num_buckets=len(weights["body.encoder.relative_attention_bias.weight"]),
        layer_norm_eps=shape.epsilon,
    )


def replace_weights(judge: Any, weights: Mapping[str, NDArray[np.float32]]) -> None:
    """Replace a judge's exact weights in place, even if they are rounded in every pass."""
    import torch

    with torch.no_grad():
        for name, value in judge.state_dict(keep_vars=True).items():
            value.copy_(torch.from_numpy(weights[name]))


def shape_of(folder: Path) -> Shape:
    """Return the shape of the model whose weights are in a folder."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(str(folder), local_files_only=True)
    return Shape(heads=int(config.num_attention_heads), epsilon=float(config.layer_norm_eps))

"""Load, cut, store and export the weights of a language-model judge."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.files import sha256_of
from paraqd.generators.causal import PACKAGED_MODEL, packaged_model_file
from paraqd.judge_package import PACKAGE
from paraqd.model_folder import ONNX_FILE, PACKED_FILE, TOKENIZER_FILE
from paraqd.scoring.judge.installed import required_judge
from paraqd.training.causal_onnx import Shape
from paraqd.training.exported_language import exported_language_judge
from paraqd.training.judge_model import CAUSAL_MARKS, frame_paraphrases, load_causal_base, make_causal_judge
from paraqd.training.quantisation_aware import exact_weights
from paraqd.training.settings import TrainingError
from paraqd.training.vocabulary import cut_vocabulary

CONFIG_FILE, WEIGHTS_FILE = "config.json", "judge.safetensors"


def base_path(model: str) -> Path:
    """Return the file or the folder of a language model, or raise an exception if it is missing."""
    path = packaged_model_file() if model == PACKAGED_MODEL else Path(model)
    if not (path.is_file() and path.suffix == ".gguf") and not (path / CONFIG_FILE).is_file():
        raise TrainingError(f"language model {model}: use {PACKAGED_MODEL}, a .gguf file or a model folder")
    return path


def start_folder(start: str) -> Path:
    """Return the folder of the judge from which training starts. ``start`` is its path or the judge package's name."""
    return required_judge().path if start == PACKAGE and not Path(start).is_dir() else Path(start)


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
    path = base_path(model)
    return sorted(path.glob("*.safetensors")) if path.is_dir() else [path]


def source_digest(model: str, start: str) -> str:
    """Return a hash of the weights with which training starts."""
    return hashlib.sha256("".join(map(sha256_of, source_files(model, start))).encode()).hexdigest()


def wrap_tokenizer(tokenizer: Any) -> Any:
    """Return a `tokenizers.Tokenizer` as a transformers tokenizer that is configured for pairs."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    wrapped = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(tokenizer.to_str()))
    frame_paraphrases(wrapped)
    return wrapped


def cut_tokenizer(tokenizer: Any, counts: Mapping[int, int], least_count: int) -> tuple[Any, list[int]]:
    """Keep the tokens that occur often enough, and return the smaller tokenizer and the old id of each token."""
    kept = [token for token, count in counts.items() if count >= least_count]
    return cut_vocabulary(tokenizer, kept, CAUSAL_MARKS)


def load_cut_base(model: str, tokenizer: Any, old_ids: Sequence[int]) -> Any:
    """Load a language model whose vocabulary is cut, and build an untrained judge on top of the model.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        The cut tokenizer.
    old_ids : sequence of int
        The id that each of its tokens has in the language model.

    """
    import torch

    whole, judge = load_causal_base(base_path(model))
    names = [tokenizer.id_to_token(number) for number in range(len(old_ids))]
    if whole.convert_ids_to_tokens(list(old_ids)) != names:
        raise TrainingError(f"the prepared tokens do not belong to the language model {model}: prepare them again")
    table = judge.body.embed_tokens.weight.data[torch.tensor(list(old_ids))].clone()
    judge.body.embed_tokens = torch.nn.Embedding.from_pretrained(table, freeze=False)
    judge.body.config.vocab_size = len(old_ids)
    judge.body.config.pad_token_id = None  # the id has another meaning in the cut vocabulary
    return judge


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
    judge = make_causal_judge(AutoModel.from_config(config, dtype=torch.float32))
    judge.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return judge


def _is_exported(folder: Path) -> bool:
    return (folder / PACKED_FILE).is_file() and not (folder / WEIGHTS_FILE).is_file()


def _config_of(shape: Shape, weights: Mapping[str, NDArray[np.float32]]) -> Any:
    """Return the configuration of an exported model, whose folder does not contain one."""
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=len(weights["body.embed_tokens.weight"]),
        hidden_size=shape.width,
        intermediate_size=len(weights["body.layers.0.mlp.up_proj.weight"]),
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_heads,
        head_dim=shape.head_size,
        rms_norm_eps=shape.epsilon,
        rope_parameters={"rope_type": "default", "rope_theta": shape.rotation},
        tie_word_embeddings=True,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
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
    heads, width = int(config.num_attention_heads), int(config.hidden_size)
    rotation = getattr(config, "rope_theta", None) or config.rope_parameters["rope_theta"]
    return Shape(
        layers=int(config.num_hidden_layers),
        heads=heads,
        key_heads=int(config.num_key_value_heads),
        head_size=int(getattr(config, "head_dim", None) or width // heads),
        width=width,
        epsilon=float(config.rms_norm_eps),
        rotation=float(rotation),
    )

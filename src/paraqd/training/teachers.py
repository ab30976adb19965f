"""Larger or further judges that a small one learns from: what they say of its training pairs.

A teacher is trained on the same pairs and kept only as the log-odds that it gives them. A language model is one of
them: it reads the question, the paraphrase and the question again, for only then a model that sees nothing but what
came before knows what it compares with.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.data.writers import replacing
from paraqd.generators.encoder import DEFAULT_ENCODER, encoder_folder
from paraqd.generators.packaged import CAUSAL_NAME, causal_model_file
from paraqd.training.judge import JudgeSettings, judge_scores, train_judge
from paraqd.training.judge_data import JudgeData, join_data
from paraqd.training.judge_model import KINDS, make_judge
from paraqd.training.settings import EncoderTrainingError
from paraqd.training.train import reproducible

# called with (stage, done, total or None, what else there is to say)
Progress = Callable[[str, int, int | None, str], None]
# turns a set's file into tokens: (set, tokenizer, folder) → data
Tokenize = Callable[[str, Any, Path], JudgeData]

LANGUAGE_MODEL = CAUSAL_NAME
_START, _END = "<|im_start|>", "<|im_end|>"


def teacher_odds(
    name: str,
    sets: Sequence[str],
    tokenize: Tokenize,
    *,
    work: Path,
    settings: JudgeSettings,
    number: int = 0,
    device: str = "cpu",
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Train a teacher and return its log-odds of all training pairs; what was made before is taken up.

    Parameters
    ----------
    name : str
        An encoder's name or folder; a ``.gguf`` file or the name of the packaged language model.
    number : int
        Teachers of the same name have seeds of their own.

    """
    causal = name == LANGUAGE_MODEL or name.endswith(".gguf")
    folder = work / "teachers" / f"{number}-{hashlib.sha256(_identity(name).encode()).hexdigest()[:12]}"
    mine = replace(settings, seed=settings.seed + 1 + number)
    with reproducible(mine.seed):
        tokenizer, judge = _causal(name) if causal else _encoder(name)
    parts = [tokenize(each, tokenizer, folder / "tokens") for each in sets]
    data = join_data([_again(part) for part in parts] if causal else parts)
    if causal:  # one look at each pair: what it says of them is then almost what it would say of new ones
        mine = replace(mine, epochs=1, learning_rate=1e-4, batch_tokens=2 * settings.batch_tokens, rounded_share=0.0)
    digest = hashlib.sha256(f"{sorted(asdict(mine).items())}".encode())
    for column in (data.ids, data.types, data.faults, data.offsets, data.labels, data.kinds, data.weights):
        digest.update(np.ascontiguousarray(column).tobytes())
    kept = folder / f"odds-{digest.hexdigest()[:12]}.npy"
    checkpoints = kept.with_suffix(".checkpoints")  # of this very training: another's would be taken up wrongly
    if not kept.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        tell = progress or (lambda stage, done, total, remark: None)
        train_judge(
            judge,
            data,
            settings=mine,
            device=device,
            checkpoints=checkpoints,
            progress=lambda done, steps, loss: tell(f"teacher {number + 1}", done, steps, f"loss {loss:.3f}"),
        )
        odds = judge_scores(judge, data, device=device, tokens=4 * settings.batch_tokens)
        with replacing(kept) as temporary, open(temporary, "wb") as file:
            np.save(file, odds)
        shutil.rmtree(checkpoints, ignore_errors=True)
    found: NDArray[np.float32] = np.load(kept)
    return found


def check_teacher(name: str) -> None:
    """Raise where there is no such model here."""
    if name == LANGUAGE_MODEL:
        causal_model_file()
    elif name.endswith(".gguf"):
        if not Path(name).is_file():
            raise EncoderTrainingError(f"--teacher {name}: there is no such file")
    elif not (encoder_folder(name) / "config.json").is_file():
        raise EncoderTrainingError(
            f"--teacher {name}: there is no model of that name here; give {DEFAULT_ENCODER}, {LANGUAGE_MODEL}, a .gguf "
            "file or a model folder"
        )


def _identity(name: str) -> str:
    """Return what tells a model from another of the same name: where it lies, and its weights' size and time."""
    if name == LANGUAGE_MODEL:
        return name
    path = Path(name) if name.endswith(".gguf") else encoder_folder(name)
    files = [path] if path.is_file() else sorted(path.glob("*.safetensors")) + sorted(path.glob("tokenizer*"))
    return "|".join([str(path.resolve()), *(f"{f.name} {f.stat().st_size} {f.stat().st_mtime_ns}" for f in files)])


def mean_odds(odds: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return what several teachers say together."""
    mean: NDArray[np.float32] = np.stack(odds).astype(np.float64).mean(axis=0).astype(np.float32)
    return mean


def _encoder(name: str) -> tuple[Any, Any]:
    from transformers import AutoTokenizer

    source = encoder_folder(name)
    return AutoTokenizer.from_pretrained(str(source)), make_judge(source)


def _causal(name: str) -> tuple[Any, Any]:
    """Load a language model as a judge, and its tokenizer as one of pairs."""
    from tokenizers.processors import TemplateProcessing

    from paraqd.generators.causal import load_gguf

    model, tokenizer = load_gguf(causal_model_file() if name == LANGUAGE_MODEL else Path(name))
    marks = [(mark, tokenizer.convert_tokens_to_ids(mark)) for mark in (_START, _END)]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A", pair=f"$A:0 {_START}:0 $B:1 {_END}:1", special_tokens=marks
    )
    return tokenizer, causal_judge(model.model)


def causal_judge(body: Any) -> Any:
    """Return a language model without its head as a judge: the three heads read its last state, and every state."""
    import torch

    width = int(body.config.hidden_size)

    class CausalJudge(torch.nn.Module):  # type: ignore[misc]  # torch is not looked into
        """Valid, kind and place from one pass; texts are padded on the right, where nothing before can see it."""

        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.valid = torch.nn.Linear(width, 1)
            self.kinds = torch.nn.Linear(width, len(KINDS))
            self.places = torch.nn.Linear(width, 1)

        def forward(self, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> tuple[Any, Any, Any]:
            """Return the logits of all three heads."""
            del token_type_ids
            states = self.body(input_ids=input_ids, use_cache=False).last_hidden_state
            ends = states[torch.arange(len(states), device=states.device), attention_mask.sum(1) - 1]
            return self.valid(ends)[:, 0], self.kinds(ends), self.places(states)[..., 0]

    return CausalJudge()


def _again(data: JudgeData) -> JudgeData:
    """Put each question once more behind its paraphrase; only there its faults can be told."""
    pieces: Mapping[str, list[NDArray[Any]]] = {name: [] for name in ("ids", "types", "faults")}
    offsets = [0]
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        asked = slice(start, start + int((data.types[start:end] == 0).sum()))
        faults = data.faults[start:end].copy()
        faults[: asked.stop - asked.start] = -1
        pieces["ids"] += [data.ids[start:end], data.ids[asked]]
        pieces["types"] += [data.types[start:end], data.types[asked]]
        pieces["faults"] += [faults, data.faults[asked]]
        offsets.append(offsets[-1] + int(end - start) + asked.stop - asked.start)
    columns = {name: np.concatenate(parts) for name, parts in pieces.items()}
    return replace(data, offsets=np.array(offsets, dtype=np.int64), **columns)

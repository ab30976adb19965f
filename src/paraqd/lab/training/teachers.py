"""Train the teachers from which a small judge learns, and store their log-odds for the training pairs.

A teacher is an encoder or a causal language model that is trained on the same pairs as the judge.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.training.judge_model import load_causal_base, make_judge
from paraqd.lab.training.judge_tokens import JudgeTokens, join_tokens, repeat_questions
from paraqd.lab.training.judge_training import judge_scores, train_judge
from paraqd.lab.training.language_teacher import check_language_judge, language_odds
from paraqd.lab.training.settings import JudgeSettings, TrainingError
from paraqd.lab.training.torch_state import reproducible
from paraqd.paraphrasing.text_models.causal import PACKAGED_MODEL, packaged_model_file
from paraqd.progress import Progress, silent
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, encoder_folder
from paraqd.tables.writers import replacing

LANGUAGE_JUDGE = "language_judge"
# a function that takes a set's name, a tokenizer and a folder for storing tokens, and returns the set's tokens
Tokenize = Callable[[str, Any, Path], JudgeTokens]


@dataclass(frozen=True, kw_only=True)
class Teacher:
    """A teacher's model, and the training settings that differ from the judge's settings.

    ``model`` is the name or the folder of an encoder, the name of the packaged language model, the path of a ``.gguf``
    file, or ``language_judge`` for the trained language-model judge in the work folder.
    """

    model: str
    settings: Mapping[str, Any]

    @property
    def causal(self) -> bool:
        """True if the model is a causal language model."""
        return self.model == PACKAGED_MODEL or self.model.endswith(".gguf")

    @property
    def name(self) -> str:
        """The model's name, without the parent folders if the model is a file or a folder."""
        return Path(self.model).name if Path(self.model).exists() else self.model

    def check(self, work: Path | None = None) -> None:
        """Raise an exception if the model is missing. The trained judge is looked for only if ``work`` is passed."""
        if self.model == LANGUAGE_JUDGE:
            if work is not None:
                check_language_judge(work)
        elif self.model == PACKAGED_MODEL:
            packaged_model_file()
        elif self.model.endswith(".gguf"):
            if not Path(self.model).is_file():
                raise TrainingError(f"teacher {self.model}: the file does not exist")
        elif not (encoder_folder(self.model) / "config.json").is_file():
            raise TrainingError(
                f"teacher {self.model}: no such model on this machine; use {DEFAULT_ENCODER}, {PACKAGED_MODEL}, a "
                ".gguf file or a model folder"
            )


def teacher_odds(
    teacher: Teacher,
    sets: Sequence[str],
    tokenize: Tokenize,
    *,
    work: Path,
    settings: JudgeSettings,
    number: int = 1,
    device: str = "cpu",
    progress: Progress = silent,
) -> NDArray[np.float32]:
    """Train a teacher, and return its log-odds for all training pairs. Stored results from an earlier run are reused.

    Parameters
    ----------
    sets : sequence of str
        The names of the training sets.
    tokenize : callable
        A function that takes a set's name, a tokenizer and a folder for storing tokens, and returns the set's tokens.
    work : Path
        The folder in which tokens, checkpoints and log-odds are stored.
    settings : JudgeSettings
        The judge's settings. The teacher's own settings take precedence.
    number : int
        The teacher's number, which appears in progress reports. The default seed depends on this number, so teachers
        with the same model differ.

    """
    if teacher.model == LANGUAGE_JUDGE:
        return language_odds(work, sets, tokenize, device=device, progress=progress)
    own = replace(settings, **{"seed": settings.seed + number, "inner": None, **teacher.settings})
    folder = work / "teachers" / f"{number}-{hashlib.sha256(_identity(teacher).encode()).hexdigest()[:12]}"
    with reproducible(own.seed):
        tokenizer, judge = _untrained(teacher)
        parts = [tokenize(each, tokenizer, folder / "tokens") for each in sets]
        tokens = join_tokens([repeat_questions(part) for part in parts] if teacher.causal else parts)
        digest = hashlib.sha256(f"{sorted(asdict(own).items())}".encode())
        for column in vars(tokens).values():
            digest.update(np.ascontiguousarray(column).tobytes())
        path = folder / f"odds-{digest.hexdigest()[:12]}.npy"
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            checkpoints = path.with_suffix(".checkpoints")  # the name depends on the settings and tokens
            stage = f"teacher {number}"
            train_judge(
                judge, tokens, settings=own, device=device, checkpoints=checkpoints, stage=stage, progress=progress
            )
            odds = judge_scores(judge, tokens, device=device, batch_tokens=4 * own.batch_tokens)
            with replacing(path) as temporary, open(temporary, "wb") as file:
                np.save(file, odds)
            shutil.rmtree(checkpoints, ignore_errors=True)
    found: NDArray[np.float32] = np.load(path)
    return found


def mean_odds(odds: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the mean log-odds of several teachers."""
    mean: NDArray[np.float32] = np.stack(odds).astype(np.float64).mean(axis=0).astype(np.float32)
    return mean


def _identity(teacher: Teacher) -> str:
    """Return a string that identifies a teacher's model.

    The string contains the model's path and the names, sizes and modification times of its files. For the packaged
    model, the string is the model's name.
    """
    if teacher.model == PACKAGED_MODEL:
        return teacher.model
    path = Path(teacher.model) if teacher.causal else encoder_folder(teacher.model)
    files = [path] if path.is_file() else sorted(path.glob("*.safetensors")) + sorted(path.glob("tokenizer*"))
    return "|".join([str(path.resolve()), *(f"{f.name} {f.stat().st_size} {f.stat().st_mtime_ns}" for f in files)])


def _untrained(teacher: Teacher) -> tuple[Any, Any]:
    """Return a teacher's tokenizer, and an untrained judge on top of the teacher's model."""
    if teacher.causal:
        file = packaged_model_file() if teacher.model == PACKAGED_MODEL else Path(teacher.model)
        return load_causal_base(file)
    from transformers import AutoTokenizer

    folder = encoder_folder(teacher.model)
    return AutoTokenizer.from_pretrained(str(folder)), make_judge(folder)

"""Train a bi-encoder on triplets, and write its model folder.

An interrupted training run can be resumed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraqd.lab.training.batches import plan_batches, tokenize
from paraqd.lab.training.encoders import embedder, encoder_hash, load_trainable
from paraqd.lab.training.model_cards import bi_encoder_card
from paraqd.lab.training.processes import Crew, check_shares, join, own_device
from paraqd.lab.training.saving import check_out, read_bi_encoder_facts, save_model_folder
from paraqd.lab.training.settings import (
    CHECKPOINT_SECONDS,
    TrainingError,
    TrainingStopped,
    TrainSettings,
    require_training,
)
from paraqd.lab.training.steps import CHECKPOINT
from paraqd.lab.training.torch_state import reproducible
from paraqd.lab.training.trainer import run_trainer
from paraqd.lab.training.validation import Validation, validate
from paraqd.model_runtime import quiet
from paraqd.progress import Progress, silent
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER
from paraqd.scoring.verdict import THRESHOLD
from paraqd.tables.locks import try_lock
from paraqd.tables.writers import replace_json

if TYPE_CHECKING:
    from paraqd.lab.corpora.triplets import TripletSet


@dataclass(frozen=True)
class Trained:
    """The result of training a bi-encoder: the model folder and the contents of its ``paraqd.json``.

    ``reused`` is True if an earlier call had already trained the model.
    """

    folder: Path
    facts: dict[str, Any]
    reused: bool = False

    @property
    def validation(self) -> Validation | None:
        """The validation metrics after the last epoch, or None if there were no validation triplets."""
        found = self.facts.get("validation")
        return None if not found else Validation(**{k: v for k, v in found.items() if k != "separation"})


@dataclass
class _History:
    """The validation metrics after each epoch, stored in a file so that a resumed run keeps them."""

    path: Path
    epochs: dict[int, dict[str, float]] = field(default_factory=dict)

    def load(self) -> None:
        if self.path.is_file():
            self.epochs = {int(key): value for key, value in json.loads(self.path.read_text("utf-8")).items()}

    def add(self, epoch: int, found: Validation) -> None:
        self.epochs[epoch] = found.to_dict()
        replace_json(self.path, self.epochs)

    def note(self) -> str:
        """Return the latest separation as text for progress reports, or an empty string before the first epoch ends."""
        return f", separation {self.epochs[max(self.epochs)]['separation']:.3f}" if self.epochs else ""


def train_bi_encoder(
    triplets: TripletSet,
    out: str | Path,
    *,
    settings: TrainSettings | None = None,
    encoder: str = DEFAULT_ENCODER,
    layers: int | None = None,
    validation: TripletSet | None = None,
    recipe: str = "",
    stand_ins: Sequence[str] = (),
    left_out: Sequence[str] = (),
    device: str | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    overwrite: bool = False,
    restart: bool = False,
    progress: Progress = silent,
) -> Trained:
    """Train an encoder on triplets, and write the model folder.

    If the process is killed, a second call with the same arguments on the same machine resumes training and ends with
    the same weights. If the folder already contains a model that was trained with the same arguments, training is
    skipped.

    Processes started by ``accelerate launch`` or ``torchrun`` share every batch. The result is the same as with one
    process, except for the random choices of dropout. Only the main process writes files.

    Parameters
    ----------
    triplets : TripletSet
        The training data; see `paraqd.lab.corpora.triplets.make_triplets`.
    out : str or Path
        The model folder. During training, checkpoints are written to the folder ``OUT.checkpoints``.
    settings : TrainSettings, optional
        The training settings (default: the paper's settings).
    encoder : str
        The name of a packaged encoder, a folder, or a name on the model hub.
    layers : int, optional
        The number of the encoder's first layers to keep, for a quick run (default: all).
    validation : TripletSet, optional
        Triplets from other questions, on which the model is evaluated after each epoch.
    recipe, stand_ins, left_out
        The origin of the triplets, which is recorded in the model folder: the recipe's name, the stand-ins for models,
        and the skipped operators.
    checkpoint_seconds : float
        The number of seconds between two checkpoints.
    overwrite : bool
        Replace the folder if it contains a different model.
    restart : bool
        Discard an unfinished training run with different settings.

    Raises
    ------
    TrainingError
        If a model cannot be trained with these arguments.
    TrainingStopped
        If Ctrl-C was pressed. A checkpoint is written first.

    """
    require_training()
    settings = settings or TrainSettings()
    crew = join(device)
    check_shares(settings.batch_size, crew.size)
    device = own_device(device)
    report = progress if crew.is_main else silent
    if not len(triplets.triplets):
        raise TrainingError("there are no triplets to train on: no question has both a valid and an invalid output")
    folder = Path(out)
    crew.by_main(lambda: check_out(folder))
    facts = {
        "name": folder.name,
        "kind": "bi-encoder",
        "threshold": THRESHOLD,
        "encoder": encoder,
        "encoder_hash": encoder_hash(encoder),
        "layers": layers,
        "recipe": recipe,
        "stand_ins": list(stand_ins),
        "left_out": list(left_out),
        "settings": settings.to_dict(),
        "data": describe(triplets),
        "validation_data": None if validation is None else describe(validation),
    }
    work_dir = folder.with_name(f"{folder.name}.checkpoints")
    finished = crew.by_main(lambda: _finished(folder, facts, overwrite=overwrite))
    if finished is not None:
        return Trained(folder, finished, reused=True)
    with ExitStack() as stack, reproducible(settings.seed), quiet():
        crew.by_main(lambda: stack.enter_context(_locked(work_dir)))
        model = load_trainable(encoder, layers=layers, device=device)
        crew.by_main(lambda: _begin(work_dir, facts, crew.size, restart=restart))
        report("tokenising", 0, len(triplets.texts))
        limit = min(settings.max_length or model.max_seq_length, model.max_seq_length)
        model.max_seq_length = limit  # so that the same limit applies in validation and in later use of the model
        tokens = tokenize(triplets.texts, model.tokenizer, max_length=limit)
        plan = plan_batches(
            triplets,
            tokens.lengths,
            batch_size=settings.batch_size,
            epochs=settings.epochs,
            seed=settings.seed,
            distinct_questions=settings.loss == "mnrl" or bool((triplets.triplets[:, 2] < 0).any()),
            grouped=settings.batches == "grouped",
        )
        if not len(plan):
            raise TrainingError("there are too few questions for one batch")
        history = _History(work_dir / "history.json")
        history.load()

        def validate_epoch(epoch: int) -> None:
            if validation is not None and len(validation.triplets):
                history.add(epoch, validate(embedder(model), validation))

        def report_with_separation(stage: str, done: int, total: int | None, note: str = "") -> None:
            report(stage, done, total, note and note + history.note())

        loss = run_trainer(
            model,
            triplets,
            tokens,
            plan,
            settings=settings,
            work_dir=work_dir,
            crew=crew,
            device=device,
            checkpoint_seconds=checkpoint_seconds,
            validate_epoch=validate_epoch,
            progress=report_with_separation,
        )
        last = history.epochs.get(settings.epochs)
        facts = {
            **facts,
            "validation": last,
            "validation_overlap": None if validation is None else _overlap(triplets, validation),
            "history": history.epochs,
            "steps": len(plan),
            "processes": crew.size,
            "loss": None if loss is None else round(loss, 4),
            "versions": _versions(),
        }
        _check_same(model, crew)
        written = crew.by_main(lambda: _write(model, folder, facts, work_dir))
    return Trained(folder, written)


def _write(model: Any, folder: Path, facts: dict[str, Any], work_dir: Path) -> dict[str, Any]:
    """Write the model folder, delete the checkpoints, and return the contents of ``paraqd.json``."""
    save_model_folder(
        folder,
        facts,
        card=bi_encoder_card(facts),
        write_weights=lambda place: model.save_pretrained(str(place), create_model_card=False, safe_serialization=True),
    )
    shutil.rmtree(work_dir, ignore_errors=True)
    return read_bi_encoder_facts(folder)


def _check_same(model: Any, crew: Crew) -> None:
    """Raise `TrainingError` unless all processes have exactly the same weights."""
    if crew.size == 1:
        return
    digest = hashlib.sha256()
    for name, value in model.state_dict().items():
        digest.update(name.encode() + value.detach().cpu().contiguous().view(-1).numpy().tobytes())
    if len(set(crew.everyone(digest.hexdigest()))) > 1:
        raise TrainingError(
            "the processes ended with different weights, so no model was written: check the GPUs, or train in one "
            "process"
        )


def _overlap(triplets: TripletSet, validation: TripletSet) -> int:
    """Count the validation questions that are also training questions."""
    trained = {triplets.texts[i] for i in set(triplets.triplets[:, 0].tolist())}
    return sum(validation.texts[i] in trained for i in set(validation.triplets[:, 0].tolist()))


@contextmanager
def _locked(work_dir: Path) -> Iterator[None]:
    """Hold a lock on the checkpoint folder, or raise `TrainingError` if another process holds the lock."""
    work_dir.parent.mkdir(parents=True, exist_ok=True)
    path = work_dir.with_name(f".{work_dir.name}.lock")
    with open(path, "wb") as file:
        if not try_lock(file):
            raise TrainingError(
                f"another process is training {work_dir.stem}: wait until it has finished, or choose another --out"
            )
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def describe(triplets: TripletSet) -> dict[str, Any]:
    """Return the number of triplets, the number of questions and a hash of the data."""
    digest = hashlib.sha256()
    for text in triplets.texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    digest.update(triplets.triplets.tobytes())
    digest.update(triplets.questions.tobytes())
    count = len(set(triplets.questions.tolist()))
    return {"triplets": len(triplets.triplets), "questions": count, "sha256": digest.hexdigest()}


def _finished(folder: Path, facts: dict[str, Any], *, overwrite: bool) -> dict[str, Any] | None:
    """Return the contents of ``paraqd.json`` if the folder's model was trained with the same data and settings.

    Return None if the folder is empty or may be overwritten. Otherwise, raise `TrainingError`.
    """
    if not folder.exists() or not any(folder.iterdir()):
        return None
    there: dict[str, Any] = {}
    try:
        there = read_bi_encoder_facts(folder)
    except TrainingError:
        if not overwrite:
            raise
    if there and all(there.get(key) == json.loads(json.dumps(value)) for key, value in facts.items()):
        return there
    if not overwrite:
        raise TrainingError(
            f"{folder} has a model from another training run: choose another --out, or pass --overwrite"
        )
    return None


def _begin(work_dir: Path, facts: dict[str, Any], processes: int, *, restart: bool) -> None:
    """Prepare the checkpoint folder.

    Checkpoints from a training run with the same data and settings are kept. Other checkpoints are discarded if
    ``restart`` is True; otherwise, `TrainingError` is raised.
    """
    manifest = work_dir / "training.json"
    wanted = json.loads(json.dumps({**facts, **({"processes": processes} if processes > 1 else {})}))
    there = json.loads(manifest.read_text("utf-8")) if manifest.is_file() else None
    if there == wanted:
        return
    if (work_dir / CHECKPOINT).is_file() and not restart:
        begun = (there or {}).pop("processes", 1)
        if there == json.loads(json.dumps(facts)):
            raise TrainingError(
                f"{work_dir} has a training run that was started in {begun} "
                f"{'process' if begun == 1 else 'processes'}: use the same number, or pass --restart"
            )
        raise TrainingError(
            f"{work_dir} has an unfinished training run with other settings: use those settings, or pass --restart"
        )
    shutil.rmtree(work_dir, ignore_errors=True)
    replace_json(manifest, wanted)


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("torch", "transformers", "sentence-transformers", "accelerate")}


__all__ = ["Trained", "TrainingStopped", "train_bi_encoder"]

"""Train a bi-encoder on planned batches with sentence-transformers' trainer."""

from __future__ import annotations

import json
import math
import shutil
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraqd.generators.runtime import without_cudnn_attention
from paraqd.interrupts import Interrupt, deferred_interrupt
from paraqd.progress import Progress, silent
from paraqd.training.batches import BatchPlan, TokenStore, collate
from paraqd.training.losses import make_loss
from paraqd.training.processes import ALONE, Crew
from paraqd.training.settings import (
    CHECKPOINT_SECONDS,
    REPORT_SECONDS,
    TrainingError,
    TrainingStopped,
    TrainSettings,
)

if TYPE_CHECKING:
    from paraqd.data.triplets import TripletSet


def run_trainer(
    model: Any,
    triplets: TripletSet,
    tokens: TokenStore,
    plan: BatchPlan,
    *,
    settings: TrainSettings,
    work_dir: Path,
    crew: Crew = ALONE,
    device: str | None = None,
    workers: int = 0,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    validate_epoch: Callable[[int], None] = lambda epoch: None,
    progress: Progress = silent,
) -> float | None:
    """Train a model in place on all planned batches, and return the last reported loss.

    If ``work_dir`` contains a checkpoint, training resumes from it. If several processes form a crew, they share every
    batch and end with the same weights. After each epoch, the main process calls ``validate_epoch`` with the epoch's
    number, which starts at 1. Return None if no step was left to train.
    """
    from accelerate.data_loader import prepare_data_loader
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from torch.utils.data import DataLoader
    from transformers import PrinterCallback

    class PlannedTrainer(SentenceTransformerTrainer):
        """A trainer whose batches come from the plan, which covers all epochs in a single pass."""

        def get_train_dataloader(self) -> Any:
            loader = DataLoader(
                self.train_dataset,
                batch_sampler=plan,
                collate_fn=self.data_collator,
                num_workers=self.args.dataloader_num_workers,
                pin_memory=self.args.dataloader_pin_memory,
                persistent_workers=False,
            )
            # the loader is not sharded, because every process reads every batch and encodes only its own share
            return prepare_data_loader(
                loader, self.accelerator.device, num_processes=1, process_index=0, put_on_device=True
            )

        def _save_rng_state(self, output_dir: str) -> None:
            """Save the random state, then wait until all processes have saved theirs.

            Only then may the trainer write the file that marks the checkpoint as complete.
            """
            super()._save_rng_state(output_dir)
            crew.wait()

        def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
            """Do nothing, because paraqd writes its own model card at the end."""

        def preprocess_dataset(self, dataset: Any = None, dataset_name: str | None = None) -> Any:
            """Return the triplets unchanged, because they are already tokenised."""
            return dataset

    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(work_dir),
        num_train_epochs=1,
        per_device_train_batch_size=settings.batch_size // crew.size,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        warmup_steps=settings.warmup_share,
        lr_scheduler_type="linear",
        optim="adamw_torch_fused" if _on_gpu(device) else "adamw_torch",
        seed=settings.seed,
        bf16=_bf16(settings, device),
        use_cpu=device == "cpu",
        logging_strategy="no",
        save_strategy="no",  # the callback requests checkpoints at time intervals
        save_total_limit=1,
        eval_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_num_workers=workers,
        dataloader_drop_last=crew.size > 1,  # avoids a warning, and does not affect planned batches
        dataloader_pin_memory=_on_gpu(device),
        remove_unused_columns=False,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # each process uses one GPU, because a collated batch cannot be split
    loss = make_loss(model, settings, crew)
    batch_of: Any = partial(collate, triplets=triplets, tokens=tokens, rank=crew.rank, size=crew.size)
    last = crew.by_main(lambda: last_checkpoint(work_dir))
    # a launcher may forward a single Ctrl-C several times
    with deferred_interrupt(patient=crew.size > 1) as interrupt, without_cudnn_attention(), warnings.catch_warnings():
        # accelerate itself causes this warning
        warnings.filterwarnings("ignore", message=".*broadcast_buffers", category=FutureWarning)
        watch = _make_watch(plan, loss, crew, interrupt, checkpoint_seconds, validate_epoch, progress)
        trainer = PlannedTrainer(
            model=model,
            args=arguments,
            train_dataset=range(len(triplets.triplets)),
            data_collator=batch_of,
            loss=loss,
            callbacks=[watch],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train(resume_from_checkpoint=last)
    if watch.stopped:
        raise TrainingStopped
    last_loss: float | None = watch.last_loss
    return last_loss


def _make_watch(
    plan: BatchPlan,
    loss: Any,
    crew: Crew,
    interrupt: Interrupt,
    checkpoint_seconds: float,
    validate_epoch: Callable[[int], None],
    progress: Progress,
) -> Any:
    """Create the trainer's callback, which reports progress, requests checkpoints and handles Ctrl-C."""
    import torch
    from transformers import TrainerCallback

    class Watch(TrainerCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.stopped = False  # has the same value in all processes
            self.last_loss: float | None = None
            self._saved = self._reported = time.monotonic()

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if crew.rank:  # dropout should differ between processes; a resumed run then loads its saved random state
                torch.manual_seed(args.seed + (crew.rank << 32))
            progress("training", state.global_step, state.max_steps)  # a resumed run starts at a later step

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
            step, last, now = state.global_step, state.max_steps, time.monotonic()
            if crew.is_main and step in plan.epoch_ends:
                validate_epoch(plan.epoch_ends.index(step) + 1)
            # clocks differ, so the main process's clock decides, and Ctrl-C in any process stops all processes
            save, report, self.stopped = crew.any(
                crew.is_main and now - self._saved > checkpoint_seconds,
                crew.is_main and now - self._reported > REPORT_SECONDS,
                interrupt.requested,
            )
            control.should_training_stop |= self.stopped
            control.should_save |= step < last and (self.stopped or save)
            if report or step == last:
                self._reported = now
                self.last_loss = _recent_loss(loss, step)
                progress("training", step, last, f"loss {self.last_loss:.3f}")
            return control

        def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self._saved = time.monotonic()  # the interval starts after the checkpoint has been written

    return Watch()


def _recent_loss(loss: Any, step: int) -> float:
    """Return the mean loss since the last call, or raise `TrainingError` if it is not finite."""
    mean: float = loss.recent()
    if not math.isfinite(mean):
        raise TrainingError(f"training diverged: the loss at step {step:,} is {mean}")
    return mean


def last_checkpoint(work_dir: Path) -> str | None:
    """Return the path of the newest complete checkpoint, or None if there is no complete checkpoint.

    Incomplete checkpoints, which a killed process may leave behind, are deleted.
    """
    complete = []
    for folder in work_dir.glob("checkpoint-*"):
        try:  # the trainer writes its state last
            step = int(json.loads((folder / "trainer_state.json").read_text("utf-8"))["global_step"])
            complete.append((step, folder))
        except (OSError, ValueError, KeyError):
            shutil.rmtree(folder, ignore_errors=True)
    return str(max(complete)[1]) if complete else None


def _on_gpu(device: str | None) -> bool:
    import torch

    return device != "cpu" and torch.cuda.is_available()


def _bf16(settings: TrainSettings, device: str | None) -> bool:
    import torch

    if settings.precision != "auto":
        return settings.precision == "bf16"
    return _on_gpu(device) and torch.cuda.is_bf16_supported()

"""Train a bi-encoder on planned batches with the trainer from sentence-transformers."""

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

from paraqd.interrupts import Interrupt, deferred_interrupt
from paraqd.training.batches import BatchPlan, TokenStore, collate
from paraqd.training.losses import make_loss
from paraqd.training.processes import ALONE, Crew
from paraqd.training.settings import TrainingError, TrainingStopped, TrainSettings
from paraqd.training.torch_state import without_cudnn_attention

if TYPE_CHECKING:
    from paraqd.data.triplets import TripletSet

# called with (completed batches, total number of batches, mean loss since the last call)
StepProgress = Callable[[int, int, float], None]
_CHECKPOINT_SECONDS = 60.0
_SHOW_SECONDS = 0.5


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
    checkpoint_seconds: float = _CHECKPOINT_SECONDS,
    on_step: StepProgress | None = None,
    on_epoch: Callable[[int], None] | None = None,
) -> None:
    """Train the model in place on all planned batches, starting from the last checkpoint in ``work_dir``.

    The processes in a crew share every batch, and all of them end with the same weights.
    """
    from accelerate.data_loader import prepare_data_loader
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from torch.utils.data import DataLoader
    from transformers import PrinterCallback

    class PlannedTrainer(SentenceTransformerTrainer):
        """A trainer that takes its batches from the plan, in which one pass covers all epochs."""

        def get_train_dataloader(self) -> Any:
            loader = DataLoader(
                self.train_dataset,
                batch_sampler=plan,
                collate_fn=self.data_collator,
                num_workers=self.args.dataloader_num_workers,
                pin_memory=self.args.dataloader_pin_memory,
                persistent_workers=False,
            )
            # the loader is not sharded, because every process reads every batch and takes its share of the batch
            return prepare_data_loader(
                loader, self.accelerator.device, num_processes=1, process_index=0, put_on_device=True
            )

        def _save_rng_state(self, output_dir: str) -> None:
            """Save the state, then wait for all processes.

            The file that is written next marks the checkpoint as complete.
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
        save_strategy="no",  # the callback below requests checkpoints at time intervals
        save_total_limit=1,
        eval_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataloader_num_workers=workers,
        dataloader_drop_last=crew.size > 1,  # avoids a warning and does not affect planned batches
        dataloader_pin_memory=_on_gpu(device),
        remove_unused_columns=False,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # each process uses one GPU, because a collated batch cannot be split
    loss = make_loss(model, settings, crew)
    batch_of: Any = partial(collate, triplets=triplets, tokens=tokens, rank=crew.rank, size=crew.size)
    last = crew.by_main(lambda: last_checkpoint(work_dir))
    # a launcher may forward a single Ctrl-C several times
    with deferred_interrupt(patient=crew.size > 1) as interrupt, without_cudnn_attention(), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*broadcast_buffers", category=FutureWarning
        )  # raised by accelerate itself
        watch = _make_watch(plan, loss, crew, interrupt, checkpoint_seconds, on_step, on_epoch)
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


def _make_watch(
    plan: BatchPlan,
    loss: Any,
    crew: Crew,
    interrupt: Interrupt,
    checkpoint_seconds: float,
    on_step: StepProgress | None,
    on_epoch: Callable[[int], None] | None,
) -> Any:
    """Create the callback that reports progress, requests checkpoints and, on Ctrl-C, stops after a checkpoint."""
    import torch
    from transformers import TrainerCallback

    class Watch(TrainerCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.stopped = False  # has the same value in all processes
            self._saved = self._shown = time.monotonic()

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if crew.rank:  # dropout differs between processes; a resumed run loads the state afterwards
                torch.manual_seed(args.seed + (crew.rank << 32))
            if on_step is not None:  # reports the step from which a resumed run continues
                on_step(state.global_step, state.max_steps, math.nan)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
            step, last, now = state.global_step, state.max_steps, time.monotonic()
            if on_epoch is not None and crew.is_main and step in plan.epoch_ends:
                on_epoch(plan.epoch_ends.index(step) + 1)
            # clocks differ, so the main process's clock decides, and Ctrl-C in any process stops all processes
            late, shown, self.stopped = crew.any(
                crew.is_main and now - self._saved > checkpoint_seconds,
                crew.is_main and now - self._shown > _SHOW_SECONDS,
                interrupt.requested,
            )
            control.should_training_stop |= self.stopped
            control.should_save |= step < last and (self.stopped or late)
            if shown or step == last:
                self._shown = now
                _show(loss, step, last, on_step)
            return control

        def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self._saved = time.monotonic()  # the time spent on saving does not count

    return Watch()


def _show(loss: Any, step: int, steps: int, on_step: StepProgress | None) -> None:
    mean = loss.recent()
    if not math.isfinite(mean):
        raise TrainingError(f"training diverged: the loss at step {step:,} is {mean}")
    if on_step is not None:
        on_step(step, steps, mean)


def last_checkpoint(work_dir: Path) -> str | None:
    """Return the path of the newest complete checkpoint, or None if there is none.

    Incomplete checkpoints, which a killed process may leave, are deleted.
    """
    whole = []
    for folder in work_dir.glob("checkpoint-*"):
        try:  # the trainer writes its state last
            whole.append((int(json.loads((folder / "trainer_state.json").read_text("utf-8"))["global_step"]), folder))
        except (OSError, ValueError, KeyError):
            shutil.rmtree(folder, ignore_errors=True)
    return str(max(whole)[1]) if whole else None


def _on_gpu(device: str | None) -> bool:
    import torch

    return device != "cpu" and torch.cuda.is_available()


def _bf16(settings: TrainSettings, device: str | None) -> bool:
    import torch

    if settings.precision != "auto":
        return settings.precision == "bf16"
    return _on_gpu(device) and torch.cuda.is_bf16_supported()

"""Compare the training speed of paraqd, a plain loop and sentence-transformers' ``fit``, in triplets per second.

    python bench/training.py pairs.jsonl.gz validation_pairs.jsonl.gz --questions 2000 --epochs 2

``fit`` is called as in the paper's public code, with batches of 16 triplets in random order. It tokenises texts in the
loop, and encodes a question again for each of the question's triplets. All methods start from the same encoder and
train on the same triplets. The measured time does not include loading the encoder.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import InputExample
from sentence_transformers.sentence_transformer import losses
from torch.utils.data import DataLoader

from paraqd.data.triplets import TripletSet, read_triplets, subset
from paraqd.training.batches import BatchPlan, TokenStore, collate, plan_batches, tokenize
from paraqd.training.encoders import embedder, load_trainable
from paraqd.training.losses import make_loss
from paraqd.training.settings import TrainSettings
from paraqd.training.trainer import run_trainer
from paraqd.training.validation import validate


def planned(model: Any, triplets: TripletSet, settings: TrainSettings) -> tuple[TokenStore, BatchPlan]:
    """Tokenise the texts and plan the batches in the same way as paraqd."""
    tokens = tokenize(triplets.texts, model.tokenizer, max_length=model.max_seq_length)
    plan = plan_batches(
        triplets,
        tokens.lengths,
        batch_size=settings.batch_size,
        epochs=settings.epochs,
        seed=settings.seed,
        distinct_questions=False,
    )
    return tokens, plan


def timed_ours(model: Any, triplets: TripletSet, settings: TrainSettings) -> float:
    """Train with paraqd, and return the time in seconds."""
    start = time.perf_counter()
    tokens, plan = planned(model, triplets, settings)
    with tempfile.TemporaryDirectory() as folder:
        run_trainer(model, triplets, tokens, plan, settings=settings, work_dir=Path(folder), checkpoint_seconds=1e9)
    return time.perf_counter() - start


def timed_loop(model: Any, triplets: TripletSet, settings: TrainSettings, device: str) -> float:
    """Train on the same batches in a plain loop with an optimizer, and return the time in seconds."""
    start = time.perf_counter()
    tokens, plan = planned(model, triplets, settings)
    loss = make_loss(model, settings)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    model.train()
    torch.backends.cuda.enable_cudnn_sdp(False)  # as in paraqd
    for indices in plan:
        batch = {key: value.to(device) for key, value in collate(indices, triplets, tokens).items()}
        features = {"input_ids": batch["text_input_ids"], "attention_mask": batch["text_attention_mask"]}
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            value = loss([features], batch["label"])
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    if device == "cuda":
        torch.cuda.synchronize()
    model.eval()
    return time.perf_counter() - start


def timed_fit(model: Any, triplets: TripletSet, settings: TrainSettings, *, mixed: bool) -> float:
    """Train as in the paper's public code, and return the time in seconds."""
    texts = triplets.texts
    examples: Any = [InputExample(texts=[texts[i] for i in row]) for row in triplets.triplets.tolist()]
    loader: Any = DataLoader(examples, shuffle=True, batch_size=settings.batch_size)
    assert settings.margin is not None
    loss = losses.TripletLoss(
        model, distance_metric=losses.TripletDistanceMetric.COSINE, triplet_margin=settings.margin
    )
    start = time.perf_counter()
    model.old_fit(  # the loop that ``fit`` ran when the public code was written; ``fit`` now runs another trainer
        train_objectives=[(loader, loss)],
        epochs=settings.epochs,
        warmup_steps=math.ceil(settings.warmup_share * settings.epochs * len(loader)),
        optimizer_params={"lr": settings.learning_rate},
        weight_decay=settings.weight_decay,
        use_amp=mixed,
        show_progress_bar=False,
    )
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def runs(options: argparse.Namespace) -> Iterator[tuple[str, int, float]]:
    """Yield the method, batch size and learning rate of each run."""
    for who in options.also:
        yield who, 16, 2e-5
    for item in options.ours:
        size, _, rate = item.partition("@")
        yield "paraqd", int(size), float(rate or 2e-5)


def main() -> None:
    """Measure all methods, and print a JSON line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs")
    parser.add_argument("validation")
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    parser.add_argument("--also", nargs="*", default=["fit", "fit-amp", "loop"])
    parser.add_argument(
        "--ours", nargs="*", default=["16@2e-5", "96@5e-5", "192@7e-5"], help="batch sizes and learning rates"
    )
    parser.add_argument("--out")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    everything = read_triplets(options.pairs)
    triplets = subset(everything, min(1.0, options.questions / everything.n_questions), 3407)
    validation = read_triplets(options.validation)
    print(f"{len(triplets):,} triplets of {triplets.n_questions:,} questions, {options.epochs} epochs, {device}")
    warm = load_trainable(options.encoder, device=device)
    timed_loop(warm, subset(triplets, 0.05, 1), TrainSettings(epochs=1), device)  # a warm-up
    rows = []
    for who, size, rate in runs(options):
        settings = TrainSettings(batch_size=size, learning_rate=rate, epochs=options.epochs)
        model = load_trainable(options.encoder, device=device)
        if who == "paraqd":
            seconds = timed_ours(model, triplets, settings)
        elif who == "loop":
            seconds = timed_loop(model, triplets, settings, device)
        else:
            seconds = timed_fit(model, triplets, settings, mixed=who == "fit-amp")
        found = validate(embedder(model), validation)
        row = {
            "who": who,
            "batch_size": size,
            "learning_rate": rate,
            "seconds": round(seconds, 2),
            "triplets_per_second": round(len(triplets) * options.epochs / seconds),
            "validation_accuracy": round(found.accuracy, 4),
            "validation_separation": round(found.separation, 4),
        }
        rows.append(row)
        print(json.dumps(row), flush=True)
    if options.out:
        Path(options.out).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

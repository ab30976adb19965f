"""Compare the training speed of paraqd and sentence-transformers' ``fit``, in triplets per second.

    python bench/training.py pairs.jsonl.gz validation_pairs.jsonl.gz --questions 2000 --epochs 2

``fit`` is called as in the paper's public code, with batches of 16 triplets in random order. It tokenises texts in the
loop, and encodes a question again for each of the question's triplets. All methods start from the same encoder and
train on the same triplets. The measured time does not include loading the encoder.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import InputExample
from sentence_transformers.sentence_transformer import losses
from torch.utils.data import DataLoader

from paraqd.lab.corpora.triplets import TripletSet, read_triplets, subset
from paraqd.lab.training.batches import plan_batches, tokenize
from paraqd.lab.training.encoders import embedder, load_trainable
from paraqd.lab.training.settings import Batches, TrainSettings
from paraqd.lab.training.trainer import run_trainer
from paraqd.lab.training.validation import validate


def timed_ours(model: Any, triplets: TripletSet, settings: TrainSettings) -> float:
    """Train with paraqd, and return the time in seconds."""
    start = time.perf_counter()
    tokens = tokenize(triplets.texts, model.tokenizer, max_length=model.max_seq_length)
    plan = plan_batches(
        triplets,
        tokens.lengths,
        batch_size=settings.batch_size,
        epochs=settings.epochs,
        seed=settings.seed,
        distinct_questions=False,
        grouped=settings.batches == "grouped",
    )
    run_trainer(model, triplets, tokens, plan, settings=settings)
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


def runs(options: argparse.Namespace) -> Iterator[tuple[str, int, float, Batches]]:
    """Yield the method, batch size, learning rate and kind of batches of each run."""
    for who in options.also:
        yield who, 16, 2e-5, "shuffled"
    for item in options.ours:
        size, _, rest = item.partition("@")
        rate, _, kind = rest.partition(" ")
        yield "paraqd", int(size), float(rate or 2e-5), "grouped" if kind == "grouped" else "shuffled"


def main() -> None:
    """Measure all methods, and print a JSON line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs")
    parser.add_argument("validation")
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2")
    parser.add_argument("--also", nargs="*", default=["fit", "fit-amp"])
    parser.add_argument(
        "--ours", nargs="*", default=["16@2e-5", "16@2e-5 grouped", "192@7e-5 grouped"], help="batches and rates"
    )
    parser.add_argument("--out")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    everything = read_triplets(options.pairs)
    triplets = subset(everything, min(1.0, options.questions / everything.n_questions), 3407)
    validation = read_triplets(options.validation)
    print(f"{len(triplets):,} triplets of {triplets.n_questions:,} questions, {options.epochs} epochs, {device}")
    warm = load_trainable(options.encoder, device=device)
    timed_ours(warm, subset(triplets, 0.05, 1), TrainSettings(epochs=1))  # a warm-up
    rows = []
    for who, size, rate, batches in runs(options):
        settings = TrainSettings(batch_size=size, learning_rate=rate, epochs=options.epochs, batches=batches)
        model = load_trainable(options.encoder, device=device)
        if who == "paraqd":
            seconds = timed_ours(model, triplets, settings)
        else:
            seconds = timed_fit(model, triplets, settings, mixed=who == "fit-amp")
        found = validate(embedder(model), validation)
        row = {
            "who": who,
            "batch_size": size,
            "learning_rate": rate,
            "batches": batches,
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

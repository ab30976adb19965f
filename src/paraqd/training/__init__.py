"""Training of bi-encoders on triplets: batches, losses, the trainer, validation, the search for a seed.

Needs the extra ``train``: torch, sentence-transformers, accelerate and datasets.
"""

from paraqd.training.settings import TrainSettings

__all__ = ["TrainSettings"]

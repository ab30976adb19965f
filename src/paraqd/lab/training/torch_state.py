"""Change torch's global state temporarily."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Seed torch, and restore the random number generators of torch, Python and numpy when the context exits."""
    import random

    import numpy as np
    import torch

    python, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    devices = list(range(torch.cuda.device_count()))
    try:
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy_state)  # noqa: NPY002

"""Load models, select devices, and divide texts into batches by their number of tokens."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from paraqd import extras
from paraqd.errors import ArgumentError, ParaqdError
from paraqd.extras import MissingExtraError

HUB_TIMEOUT_SECONDS = 5.0
INPUT_LIMIT_TOKENS = 2048
_EXTRA = ("torch", "transformers")
_CPU_BATCH_TOKENS = 4096
_GPU_BATCH_TOKENS = 65536

_MESSAGE_CHARACTERS = 300  # if a message has reached this length, no further lines are appended

T = TypeVar("T")


class GeneratorUnavailableError(ParaqdError, RuntimeError):
    """Raised when a model or a device is not available. The message is a single line."""


def require_extra(packages: Sequence[str] = _EXTRA) -> None:
    """Raise `MissingExtraError` if a package that generators need is not installed."""
    extras.require_extra("generate", "generators", *packages)


def pick_device(device: str | None = None) -> str:
    """Return the device to use. By default, this is the first of ``cuda``, ``mps`` and ``cpu`` that is available.

    Raise `GeneratorUnavailableError` if the given device is not available.
    """
    import torch

    if device is not None:
        kind = device.partition(":")[0]
        found = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if not found.get(kind, False):
            usable = ", ".join(name for name, ready in found.items() if ready)
            raise GeneratorUnavailableError(
                f"device {device!r} is not available (available: {usable}); use --device cpu"
            )
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def check_device(device: str | None) -> None:
    """Raise `GeneratorUnavailableError` if the device is not available. If torch is not installed, do nothing.

    Commands call this function first so that a wrong device is reported before any work is done.
    """
    if device is not None and importlib.util.find_spec("torch") is not None:
        pick_device(device)


def pick_dtype(dtype: str | None = None) -> Any:
    """Return the torch data type for a precision (default: float32).

    The default is float32 even on a GPU, because rounding errors in bfloat16 depend on the shape of the batch. In a
    test with a small causal model and greedy decoding, 183 of 400 outputs in bfloat16 depended on the other texts in
    the batch. In float32, no output did.
    """
    import torch

    if dtype not in (None, "float32", "bfloat16", "float16"):
        raise ArgumentError(f"unknown precision {dtype!r}: choose float32, bfloat16 or float16")
    return getattr(torch, dtype or "float32")


def batch_budget(device: str) -> int:
    """Return the maximum number of input and output tokens in a batch on the device."""
    return _GPU_BATCH_TOKENS if device.startswith("cuda") else _CPU_BATCH_TOKENS


def token_batches(costs: Sequence[int], *, budget: int) -> Iterator[list[int]]:
    """Group items with similar costs into batches, and yield the indices of each batch, most expensive items first.

    The cost of a batch is its number of items times the cost of its most expensive item. No batch costs more than
    ``budget``, except a batch that consists of a single item.

    >>> list(token_batches([3, 9, 4, 20], budget=12))
    [[3], [1], [2, 0]]
    """
    batch: list[int] = []
    for index in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        if batch and costs[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


@contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """Turn off cuDNN's attention inside the context.

    cuDNN builds an execution plan for every new shape, and nearly every batch has a new shape. On an H200 with batches
    of 16 triplets, the forward and backward passes took 147 ms for a new shape and 20 ms for a known shape. Without
    cuDNN's attention, 964 batches took 35 s; with cuDNN's attention, they took more than 90 s.
    """
    import torch

    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the progress bars and warnings of the model library inside the context."""
    from transformers.utils import logging as transformers_logging

    level = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    hub.setLevel(logging.ERROR)
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        hub.setLevel(hub_level)
        if bars:
            transformers_logging.enable_progress_bar()


def load_pretrained(
    name: str,
    load: Callable[[bool], T],
    *,
    needed_by: str = "the generator",
    option: str = "",
    remedy: str = "pass a folder",
) -> T:
    """Load a model from a folder or by its hub name. Every failure raises an exception with a one-line message.

    ``load(True)`` loads the model from local files only, and ``load(False)`` may download the model. The download is
    attempted only if the model is not in the local cache and the hub reports that it has the model.

    The remaining arguments appear in error messages. ``needed_by`` names the part of the program that needs the model.
    ``option`` is the key with which a user can choose a different model, as in ``--generator KEY=DIR``. ``remedy`` is
    the advice to the user if ``option`` is empty.
    """
    if option:
        remedy = f"pass a folder with --generator {option}=DIR, or use --stand-ins"
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise GeneratorUnavailableError(f"{name} is not a model folder: it has no config.json")
        return _attempt(lambda: load(True), name, needed_by)
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or not name.strip():
        raise GeneratorUnavailableError(f"{needed_by} needs the folder {name!r}, which does not exist; {remedy}")
    try:
        with quiet():
            return load(True)
    except OSError:
        pass  # not in the cache
    except Exception as error:
        raise _load_error(name, needed_by, error) from error
    if not _hub_has(name):
        raise GeneratorUnavailableError(
            f"{needed_by} needs {name}, which is not in the local cache and cannot be downloaded; {remedy}"
        )
    return _attempt(lambda: load(False), name, needed_by)


def _attempt(load: Callable[[], T], name: str, needed_by: str) -> T:
    try:
        with quiet():
            return load()
    except Exception as error:
        raise _load_error(name, needed_by, error) from error


def first_sentence(error: BaseException) -> str:
    r"""Return the first line of an error message, or its first sentence if the first line ends with a colon.

    >>> first_sentence(ValueError("It is made from one of: \n(1) a file, \n(2) a class.\nSee the manual."))
    'It is made from one of: (1) a file, (2) a class.'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    text = lines.pop(0)
    if text.endswith(":"):
        while lines and not text.endswith(".") and len(text) < _MESSAGE_CHARACTERS:
            text += f" {lines.pop(0)}"
    return text


def _load_error(name: str, needed_by: str, error: Exception) -> Exception:
    reason = first_sentence(error)
    if isinstance(error, ImportError):
        return MissingExtraError(f"{needed_by} could not load {name} ({reason}): pip install 'paraqd[generate]'")
    return GeneratorUnavailableError(f"{needed_by} could not load {name}: {reason}")


def _hub_has(name: str) -> bool:
    """Return True if the hub has the model.

    The function makes one request with a short timeout, because a download retries for a long time if it fails.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return False
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=HUB_TIMEOUT_SECONDS)
    except Exception:  # no network, no such model, or no access to the model
        return False
    return True

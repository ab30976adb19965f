"""Report missing optional dependencies in one line that names the extra to install."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from paraqd.errors import ParaqdError

# the modules that each extra installs
EXTRAS = {
    "parquet": ("pyarrow",),
    "excel": ("openpyxl",),
    "serve": (
        "fastapi",
        "uvicorn",
        "httpx",
        "prometheus_client",
        "python_multipart",
        "jinja2",
        "sqlalchemy",
        "alembic",
    ),
    "endpoint": ("httpx",),
    "augment": ("spacy", "lemminflect"),
    "generate": ("torch", "transformers", "sentencepiece", "sacremoses", "gguf", "safetensors"),
    "ray": ("ray",),
    "train": ("sentence_transformers", "accelerate", "datasets", "matplotlib", "sklearn", "onnx"),
    "pandas": ("pandas",),
    "sklearn": ("sklearn",),
    "inspect": ("inspect_ai",),
    "datatrove": ("datatrove",),
    "deepeval": ("deepeval",),
    "trl": ("trl",),
}


class MissingExtraError(ParaqdError, ImportError):
    """Raised when an optional dependency is not installed. The message names the extra."""


def extra_of(module: str) -> str | None:
    """Return the extra that installs a module, or None if no extra does.

    >>> extra_of("torch.nn"), extra_of("json")
    ('generate', None)
    """
    package = module.partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if package in modules), None)


def require_extra(extra: str, purpose: str, *modules: str) -> None:
    """Raise `MissingExtraError` if a module that an extra provides is not installed.

    Parameters
    ----------
    extra : str
        A name from `EXTRAS`.
    purpose : str
        A noun phrase for the message, such as ``training``.
    modules : str
        The modules to look for (default: all modules of the extra).

    Examples
    --------
    >>> require_extra("train", "training", "no_such_package")
    Traceback (most recent call last):
    ...
    paraqd.extras.MissingExtraError: no_such_package is not installed (needed for training): pip install 'paraqd[train]'

    """
    missing = [name for name in modules or EXTRAS[extra] if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(_message(missing, extra, purpose))


@contextmanager
def optional_imports(purpose: str) -> Iterator[None]:
    """Raise `MissingExtraError` if an import of an optional dependency fails inside the block.

    >>> with optional_imports("Parquet files"):
    ...     raise ModuleNotFoundError(name="pyarrow")
    Traceback (most recent call last):
    ...
    paraqd.extras.MissingExtraError: pyarrow is not installed (needed for Parquet files): pip install 'paraqd[parquet]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = extra_of(package)
        if extra is None:
            raise
        raise MissingExtraError(_message([package], extra, purpose), name=error.name) from None


def missing_extra(error: BaseException) -> str | None:
    """Return a one-line remedy if an exception is a failed import of an optional dependency, otherwise None.

    >>> missing_extra(ModuleNotFoundError(name="spacy"))
    "spacy is not installed: pip install 'paraqd[augment]'"
    """
    if isinstance(error, MissingExtraError):
        return str(error)
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    extra = extra_of(package)
    return None if extra is None else _message([package], extra, "")


def _message(modules: Sequence[str], extra: str, purpose: str) -> str:
    verb = "is" if len(modules) == 1 else "are"
    needed = f" (needed for {purpose})" if purpose else ""
    return f"{', '.join(modules)} {verb} not installed{needed}: pip install 'paraqd[{extra}]'"

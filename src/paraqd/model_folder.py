"""Read and write ``paraqd.json``, the file that describes the model in a folder.

The file holds the facts about a model: its name and kind, the threshold, the weights of the fusion, and how the model
was trained. ``kinds`` lists the kinds of evidence in the order of the model's outputs. ``sha256`` holds the hashes of
the weights and the tokenizer. `write_facts` records these hashes. A scorer checks the hashes when it loads the model
and again when it opens the files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.errors import ModelError
from paraqd.files import atomic_write, sha256_of

FORMAT = 1
FACTS_FILE, ONNX_FILE, TOKENIZER_FILE = "paraqd.json", "onnx/model.onnx", "tokenizer.json"
PACKED_FILE = "onnx/weights.npz"  # the weights of a language model, which are not in its graph
LANGUAGE_MODEL = "language-model"  # the kind of the model in a judge package
SOLVABLE_MODEL = "solvable"  # the kind of a model for single questions, and the name of the one that ships
# version 0.1.0 did not record the kinds; its models output them in this order
_KINDS_OF_0_1_0 = (
    "number_lost",
    "number_added",
    "number_changed",
    "unit_changed",
    "entity_changed",
    "question_lost",
    "question_changed",
    "relation_changed",
    "content_lost",
    "content_added",
    "incoherent",
)
# the second pattern finds modules besides the transformer, such as 2_Dense
WEIGHTS = ("*.safetensors", "[0-9]*_*/*.safetensors")
_HASHED = (*WEIGHTS, ONNX_FILE, PACKED_FILE, TOKENIZER_FILE)
# The most bytes of each file that are read. Models have far fewer; a protocol buffer such as a graph cannot have more.
_MOST_BYTES = {
    FACTS_FILE: 1 << 24,
    TOKENIZER_FILE: 1 << 26,
    ONNX_FILE.rpartition("/")[2]: 1 << 31,
    PACKED_FILE.rpartition("/")[2]: 1 << 32,
}
_SHIPPED = Path(__file__).parent / "models"
DEFAULT_MODEL = _SHIPPED / "default"


@dataclass(frozen=True)
class ModelFolder:
    """A folder that contains a model, together with the facts about the model."""

    path: Path
    facts: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self.facts.get("name", self.path.name))

    @property
    def kind(self) -> str:
        """The model's kind: ``fused``, ``reading``, ``bi-encoder``, ``language-model`` or ``solvable``."""
        return str(self.facts.get("kind", "fused" if "fusion" in self.facts else ""))

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that a scorer loads."""
        is_large = self.kind == LANGUAGE_MODEL or (self.kind == SOLVABLE_MODEL and PACKED_FILE in self.recorded_hashes)
        packed = (PACKED_FILE,) if is_large else ()
        return (ONNX_FILE, *packed, TOKENIZER_FILE)

    @property
    def evidence_kinds(self) -> tuple[str, ...]:
        """The kinds of evidence in the order of the model's outputs."""
        kinds = self.facts.get("kinds", _KINDS_OF_0_1_0)
        if not isinstance(kinds, (list, tuple)) or not kinds or not all(isinstance(kind, str) for kind in kinds):
            raise ModelError(
                f"{self.path / FACTS_FILE}: 'kinds' is not a list of names; install or train the model again"
            )
        if repeated := [kind for number, kind in enumerate(kinds) if kind in kinds[:number]]:
            raise ModelError(
                f"{self.path / FACTS_FILE}: 'kinds' contains {repeated[0]} twice; install or train the model again"
            )
        return tuple(kinds)

    @property
    def recorded_hashes(self) -> dict[str, str]:
        """The sha256 of each file at the time when the model was written, keyed by file name."""
        recorded = self.facts.get("sha256", {})
        if not isinstance(recorded, Mapping):
            raise ModelError(f"{self.path / FACTS_FILE}: 'sha256' is not an object; install or train the model again")
        found = {str(name): str(digest) for name, digest in recorded.items()}
        if "onnx_sha256" in self.facts:  # the form that version 0.1.0 wrote
            found.setdefault(ONNX_FILE, str(self.facts["onnx_sha256"]))
        return found

    def verified_hashes(self) -> dict[str, str]:
        """Check the files that a scorer loads against their recorded hashes, and return the sha256 of each file.

        Raises
        ------
        ModelError
            If a file is missing or does not match its recorded hash.

        """
        recorded, found = self.recorded_hashes, {}
        for name in self.files:
            path = self.path / name
            if not path.is_file():
                raise ModelError(
                    f"{self.path} has no {name}: run paraqd lab export on a folder that you trained, or install the "
                    "model again"
                )
            with _reading(path):
                digest = sha256_of(path)
            if recorded.get(name, digest) != digest:
                raise ModelError(
                    f"{path} has changed since the model was written (its sha256 differs from the "
                    f"one in {FACTS_FILE}): install the model again, or run paraqd lab export"
                )
            found[name] = digest
        return found

    def hash8(self, hashes: Mapping[str, str]) -> str:
        """Return 8 hex digits that identify the model, computed from ``paraqd.json`` and the hashes of its files."""
        whole = hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode())
        for name, digest in hashes.items():
            whole.update(f"{name} {digest}\n".encode())
        return whole.hexdigest()[:8]


def is_shipped(name_or_folder: str | Path) -> bool:
    """Return True for the name of a model that ships with the package, such as ``default``.

    A `Path` is never a name, and neither is a string with a slash.

    >>> is_shipped("default"), is_shipped("./default"), is_shipped(Path("default"))
    (True, False, False)
    """
    if not isinstance(name_or_folder, str) or Path(name_or_folder).name != name_or_folder:
        return False
    return (_SHIPPED / name_or_folder / FACTS_FILE).is_file()


def find_model_folder(name_or_folder: str | Path) -> Path:
    """Return the folder of a shipped model or another model.

    The name of a shipped model always means that model, even if the current folder contains a folder of that name.

    >>> find_model_folder("default").name, find_model_folder("my/model").as_posix()
    ('default', 'my/model')
    """
    return _SHIPPED / name_or_folder if is_shipped(name_or_folder) else Path(name_or_folder).expanduser()


def read_model_folder(name_or_folder: str | Path) -> ModelFolder:
    """Read the facts about the model in a folder.

    Raises
    ------
    ModelError
        If the folder does not contain a model that this version can read.

    """
    folder = find_model_folder(name_or_folder)
    path = folder / FACTS_FILE
    if not path.is_file():
        if folder.is_dir():
            problem = f"is not a model folder: it has no {FACTS_FILE}"
        else:
            problem = "is a file, not a model folder" if folder.exists() else "does not exist"
        raise ModelError(
            f"{folder} {problem}; pass default, or a folder that paraqd lab export or paraqd lab train --recipe "
            "default created"
        )
    try:
        with _reading(path):
            facts = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except RecursionError:
        raise ModelError(f"{path} cannot be read (nested too deeply): install or train the model again") from None
    except ValueError as error:
        raise ModelError(f"{path} cannot be read ({error}): install or train the model again") from None
    if not isinstance(facts, dict):
        raise ModelError(f"{path} cannot be read (it is not a JSON object): install or train the model again")
    if facts.get("format") != FORMAT:
        raise ModelError(
            f"{folder} has format {facts.get('format')}, but this version of paraqd reads format {FORMAT}: install "
            "the version that wrote it, or train the model again"
        )
    model = ModelFolder(folder, facts)
    if not model.name.isprintable() or "|" in model.name:  # it would disturb the signature
        raise ModelError(
            f"{path}: the model's name is {model.name!r}; install or train the model again, with a name of printable "
            "characters other than |"
        )
    return model


def write_facts(folder: str | Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write ``facts`` and the hashes of the weights and the tokenizer to ``paraqd.json``, and return its contents.

    Write the weights and the tokenizer first. Hashes already in ``facts`` are replaced. If the process is killed, the
    previous ``paraqd.json`` is unchanged.
    """
    folder = Path(folder)
    paths = sorted({path for pattern in _HASHED for path in folder.glob(pattern) if path.is_file()})
    kept = {key: value for key, value in facts.items() if key not in ("format", "sha256", "onnx_sha256")}
    hashes = {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}
    whole = {"format": FORMAT, **kept, **({"sha256": hashes} if hashes else {})}
    with atomic_write(folder / FACTS_FILE, folder / f".{FACTS_FILE}.{os.getpid()}") as temporary:
        temporary.write_text(json.dumps(whole, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return whole


def read_verified(path: Path, sha256: str | None) -> bytes:
    """Return the content of a model's file, and check that the file has not changed since the model was loaded.

    ``sha256`` is the file's hash at that time. If ``sha256`` is None, the content is not checked.

    Raises
    ------
    ModelError
        If the file cannot be read or its sha256 differs.

    """
    with _reading(path):
        content = path.read_bytes()
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise ModelError(f"{path} has changed since the model was loaded: load the model again")
    return content


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raise `ModelError` if a file has far more bytes than any model's, or if it cannot be read inside the context."""
    try:
        size, most = path.stat().st_size, _MOST_BYTES[path.name]
        if size > most:
            raise ModelError(
                f"{path} has {size:,} bytes, and no model has more than {most:,} there: install or train it again"
            )
        yield
    except OSError as error:
        raise ModelError(f"{path} cannot be loaded: {error.strerror}; install or train the model again") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that a model can use")

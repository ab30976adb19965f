"""Store the weights of a language model with four bits each, and expand them to eight bits when the model is loaded.

A weight is the product of a 4-bit integer, a small whole number that it shares with the other inputs of its block, and
a scale that it shares with all inputs of its output. The file stores the first two, and the graph stores the scale. The
product of the first two fits in eight bits, so the expansion is exact.
"""

from __future__ import annotations

import io
import mmap
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError, reason_of

_PACKED, _FACTORS = ".packed", ".factors"


@dataclass(frozen=True)
class PackedWeight:
    """A matrix of 4-bit integers and the factors of its blocks.

    Attributes
    ----------
    packed : array of uint8, shape (inputs / 2, outputs)
        The integers of two inputs: the first is in the lower half of the byte.
    factors : array of uint8, shape (blocks, outputs)
        The factor of each block of inputs.

    """

    packed: NDArray[np.uint8]
    factors: NDArray[np.uint8]

    @classmethod
    def pack(cls, integers: NDArray[np.int8], factors: NDArray[np.uint8]) -> PackedWeight:
        """Pack integers from -8 to 7, shape (outputs, inputs), and their factors, shape (outputs, blocks).

        >>> weight = PackedWeight.pack(np.array([[1, -8, 7, 0]], dtype=np.int8), np.array([[15, 2]], dtype=np.uint8))
        >>> weight.packed.tolist(), weight.expand().T.tolist()
        ([[129], [7]], [[15, -120, 14, 0]])
        """
        halves = integers.T.view(np.uint8) & np.uint8(15)
        return cls(halves[0::2] | (halves[1::2] << np.uint8(4)), np.ascontiguousarray(factors.T))

    def expand(self) -> NDArray[np.int8]:
        """Return each integer multiplied by its factor, as a matrix of shape (inputs, outputs)."""
        blocks, outputs = self.factors.shape
        pairs = self.packed.reshape(blocks, -1, outputs)
        factors = self.factors[:, None].view(np.int8)
        # memory of its own, which goes back to the system as soon as it is released
        memory = mmap.mmap(-1, 2 * self.packed.size)
        weight = np.frombuffer(memory, dtype=np.int8).reshape(blocks, -1, 2, outputs)
        # shifting right keeps the sign
        np.multiply((pairs << 4).view(np.int8) >> 4, factors, out=weight[:, :, 0])
        np.multiply(pairs.view(np.int8) >> 4, factors, out=weight[:, :, 1])
        return weight.reshape(-1, outputs)


def write_weights(path: Path, weights: Mapping[str, PackedWeight]) -> None:
    """Write matrices to a file, under the names that they have in the graph."""
    arrays: dict[str, NDArray[np.uint8]] = {}
    for name, weight in weights.items():
        arrays[name + _PACKED], arrays[name + _FACTORS] = weight.packed, weight.factors
    with open(path, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # no name is that of a parameter


def expand_weights(content: bytes, path: Path) -> dict[str, NDArray[np.int8]]:
    """Return the expanded matrices in the content of a file, keyed by their names in the graph.

    ``path`` is the file's path, for error messages.

    Raises
    ------
    ModelError
        If the content is damaged.

    """
    try:
        _check_sizes(content)
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            names = [name.removesuffix(_PACKED) for name in stored.files if name.endswith(_PACKED)]
            return {name: PackedWeight(stored[name + _PACKED], stored[name + _FACTORS]).expand() for name in names}
    except Exception as error:  # a damaged file raises various exceptions
        raise ModelError(f"{path} cannot be loaded: {reason_of(error)}; install or train the model again") from None


def _check_sizes(content: bytes) -> None:
    """Raise ValueError if a file contains less than its arrays, so that reading it could take any amount of memory."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(each.file_size for each in archive.infolist()) > len(content):
            raise ValueError("its arrays are compressed or overlap")

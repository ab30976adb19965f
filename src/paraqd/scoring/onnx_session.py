"""What the models of a folder share: the runtime and the tokenizer, loaded when first needed."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

from paraqd.scoring.errors import ModelError

MODEL, TOKENIZER = "onnx/model.onnx", "tokenizer.json"

_SURROGATE = re.compile("[\ud800-\udfff]")


class OnnxFolder:
    """A folder with ``onnx/model.onnx`` and ``tokenizer.json``; several threads may use it."""

    def __init__(self, folder: str | Path, *, threads: int | None = None) -> None:
        self.folder = Path(folder)
        self._threads = threads
        for name in (MODEL, TOKENIZER):
            if not (self.folder / name).is_file():
                raise ModelError(
                    f"{self.folder} is not whole: it has no {name}; a folder that was trained here becomes whole with "
                    "paraqd export, another must be installed again"
                )

    @cached_property
    def session(self) -> Any:
        """The runtime's session."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # The runtime would round activations too where weights have eight bits, and move scores by up to 0.08.
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        if self._threads:
            options.intra_op_num_threads = self._threads
        try:
            return onnxruntime.InferenceSession(str(self.folder / MODEL), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # whatever the runtime raises on a broken file
            raise ModelError(f"the model in {self.folder} cannot be loaded: {str(error).splitlines()[0]}") from None

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer, which cuts and pads nothing."""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.folder / TOKENIZER))
        except Exception as error:
            raise ModelError(f"the tokenizer in {self.folder} cannot be loaded: {error}") from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def printable(text: str) -> str:
    r"""Replace what no tokenizer takes, halves of surrogate pairs, one sign for one: places stay.

    >>> len(printable("\ud83d\ude00 5 km"))
    7
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)

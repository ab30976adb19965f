"""Judge pairs or single texts with a language model, whose weights are packed in a file of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.model_folder import PACKED_FILE, read_verified
from paraqd.scoring.judge.cross_encoder import OUTPUTS, CrossEncoder
from paraqd.scoring.judge.packed_weights import expand_weights
from paraqd.scoring.judge.session import OnnxModel
from paraqd.scoring.judge.single_text import SingleTextJudge

_INPUTS = ("input_ids", "token_type_ids")


class PackedModel(OnnxModel):
    """A model with packed weights, which has one runtime session."""

    @property
    def session(self) -> Any:
        """The runtime session. All batches share it, because every session holds its own copy of the weights."""
        process = os.getpid() if self.threads > 1 else 0  # a session with one thread survives a fork
        return self._once("session", process, self._shared_session)

    def _shared_session(self) -> Any:
        # several batches share the threads, so a thread that waits for its batch leaves the core to the others
        return _checked(self._session(self.threads, spinning=False), self.folder)

    @property
    def _wide_session(self) -> Any:
        return self.session

    def _weights(self) -> Mapping[str, NDArray[np.int8]]:
        path = self.folder / PACKED_FILE
        return expand_weights(read_verified(path, self._hashes.get(PACKED_FILE)), path)


class LanguageModel(PackedModel, CrossEncoder):
    """A language model that judges pairs. The parameters are those of `cross_encoder.CrossEncoder`."""


class LanguageTextModel(PackedModel, SingleTextJudge):
    """A language model that judges single texts. The parameters are those of `single_text.SingleTextJudge`."""


def _checked(session: Any, folder: Path) -> Any:
    """Return a session, or raise `ModelError` if its graph is not that of a language-model judge."""
    inputs, outputs = ({each.name for each in some} for some in (session.get_inputs(), session.get_outputs()))
    if inputs != set(_INPUTS) or not set(OUTPUTS) <= outputs:
        raise ModelError(f"the model in {folder} is not a language-model judge: install or train the model again")
    return session

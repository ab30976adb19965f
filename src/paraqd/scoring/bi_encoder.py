"""The paper's scorer at work: one vector for a text, the mean of its tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.onnx_session import OnnxFolder, printable

_WINDOW = 254  # tokens, beside the two that frame them
_BATCH_TOKENS = 8192


class BiEncoder(OnnxFolder):
    """Turns texts into unit vectors; a text longer than the model reads is read in windows."""

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one row for each text."""
        encoded = self.tokenizer.encode_batch([printable(text) for text in texts], add_special_tokens=False)
        windows = [
            (number, each.ids[start : start + _WINDOW])
            for number, each in enumerate(encoded)
            for start in range(0, max(1, len(each.ids)), _WINDOW)
        ]
        windows.sort(key=lambda window: len(window[1]))
        sums: NDArray[np.float64] | None = None
        start = 0
        while start < len(windows):
            end = start + 1
            while end < len(windows) and (end + 1 - start) * (len(windows[end][1]) + 2) <= _BATCH_TOKENS:
                end += 1
            made = self._summed([ids for _, ids in windows[start:end]])
            sums = np.zeros((len(texts), made.shape[1])) if sums is None else sums
            np.add.at(sums, [number for number, _ in windows[start:end]], made)
            start = end
        if sums is None:
            return np.zeros((0, 1))
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.asarray(sums / np.where(lengths > 0, lengths, 1.0))

    def _summed(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        first, last = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        ids = np.zeros((len(rows), max(map(len, rows)) + 2), dtype=np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row) + 2] = [first, *row, last]
            mask[place, : len(row) + 2] = 1
        inputs = {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "attention_mask": mask}
        sums: NDArray[np.float32] = self.session.run(["sums"], inputs)[0]
        return sums

"""The paper's scorer at work: one vector for a text, the mean of its tokens."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.onnx_session import Feed, OnnxFolder, Row, feed, printable

_WINDOW = 254  # tokens, beside the two that frame them
_KEPT = 4096  # vectors of texts that may come back


class BiEncoder(OnnxFolder):
    """Turns texts into unit vectors; a text longer than the model reads is read in windows.

    The vectors of the last texts are remembered: a question comes back with each of its paraphrases.
    """

    def __init__(self, folder: str | Path, *, threads: int | None = None) -> None:
        super().__init__(folder, threads=threads)
        self._kept: OrderedDict[str, NDArray[np.float64]] = OrderedDict()
        self._kept_lock = Lock()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one row for each text."""
        if not texts:
            return np.zeros((0, 1))
        with self._kept_lock:
            known = {text: self._kept[text] for text in set(texts) if text in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made = dict(zip(new, self._embedded(new), strict=True)) if new else {}
        with self._kept_lock:
            for text in dict.fromkeys(texts):
                self._kept[text] = known[text] if text in known else made[text]
                self._kept.move_to_end(text)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return np.stack([known[text] if text in known else made[text] for text in texts])

    def feeds(self, texts: Sequence[str]) -> Iterator[Feed]:
        """Yield what the model is given for each text; of a long one its beginning."""
        encoded = self.tokenizer.encode_batch([printable(text) for text in texts], add_special_tokens=False)
        for each in encoded:
            yield feed([self._row(each.ids[:_WINDOW])])

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float64]:
        encoded = self.tokenizer.encode_batch([printable(text) for text in texts], add_special_tokens=False)
        windows = [
            (number, self._row(each.ids[start : start + _WINDOW]))
            for number, each in enumerate(encoded)
            for start in range(0, max(1, len(each.ids)), _WINDOW)
        ]
        made = self.start([row for _, row in windows], ["sums"])()
        sums = np.zeros((len(texts), len(made[0][0])))
        for (number, _), (summed,) in zip(windows, made, strict=True):
            sums[number] += summed
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.asarray(sums / np.where(lengths > 0, lengths, 1.0))

    def _row(self, ids: Sequence[int]) -> Row:
        first, last = self._framing
        framed = np.array([first, *ids, last], dtype=np.int64)
        return Row(framed, np.zeros_like(framed))

    @cached_property
    def _framing(self) -> tuple[int, int]:
        return self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")

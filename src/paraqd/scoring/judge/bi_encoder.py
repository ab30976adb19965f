"""Embed texts with a bi-encoder. A text's vector is the normalised sum of its token vectors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.judge.session import SHARED_LOCK, Feed, OnnxModel, Running, feed

_WINDOW = 254  # tokens, besides [CLS] and [SEP]
_REMEMBERED = 4096  # vectors
_AT_ONCE = 128  # texts to tokenise together while the model processes the preceding texts


class _Slice:
    """A batch of texts that the model is processing. ``windows`` holds the index of each row's text."""

    def __init__(self, texts: Sequence[str], windows: Sequence[int], wait: Running) -> None:
        self._texts, self._windows, self._wait = texts, windows, wait

    def vectors(self) -> dict[str, NDArray[np.float64]]:
        """Wait for the model, and return each text's vector."""
        outputs = self._wait()
        sums = np.zeros((len(self._texts), len(outputs[0][0])))
        for number, (summed,) in zip(self._windows, outputs, strict=True):
            sums[number] += summed
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # copy each row, because a cached view would keep the whole array in memory
        rows = (row.copy() for row in sums / np.where(lengths > 0, lengths, 1.0))
        return dict(zip(self._texts, rows, strict=True))

    def stop(self) -> None:
        """Stop the work. Rows that the model has not processed yet are skipped."""
        self._wait.stop()


class BiEncoder(OnnxModel):
    """A bi-encoder, loaded from a model folder, that turns texts into unit-length vectors.

    The encoder reads long texts in windows. It caches the vectors of recent texts, because a question often recurs with
    a different paraphrase.
    """

    def __init__(
        self, folder: str | Path, *, threads: int | None = None, hashes: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(folder, threads=threads, hashes=hashes)
        self._remembered: OrderedDict[str, NDArray[np.float64]] = OrderedDict()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return a matrix with one unit-length row per text."""
        return self.begin(texts)()

    def begin(self, texts: Sequence[str]) -> Callable[[], NDArray[np.float64]]:
        """Start embedding texts, and return a function that waits for their vectors."""
        if not texts:
            return lambda: np.zeros((0, 1))
        with SHARED_LOCK:
            known = {text: self._remembered[text] for text in set(texts) if text in self._remembered}
        new = sorted((text for text in dict.fromkeys(texts) if text not in known), key=len)
        started = [self._slice(new[start : start + _AT_ONCE]) for start in range(0, len(new), _AT_ONCE)]

        def finish() -> NDArray[np.float64]:
            found = dict(known)
            try:
                for some in started:
                    found |= some.vectors()
            except BaseException:
                for some in started:
                    some.stop()
                raise
            with SHARED_LOCK:
                for text in dict.fromkeys(texts):
                    self._remembered[text] = found[text]
                    self._remembered.move_to_end(text)
                while len(self._remembered) > _REMEMBERED:
                    self._remembered.popitem(last=False)
            return np.stack([found[text] for text in texts])

        return finish

    def feeds(self, texts: Sequence[str]) -> Iterator[Feed]:
        """Yield the model's input for each text's first window."""
        for text in self.tokenizer.encode(texts, spans=False):
            yield feed([self.tokenizer.single_row(text.ids[:_WINDOW])])

    def _slice(self, texts: Sequence[str]) -> _Slice:
        """Start embedding texts that are not in the cache."""
        windows = [
            (number, self.tokenizer.single_row(text.ids[start : start + _WINDOW]))
            for number, text in enumerate(self.tokenizer.encode(texts, spans=False))
            for start in range(0, max(1, len(text.ids)), _WINDOW)
        ]
        return _Slice(texts, [number for number, _ in windows], self.start([row for _, row in windows], ["sums"]))

"""The paper's scorer at work: one vector for a text, the mean of its tokens."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from paraqd.scoring.judge.session import Feed, OnnxFolder, Row, Running, feed

_WINDOW = 254  # tokens, beside the two that frame them
_KEPT = 4096  # vectors of texts that may come back
_AT_ONCE = 128  # texts that are tokenised at once, while those before them are being run


class _Slice:
    """Some texts under way, and which of them each row is a window of."""

    def __init__(self, texts: Sequence[str], windows: Sequence[int], wait: Running) -> None:
        self._texts, self._windows, self._wait = texts, windows, wait

    def vectors(self) -> dict[str, NDArray[np.float64]]:
        """Wait for the texts and return their vectors."""
        made = self._wait()
        sums = np.zeros((len(self._texts), len(made[0][0])))
        for number, (summed,) in zip(self._windows, made, strict=True):
            sums[number] += summed
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # copies: a row that is kept would hold the others
        rows = (row.copy() for row in sums / np.where(lengths > 0, lengths, 1.0))
        return dict(zip(self._texts, rows, strict=True))

    def stop(self) -> None:
        """Leave out what is not begun."""
        self._wait.stop()


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
        return self.begin(texts)()

    def begin(self, texts: Sequence[str]) -> Callable[[], NDArray[np.float64]]:
        """Begin to turn texts into vectors, and return what waits for them."""
        if not texts:
            return lambda: np.zeros((0, 1))
        with self._kept_lock:
            known = {text: self._kept[text] for text in set(texts) if text in self._kept}
        new = sorted((text for text in dict.fromkeys(texts) if text not in known), key=len)
        begun = [self._slice(new[start : start + _AT_ONCE]) for start in range(0, len(new), _AT_ONCE)]

        def finish() -> NDArray[np.float64]:
            found = dict(known)
            try:
                for some in begun:
                    found |= some.vectors()
            except BaseException:
                for some in begun:
                    some.stop()
                raise
            with self._kept_lock:
                for text in dict.fromkeys(texts):
                    self._kept[text] = found[text]
                    self._kept.move_to_end(text)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            return np.stack([found[text] for text in texts])

        return finish

    def feeds(self, texts: Sequence[str]) -> Iterator[Feed]:
        """Yield what the model is given for each text; of a long one its beginning."""
        for each in self.encoded(texts, places=False):
            yield feed([self._row(each.ids[:_WINDOW])])

    def _slice(self, texts: Sequence[str]) -> _Slice:
        """Begin to run texts that are not known."""
        encoded = self.encoded(texts, places=False)
        windows = [
            (number, self._row(each.ids[start : start + _WINDOW]))
            for number, each in enumerate(encoded)
            for start in range(0, max(1, len(each.ids)), _WINDOW)
        ]
        return _Slice(texts, [number for number, _ in windows], self.start([row for _, row in windows], ["sums"]))

    def _row(self, ids: Sequence[int]) -> Row:
        first, last = self._framing
        framed = np.array([first, *ids, last], dtype=np.int64)
        return Row(framed, np.zeros_like(framed))

    @cached_property
    def _framing(self) -> tuple[int, int]:
        return self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")

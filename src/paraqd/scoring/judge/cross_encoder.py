"""Judge pairs with a cross-encoder, a small model that reads both texts at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from paraqd.scoring.judge.judgement import TokenJudgement, WindowAnswer, check_outputs, known_kinds
from paraqd.scoring.judge.pair_tokens import LONGEST
from paraqd.scoring.judge.session import Feed, OnnxModel, feed
from paraqd.scoring.pair_preparation import PreparedPair
from paraqd.scoring.verdict import EvidenceKind

__all__ = ["LONGEST", "OUTPUTS", "CrossEncoder"]
OUTPUTS = ("valid", "kinds", "places")


class CrossEncoder(OnnxModel):
    """A cross-encoder, loaded from a model folder.

    Parameters
    ----------
    folder : str or Path
        The model folder.
    threads : int, optional
        The number of threads (default: one per core that the process may use).
    kinds : sequence of str
        The kinds of evidence, in the order of the model's outputs.
    hashes : mapping, optional
        The expected sha256 of each file. A file with a different sha256 is rejected. By default, nothing is checked.

    """

    def __init__(
        self,
        folder: str | Path,
        *,
        threads: int | None = None,
        kinds: Sequence[str] = tuple(EvidenceKind),
        hashes: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, threads=threads, hashes=hashes)
        self.kinds = known_kinds(kinds, folder)

    def begin(self, pairs: Sequence[PreparedPair]) -> Callable[[], list[TokenJudgement]]:
        """Start judging pairs, and return a function that waits for the judgements.

        A pair's judgement does not depend on the other pairs.
        """
        encoded = self.tokenizer.encode_pairs([pair.texts for pair in pairs])
        windows = [(number, window) for number, pair in enumerate(encoded) for window in pair.differing_windows()]
        wait = self.start([self.tokenizer.row(encoded[number], window) for number, window in windows], OUTPUTS)

        def finish() -> list[TokenJudgement]:
            parts: list[list[WindowAnswer]] = [[] for _ in pairs]
            for (number, window), (valid, kinds, places) in zip(windows, wait(), strict=True):
                check_outputs(len(kinds), self.kinds, self.folder)
                size = window.question.size
                faults = places[1 : 1 + size], places[2 + size :]
                parts[number].append(WindowAnswer(float(valid), kinds, *faults, window))
            return [TokenJudgement(tuple(mine), pair, self.kinds) for mine, pair in zip(parts, encoded, strict=True)]

        return finish

    def feeds(self, pairs: Sequence[PreparedPair]) -> Iterator[Feed]:
        """Yield the model's input for each pair's first window."""
        for pair in self.tokenizer.encode_pairs([pair.texts for pair in pairs]):
            yield feed([self.tokenizer.row(pair, pair.windows()[0])])

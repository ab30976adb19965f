"""Judge pairs with a language model that reads the question, the paraphrase and the question again.

The model computes a question once, and continues from there for each of its paraphrases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paraqd.errors import ModelError
from paraqd.model_folder import TOKENIZER_FILE
from paraqd.scoring.judge.judgement import TokenJudgement, WindowAnswer, check_outputs, known_kinds
from paraqd.scoring.judge.pair_tokens import CausalTokenizer, Ids, Window
from paraqd.scoring.judge.session import OnnxModel, check_finite
from paraqd.scoring.pair_preparation import PreparedPair
from paraqd.scoring.verdict import EvidenceKind

LONGEST = 660  # the most tokens of a pair that the model reads at once
_OUTPUTS = ("valid", "kinds", "places")
_PAST = "past_"


class _Row(NamedTuple):
    """One window of a pair: the number of its pair, the window, and its token ids."""

    number: int
    window: Window
    question: Ids
    paraphrase: Ids


class LanguageModel(OnnxModel):
    """A language model, loaded from a model folder.

    The parameters are those of `cross_encoder.CrossEncoder`.
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

    @property
    def causal_tokenizer(self) -> CausalTokenizer:
        """The model's tokenizer."""
        path, digest = self.folder / TOKENIZER_FILE, self._hashes.get(TOKENIZER_FILE)
        tokenizer: CausalTokenizer = self._once(
            "causal tokenizer", 0, lambda: CausalTokenizer.from_file(path, sha256=digest)
        )
        return tokenizer

    def begin(self, pairs: Sequence[PreparedPair]) -> Callable[[], list[TokenJudgement]]:
        """Start judging pairs, and return a function that waits for the judgements.

        A pair's judgement does not depend on the other pairs.
        """
        tokenizer = self.causal_tokenizer
        encoded = tokenizer.encode_pairs([pair.texts for pair in pairs])
        rows = [
            _Row(number, window, pair.question.ids[window.question], pair.paraphrase.ids[window.paraphrase])
            for number, pair in enumerate(encoded)
            for window in pair.differing_windows(LONGEST)
        ]
        batches = list(_same_question(rows))
        wait = self.start_batches(batches, len(rows), lambda session, batch: _run(session, tokenizer, rows, batch))

        def finish() -> list[TokenJudgement]:
            parts: list[list[WindowAnswer]] = [[] for _ in pairs]
            for row, (valid, kinds, places) in zip(rows, wait(), strict=True):
                check_outputs(len(kinds), self.kinds, self.folder)
                end = 1 + row.paraphrase.size
                faults = places[end + 1 :], places[1:end]
                parts[row.number].append(WindowAnswer(float(valid), kinds, *faults, row.window))
            return [TokenJudgement(tuple(mine), pair, self.kinds) for mine, pair in zip(parts, encoded, strict=True)]

        return finish


def _same_question(rows: Sequence[_Row]) -> Iterator[list[int]]:
    """Yield batches of row numbers. All rows of a batch begin with the same tokens; long batches come first."""
    keys = [row.question.tobytes() for row in rows]
    order = sorted(range(len(rows)), key=keys.__getitem__)
    batches = [list(batch) for _, batch in groupby(order, key=keys.__getitem__)]
    yield from sorted(batches, key=lambda batch: (-sum(rows[n].paraphrase.size for n in batch), batch[0]))


def _run(session: Any, tokenizer: CausalTokenizer, rows: Sequence[_Row], batch: Sequence[int]) -> list[list[Any]]:
    """Run the rows of a question, and return each row's outputs."""
    question = rows[batch[0]].question
    past = _nothing(session)
    if question.size and len(batch) > 1:
        names = [name.removeprefix(_PAST) for name in past]
        past = dict(zip(past, session.run(names, {"input_ids": question[None], **past}), strict=True))
        question = question[:0]
    found = []
    for number in batch:
        rest = tokenizer.rest(rows[number].question, rows[number].paraphrase)
        outputs = session.run(_OUTPUTS, {"input_ids": np.concatenate([question, rest])[None], **past})
        check_finite(outputs)
        valid, kinds, places = outputs
        found.append([valid[0, 0], kinds[0], places[0, question.size :, 0]])
    return found


def _nothing(session: Any) -> dict[str, Any]:
    """Return keys and values of no tokens."""
    found = {}
    for each in session.get_inputs():
        if each.name.startswith(_PAST):
            _, heads, _, size = each.shape
            found[each.name] = np.zeros((1, heads, 0, size), dtype=np.float32)
    if not found:
        raise ModelError("the model is not a language-model judge: install the model again")
    return found

"""Judge pairs with a language model that reads the question, the paraphrase and the question again.

The model reads a question once, keeps its keys and values, and continues from there with each of its paraphrases. A
pair without company is read in the same two steps: the model rounds its inputs, so one long step would give a slightly
different answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError
from paraqd.model_folder import PACKED_FILE, TOKENIZER_FILE, read_verified
from paraqd.scoring.judge.installed import REINSTALL
from paraqd.scoring.judge.judgement import TokenJudgement, WindowAnswer, check_outputs, known_kinds
from paraqd.scoring.judge.packed_weights import expand_weights
from paraqd.scoring.judge.pair_tokens import CausalTokenizer, Ids, Window
from paraqd.scoring.judge.session import OnnxModel, check_finite
from paraqd.scoring.pair_preparation import PreparedPair
from paraqd.scoring.verdict import EvidenceKind

LONGEST = 660  # the most tokens of a pair that the model reads at once
_OUTPUTS = ("valid", "kinds", "places")
_INPUT, _PAST = "input_ids", "past_"

Past = dict[str, NDArray[np.float32]]  # the keys and values of the tokens that the model has read


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
    def session(self) -> Any:
        """The runtime session. All batches share it, because every session holds its own copy of the weights."""
        process = os.getpid() if self.threads > 1 else 0  # a session with one thread survives a fork
        return self._once("session", process, self._shared_session)

    def _shared_session(self) -> Any:
        # several batches share the threads, so a thread that waits for its batch leaves the core to the others
        return _checked(self._session(self.threads, spinning=False), self.folder)

    def _weights(self) -> Mapping[str, NDArray[np.int8]]:
        path = self.folder / PACKED_FILE
        return expand_weights(read_verified(path, self._hashes.get(PACKED_FILE)), path)

    @property
    def _wide_session(self) -> Any:
        return self.session

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
    past = no_past(session)
    if question.size:  # the runtime does not accept an empty text
        names = [name.removeprefix(_PAST) for name in past]
        past = dict(zip(past, session.run(names, {_INPUT: question[None], **past}), strict=True))
    found = []
    for number in batch:
        rest = tokenizer.rest(question, rows[number].paraphrase)
        outputs = session.run(_OUTPUTS, {_INPUT: rest[None], **past})
        check_finite(outputs)
        valid, kinds, places = outputs
        found.append([valid[0, 0], kinds[0], places[0, :, 0]])
    return found


def no_past(session: Any) -> Past:
    """Return the keys and values of no tokens."""
    shapes = {each.name: each.shape for each in session.get_inputs() if each.name != _INPUT}
    return {name: np.zeros((1, heads, 0, size), dtype=np.float32) for name, (_, heads, _, size) in shapes.items()}


def _checked(session: Any, folder: Path) -> Any:
    """Return a session, or raise `ModelError` if its graph is not that of a language-model judge."""
    inputs, outputs = ([each.name for each in some] for some in (session.get_inputs(), session.get_outputs()))
    past = [name for name in inputs if name.startswith(_PAST)]
    needed = {*_OUTPUTS, *(name.removeprefix(_PAST) for name in past)}
    if not past or {_INPUT, *past} != set(inputs) or not needed <= set(outputs):
        raise ModelError(f"the model in {folder} is not a language-model judge: {REINSTALL}")
    return session

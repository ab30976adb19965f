"""Convert the texts of a prepared pair into the token ids that a cross-encoder reads.

Scoring and training share this module, so a pair has the same token ids in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from paraqd.errors import ModelError, reason_of
from paraqd.model_folder import read_verified

LONGEST = 320  # the most tokens of a pair that a judge reads at once
_SPECIAL = 3  # special tokens: [CLS] question [SEP] paraphrase [SEP]
_OVERLAP = 24
_MOST_WINDOWS = 64
_LONGEST_WORD = 1000  # characters; the time that a word takes grows with the square of its length
_FEW = 4  # texts; tokenising so few texts is faster without the tokenizer's threads
# The steps of a tokenizer that take time in proportion to the text. Others could run forever on a tampered pattern.
_STEPS = frozenset(
    {
        "BertNormalizer",
        "BertPreTokenizer",
        "ByteLevel",
        "CharDelimiterSplit",
        "Digits",
        "Lowercase",
        "Metaspace",
        "NFC",
        "NFD",
        "NFKC",
        "NFKD",
        "Nmt",
        "Punctuation",
        "Sequence",
        "Strip",
        "StripAccents",
        "UnicodeScripts",
        "Whitespace",
        "WhitespaceSplit",
    }
)
_SURROGATE = re.compile("[\ud800-\udfff]")

Ids = NDArray[np.int64]


class Row(NamedTuple):
    """A row of a model's input: the token ids, and for each token the number of its text (0 or 1)."""

    ids: Ids
    types: Ids


class EncodedText(NamedTuple):
    """A text's token ids without special tokens, and the tokenizer's encoding, which holds the tokens' spans."""

    ids: Ids
    encoding: Any


class Window(NamedTuple):
    """The parts of both texts that a model reads at once, as indices of tokens."""

    question: Ids
    paraphrase: Ids


class EncodedPair(NamedTuple):
    """The tokens of a question and its paraphrase."""

    question: EncodedText
    paraphrase: EncodedText

    def windows(self, longest: int = LONGEST) -> list[Window]:
        """Return one window, or several overlapping windows if the pair has more than ``longest`` tokens."""
        one, two = np.arange(len(self.question.ids)), np.arange(len(self.paraphrase.ids))
        room = longest - _SPECIAL
        if len(one) + len(two) <= room:
            return [Window(one, two)]
        count = -(-(len(one) + len(two)) // (room - 4 * _OVERLAP - 2))
        return [Window(_stretch(one, number, count), _stretch(two, number, count)) for number in range(count)]

    def differing_windows(self, longest: int = LONGEST) -> list[Window]:
        """Return the first 64 windows in which the texts differ, or the first window if the texts are equal."""
        windows = self.windows(longest)
        if len(windows) == 1:
            return windows
        differing = [
            window
            for window in windows
            if not np.array_equal(self.question.ids[window.question], self.paraphrase.ids[window.paraphrase])
        ]
        return differing[:_MOST_WINDOWS] or windows[:1]


class TextTokenizer:
    """A tokenizer for single texts, with two special tokens that frame texts.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        The model's tokenizer. It is modified, so pass a copy if other code uses the same tokenizer.

    """

    special: tuple[str, str]

    def __init__(self, tokenizer: Any, *, name: str = "the tokenizer") -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer, self._name = tokenizer, name
        frame = [tokenizer.token_to_id(name) for name in self.special]
        missing = [name for name, found in zip(self.special, frame, strict=True) if found is None]
        if missing:
            raise ModelError(f"{name} has no token {missing[0]}: install or train the model again")
        self._first, self._last = (np.array([token], dtype=np.int64) for token in frame)

    @classmethod
    def from_file(cls, path: Path, *, sha256: str | None = None) -> Self:
        """Load a tokenizer from ``tokenizer.json``. A file whose hash differs from ``sha256`` is rejected."""
        from tokenizers import Tokenizer

        content = read_verified(path, sha256)
        with _failing_as(f"{path} cannot be loaded"):
            _check_steps(json.loads(content))
            return cls(Tokenizer.from_buffer(content), name=f"{path}: the tokenizer")

    def encode(self, texts: Sequence[str], *, spans: bool = True) -> list[EncodedText]:
        """Tokenise texts. If ``spans`` is False, tokenising is faster, but the tokens' spans are unknown."""
        clean = [replace_surrogates(text) for text in texts]
        with _failing_as(f"{self._name} cannot read a text"):
            if len(clean) <= _FEW:
                found = [self._tokenizer.encode(text, add_special_tokens=False) for text in clean]
            else:
                encode = self._tokenizer.encode_batch if spans else self._tokenizer.encode_batch_fast
                found = encode(clean, add_special_tokens=False)
        return [EncodedText(np.asarray(each.ids, dtype=np.int64), each) for each in found]

    def encode_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[EncodedPair]:
        """Tokenise pairs of texts. Each distinct text is tokenised once."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        encoded = dict(zip(texts, self.encode(texts), strict=True))
        return [EncodedPair(encoded[question], encoded[paraphrase]) for question, paraphrase in pairs]


class PairTokenizer(TextTokenizer):
    """A tokenizer for single texts and for pairs, in the form ``[CLS] question [SEP] paraphrase [SEP]``."""

    special = ("[CLS]", "[SEP]")

    def row(self, pair: EncodedPair, window: Window) -> Row:
        """Return the model's input row for one window of a pair."""
        question, paraphrase = pair.question.ids[window.question], pair.paraphrase.ids[window.paraphrase]
        ids = np.concatenate([self._first, question, self._last, paraphrase, self._last])
        types = np.zeros_like(ids)
        types[len(question) + 2 :] = 1
        return Row(ids, types)

    def single_row(self, ids: Ids) -> Row:
        """Return the model's input row for a single text."""
        framed = np.concatenate([self._first, ids, self._last])
        return Row(framed, np.zeros_like(framed))


@contextmanager
def _failing_as(what: str) -> Iterator[None]:
    """Raise `ModelError` if the tokenizer's library fails inside the context."""
    try:
        yield
    except (ModelError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # the library raises plain exceptions and, where it panics, one that is no Exception
        raise ModelError(f"{what}: {reason_of(error)}; install or train the model again") from None


def _check_steps(described: Any) -> None:
    """Raise ValueError if a tokenizer could take very long."""
    waiting = [described.get("normalizer"), described.get("pre_tokenizer")]
    while waiting:
        step = waiting.pop() or {"type": "Sequence"}
        if step.get("type") not in _STEPS:
            raise ValueError(f"it has the step {step.get('type')!r}, which paraqd's models do not use")
        waiting += [*step.get("normalizers", ()), *step.get("pretokenizers", ())]
    if described["model"].get("max_input_chars_per_word", 0) > _LONGEST_WORD:
        raise ValueError(f"it reads words of more than {_LONGEST_WORD:,} characters")


def replace_surrogates(text: str) -> str:
    r"""Replace surrogates, which tokenizers reject, with a different character. Positions do not change.

    >>> len(replace_surrogates("\ud83d\ude00 5 km"))
    7
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _stretch(tokens: Ids, number: int, count: int) -> Ids:
    size = len(tokens)
    start, end = size * number // count, size * (number + 1) // count
    return tokens[max(0, start - _OVERLAP) : end + _OVERLAP]

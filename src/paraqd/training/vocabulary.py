"""Cut a byte-level BPE tokenizer down to the tokens that occur in a collection of texts.

The smaller tokenizer can still encode every text, because it keeps the tokens for single bytes. A rare word is only
split into more pieces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

_AT_ONCE = 4096


def count_tokens(tokenizer: Any, texts: Iterable[str]) -> dict[int, int]:
    """Count how often each token of a `tokenizers.Tokenizer` occurs in texts."""
    counts: dict[int, int] = {}
    batch: list[str] = []

    def add() -> None:
        for found in tokenizer.encode_batch_fast(batch, add_special_tokens=False):
            for token in found.ids:
                counts[token] = counts.get(token, 0) + 1
        batch.clear()

    for text in texts:
        batch.append(text)
        if len(batch) == _AT_ONCE:
            add()
    add()
    return counts


def cut_vocabulary(tokenizer: Any, tokens: Iterable[int], special: Sequence[str]) -> tuple[Any, list[int]]:
    """Return a tokenizer with fewer tokens, and the old id of each of its tokens.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        A byte-level BPE tokenizer. It is not changed.
    tokens : iterable of int
        The ids to keep. The tokens of which they are composed are kept too, and so are all single bytes.
    special : sequence of str
        The special tokens to keep.

    """
    from tokenizers import Tokenizer

    whole = json.loads(tokenizer.to_str())
    model = whole["model"]
    vocabulary: dict[str, int] = model["vocab"]
    names = {number: name for name, number in vocabulary.items()}
    merges = [tuple(merge.split(" ", 1)) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]
    parts = {}
    for one, two in reversed(merges):  # the merge with the highest priority comes first in the list, and wins
        parts[one + two] = (one, two)
    kept = {name for name in vocabulary if len(name) == 1} | {name for name in special if name in vocabulary}
    left = [names[number] for number in tokens if number in names]
    while left:
        name = left.pop()
        if name not in kept:
            kept.add(name)
            left += parts.get(name, ())
    added = [each for each in whole["added_tokens"] if each["content"] in special]
    kept |= {each["content"] for each in added}
    old_ids = sorted(vocabulary.get(name, -1) for name in kept)
    by_old = {vocabulary[name]: name for name in kept if name in vocabulary}
    model["vocab"] = {by_old[old]: new for new, old in enumerate(old_ids)}
    model["merges"] = [list(m) for m in merges if {m[0], m[1], m[0] + m[1]} <= kept]
    whole["added_tokens"] = [{**each, "id": model["vocab"][each["content"]]} for each in added]
    whole["post_processor"] = None
    return Tokenizer.from_str(json.dumps(whole)), old_ids

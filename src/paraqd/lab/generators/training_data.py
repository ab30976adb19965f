"""Read training data for generators, and convert the texts into token ids."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paraqd.errors import ParaqdError
from paraqd.paraphrasing.text_models.base import Prompt
from paraqd.paraphrasing.text_models.causal import encode_prompt
from paraqd.paraphrasing.text_models.engine import pad, printable
from paraqd.paraphrasing.text_models.masked import MASK_SHARE, RANDOM_SHARE

PARAPHRASES = "general_paraphrases.jsonl.gz"
QUESTIONS = "questions.jsonl.gz"
MASK_RATE = 0.15
_IGNORED = -100  # the loss ignores positions with this label

Pair = tuple[str, str]


class TrainingDataError(ParaqdError, ValueError):
    """Raised when training data is missing or cannot be read. The message is a single line."""


class TokenizedExample(NamedTuple):
    """A training example as token ids.

    For a masked language model, ``labels`` is empty until `collate` chooses the tokens to mask.
    """

    input_ids: list[int]
    labels: list[int]

    @property
    def cost(self) -> int:
        """The length of ``input_ids`` or ``labels``, whichever is longer."""
        return max(len(self.input_ids), len(self.labels))


def read_paraphrases(data_dir: str | Path, *, source: str) -> list[Pair]:
    """Return one source's pairs with label 1 (paraphrases), each in both directions."""
    pairs: dict[Pair, None] = {}
    for row in _rows(Path(data_dir) / PARAPHRASES):
        if row.get("source") == source and row.get("label") == 1:
            a, b = detokenized(str(row["a"])), detokenized(str(row["b"]))
            if a and b and a != b:
                pairs |= {(a, b): None, (b, a): None}
    if not pairs:
        raise TrainingDataError(f"{PARAPHRASES} has no paraphrases with source {source!r} and label 1")
    return list(pairs)


def read_questions(data_dir: str | Path, *, split: str = "train") -> list[str]:
    """Return the questions of one split, such as ``train``."""
    rows = _rows(Path(data_dir) / QUESTIONS)
    questions = [str(row["question"]) for row in rows if row.get("split") == split]
    if not questions:
        raise TrainingDataError(f"{QUESTIONS} has no questions in the split {split!r}")
    return questions


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):  # noqa: B007  (the error message contains the line number)
                yield json.loads(line)
    except FileNotFoundError:
        raise TrainingDataError(
            f"{path.name} is not in {path.parent}: pass the folder that contains the training data"
        ) from None
    except (OSError, EOFError, ValueError) as error:
        raise TrainingDataError(f"cannot read {path.name} after line {number}: {error}") from error


_BEFORE = re.compile(r" +([.,;:!?%)\]]|'s\b|n't\b)")
_AFTER = re.compile(r"([(\[$]) +")
_QUOTES = re.compile(r"(?:``|'') ?|\" ?")


def detokenized(text: str) -> str:
    r"""Remove the spaces that some corpora have around punctuation so that models do not learn to write such spaces.

    >>> detokenized("He said , `` go ( now ) , '' and it 's 5 % .")
    'He said, "go (now)," and it\'s 5%.'
    """
    text = _AFTER.sub(r"\1", _BEFORE.sub(r"\1", " ".join(text.split())))
    if text.count("``") + text.count("''") + text.count('"') == 0:
        return text
    pieces = _QUOTES.split(text)
    # quotation marks alternate between opening and closing marks, and a closing mark has no space before it
    joined = pieces[0]
    for index, piece in enumerate(pieces[1:]):
        closes = index % 2 == 1
        joined = (joined.rstrip(" ") if closes else joined) + '"'
        joined += " " + piece if closes and piece[:1].isalnum() else piece
    return joined


def data_sha256(pairs: Iterable[Pair]) -> str:
    """Return the SHA-256 hash of a sequence of training pairs.

    >>> data_sha256([("a", "b")])[:8]
    '3e0529f9'
    """
    digest = hashlib.sha256()
    for pair in pairs:
        digest.update(json.dumps(pair, ensure_ascii=True).encode("ascii") + b"\n")
    return digest.hexdigest()


def encode_causal(tokenizer: Any, prompt: Prompt, pairs: Iterable[Pair]) -> Iterator[TokenizedExample]:
    """Encode pairs for a causal model. The loss ignores the prompt, which contains the first text of each pair."""
    for source, target in pairs:
        prompt_ids = encode_prompt(tokenizer, prompt.fill(printable(source)))
        target_ids = tokenizer(printable(target), add_special_tokens=False)["input_ids"]
        target_ids = [*target_ids, tokenizer.eos_token_id]
        yield TokenizedExample([*prompt_ids, *target_ids], [_IGNORED] * len(prompt_ids) + target_ids)


def encode_seq2seq(tokenizer: Any, prompt: Prompt, pairs: Iterable[Pair]) -> Iterator[TokenizedExample]:
    """Encode pairs for an encoder-decoder model, which learns to turn the first text into the second text."""
    for source, target in pairs:
        prompt_ids = tokenizer(prompt.fill(printable(source)))["input_ids"]
        yield TokenizedExample(list(prompt_ids), list(tokenizer(text_target=printable(target))["input_ids"]))


def encode_masked(tokenizer: Any, pairs: Iterable[Pair]) -> Iterator[TokenizedExample]:
    """Encode the second text of each pair for a masked language model."""
    for _, text in pairs:
        yield TokenizedExample(list(tokenizer(printable(text), truncation=False)["input_ids"]), [])


def collate(examples: Sequence[TokenizedExample], *, tokenizer: Any, rng: random.Random, device: str) -> dict[str, Any]:
    """Combine examples into a batch that consists of input ids, an attention mask and labels.

    For a masked language model, ``rng`` chooses the tokens to mask. Rows are padded on the right, even for a causal
    model, because some attention kernels return NaN for padding on the left.
    """
    if not examples[0].labels:
        examples = [_mask_tokens(example, tokenizer, rng) for example in examples]
    value = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    ids, mask = pad([e.input_ids for e in examples], value=value, left=False, device=device)
    labels, _ = pad([e.labels for e in examples], value=_IGNORED, left=False, device=device)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def _mask_tokens(example: TokenizedExample, tokenizer: Any, rng: random.Random) -> TokenizedExample:
    special = set(tokenizer.all_special_ids)
    free = [i for i, token in enumerate(example.input_ids) if token not in special]
    ids = list(example.input_ids)
    labels = [_IGNORED] * len(ids)
    for position in rng.sample(free, min(len(free), max(1, round(MASK_RATE * len(free))))):
        labels[position] = ids[position]
        draw = rng.random()
        if draw < MASK_SHARE:
            ids[position] = tokenizer.mask_token_id
        elif draw < MASK_SHARE + RANDOM_SHARE:
            ids[position] = rng.randrange(len(tokenizer))
    return TokenizedExample(ids, labels)

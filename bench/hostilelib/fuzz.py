"""Damage pairs in many ways, and check the verdicts on them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from paraqd import Verdict

Pair = tuple[str, str]

_ODD = [
    *"$%^\\{}()[]<>&#=_/*-+.,:;?!'\"`~|@",
    *"\u00a0\u2009\u202f\u200b\u200d\u2060\ufeff\u00ad\u2028\u0000\x1b\ud800\udfff",
    *"½⅓↉²³⁴₁０５９％＄٣५𝟓①Ⅳ߀",
    *"éſıİßﬁ中あ😀e\u0301",
    *"−–—…“”‘’₹£€¥¢°º′″×÷·≤≥≠√π∞",
]
_LONG = [
    "9" * 5000,
    "9" * 401,
    "1/" * 60 + "7",
    "0." + "3" * 4500,
    "1:" * 300 + "2",
    "a" * 3000,
    " " * 3000,
    "5% " * 300,
]


def _edit(text: str, rng: random.Random, new: str, cut: int = 0) -> str:
    place = rng.randint(0, len(text))
    return text[:place] + new + text[place + cut :]


def _odd_sign(text: str, rng: random.Random, other: str) -> str:
    return _edit(text, rng, rng.choice(_ODD) * rng.choice((1, 1, 2, 20)))


def _lost_piece(text: str, rng: random.Random, other: str) -> str:
    return _edit(text, rng, "", rng.randint(1, 30))


def _repeated_piece(text: str, rng: random.Random, other: str) -> str:
    place = rng.randint(0, len(text))
    return _edit(text, rng, text[place : place + rng.randint(1, 20)] * rng.choice((1, 2, 30)))


def _other_piece(text: str, rng: random.Random, other: str) -> str:
    place = rng.randint(0, len(other))
    return _edit(text, rng, other[place : place + rng.randint(1, 60)], rng.randint(0, 10))


def _long_piece(text: str, rng: random.Random, other: str) -> str:
    return _edit(text, rng, rng.choice(_LONG)) if rng.random() < 0.2 else text


def _other_digits(text: str, rng: random.Random, other: str) -> str:
    zero = ord(rng.choice("0０٠०𝟎"))
    return "".join(chr(zero + int(sign)) if "0" <= sign <= "9" else sign for sign in text)


def _other_spaces(text: str, rng: random.Random, other: str) -> str:
    return text.replace(" ", rng.choice("\u00a0\u2009\n\t"), rng.randint(1, 9))


def _upper(text: str, rng: random.Random, other: str) -> str:
    return rng.choice((text.upper(), text.lower(), text.title(), text.swapcase()))


def _reversed_words(text: str, rng: random.Random, other: str) -> str:
    words = text.split(" ")
    rng.shuffle(words)
    return " ".join(words)


_EDITS: Sequence[Callable[[str, random.Random, str], str]] = (
    _odd_sign,
    _odd_sign,
    _lost_piece,
    _repeated_piece,
    _other_piece,
    _long_piece,
    _other_digits,
    _other_spaces,
    _upper,
    _reversed_words,
)


def damaged(pair: Pair, rng: random.Random, others: Sequence[Pair]) -> Pair:
    """Return a pair with up to four random changes in each text. The question is never blank."""
    other = rng.choice(rng.choice(others))
    question, paraphrase = pair
    for _ in range(rng.randint(0, 4)):
        question = rng.choice(_EDITS)(question, rng, other)
    for _ in range(rng.randint(0, 4)):
        paraphrase = rng.choice(_EDITS)(paraphrase, rng, other)
    return f"{question} x", paraphrase


def check_verdicts(pairs: Sequence[Pair], verdicts: Sequence[Verdict]) -> None:
    """Raise an AssertionError that names the pair, unless each pair has a sound verdict."""
    assert len(verdicts) == len(pairs)
    for pair, verdict in zip(pairs, verdicts, strict=True):
        assert math.isfinite(verdict.score) and -1 <= verdict.score <= 1, ascii(pair)
        for piece in verdict.evidence:
            for text, spans in zip(pair, (piece.question_spans, piece.paraphrase_spans), strict=True):
                assert all(0 <= start <= end <= len(text) for start, end in spans), ascii(pair)
                assert math.isfinite(piece.delta), ascii(pair)

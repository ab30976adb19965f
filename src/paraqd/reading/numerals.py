"""Read numbers written in words (cardinals, ordinals and fractions) and numbers written in digits."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from paraqd.reading.token_stream import Stream
from paraqd.reading.tokens import is_grouped

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES = {word: i for i, word in enumerate(_ONES.split())}
TENS = {word: 10 * i for i, word in enumerate(_TENS.split(), start=2)} | {"fourty": 40}
SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "lakh": 100_000,
    "lakhs": 100_000,
    "lac": 100_000,
    "lacs": 100_000,
    "million": 1_000_000,
    "crore": 10_000_000,
    "crores": 10_000_000,
    "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
_ORDINAL_ONES = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_ORDINAL_TENS = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"
ORDINAL_ONES = {word: i for i, word in enumerate(_ORDINAL_ONES.split()) if i}
ORDINALS = ORDINAL_ONES | {word: 10 * i for i, word in enumerate(_ORDINAL_TENS.split(), start=2)}
ORDINALS |= {"hundredth": 100, "thousandth": 1000, "millionth": 1_000_000}
# denominators in words, singular and plural
DENOMINATORS = {word: value for word, value in ORDINALS.items() if value > 2}
DENOMINATORS |= {"half": 2, "quarter": 4}
DENOMINATORS |= {word + "s": value for word, value in DENOMINATORS.items() if word != "half"} | {"halves": 2}
VULGAR_VALUES = {
    "¼": Fraction(1, 4),
    "½": Fraction(1, 2),
    "¾": Fraction(3, 4),
    "⅐": Fraction(1, 7),
    "⅑": Fraction(1, 9),
    "⅒": Fraction(1, 10),
    "⅓": Fraction(1, 3),
    "⅔": Fraction(2, 3),
    "⅕": Fraction(1, 5),
    "⅖": Fraction(2, 5),
    "⅗": Fraction(3, 5),
    "⅘": Fraction(4, 5),
    "⅙": Fraction(1, 6),
    "⅚": Fraction(5, 6),
    "⅛": Fraction(1, 8),
    "⅜": Fraction(3, 8),
    "⅝": Fraction(5, 8),
    "⅞": Fraction(7, 8),
    "↉": Fraction(0),
}
MULTIPLES = {
    "twice": 2,
    "thrice": 3,
    "double": 2,
    "doubled": 2,
    "doubles": 2,
    "doubling": 2,
    "triple": 3,
    "tripled": 3,
    "triples": 3,
    "tripling": 3,
    "treble": 3,
    "trebled": 3,
    "quadruple": 4,
    "quadrupled": 4,
    "quadruples": 4,
    "quintuple": 5,
    "quintupled": 5,
    "twofold": 2,
    "threefold": 3,
    "fourfold": 4,
    "fivefold": 5,
    "sixfold": 6,
    "sevenfold": 7,
    "eightfold": 8,
    "ninefold": 9,
    "tenfold": 10,
}
# as in *by sevens* and *in twelves*
PLURALS = {
    **{word + ("es" if word == "six" else "s"): value for word, value in ONES.items() if value > 1},
    **{word.removesuffix("y") + "ies": value for word, value in TENS.items()},
}
_AT = frozenset({"at", "until", "till", "since"})
_PARTS_OF_DAY = (
    ("a", ["in", "the", "morning"]),
    ("p", ["in", "the", "afternoon"]),
    ("p", ["in", "the", "evening"]),
)
CARDINAL_START = frozenset(ONES) | frozenset(TENS) | frozenset(SCALES)
# a number with more digits is read as a label, because converting it would take more than linear time
MAX_DIGITS = 400


@lru_cache(maxsize=4096)
def digits_value(word: str) -> Fraction:
    """Return the exact value of a number in digits, such as 1,200, 0.6 or .5.

    >>> digits_value("1,20,000"), digits_value(".5")
    (Fraction(120000, 1), Fraction(1, 2))
    >>> digits_value("4,50")
    Fraction(9, 2)
    """
    if "," in word and not is_grouped(word):
        word = word.replace(",", ".")  # a price with a decimal comma
    whole, _, decimals = word.replace(",", "").partition(".")
    if not decimals:
        return Fraction(int(whole))
    return Fraction(int(whole + decimals), 10 ** len(decimals))


def _below_hundred(s: Stream, i: int) -> tuple[int, int] | None:
    """Read a number below one hundred at token i, such as *twenty-five*, *twenty five* or *seven*.

    Return the value and the index of the next token, or None.
    """
    word = s.low[i]
    if word in TENS:
        value = TENS[word]
        if s.text[i + 1] == "-" and s.glued(i + 1) and s.glued(i + 2) and 0 < ONES.get(s.low[i + 2], 0) < 10:
            return value + ONES[s.low[i + 2]], i + 3
        if 0 < ONES.get(s.low[i + 1], 0) < 10 and not (s.text[i + 2] == "-" and s.glued(i + 2)):
            # "twenty one-dollar notes" are twenty notes of one dollar
            if s.start[i + 1] == s.end[i] + 1:
                return value + ONES[s.low[i + 1]], i + 2
        return value, i + 1
    if word in ONES:
        return ONES[word], i + 1
    return None


def _next_part(s: Stream, i: int) -> int:
    """Return the index of the next word of a number, after skipping a hyphen or *and* at token i."""
    if s.text[i] == "-" and s.glued(i) and s.glued(i + 1):
        return i + 1
    if s.low[i] == "and":
        return i + 1
    return i


def cardinal(s: Stream, i: int) -> tuple[int, int] | None:
    """Read a whole number in words at token i.

    Return the value and the index of the next token, or None.

    >>> cardinal(Stream("two lakh fifty thousand one hundred and five"), 0)
    (250105, 8)
    """
    total, j, last_scale = 0, i, 10**15
    first = True
    while True:
        k = j if first else _next_part(s, j)
        skipped_and = k != j and s.low[j] == "and"
        if first and s.low[k] in SCALES:
            group, after = 1, k  # "hundred rupees", also after "a"
        else:
            part = _below_hundred(s, k)
            if part is None:
                break
            group, after = part
        if s.low[_skip_hyphen(s, after)] == "hundred":
            after = _skip_hyphen(s, after) + 1
            group *= 100
            rest = _below_hundred(s, _next_part(s, after))
            if rest is not None and rest[0] > 0 and s.low[rest[1]] != "hundred":
                group += rest[0]
                after = rest[1]
        scale = SCALES.get(s.low[_skip_hyphen(s, after)], 1)
        if scale > 100:
            after = _skip_hyphen(s, after) + 1
        else:
            scale = 1
        # each part must have a smaller scale than the preceding part; "five and six" are two numbers
        if not first and (scale >= last_scale or group * scale >= last_scale or last_scale == 1 or group == 0):
            break
        if skipped_and and scale > 1:
            break
        total += group * scale
        j, last_scale, first = after, scale, False
        if scale == 1:
            break
    return None if first else (total, j)


def _skip_hyphen(s: Stream, i: int) -> int:
    """Return i + 1 if token i is a hyphen before a scale, as in *two-hundred*. Otherwise, return i."""
    return i + 1 if s.text[i] == "-" and s.glued(i) and s.glued(i + 1) and s.low[i + 1] in SCALES else i


def ordinal_value(s: Stream, i: int) -> tuple[int, int] | None:
    """Read an ordinal in words at token i, such as *third*, *twenty-first* or *one hundred and fifth*.

    Return the value and the index of the next token, or None.
    """
    found = _ordinal_below_hundred(s, i)
    if found is not None or s.low[i] not in CARDINAL_START:
        return found
    whole = cardinal(s, i)
    if whole is None or whole[0] % 100 or not whole[0]:
        return None
    rest = _ordinal_below_hundred(s, _next_part(s, whole[1]))
    if rest is None or rest[0] >= 100 or s.low[rest[1] - 1] == "second":
        return None
    return whole[0] + rest[0], rest[1]


def _ordinal_below_hundred(s: Stream, i: int) -> tuple[int, int] | None:
    word = s.low[i]
    if word in ORDINALS:
        return ORDINALS[word], i + 1
    if word not in TENS:
        return None
    hyphen = s.text[i + 1] == "-" and s.glued(i + 1)
    last = s.low[i + 2] if hyphen else s.low[i + 1]
    # "twenty second" may be twenty seconds, and "twenty first graders" are twenty people
    if not 0 < ORDINAL_ONES.get(last, 0) < 10 or (
        not hyphen and (last == "second" or s.low[i + 2].startswith("grade"))
    ):
        return None
    return TENS[word] + ORDINAL_ONES[last], i + (3 if hyphen else 2)


def meridiem(s: Stream, i: int, first: int | None = None) -> tuple[str, int] | None:
    """Read *am*, *a.m.*, *pm* or *p.m.* at token i.

    Also read *in the morning* and similar phrases if *at* precedes token ``first``, at which the number begins. Return
    ``"a"`` or ``"p"`` and the index of the next token, or None.
    """
    word = s.low[i]
    if first and s.low[first - 1] in _AT:
        for part, words in _PARTS_OF_DAY:
            if s.low[i : i + len(words)] == words:
                return part, i + len(words)
    if word in {"am", "pm"}:
        return word[0], i + 1
    if word in {"a", "p"} and s.text[i + 1] == "." and s.low[i + 2] == "m" and s.text[i + 3] == "." and i:
        return word, i + 4  # "a . m .", in texts with a space before each punctuation mark
    if word in {"a", "p"} and s.text[i + 1] == "." and s.low[i + 2] == "m" and s.glued(i + 1):
        return word, i + 4 if s.text[i + 3] == "." and s.glued(i + 3) else i + 3
    return None

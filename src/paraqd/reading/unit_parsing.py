"""Read the unit after a number, including squares, cubes, rates and single letters."""

from __future__ import annotations

from paraqd.reading.currencies import BY_NAME, CURRENCIES, ORDINARY_WORDS
from paraqd.reading.signs import MINUS, POSSESSIVES
from paraqd.reading.token_stream import Stream
from paraqd.reading.units import MULTI_WORD, NEEDS_CONTEXT, SPELLINGS, category

# the first words of units, except possessives as in "1 day's work"
_BEGINNINGS = (
    frozenset(SPELLINGS) | frozenset(MULTI_WORD) | frozenset("° º ˚ degree degrees deg sq square cubic cu".split())
)
_OPERATORS = MINUS | frozenset("+*×÷=<>≤≥^·")
_STERLING, _RUPEE = BY_NAME["pound sterling"], BY_NAME["rupee"]
_STERLING_SIGNS = frozenset({*_STERLING.signs, *_STERLING.codes, "pence", "sterling", "shillings", "shilling"})
_WEIGHT_WORDS = frozenset(
    {"weigh", "weighs", "weighed", "weight", "heavy", "heavier", "lighter", "ounce", "ounces", "lb", "kg"}
)
_OTHER_MONEY = frozenset(
    word
    for currency in CURRENCIES
    if currency is not _STERLING
    for word in (*currency.signs, *currency.words, currency.coin_plural)  # "cent" may be part of "per cent"
    if word and word not in ORDINARY_WORDS
)
_SIZE_WORDS = frozenset(
    "by x × long wide tall high deep thick apart in broad longer wider taller higher deeper thicker shorter narrower "
    "lower".split()
)
_SIZES = frozenset({"area", "areas", "volume", "surface", "capacity", "tank", "cistern"})
_AFTER_POWER = frozenset(
    "and is are was if then find what how the with of whose must has that to at in per on for".split()
)
_SECOND_THINGS = frozenset("year grade grader graders class floor half place prize shift innings".split())
_RUPEES = frozenset({*_RUPEE.signs, *_RUPEE.words, *_RUPEE.coin_words}) - ORDINARY_WORDS
_BEFORE_DECADES = frozenset({"the", "her", "his", "their", "my", "mid", "early", "late", "-"})
_TELLS_WHEN = frozenset({"later", "ago", "earlier", "after", "before", "afterwards"})  # as in *2 oz a month later*
_MONEY_LETTERS = {"p": "penny", "c": "cent"}


class FoundUnit:
    """A unit that covers the tokens [first, after), with its canonical name."""

    __slots__ = ("after", "first", "name")

    def __init__(self, name: str, first: int, after: int) -> None:
        self.name = name
        self.first = first
        self.after = after


def _simple(s: Stream, i: int) -> tuple[str, int] | None:
    """Read a unit at token i, without a power or a rate."""
    word = s.low[i]
    for words, name in MULTI_WORD.get(word, ()):
        if tuple(s.low[i : i + len(words)]) == words:
            return name, i + len(words)
    if word in MULTI_WORD and s.text[i + 1] == "-" and (word, s.low[i + 2]) == ("light", "years"):
        return "light year", i + 3
    name_found = SPELLINGS.get(word)
    if name_found is None and word[-2:] in POSSESSIVES:
        name_found = SPELLINGS.get(word[:-2])  # "1 day's work"
        if name_found is not None and category(name_found) != "time":
            name_found = None
    return (name_found, i + 1) if name_found else None


def _power(s: Stream, i: int, name: str, after: int) -> tuple[str, int]:
    """Read a square or cube after a unit, as in cm^2, cm², cm2 or *metres squared*.

    Return the name and the index of the next token, which are unchanged if there is no power.
    """
    if category(name) not in {"length", "time"}:
        return name, after
    word = s.text[after]
    if word == "^" and s.text[after + 1] in {"2", "3"}:
        return _powered(name, s.text[after + 1]), after + 2
    if word in {"²", "³"} and s.glued(after):
        return _powered(name, "2" if word == "²" else "3"), after + 1
    if word in {"2", "3"} and s.glued(after) and after == i + 1:
        return _powered(name, word), after + 1
    if word in {"2", "3"} and s.words & _SIZES and not _counts_something(s, after):
        return _powered(name, word), after + 1  # "an area of 1200 m 2"
    # "a 5 cm cube" is a cube, but "an area of 5 metre square" is an area
    if s.low[after] == "squared" or (s.low[after] == "square" and s.words & _SIZES):
        return _powered(name, "2"), after + 1
    if s.low[after] == "cubed":
        return _powered(name, "3"), after + 1
    return name, after


def _counts_something(s: Stream, i: int) -> bool:
    """Return True if the number at token i belongs to the word that follows it."""
    following = s.text[i + 1]
    return s.start[i] - s.end[i - 1] > 1 or (following[:1].isalpha() and s.low[i + 1] not in _AFTER_POWER)


def _powered(name: str, power: str) -> str:
    return ("square " if power == "2" else "cubic ") + name


def _is_letter_unit(s: Stream, i: int) -> bool:
    """Return True if the letter at token i, which follows a number, is a unit and not a variable."""
    word = s.text[i]
    if word != word.lower() and word != "L":
        return False
    if word == "s" and s.glued(i) and i > 1 and s.low[i - 2] in _BEFORE_DECADES and s.text[i - 1].endswith("0"):
        return False  # the 1990s, in her 20s
    if word in s.variables:
        return False
    after = s.text[i + 1]
    if after and after in _OPERATORS and not (after == "×" or (after == "^" and s.text[i + 2] in {"2", "3"})):
        # in "60 m - 40 m" and "20 m * 15 m", m is a unit; in "5m - 3", it is a variable
        return after in {*MINUS, "*"} and s.number_at(i + 2) and s.text[i + 3] == word
    if after == "(" and s.glued(i + 1):
        return False
    before = s.text[i - 2] if i >= 2 else ""
    if before == "*" and i >= 3 and s.text[i - 3] == word:
        return True
    return not (before and before in "+*^·")


def _in_context(s: Stream, i: int) -> bool:
    """Return True if the ambiguous spelling at token i means a unit, and not a word or a variable."""
    word = s.low[i]
    if len(word) == 1:
        return _is_letter_unit(s, i)
    if word == "in":
        after = s.low[i + 1]
        if after == "." and s.glued(i + 1):
            return True
        return s.glued(i) or after in _SIZE_WORDS or (s.text[i - 1] == "-" and s.glued(i))
    if word in {"won", "rand", "re", "mo", "cum", "lit"}:
        return False
    if word == "stone":
        return bool(_WEIGHT_WORDS & s.words)
    return True


def simple_unit(s: Stream, i: int) -> FoundUnit | None:
    """Read a unit at token i, without a rate, such as ``km``, ``sq. m``, ``cubic feet``, ``cm^2`` or ``°C``."""
    word = s.low[i]
    if word not in _BEGINNINGS and word[-2:] not in POSSESSIVES:
        return None
    if word in {"°", "º", "˚"}:
        following = s.text[i + 1]
        if following in {"C", "c"}:
            return FoundUnit("degree celsius", i, i + 2)
        if following in {"F", "f"} and s.text[i + 2] != "(":
            return FoundUnit("degree fahrenheit", i, i + 2)
        return FoundUnit("degree", i, i + 1)
    if word in {"degree", "degrees", "deg"} and s.text[i + 1] in {"C", "F"}:
        return FoundUnit("degree celsius" if s.text[i + 1] == "C" else "degree fahrenheit", i, i + 2)
    if word in {"sq", "square", "cubic", "cu"}:
        j = i + 1
        if (s.text[j] == "." and s.glued(j)) or (s.text[j] == "-" and s.glued(j)):
            j += 1
        base = _simple(s, j)
        if base and category(base[0]) == "length":
            return FoundUnit(("square " if word.startswith("sq") else "cubic ") + base[0], i, base[1])
        return None
    found = _simple(s, i)
    if found is None:
        return None
    name, after = found
    if word == "ms" and s.text[i] != "ms":
        return None  # Ms. Smith
    if word == "second" and s.low[after] in _SECOND_THINGS:
        return None  # 500 second year students
    if name == "pound" and word in {"pound", "pounds"}:
        name = "pound sterling" if _is_sterling(s, i) else "pound"
    if word in NEEDS_CONTEXT and not _in_context(s, i):
        return None
    name, after = _power(s, i, name, after)
    return FoundUnit(name, i, after)


def _is_sterling(s: Stream, i: int) -> bool:
    """Return True if *pounds* at token i means money and not a weight."""
    if _WEIGHT_WORDS & s.words or s.low[i + 1] in {"of", "per"}:
        return False
    if _STERLING_SIGNS & s.words:
        return True
    return not _OTHER_MONEY & s.words and s.pays_in_pounds


def rate(s: Stream, unit: FoundUnit) -> FoundUnit:
    """Return a unit together with the denominator that follows it, such as */hr*, *per hour* or *an hour*."""
    if "/" in unit.name:
        return unit
    under = denominator(s, unit.after)
    if under is None:
        return unit
    return FoundUnit(f"{unit.name}/{under.name}", unit.first, under.after)


def denominator(s: Stream, i: int) -> FoundUnit | None:
    """Read the denominator of a rate at token i, or return None."""
    word = s.low[i]
    if word == "." and s.glued(i) and s.low[i + 1] in {"per", "/"} and s.text[i - 1].isalpha():
        return denominator(s, i + 1)  # "5 kms. per hour"
    if word in {"/", "per"}:
        if s.low[i + 1] == "annum":
            return FoundUnit("year", i, i + 2)
        if word == "per" and s.low[i + 1] == "cent":
            return None
        # a letter after "/" is a unit only if it cannot be a variable
        j = i + 1
        if len(s.low[j]) == 1 and s.text[j].isalpha():
            if s.text[j] not in {"h", "s", "m", "g", "l", "L"} or s.text[j] in s.variables:
                return None
            names = {"h": "hour", "s": "second", "m": "metre", "g": "gram", "l": "litre", "L": "litre"}
            name, after = _power(s, j, names[s.text[j]], j + 1)
            return FoundUnit(name, i, after)
        if s.low[j] == "in":
            return None
        if s.low[j] == "pound":
            return FoundUnit("pound", i, j + 1)  # in a price per pound, the pound is a weight
        found = simple_unit(s, j)
        return FoundUnit(found.name, i, found.after) if found and category(found.name) != "currency" else None
    if word in {"a", "an", "each", "every"}:
        found = simple_unit(s, i + 1)
        if found and s.low[i + 1] not in {"in", "re"} and len(s.low[i + 1]) > 1 and category(found.name) != "currency":
            if s.text[found.after] == "-" or s.text[i + 1].endswith("s") or s.low[found.after] in _TELLS_WHEN:
                return None
            return FoundUnit(found.name, i, found.after)
    if word == "p" and s.low[i + 1 : i + 4] == [".", "a", "."]:
        return FoundUnit("year", i, i + 4)
    if word == "p" and s.low[i + 1 : i + 3] == [".", "a"]:
        return FoundUnit("year", i, i + 3)
    return None


def money_letter(s: Stream, i: int) -> FoundUnit | None:
    """Read the letter in 50p or 50c as a unit of money, unless the letter is a variable in the text."""
    if s.text[i] == "p" and s.words & _RUPEES:
        return None  # 1rs 6p
    if s.glued(i) and s.text[i] in _MONEY_LETTERS and s.text[i] not in s.variables:
        after = s.text[i + 1]
        if not (after and after in _OPERATORS) and not (i >= 2 and s.text[i - 2] in _OPERATORS):
            return FoundUnit(_MONEY_LETTERS[s.text[i]], i, i + 1)
    return None

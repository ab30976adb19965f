"""Read quantities in words, such as *twenty-five*, *half an hour*, *a dozen*, *twice*, *the third* or *noon*."""

from __future__ import annotations

from fractions import Fraction

from paraqd.reading.numerals import (
    CARDINAL_START,
    DENOMINATORS,
    MULTIPLES,
    ONES,
    ORDINALS,
    PLURALS,
    SCALES,
    TENS,
    cardinal,
    meridiem,
    ordinal_value,
)
from paraqd.reading.quantity_draft import Draft, complete
from paraqd.reading.token_stream import Stream
from paraqd.reading.types import Kind
from paraqd.reading.unit_parsing import FoundUnit, simple_unit
from paraqd.reading.units import category

STARTERS = (
    CARDINAL_START | frozenset(ORDINALS) | frozenset(MULTIPLES)
    | frozenset(PLURALS)
    | {"time", "a", "an", "half", "quarter", "quarters", "dozen", "couple", "noon", "midnight", "midday"}
)  # fmt: skip

_COINS = frozenset(["dime", "dimes", "nickel", "nickels", "penny", "pennies", "coin", "coins"])
_SCHOOL = frozenset(["grade", "grader", "graders", "grades", "class", "standard", "floor"])
# *a third* is a fraction before one of these words or at the end of a clause, and an ordinal before a noun
_AFTER_PART = frozenset(
    (
        "of as more less the that full empty larger smaller greater longer shorter faster slower bigger older "
        "younger is was are were and or in on to by from off if when then than away done gone which who for with "
        "at but again cheaper dearer heavier lighter taller remained remains left fewer"
    ).split()
)
_ONE_BEFORE = frozenset(
    (
        "the this that which each every any no other another some next last first second third good bad new old "
        "red blue green white black big small large long short bigger smaller larger elder younger right wrong "
        "whole same"
    ).split()
)
_ONE_AFTER = frozenset(
    (
        "of makes wins pay pays earn earns buy buys get "
        "can must may might could should would will shall is was are were has "
        "had have does did do another by who whom which that at on for to from with as if the then than so but "
        "when where because how what she he they it we you i their his her its wants needs knows after before "
        "also only still again gets got in and or not just"
    ).split()
)
_ONE_COMPOUND = frozenset(["way", "time", "sided", "to", "on", "off", "fits", "size"])
_DURATION_BEFORE = frozenset(
    (
        "in within before for take takes took taking taken after every than about only exactly over under equals lasts "
        "lasted nearly almost spend spends spent spending until is was need needs needed requires required just "
        "another of by approximately around"
    ).split()
)
_SPANS_OF_TIME = (["period"], ["duration"], ["interval"], ["gap"], ["time"], ["total"], ["space"])
_VAGUE = (["few"], ["several"], ["many"], ["some"])
# things of which a pair is one item, or which are counted in pairs
_ONE_PAIR = frozenset(
    "shoes socks gloves trousers jeans pants scissors glasses boots sandals shorts earrings slippers skates mittens "
    "sunglasses sneakers trainers tights goggles pliers tweezers binoculars headphones dice cards".split()
)
_AFTER_QUARTER = frozenset({"had", "have", "has", "went", "flew", "came"})
_BEHIND_CLOCK = frozenset(
    "in at on and or but to until till every each when the he she it they a an sharp this that yesterday today because "
    "if for from with after before as".split()
)
_CLOCK_MINUTES = frozenset({5, 10, 20, 25})
_PRONOUNS = frozenset("he she it they we you i who and then".split())
_LONG_PERIODS = frozenset({"decade", "fortnight", "century"})


def worded(s: Stream, i: int, floor: int) -> Draft | None:
    """Read a quantity in words at token i, or return None if there is none."""
    word = s.low[i]
    if s.glued(i) and s.text[i - 1] in {"'", "’", "_", "@"}:
        return None
    if word in {"a", "an"}:
        return _behind_article(s, i, floor)
    if word in {"noon", "midday", "midnight"}:
        return Draft(Fraction(0 if word == "midnight" else 12), Kind.TIME_OF_DAY, i, i + 1, worded=True)
    if word in MULTIPLES:
        return _multiple(s, i)
    if word in {"half", "quarter", "quarters"}:
        return _half_or_quarter(s, i, i, floor)
    if word == "dozen":
        return None if s.low[i - 1 : i] in _VAGUE else _dozen(s, i, i + 1, floor)
    if word == "couple":
        return None
    if word in PLURALS:
        counted = s.low[i - 1 : i] in (["in"], ["by"])
        return Draft(Fraction(PLURALS[word]), Kind.COUNT, i, i + 1, worded=True) if counted else None
    if word == "time":
        extra = s.low[i + 1 : i + 4] == ["and", "a", "half"] and simple_unit(s, i + 4) is None
        return Draft(Fraction(3, 2), Kind.MULTIPLE, i, i + 4, worded=True) if extra else None
    found = ordinal_value(s, i)
    if found is not None:
        return _ordinal(s, i, *found)
    return _cardinal(s, i, i, floor)


def _multiple(s: Stream, i: int) -> Draft | None:
    if s.low[i] in {"double", "triple"} and (
        s.text[i + 1] == "-" or s.low[i + 1] in {"room", "rooms", "decker", "bed", "beds", "digit", "digits", "room's"}
    ):
        return None
    return Draft(Fraction(MULTIPLES[s.low[i]]), Kind.MULTIPLE, i, i + 1, worded=True)


def _dozen(s: Stream, first: int, after: int, floor: int) -> Draft:
    value = 12
    if s.low[after : after + 3] == ["and", "a", "half"]:
        value, after = 18, after + 3
    return complete(s, Draft(Fraction(value), Kind.COUNT, first, after, worded=True), floor)


def _behind_article(s: Stream, i: int, floor: int) -> Draft | None:
    word = s.low[i + 1]
    if word in SCALES and word not in {"lakhs", "lacs", "crores"}:
        return _cardinal(s, i + 1, i, floor)
    if word == "dozen":
        return _dozen(s, i, i + 2, floor)
    if word in {"couple", "pair"}:
        two = s.low[i + 2] in {"of", "more"} and (word == "couple" or _ONE_PAIR.isdisjoint(s.low[i + 3 : i + 6]))
        return Draft(Fraction(2), Kind.COUNT, i, i + 2, worded=True) if two else None
    if word in {"half", "quarter"}:
        return _half_or_quarter(s, i + 1, i, floor)
    if word in DENOMINATORS and not word.endswith("s"):
        if s.low[i + 2] in _AFTER_PART or not s.text[i + 2][:1].isalpha():
            if not (s.text[i + 2] == "-" and s.glued(i + 2)):
                return complete(s, Draft(Fraction(1, DENOMINATORS[word]), Kind.FRACTION, i, i + 2, worded=True), floor)
        return None  # the ordinal in "a third pipe" is read at its own token
    return _one_unit(s, i)


def _one_unit(s: Stream, i: int) -> Draft | None:
    """Read *an hour* as 1 hour, unless the hour is the denominator of a rate."""
    unit = simple_unit(s, i + 1)
    if unit is None or len(s.low[i + 1]) < 3 or s.low[i + 1].endswith("s"):
        return None
    halved = s.low[unit.after : unit.after + 3] in (["and", "a", "half"], ["and", "a", "quarter"])
    if category(unit.name) != "time" and not halved:
        return None
    if unit.name not in _LONG_PERIODS and not halved:
        before = s.low[i - 1] if i else ""
        if before == "of" and s.low[i - 2 : i - 1] not in _SPANS_OF_TIME:
            return None  # "most of an hour"
        if before not in _DURATION_BEFORE or (s.text[unit.after] == "-" and s.glued(unit.after)):
            return None
        if unit.name == "second" and s.text[unit.after][:1].isalpha() and s.low[unit.after] not in _AFTER_PART:
            return None
    draft = Draft(Fraction(1), Kind.MEASURE, i, i + 1, worded=True)
    draft.take_unit(s, FoundUnit(unit.name, unit.first, unit.after))
    if s.low[unit.after : unit.after + 3] == ["and", "a", "half"]:
        draft.value, draft.after = Fraction(3, 2), unit.after + 3
    elif s.low[unit.after : unit.after + 3] == ["and", "a", "quarter"]:
        draft.value, draft.after = Fraction(5, 4), unit.after + 3
    return draft


def _half_or_quarter(s: Stream, i: int, first: int, floor: int) -> Draft | None:
    """Read *half*, *a half*, *a quarter* or *half past three*. Return None if *quarter* means a coin."""
    word = s.low[i]
    value = Fraction(1, 2 if word == "half" else 4)
    clock = _past_or_to(s, i, first, value)
    if clock is not None:
        return clock
    if word == "quarters" or (word == "quarter" and (_COINS & s.words or not _is_fraction(s, i, first))):
        return None
    after = i + 1
    draft = Draft(value, Kind.FRACTION, first, after, worded=True)
    if (
        word == "half"
        and s.text[after] == "-"
        and s.glued(after)
        and s.low[after + 1] in {"yearly", "time", "price", "way"}
    ):
        return draft
    return complete(s, draft, floor)


def _is_fraction(s: Stream, i: int, first: int) -> bool:
    """Return True if *quarter* at token i is a fraction rather than a coin, a period or a district."""
    after = s.low[i + 1]
    if simple_unit(s, i + 1) is not None and after != "in":
        return True
    if first == i:
        return after in {"of", "as", "an"}
    return after in _AFTER_PART or after in _AFTER_QUARTER or not after[:1].isalpha()


def _past_or_to(s: Stream, i: int, first: int, part: Fraction, *, timed: bool = False) -> Draft | None:
    direction = s.low[i + 1]
    if direction not in {"past", "to"} or (direction == "to" and part != Fraction(1, 4) and not timed):
        return None
    if s.number_at(i + 2) and s.text[i + 2].isdecimal() and len(s.text[i + 2]) < 3:
        hour, after = int(s.text[i + 2]), i + 3
    else:
        found = cardinal(s, i + 2)
        if found is None:
            return None
        hour, after = found
    if not 0 < hour <= 12:
        return None
    value = hour + part if direction == "past" else hour - part
    return Draft(value, Kind.TIME_OF_DAY, first, after, worded=True)


def _minutes_past(s: Stream, first: int, minutes: int, after: int) -> Draft | None:
    """Read a time such as *five past nine* or, after *at* or *until*, *ten to seven*."""
    direction = after + (s.low[after] in {"minutes", "minute"})
    known = minutes in _CLOCK_MINUTES or direction > after
    if not known or s.low[direction] not in {"past", "to"} or not 0 < minutes < 60:
        return None
    if s.low[direction] == "to" and (first == 0 or s.low[first - 1] not in {"at", "until", "till"}):
        return None
    clock = _past_or_to(s, direction - 1, first, Fraction(minutes, 60), timed=True)
    if clock is not None and s.text[clock.after][:1].isalpha() and s.low[clock.after] not in _BEHIND_CLOCK:
        return None  # not times: *at five to nine dollars*, *five past two goalkeepers*
    half_day = meridiem(s, clock.after, first) if clock is not None else None
    if clock is not None and half_day is not None:
        clock.value, clock.after = clock.value % 12 + (12 if half_day[0] == "p" else 0), half_day[1]
    return clock


def _ordinal(s: Stream, i: int, value: int, after: int) -> Draft | None:
    word, before, following = s.low[i], s.low[i - 1] if i else "", s.low[after]
    if word == "second":
        if before in {"per", "/", "each", "every", "a"} and not (
            before == "a" and following[:1].isalpha() and following not in _AFTER_PART
        ):
            return None
        if before == "split" or before in ORDINALS or before in {"st", "nd", "rd", "th"}:
            return None  # "the third second", "the 5th second"
    if word == "first" and (before == "at" or (following in {"of"} and s.low[after + 1] == "all")):
        return None
    if (
        word == "first"
        and (before in _PRONOUNS or following == ",")
        and (i == 0 or before in _PRONOUNS or s.text[i - 1] in ".?!")
    ):
        return None
    return Draft(Fraction(value), Kind.ORDINAL, i, after, worded=True)


def _cardinal(s: Stream, i: int, first: int, floor: int) -> Draft | None:
    found = cardinal(s, i)
    if found is None:
        return None
    value, after = found
    if first == i and s.low[i] in SCALES and (s.low[i].endswith("s") or s.low[i - 1 : i] in _VAGUE):
        return None  # "lakhs of people", "a few hundred"
    if value == 1 and first == i and s.low[i] == "one" and after == i + 1 and not _is_number_one(s, i):
        return None
    clock = _minutes_past(s, first, value, after)
    if clock is not None:
        return clock
    if s.low[after] == "score":  # as in *three score and ten years*
        more = cardinal(s, after + 2) if s.low[after + 1] == "and" else None
        end = more[1] if more else after + 1
        if s.low[end] in {"years", "year"}:
            value, after = value * 20 + (more[0] if more else 0), end
    if s.low[after] in {"o'clock", "o’clock"} and value <= 12:
        return Draft(Fraction(value), Kind.TIME_OF_DAY, first, after + 1, worded=True)
    half_day = meridiem(s, after, first) if value <= 12 else None
    if half_day is not None:
        hours = Fraction(value % 12 + (12 if half_day[0] == "p" else 0))
        return Draft(hours, Kind.TIME_OF_DAY, first, half_day[1], worded=True)
    draft = Draft(Fraction(value), Kind.COUNT, first, after, worded=True)
    _add_decimals(s, draft)
    if not _divide(s, draft):
        _add_fraction(s, draft)
    return complete(s, draft, floor)


def _add_decimals(s: Stream, d: Draft) -> None:
    """Add the decimals in *two point five* to the draft."""
    i, digits = d.after + 1, ""
    if s.low[d.after] != "point":
        return
    while ONES.get(s.low[i], 10) < 10 and len(digits) < 20:
        digits += str(ONES[s.low[i]])
        i += 1
    if digits:
        d.value += Fraction(int(digits), 10 ** len(digits))
        d.after = d.number_after = i


def _denominator_at(s: Stream, i: int, top: Fraction) -> tuple[int, int] | None:
    """Read a denominator in words at token i, which follows the numerator ``top``.

    Return the value and the index of the next token, or None.
    """
    hyphen = s.text[i] == "-" and s.glued(i) and s.glued(i + 1)
    j = i + 1 if hyphen else i
    word = s.low[j]
    if word not in DENOMINATORS or (not hyphen and s.start[j] - s.end[j - 1] > 1):
        return None
    if word.startswith("quarter") and not hyphen and _COINS & s.words and s.low[j + 1] != "of":
        return None
    if s.low[j + 1] in _SCHOOL or (s.text[j + 1] == "-" and s.glued(j + 1) and s.low[j + 2] in _SCHOOL):
        return None
    if top >= DENOMINATORS[word] and word in {"halves", "quarters"} and s.low[j + 1] != "of":
        return None  # *four quarters* are periods of a year
    singular = not word.endswith("s")
    if hyphen or (top == 1) == singular or s.low[j + 1] == "of":
        return DENOMINATORS[word], j + 1
    return None


def _divide(s: Stream, d: Draft) -> bool:
    """Divide the draft by the denominator after it, as in *two thirds* or *one-half*.

    Return True if there is a denominator.
    """
    found = _denominator_at(s, d.after, d.value)
    if found is None:
        return False
    d.value, d.kind = d.value / found[0], Kind.FRACTION
    d.after = d.number_after = found[1]
    return True


def _add_fraction(s: Stream, d: Draft) -> None:
    """Add a fraction such as *and a half* or *and three quarters* to a whole number."""
    i = d.after
    if s.low[i : i + 6] == ["-", "and", "-", "a", "-", "half"]:
        d.value, d.kind = d.value + Fraction(1, 2), Kind.FRACTION
        d.after = d.number_after = i + 6
        return
    if s.low[i] != "and":
        return
    if s.low[i + 1] == "a" and s.low[i + 2] in DENOMINATORS and not s.low[i + 2].endswith("s"):
        part, after = Fraction(1, DENOMINATORS[s.low[i + 2]]), i + 3
        if s.low[i + 2] not in {"half", "quarter"} and s.low[after] not in _AFTER_PART and s.text[after][:1].isalpha():
            if simple_unit(s, after) is None:
                return
    elif ONES.get(s.low[i + 1], 0) > 0:
        found = _denominator_at(s, i + 2, Fraction(ONES[s.low[i + 1]]))
        if found is None:
            return
        part, after = Fraction(ONES[s.low[i + 1]], found[0]), found[1]
    else:
        return
    if part < 1:
        d.value += part
        d.kind = Kind.FRACTION
        d.after = d.number_after = after


def _starts_sentence(s: Stream, i: int) -> bool:
    """Return True if token i begins a sentence."""
    return i == 0 or s.text[i - 1] in {".", "?", "!", '"', "“"}


def _is_number_one(s: Stream, i: int) -> bool:
    """Return True if the *one* at token i is the number 1 rather than a pronoun."""
    before, after = s.low[i - 1] if i else "", s.low[i + 1]
    if after == "-" and s.glued(i + 1):
        return s.low[i + 2] not in _ONE_COMPOUND
    if after == "day" and _starts_sentence(s, i) and s.text[i + 2][:1] != ".":
        return False  # "One day Tom …"
    if after in {"week", "month", "year", "evening", "morning"} and s.text[i + 2] == "," and _starts_sentence(s, i):
        return False  # "One week, a shop sold …"
    if simple_unit(s, i + 1) is not None and after not in {"in", "a"}:
        return True
    if after == "and" and s.low[i + 2] == "a" and s.low[i + 3] in DENOMINATORS:
        return True
    if after in {"and", "or", "to", "in", "out"}:
        following = s.low[i + 3] if after == "out" else s.low[i + 2]
        starts_number = following in ONES or following in TENS or following[:1].isdecimal() or following == "every"
        return starts_number and before not in _ONE_BEFORE
    if after == "," and before not in _ONE_BEFORE:
        return s.low[i + 2] in ONES or s.low[i + 2] in TENS  # one, two, three
    if before in _ONE_BEFORE or after in _ONE_AFTER:
        return False
    if before == "number":
        return True
    if after.endswith("ing") and before == ",":
        return False  # ", one going east"
    return after[:1].isalpha() or after == "%"

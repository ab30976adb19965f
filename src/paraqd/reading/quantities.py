"""Find a text's quantities in one pass over its tokens."""

from __future__ import annotations

from fractions import Fraction

from paraqd.reading.currencies import WORDS_BEFORE
from paraqd.reading.numerals import DENOMINATORS, MAX_DIGITS, VULGAR_VALUES, digits_value, meridiem
from paraqd.reading.quantity_draft import Draft, complete
from paraqd.reading.shared_units import share_units
from paraqd.reading.signs import MINUS
from paraqd.reading.token_stream import Stream
from paraqd.reading.tokens import SUBSCRIPT, SUPERSCRIPT
from paraqd.reading.types import Kind, Quantity
from paraqd.reading.unit_parsing import FoundUnit, simple_unit
from paraqd.reading.units import SPELLINGS
from paraqd.reading.worded_quantities import STARTERS, worded

_MARKS = frozenset(["", *".,;:?!-()\"'%$"])  # empty tokens follow the last token
_FRACTIONS = frozenset({"frac", "dfrac", "tfrac"})
# words that may continue a number: 2 and a half, 4 fifths, 3 p.m., 12 noon, at 7 in the evening
_GO_ON = frozenset(DENOMINATORS) | {"and", "a", "am", "p", "pm", "in", "noon", "midnight", "oclock"}
_SUFFIXES = frozenset({"st", "nd", "rd", "th", "rds", "ths"})
_GLUED_BEFORE = frozenset({*WORDS_BEFORE, "no", "us"})
_TIME_BEFORE = frozenset({"at", "by", "until", "till", "from", "before", "after", "since", "around", "between", "past"})
_RATIO_WORDS = frozenset({"ratio", "ratios", "proportion", "proportions", "odds", "scale", "ratio's"})
_FOOT_MARKS, _INCH_MARKS = frozenset("'’′"), frozenset('"”″')
_PRIMES = _FOOT_MARKS | _INCH_MARKS
_THIN = "\u00a0\u2009\u202f"  # spaces inside a number
_SUPERSCRIPT_DIGITS = str.maketrans(SUPERSCRIPT + SUBSCRIPT, "0123456789" * 2)


def find_quantities(s: Stream) -> tuple[Quantity, ...]:
    """Return a text's quantities, in order. The spans of the quantities do not overlap.

    >>> stream = Stream("Pens cost Rs. 9 each; half a dozen took 1 1/2 hours at 20%.")
    >>> [(str(q.value), q.unit) for q in find_quantities(stream)]
    [('9', 'rupee'), ('6', None), ('3/2', 'hour'), ('20', 'percent')]
    """
    drafts: list[Draft] = []
    floor = 0
    for i, word in enumerate(s.low):
        # skip words and marks that cannot begin a quantity, which are nearly all tokens
        if i < floor or word in _MARKS or (word not in STARTERS and word.isalpha()):
            continue
        first = s.text[i][0]
        draft = None
        if first.isdecimal() or (first == "." and len(s.text[i]) > 1):
            draft = _numeric(s, i, floor)
        elif word in STARTERS:
            draft = worded(s, i, floor)
        elif first in VULGAR_VALUES:
            draft = complete(s, Draft(VULGAR_VALUES[first], Kind.FRACTION, i, i + 1), floor)
        elif first == "\\":
            draft = _latex_fraction(s, i, floor)
        elif first in SUPERSCRIPT:
            draft = _raised(s, i, floor)
        elif first in SUBSCRIPT:
            draft = _label(s, i, floor)
        if draft is not None:
            if draft.kind is Kind.TIME_OF_DAY:
                _half_of_day(s, draft)
            drafts.append(draft)
            floor = draft.after
    return tuple(draft.freeze(s) for draft in share_units(s, drafts))


def _latex_fraction(s: Stream, i: int, floor: int) -> Draft | None:
    r"""Read a fraction such as ``\frac{1}{2}`` at token i, or return None if there is none."""
    inside = s.text[i + 2 : i + 8]
    if s.low[i + 1] not in _FRACTIONS or inside[::3] != ["{", "{"] or inside[2::3] != ["}", "}"]:
        return None
    top, bottom = inside[1], inside[4]
    if not (top.isdecimal() and bottom.isdecimal() and max(len(top), len(bottom)) <= MAX_DIGITS and int(bottom)):
        return None
    return complete(s, Draft(Fraction(int(top), int(bottom)), Kind.FRACTION, i, i + 8), floor)


def _label(s: Stream, i: int, floor: int) -> Draft:
    """Read the digits at token i and the letters immediately before them as a label, such as x1 or A1."""
    digits = s.text[i].translate(_SUPERSCRIPT_DIGITS)
    value = digits_value(digits) if digits.isdecimal() and len(digits) <= MAX_DIGITS else Fraction(0)
    draft = Draft(value, Kind.LABEL, i, i + 1)
    if i > floor and s.glued(i) and s.text[i - 1][0].isalpha():
        draft.first = i - 1
    return draft


def _raised(s: Stream, i: int, floor: int) -> Draft:
    """Read a superscript as an exponent if a base precedes it, and as a label otherwise."""
    draft = _label(s, i, floor)
    if s.glued(i) or (i > 0 and len(s.text[i - 1]) == 1 and s.text[i - 1].isalpha()):
        draft.kind, draft.first = Kind.EXPONENT, i
    return draft


def _numeric(s: Stream, i: int, floor: int) -> Draft:
    if len(s.text[i]) > MAX_DIGITS or _names_something(s, i):
        return _label(s, i, floor)
    power = _exponent(s, i, floor)
    if power is not None:
        return power
    following = s.low[i + 1]
    if following.isalpha() and following not in _GO_ON:  # by far the most common case: 12 pens
        draft = Draft(digits_value(s.text[i]), Kind.COUNT, i, i + 1)
    else:
        value, after, kind = number(s, i)
        special = _clock(s, i) or _feet_or_inches(s, i) or _ratio(s, i, value, after)
        if special is not None:
            return special
        draft = Draft(value, kind, i, after)
    if _suffix(s, draft):
        return draft
    return complete(s, draft, floor)


def _names_something(s: Stream, i: int) -> bool:
    """Return True if the digits at token i are part of a label such as x1, A1 or H2O."""
    before = s.text[i - 1]
    if not s.glued(i) or not before[-1].isalpha() or s.low[i - 1] in _GLUED_BEFORE:
        return False
    # a lower-case word that runs into a number ("is616") is a typing error, not a name
    return len(before) == 1 or not before.islower() or (s.text[i] in {"2", "3"} and before in SPELLINGS)


def _exponent(s: Stream, i: int, floor: int) -> Draft | None:
    first = i - 1 if i > floor and s.text[i - 1] in MINUS and s.glued(i) else i
    before = first - 1
    if before < 0:
        return None
    if s.text[before] == "^" or (s.text[before] == "*" and before and s.text[before - 1] == "*" and s.glued(before)):
        value, after, _ = number(s, i) if s.text[i + 1] != "/" else (digits_value(s.text[i]), i + 1, Kind.COUNT)
        return Draft(value if first == i else -value, Kind.EXPONENT, first, after)
    return None


def number(s: Stream, i: int) -> tuple[Fraction, int, Kind]:
    """Read a number in digits at token i, including a fraction that belongs to it.

    Return the value, the index of the next token, and the kind.
    """
    value = digits_value(s.text[i])
    if value.denominator != 1 or "." in s.text[i]:
        return value, i + 1, Kind.COUNT
    if _opens_groups(s, i):
        return _spaced_groups(s, i)
    plain = _fraction(s, i)
    if plain is not None:
        return plain[0], plain[1], Kind.FRACTION
    j = i + 1
    gap = s.start[j] - s.end[i]
    if gap <= 1 and s.text[j] and s.text[j][0] in VULGAR_VALUES:
        return value + VULGAR_VALUES[s.text[j]], j + 1, Kind.FRACTION
    if gap == 1 and s.number_at(j):
        part = _fraction(s, j)
        if part is not None and part[0] < 1 and (s.glued(j + 1) or s.text[j + 1] == "⁄"):
            return value + part[0], part[1], Kind.FRACTION
    if s.text[j] == "-" and s.glued(j) and s.glued(j + 1) and s.number_at(j + 1):
        part = _fraction(s, j + 1)  # 2-1/2 hours
        if part is not None and part[0] < 1 and simple_unit(s, part[1]) is not None:
            return value + part[0], part[1], Kind.FRACTION
    parts = _worded_denominator(s, j)
    if parts is not None and 0 < value < parts[0]:
        return value / parts[0], parts[1], Kind.FRACTION
    if s.low[j] == "and":
        extra = _and_fraction(s, j + 1)
        if extra is not None:
            return value + extra[0], extra[1], Kind.FRACTION
    return value, j, Kind.COUNT


def _opens_groups(s: Stream, i: int) -> bool:
    """Return True if token i begins a number in which spaces separate groups of three digits.

    Examples are 5 000, 1 250 000, and 12 500 with a thin space.
    """
    if len(s.text[i]) > 3 or not _group(s, i + 1):
        return False
    if s.text[i + 1] == "000" or s.source[s.end[i]] in _THIN:
        return True
    # 1 250 000 and 1 250 300 people, but not the list 100 200 300
    ends = s.text[i + 2] == "000" or s.text[i + 3][:1].isalpha()
    return _group(s, i + 2) and not _group(s, i + 3) and len(s.text[i]) < 3 and ends


def _group(s: Stream, i: int) -> bool:
    return s.text[i].isdecimal() and len(s.text[i]) == 3 and s.start[i] == s.end[i - 1] + 1


def _spaced_groups(s: Stream, i: int) -> tuple[Fraction, int, Kind]:
    """Read a number whose groups of three digits are separated by spaces, such as 5 000 or 1 250 000."""
    digits, after = s.text[i], i + 1
    while _group(s, after):
        digits += s.text[after]
        after += 1
        if len(digits) > MAX_DIGITS:
            break
    return Fraction(int(digits)), after, Kind.COUNT


def _worded_denominator(s: Stream, i: int) -> tuple[int, int] | None:
    """Read a denominator in words, such as *fifths* in *4 fifths* or *4-fifths*.

    Return its value and the index of the next token, or None.
    """
    j = i + 1 if s.text[i] == "-" else i
    word = s.low[j]
    if word in DENOMINATORS and word.endswith("s") and not (word == "quarters" and j == i):
        return DENOMINATORS[word], j + 1
    return None


def _and_fraction(s: Stream, i: int) -> tuple[Fraction, int] | None:
    """Read a fraction that follows a whole number and *and*, such as *a half*, ½, or 1/2 before a unit."""
    if s.low[i] == "a" and s.low[i + 1] in {"half", "quarter"}:
        return Fraction(1, 2 if s.low[i + 1] == "half" else 4), i + 2
    if s.text[i] and s.text[i][0] in VULGAR_VALUES:
        return VULGAR_VALUES[s.text[i]], i + 1
    part = _fraction(s, i) if s.number_at(i) and "." not in s.text[i] else None
    if part is not None and part[0] < 1 and simple_unit(s, part[1]) is not None:
        return part
    return None


def _fraction(s: Stream, i: int) -> tuple[Fraction, int] | None:
    """Read a fraction such as 3/4 or 3 / 4. A date such as 3/4/2010 is not a fraction."""
    if s.text[i + 1] not in {"/", "⁄"} or not s.number_at(i + 2) or s.glued(i + 1) != s.glued(i + 2):
        return None
    if len(s.text[i]) > MAX_DIGITS:
        return None
    top, bottom = digits_value(s.text[i]), s.text[i + 2]
    if "." in bottom or "." in s.text[i] or len(bottom) > MAX_DIGITS or (s.text[i + 3] == "/" and s.number_at(i + 4)):
        return None
    if i >= 2 and s.text[i - 1] == "/" and s.number_at(i - 2):
        return None
    below = digits_value(bottom)
    return (top / below, i + 3) if below else None


def _suffix(s: Stream, d: Draft) -> bool:
    """Add a suffix such as *th* to the draft, even if a space precedes it.

    Return True if the draft is then an ordinal.
    """
    i = d.after
    if s.low[i] not in _SUFFIXES or s.start[i] - s.end[i - 1] > 1 or (s.text[i] == "St" and not s.glued(i)):
        return False
    if d.kind is Kind.FRACTION:
        d.after = d.number_after = i + 1
        return False
    if d.value.denominator != 1 or s.low[i] in {"rds", "ths"}:
        return False
    if not s.glued(i) and s.low[i] not in {"th", _fitting_suffix(int(d.value))}:
        if s.low[i] == "st" or s.number_at(i + 1):
            return False  # "12 st 4 lb" and "150 nd 20" have no ordinals
    d.kind = Kind.ORDINAL
    d.after = d.number_after = i + 1
    return True


def _fitting_suffix(n: int) -> str:
    return "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")


def _clock(s: Stream, i: int) -> Draft | None:
    """Read a time of day in digits, such as 10 a.m., 3:30, 15:45 or 5 o'clock."""
    dotted = _dotted_clock(s, i)
    if dotted is not None:
        return dotted
    if not s.text[i].isdecimal() or len(s.text[i]) > 2 or s.text[i - 1 : i] == ["$"]:
        return None
    hours = Fraction(int(s.text[i]))
    after = i + 1
    with_minutes = _has_minutes(s, i) and hours <= 24
    if with_minutes:
        hours += Fraction(int(s.text[i + 2]), 60)
        after = i + 3
    half_day = meridiem(s, after, i)
    if half_day is not None and hours < 13:
        which, after = half_day
        hours = hours % 12 + (12 if which == "p" else 0)
    elif s.low[after] in {"o'clock", "o’clock", "oclock"} or (hours == 12 and s.low[after] in {"noon", "midnight"}):
        hours = hours if s.low[after] != "midnight" else Fraction(0)
        after += 1
    elif not with_minutes or (s.words & _RATIO_WORDS and s.low[i - 1] not in _TIME_BEFORE):
        return None
    return Draft(hours, Kind.TIME_OF_DAY, i, after)


def _half_of_day(s: Stream, d: Draft) -> None:
    """Convert a time before *in the evening*, *in the afternoon* or *at night* to the 24-hour clock."""
    for words in (["in", "the", "evening"], ["in", "the", "afternoon"], ["at", "night"]):
        if s.low[d.after : d.after + len(words)] == words and d.value < 12:
            d.value, d.after = d.value + 12, d.after + len(words)


def _dotted_clock(s: Stream, i: int) -> Draft | None:
    """Read a time in British notation, such as 9.30 a.m."""
    hour, point, minutes = s.text[i].partition(".")
    half_day = meridiem(s, i + 1) if point and len(minutes) == 2 and hour.isdecimal() else None
    if half_day is None or int(hour) > 12 or int(minutes) > 59:
        return None
    hours = Fraction(int(hour) % 12 + (12 if half_day[0] == "p" else 0)) + Fraction(int(minutes), 60)
    return Draft(hours, Kind.TIME_OF_DAY, i, half_day[1])


def _feet_or_inches(s: Stream, i: int) -> Draft | None:
    """Read the feet or the inches of a length such as 5'6" or 5′ 6″."""
    mark = s.text[i + 1]
    if not mark or mark not in _PRIMES or not s.glued(i + 1) or not s.text[i].isdecimal():
        return None
    if mark in _FOOT_MARKS:
        second = s.text[i + 3] if s.number_at(i + 2) else ""
        unit = "foot" if mark == "′" or (second and second in _INCH_MARKS) else None
    else:
        unit = "inch" if mark == "″" or (i > 1 and s.text[i - 1] in _FOOT_MARKS and s.number_at(i - 2)) else None
    if unit is None:
        return None
    draft = Draft(digits_value(s.text[i]), Kind.MEASURE, i, i + 1)
    draft.take_unit(s, FoundUnit(unit, i + 1, i + 2))
    return draft


def _has_minutes(s: Stream, i: int) -> bool:
    """Return True if minutes such as ``:30`` follow the number at token i.

    Minutes after a space count only if the expression cannot be a ratio.
    """
    minutes = s.text[i + 2]
    if s.text[i + 1] != ":" or not s.glued(i + 1) or len(minutes) != 2 or not minutes.isdecimal() or int(minutes) > 59:
        return False
    if s.text[i + 3] == ":" and s.number_at(i + 4):
        return False
    return s.glued(i + 2) or minutes == "00" or meridiem(s, i + 3) is not None


def _ratio(s: Stream, i: int, value: Fraction, after: int) -> Draft | None:
    """Read a ratio such as 2:3, 2 : 3 : 5 or 9/8:3/4."""
    terms = [value]
    while s.text[after] == ":" and s.number_at(after + 1) and len(s.text[after + 1]) <= MAX_DIGITS:
        term, after, _ = number(s, after + 1)
        terms.append(term)
    if len(terms) == 1:
        return None
    draft = Draft(terms[0] / terms[1] if terms[1] else terms[0], Kind.RATIO, i, after)
    draft.terms = tuple(terms)
    return draft

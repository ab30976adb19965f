"""Decide whether two texts are the same text up to typography.

Each text is reduced to a list of words, numbers and signs, without the differences that a reader ignores. A space is
ignored only at a place where it cannot carry meaning. In doubt, it counts, and the pair is scored like any other pair.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from paraqd.reading.currencies import SIGNS as CURRENCY_SIGNS
from paraqd.reading.currencies import WORDS_BEFORE
from paraqd.reading.signs import ZERO_WIDTH
from paraqd.reading.tokens import SUBSCRIPT, SUPERSCRIPT, VULGAR, is_grouped
from paraqd.reading.units import SPELLINGS

_QUOTES = str.maketrans("“”„‘’‚", "\"\"\"'''")
# a word, a number with its commas and points (1,500.25), a fraction that begins with a point (.5), or a single sign
_TOKEN = re.compile(
    rf"[^\W\d_{VULGAR}{SUPERSCRIPT}{SUBSCRIPT}]+|\d+(?:[.,]\d+)*|(?<![\w.)])\.\d+|\S",
)
_LIST = re.compile(r"(?:0|[1-9]\d*)(?:,(?:0|[1-9]\d*)){2,}")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")

# Spaces around these signs never carry meaning, except where a function below says otherwise.
_PUNCTUATION = frozenset('.,;:?!()[]"…—')
_MARKS = frozenset(".,;:?!")
_OPERATORS = frozenset("/×÷*·=<>≤≥≠≈")
_PLUS_MINUS = frozenset("+-−–±")
_AFTER_NUMBER = frozenset("%‰°¢")
# Between two numbers, a space may carry meaning on these sides of a sign: 5 (3) and 5(3), 1. 5 and 1 . 5.
_LEFT_COUNTS, _RIGHT_COUNTS = frozenset("([."), frozenset(")].")

_ENDINGS = frozenset(("s", "t", "d", "m", "re", "ve", "ll"))  # it's, don't, they're
_UNITS = (SPELLINGS.keys() - {"in", "re", "won", "rand", "stone", "lit", "cum"}) | {"am", "pm", "st", "nd", "rd", "th"}
_STOPS = frozenset(".?!…")
_AROUND_SENTENCES = frozenset("\"'()[]")
_VOWEL = re.compile("[aeiouyáàâäãåéèêëíìîïóòôöõøúùûü]", re.I)
_LONG_WORD = 4
_TITLES = frozenset(("mr", "mrs", "dr"))
# after a letter that is a name or a variable (A is older than B), not after the article
_AFTER_A_NAME = frozenset("is was are were has had have can could will would does did and or".split())


def same_text(one: str, other: str) -> bool:
    r"""Return True if two texts differ at most in typography.

    These differences are ignored: white space, spaces around punctuation marks and between a number and its unit,
    curly and straight quotation marks and apostrophes, the case of the first letter of a sentence, and a full stop at
    the end.

    >>> same_text("Tom ran 5 km in 2 hours. How fast is he?", "tom ran 5km\nin 2 hours . how fast is he ?")
    True
    >>> same_text("Find 1.5 + 2", "Find 15 + 2"), same_text("5 - 3", "5 -3"), same_text("3 m long", "3 M long")
    (False, False, False)
    """
    if one.split() == other.split():
        return True
    if _letters_and_digits(one) != _letters_and_digits(other):  # a cheap test that most pairs fail
        return False
    return _reduced(one) == _reduced(other)


def _letters_and_digits(text: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", text if text.isascii() else unicodedata.normalize("NFC", text)).lower()


def _reduced(text: str) -> list[str]:
    """Return the tokens of a text, with a space wherever a space may carry meaning.

    >>> _reduced("The pen costs $ 5 . Is x - 3 less than -3 km ?")
    ['the', 'pen', 'costs', ' ', '$', '5', '.', 'is', 'x', '-', '3', ' ', 'less', 'than', ' ', '-', '3', 'km', '?']
    """
    if not text.isascii():
        text = ZERO_WIDTH.sub("", unicodedata.normalize("NFC", text).translate(_QUOTES))
    tokens, gaps = _split(text)
    if tokens and tokens[-1] == "." and tokens[-2:] != [".", "."]:
        tokens, gaps = tokens[:-1], gaps[:-1]
    shown: list[str] = []
    for place, token in enumerate(_without_first_capitals(tokens)):
        if gaps[place] and _space_counts(tokens, gaps, place):
            shown.append(" ")
        shown.append(token)
    return shown


def _split(text: str) -> tuple[list[str], list[bool]]:
    """Return the tokens of a text and, for each token, whether white space precedes it."""
    tokens: list[str] = []
    gaps: list[bool] = []
    end = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        # three numbers or more with commas are a list, unless the commas group digits; 1,5 may be a decimal number
        pieces = re.findall(r"\d+|,", token) if _LIST.fullmatch(token) and not is_grouped(token) else [token]
        tokens += pieces
        gaps += [match.start() > end, *[False] * (len(pieces) - 1)]
        end = match.end()
    return tokens, gaps


def _space_counts(tokens: Sequence[str], gaps: Sequence[bool], place: int) -> bool:
    """Return True if the white space before a token may carry meaning."""
    if place == 0:
        return False
    left, right = tokens[place - 1], tokens[place]
    if _is_sign(left) and _is_sign(right):
        return not _signs_stand_alone(left, right)
    if _is_sign(left):
        return _space_counts_beside_sign(tokens, gaps, place - 1, place)
    if _is_sign(right):
        return _space_counts_beside_sign(tokens, gaps, place, place)
    if _is_number(left) and right.isalpha():
        return not _is_unit(tokens, place)
    if left.isalpha() and _is_number(right):
        return left.lower() not in WORDS_BEFORE
    # without the space, two words or two numbers would be one token; 5 ½ may be five halves, but 5½ may not
    return not (left.isalpha() and right.isalpha()) and not (_is_number(left) and _is_number(right))


def _space_counts_beside_sign(tokens: Sequence[str], gaps: Sequence[bool], sign: int, place: int) -> bool:
    """Return True if the white space before ``tokens[place]``, which is a sign or follows one, may carry meaning."""
    mark = tokens[sign]
    left = tokens[sign - 1] if sign else ""
    right = tokens[sign + 1] if sign + 1 < len(tokens) else ""
    before = place == sign
    if mark in _PLUS_MINUS:  # 5 - 3 is 5-3, but 5 -3 is not; twenty-five is not twenty - five
        return not (_is_operand(left, ")") and _is_operand(right, "(") and gaps[sign] and gaps[sign + 1])
    if mark in _OPERATORS or mark in ",;?!…—":
        return False
    between_numbers = _is_number(left) and _is_number(right)
    if mark == ":" and between_numbers:  # 3 : 4 is 3:4, but "row 8: 45 seats" is not "row 8:45 seats"
        return not (gaps[sign] and gaps[sign + 1])
    if mark == "." and len(left) == len(right) == 1 and left.isalpha() and right.isalpha():  # x. y and x.y
        return not (before and gaps[sign + 1])
    if mark == "'":
        return not (before and _is_ending(tokens, gaps, sign + 1))
    if mark == '"' and _is_number(left):  # inches
        return True
    if between_numbers and mark in (_LEFT_COUNTS if before else _RIGHT_COUNTS):
        return True
    if mark in _PUNCTUATION:
        return False
    if mark in _AFTER_NUMBER:
        return not _is_number(left) if before else _is_number(right)
    if mark in CURRENCY_SIGNS:  # $ 5 and 5 $, but "5 $3 tickets" is not "5$ 3 tickets"
        return not _is_number(left) or _is_number(right) if before else not _is_number(right) or _is_number(left)
    return True


def _signs_stand_alone(left: str, right: str) -> bool:
    """Return True if a space between two signs carries no meaning."""
    if left in _PUNCTUATION and (right in _PUNCTUATION or right in CURRENCY_SIGNS):
        return True
    if "=" in (left, right):  # x = -3 is x=-3, but 5! = 120 is not 5 != 120
        return not {left, right} & set("!<>") and left != right
    if left in "([" or right in ")]":
        return True
    return right in _MARKS


def _is_sign(token: str) -> bool:
    return len(token) == 1 and not token.isalnum()


def _is_number(token: str) -> bool:
    return token[-1:].isdecimal()


def _is_long(token: str) -> bool:
    return len(token) > 1 and token.isalpha()


def _is_operand(token: str, bracket: str) -> bool:
    return _is_number(token) or token == bracket or (len(token) == 1 and token.islower())


def _is_unit(tokens: Sequence[str], place: int) -> bool:
    """Return True if a word after a number is a unit or an ending: 5 km, 10 pm, 10 a.m., 5 th."""
    word = tokens[place]
    if word.lower() in _UNITS:
        return True
    return word in ("a", "p") and tuple(tokens[place + 1 : place + 3]) == (".", "m")


def _is_ending(tokens: Sequence[str], gaps: Sequence[bool], place: int) -> bool:
    """Return True if a word is the rest of a short form: the s of "it's", but not that of "the letter 's'"."""
    if place < 2 or place >= len(tokens) or gaps[place] or not tokens[place - 2].isalpha():
        return False
    return tokens[place] in _ENDINGS and tokens[place + 1 : place + 2] != ["'"]


# --- capitals ------------------------------------------------------------------------------------


def _without_first_capitals(tokens: Sequence[str]) -> list[str]:
    """Return the tokens with a small first letter at the beginning of each sentence.

    A symbol, such as x or Mg, keeps its case after a full stop that may belong to an abbreviation, and wherever the
    text uses the symbol in both cases.
    """
    shown = list(tokens)
    symbols = {token for place, token in enumerate(tokens) if token.isalpha() and _is_symbol(tokens, place)}
    begins = certain = True
    for place, token in enumerate(tokens):
        if token in _STOPS:
            begins = True
            certain = token != "." or (place > 0 and _ends_sentence(tokens[place - 1]))
        elif token not in _AROUND_SENTENCES:
            if begins and token[0].isupper():
                small = token[0].lower() + token[1:]
                if not _is_symbol(tokens, place) or (certain and not {token, small} <= symbols):
                    shown[place] = small
            begins = False
    return shown


def _ends_sentence(word: str) -> bool:
    """Return True if a full stop after a word ends the sentence, because the word is too long for an abbreviation."""
    return len(word) >= _LONG_WORD and word.isalpha() and word.lower() != "approx"


def _is_symbol(tokens: Sequence[str], place: int) -> bool:
    """Return True if a word may be a variable, a unit or an abbreviation, whose capitals carry meaning."""
    word = tokens[place]
    if len(word) == 1:
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if word in "Aa":  # the article
            return not (_is_number(following) or (_is_long(following) and following not in _AFTER_A_NAME))
        return not (word in "Ii" and _is_long(following))
    rest = word[1:]
    return rest != rest.lower() or (_VOWEL.search(word) is None and word.lower() not in _TITLES)

r"""Remove markup from texts: HTML references and tags, LaTeX commands, and typographic signs.

Texts are scored as a reader sees them, but the spans in the evidence refer to the original texts.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from paraqd.reading.signs import HYPHENS, ZERO_WIDTH
from paraqd.scoring.verdict import Span

_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_TAG = re.compile(
    r"</?(?:p|br|b|i|u|em|strong|span|div|ul|ol|li|table|tbody|tr|td|th|h[1-6]|a|font|small|big|sub|img)"
    r"(?:\s+[\w-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s<>\"']+))*\s*/?>",
    re.I,
)
# Signs that look like ASCII: full-width forms, digits of other scripts, and special spaces. A special space between two
# digits is kept, because it may separate groups of digits.
_ALIKE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_SPACES = "[\\u00a0\\u2000-\\u200a\\u202f\\u205f\\u3000]"
_OTHER_SPACE = re.compile(rf"(?<![0-9]){_SPACES}|{_SPACES}(?![0-9])")
_RAISED_TAG = re.compile(r"<sup>\s*([0-9]{1,3}|[a-z])\s*</sup>", re.I)
# each sign becomes one character, so positions do not change
_SIGNS = str.maketrans(f"“”„‘’‚−–—{HYPHENS}", "\"\"\"'''-----")
_COMMANDS = {
    "times": "×",
    "cdot": "·",
    "div": "÷",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "neq": "≠",
    "ne": "≠",
    "pm": "±",
    "pi": "π",
    "degree": "°",
    "circ": "°",
    "left": "",
    "right": "",
    "quad": " ",
    "ldots": "…",
    "dots": "…",
}
_COMPARING = frozenset("≤≥≠")
_TEXT = re.compile(r"\\(?:text|mathrm|mbox)\s*\{([^{}]{1,40})\}")
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_FRACTION = re.compile(
    r"(\d?)\\[dt]?frac\s*(?:\{([^{}]{1,40})\}|(?<![a-z])(\d)|(?<=frac)(\d))\s*(?:\{([^{}]{1,40})\}|(\d)(?!\d))"
)
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]{1,40})\}")
_COMMAND = re.compile(rf"\\({'|'.join(sorted(_COMMANDS, key=len, reverse=True))})(?![a-zA-Z])\s?")
_ESCAPED = re.compile(r"\\([%$#&_{},; ])")
_POWER = re.compile(r"\^(?:\{([0-9])\}|([0-9])(?![0-9]|\.[0-9]))")
# the text between two prices contains words; a formula contains only letters and commands
_FORMULA = re.compile(
    r"\$\$?((?:\\[a-zA-Z]+|\\[^a-zA-Z]|(?<![a-zA-Z\\])[a-zA-Z]{1,2}(?![a-zA-Z])|[^$a-zA-Z\\]){1,80})\$\$?|\\\((.{1,120}?)\\\)|\\\[(.{1,120}?)\\\]"
)
_WORD = re.compile(r"\\?[A-Za-z]+")
_ALONE = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")  # $15$ m is not a price
_AND = re.compile(r"(?<=\s)&(?=\s)")
_INDIAN = re.compile(r"((?:\brs\.?|₹|\binr) ?\d{1,2}), (?=\d{2},\d{3}(?!\d|,\d))", re.I)  # Rs. 1, 45,000
_GROUPS_APART = re.compile(r"\d, \d\d,\d")
_CLOCK = re.compile(r"\b(\d{1,2}) : (?=[0-5]\d ?[ap] ?\.? ?m\b)", re.I)  # 8 : 45 am
_LEAST_CAPITALS = 12
_MARKUP = re.compile(r"[\\$^]")


class PlainText(NamedTuple):
    """A text without markup, with the original position of each character."""

    text: str
    positions: tuple[int, ...] | None = (
        None  # None if no position changed; otherwise, one entry per character and an entry for the end
    )

    def part(self, start: int, end: int | None = None) -> PlainText:
        """Return a part of this text, whose characters keep their original positions."""
        stop = len(self.text) if end is None else end
        positions = tuple(range(start, stop + 1)) if self.positions is None else self.positions[start : stop + 1]
        return PlainText(self.text[start:stop], positions)

    def replaced(self, replacements: Sequence[tuple[int, int, str]]) -> PlainText:
        """Return this text with replacements (start, end, new text), which are sorted. Overlapping ones are skipped."""
        pieces: list[str] = []
        positions: list[int] = []
        done = 0
        for start, end, replacement in replacements:
            if start < done:
                continue
            pieces += [self.text[done:start], replacement]
            positions += [*range(done, start), *_replacement_positions(self.text, start, end, replacement)]
            done = end
        pieces.append(self.text[done:])
        positions += range(done, len(self.text) + 1)
        old = self.positions
        new = tuple(positions) if old is None else tuple(old[position] for position in positions)
        return PlainText("".join(pieces), new)

    def original_spans(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        """Map spans of this text to spans of the original text."""
        if self.positions is None:
            return tuple(spans)
        return tuple(self.original_span(start, end) for start, end in spans if end > start)

    def original_span(self, start: int, end: int) -> Span:
        """Map a span of this text to a span of the original text."""
        if self.positions is None:
            return start, end
        first, last = self.positions[start], self.positions[end]
        return first, max(first + (end > start), last)


def remove_markup(text: str) -> PlainText:
    r"""Return a text as a reader sees it.

    HTML references, common tags and common LaTeX commands become plain characters. Curly quotes become straight quotes,
    and unusual hyphens become ``-``. Full-width characters, digits of other scripts and special spaces become ASCII
    characters. Zero-width characters are removed.

    >>> plain = remove_markup("48&nbsp;m&sup2; <b>wide</b>")
    >>> plain.text, plain.original_spans([(0, 2), (7, 11)])
    ('48 m²  wide ', ((0, 2), (19, 23)))
    >>> remove_markup("５ pens at ٣０％").text
    '5 pens at 30%'
    >>> remove_markup(r"$\sqrt{50}$ is more than $7, and $x^2 \le \frac{1}{2}$").text
    '√50 is more than $7, and x² ≤ 1/2'
    >>> remove_markup("Tom & Ann").text
    'Tom and Ann'
    """
    plain = PlainText(text)
    if "&" in text or "<" in text:
        plain = _replace(plain, (_TAG, lambda m: " "), (_RAISED_TAG, lambda m: f"^{m[1]}"), (_REFERENCE, _unescape))
    if not plain.text.isascii():
        plain = PlainText(_like_ascii(plain.text), plain.positions)
        plain = _replace(plain, (ZERO_WIDTH, lambda m: ""))
    if _MARKUP.search(plain.text):
        plain = _replace(plain, (_FORMULA, _without_dollars))
        plain = _replace(plain, (_TEXT, lambda m: m[1]))
        plain = _replace(plain, (_ROOT, lambda m: f"√{_in_brackets(m[1])}"))
        plain = _replace(plain, (_FRACTION, _fraction))
        plain = _replace(
            plain,
            (_COMMAND, lambda m: _COMMANDS[m[1]] + (" " if _COMMANDS[m[1]] in _COMPARING and m[0][-1] == " " else "")),
            (_ESCAPED, lambda m: m[1]),
            (_POWER, lambda m: (m[1] or m[2]).translate(_POWERS)),
        )
    if " : " in plain.text:
        plain = _replace(plain, (_CLOCK, lambda m: m[1] + ":"))
    if _GROUPS_APART.search(plain.text):
        plain = _replace(plain, (_INDIAN, lambda m: m[1] + ","))
    if plain.text.isascii() and "&" not in plain.text:
        return plain
    plain = PlainText(plain.text.translate(_SIGNS), plain.positions)
    return _replace(plain, (_AND, lambda m: "and")) if "&" in plain.text else plain


def _like_ascii(text: str) -> str:
    """Replace each sign that looks like an ASCII character with this character."""
    plain = _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text.translate(_ALIKE))
    return _OTHER_SPACE.sub(" ", plain)


def align_case(one: PlainText, other: PlainText) -> tuple[PlainText, PlainText]:
    """Return both texts. If exactly one text is all in capitals, convert that text to lower case.

    >>> [text for text, _ in align_case(PlainText("TOM AND ANN HAVE 5 KM."), PlainText("Tom and Ann have 5 km."))]
    ['tom and ann have 5 km.', 'Tom and Ann have 5 km.']
    """
    if _all_capitals(one.text) == _all_capitals(other.text):
        return one, other
    if _all_capitals(one.text):
        return PlainText(one.text.lower(), one.positions), other
    return one, PlainText(other.text.lower(), other.positions)


def _all_capitals(text: str) -> bool:
    return text == text.upper() and sum(map(str.isalpha, text)) >= _LEAST_CAPITALS and len(text.lower()) == len(text)


def _replace(plain: PlainText, *rules: tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]) -> PlainText:
    """Replace the matches of all rules from left to right, and keep track of positions.

    A rule that returns None leaves its match unchanged.
    """
    found = sorted(
        (
            (match.start(), match.end(), replacement)
            for pattern, rule in rules
            for match in pattern.finditer(plain.text)
            if (replacement := rule(match)) is not None and replacement != match[0]
        ),
        key=lambda each: each[:2],
    )
    if not found:
        return plain
    return plain.replaced(found)


def _replacement_positions(text: str, start: int, end: int, replacement: str) -> list[int]:
    """Return the original position of each character of a replacement.

    If the match contains the replacement, the replacement's characters keep their positions. Otherwise, all characters
    are mapped to the start of the match.
    """
    inside = text.find(replacement, start, end) if replacement.strip() else -1
    if inside >= 0:
        return list(range(inside, inside + len(replacement)))
    return [start] * len(replacement)


def _unescape(match: re.Match[str]) -> str | None:
    character = html.unescape(match[0])
    return None if character == match[0] else character


def _without_dollars(match: re.Match[str]) -> str | None:
    """Return a formula without its delimiters, or None if the dollar signs mean money."""
    inside = match[1] or match[2] or match[3]
    if match[1] is not None:
        words = [word for word in _WORD.findall(inside) if not word.startswith("\\")]
        is_formula = (
            bool(words)
            or _ALONE.fullmatch(inside) is not None
            or "\\" in inside
            or any(sign in inside for sign in "=<>^")
        )
        if not is_formula or inside != inside.strip():
            return None
    return inside


def _fraction(match: re.Match[str]) -> str:
    r"""Write a fraction with a slash, and separate a whole number: ``3\frac{1}{4}`` becomes ``3 1/4``."""
    top, bottom = match[2] or match[3] or match[4], match[5] or match[6]
    before = match.string[max(0, match.start() - 1) : match.start()]
    product = "·" if before == "}" or (before.isdecimal() and not match[1]) else ""  # two fractions side by side
    return f"{product}{match[1]}{' ' if match[1] else ''}{_in_brackets(top)}/{_in_brackets(bottom)}"


def _in_brackets(text: str) -> str:
    text = text.strip()
    return text if text.replace(".", "").isalnum() else f"({text})"

r"""Texts as a reader sees them: web pages' references and tags, formulas' markup and typographic signs made plain.

A question with ``&nbsp;`` or ``$\sqrt{50}$`` in it is judged as a person sees it; places are given in the text as it
came.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from paraqd.scoring.verdict import Evidence, Span

_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_TAG = re.compile(
    r"</?(?:p|br|b|i|u|em|strong|span|div|ul|ol|li|table|tbody|tr|td|th|h[1-6]|a|font|small|big|sub|img)"
    r"(?:\s+[\w-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s<>\"']+))*\s*/?>",
    re.I,
)
_RAISED_TAG = re.compile(r"<sup>\s*([0-9]{1,3}|[a-z])\s*</sup>", re.I)
_SIGNS = str.maketrans("“”„‘’‚−–—", "\"\"\"'''---")  # one for one, so that places stay
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
# between two prices stand words, in a formula letters and commands
_FORMULA = re.compile(
    r"\$\$?((?:\\[a-zA-Z]+|\\[^a-zA-Z]|(?<![a-zA-Z\\])[a-zA-Z]{1,2}(?![a-zA-Z])|[^$a-zA-Z\\]){1,80})\$\$?|\\\((.{1,120}?)\\\)|\\\[(.{1,120}?)\\\]"
)
_WORD = re.compile(r"\\?[A-Za-z]+")
_ALONE = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")  # $15$ m is no price
_AND = re.compile(r"(?<=\s)&(?=\s)")
_INDIAN = re.compile(r"((?:\brs\.?|₹|\binr) ?\d{1,2}), (?=\d{2},\d{3}(?!\d|,\d))", re.I)  # Rs. 1, 45,000
_GROUPS_APART = re.compile(r"\d, \d\d,\d")
_CLOCK = re.compile(r"\b(\d{1,2}) : (?=[0-5]\d ?[ap] ?\.? ?m\b)", re.I)  # 8 : 45 am
_SHOUTED = 12
_MARKUP = re.compile(r"[\\$^]")


class Plain(NamedTuple):
    """A text as a reader sees it; ``places`` says where each of its signs stood in the text as it came."""

    text: str
    places: tuple[int, ...] | None = None  # none: every sign stands where it stood

    def back(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        """Return the places of spans in the text as it came."""
        places = self.places
        if places is None:
            return tuple(spans)
        return tuple((places[start], max(places[start] + 1, places[end])) for start, end in spans if end > start)


def plain(text: str) -> Plain:
    r"""Read character references, the commonest tags, the commonest markup of formulas, and curly quotes.

    >>> made = plain("48&nbsp;m&sup2; <b>wide</b>")
    >>> made.text, made.back([(0, 2), (7, 11)])
    ('48\xa0m²  wide ', ((0, 2), (19, 23)))
    >>> plain(r"$\sqrt{50}$ is more than $7, and $x^2 \le \frac{1}{2}$").text
    '√50 is more than $7, and x² ≤ 1/2'
    >>> plain("Tom & Ann").text
    'Tom and Ann'
    """
    made = Plain(text)
    if "&" in text or "<" in text:
        made = _replaced(made, (_TAG, lambda m: " "), (_RAISED_TAG, lambda m: f"^{m[1]}"), (_REFERENCE, _referred))
    if _MARKUP.search(made.text):
        made = _replaced(made, (_FORMULA, _without_dollars))
        made = _replaced(made, (_TEXT, lambda m: m[1]))
        made = _replaced(made, (_ROOT, lambda m: f"√{_bound(m[1])}"))
        made = _replaced(made, (_FRACTION, _fraction))
        made = _replaced(
            made,
            (_COMMAND, lambda m: _COMMANDS[m[1]] + (" " if _COMMANDS[m[1]] in _COMPARING and m[0][-1] == " " else "")),
            (_ESCAPED, lambda m: m[1]),
            (_POWER, lambda m: (m[1] or m[2]).translate(_POWERS)),
        )
    if " : " in made.text:
        made = _replaced(made, (_CLOCK, lambda m: m[1] + ":"))
    if _GROUPS_APART.search(made.text):
        made = _replaced(made, (_INDIAN, lambda m: m[1] + ","))
    if made.text.isascii() and "&" not in made.text:
        return made
    seen = made.text.translate(_SIGNS)
    return _replaced(Plain(seen, made.places), (_AND, lambda m: "and")) if "&" in seen else Plain(seen, made.places)


def quieter(one: Plain, other: Plain) -> tuple[Plain, Plain]:
    """Return both; a text all in capitals in small letters where the other is not: its capitals tell nothing.

    >>> [made.text for made in quieter(Plain("TOM AND ANN HAVE 5 KM."), Plain("Tom and Ann have 5 km."))]
    ['tom and ann have 5 km.', 'Tom and Ann have 5 km.']
    """
    if _shouted(one.text) == _shouted(other.text):
        return one, other
    if _shouted(one.text):
        return Plain(one.text.lower(), one.places), other
    return one, Plain(other.text.lower(), other.places)


def _shouted(text: str) -> bool:
    return text == text.upper() and sum(map(str.isalpha, text)) >= _SHOUTED and len(text.lower()) == len(text)


def _replaced(made: Plain, *rules: tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]) -> Plain:
    """Put in what each match stands for, left to right, and remember where it stood."""
    text = made.text
    found = sorted(
        (
            (match.start(), match.end(), seen)
            for pattern, rule in rules
            for match in pattern.finditer(text)
            if (seen := rule(match)) is not None and seen != match[0]
        ),
        key=lambda each: each[:2],
    )
    if not found:
        return made
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for start, end, seen in found:
        if start < done:
            continue
        pieces += [text[done:start], seen]
        places += [*range(done, start), *_spread(text, start, end, seen)]
        done = end
    pieces.append(text[done:])
    places += range(done, len(text) + 1)
    old = made.places
    return Plain("".join(pieces), tuple(places) if old is None else tuple(old[place] for place in places))


def _spread(text: str, start: int, end: int, seen: str) -> list[int]:
    """Place what is seen: where it stands in the text as a whole it keeps its places."""
    inside = text.find(seen, start, end) if seen.strip() else -1
    if inside >= 0:
        return list(range(inside, inside + len(seen)))
    return [start] * len(seen)


def _referred(match: re.Match[str]) -> str | None:
    seen = html.unescape(match[0])
    return None if seen == match[0] else seen


def _without_dollars(match: re.Match[str]) -> str | None:
    """Take the signs around a formula away."""
    inside = match[1] or match[2] or match[3]
    if match[1] is not None:
        words = [word for word in _WORD.findall(inside) if not word.startswith("\\")]
        told = (
            bool(words)
            or _ALONE.fullmatch(inside) is not None
            or "\\" in inside
            or any(sign in inside for sign in "=<>^")
        )
        if not told or inside != inside.strip(" "):
            return None
    return inside


def _fraction(match: re.Match[str]) -> str:
    r"""Write a fraction with a stroke; behind a whole number with a space before it: 3\frac{1}{4}, 3 1/4."""
    top, bottom = match[2] or match[3] or match[4], match[5] or match[6]
    before = match.string[max(0, match.start() - 1) : match.start()]
    product = "·" if before == "}" or (before.isdecimal() and not match[1]) else ""  # two fractions side by side
    return f"{product}{match[1]}{' ' if match[1] else ''}{_bound(top)}/{_bound(bottom)}"


def _bound(text: str) -> str:
    text = text.strip()
    return text if text.replace(".", "").isalnum() else f"({text})"


def placed_back(evidence: Sequence[Evidence], question: Plain, paraphrase: Plain) -> tuple[Evidence, ...]:
    """Give evidence its places in the texts as they came."""
    if question.places is None and paraphrase.places is None:
        return tuple(evidence)
    return tuple(
        replace(
            piece,
            question_spans=question.back(piece.question_spans),
            paraphrase_spans=paraphrase.back(piece.paraphrase_spans),
        )
        for piece in evidence
    )

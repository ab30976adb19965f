"""Make texts from files and other packages safe to print."""

from __future__ import annotations

import unicodedata

# characters that change the writing direction of the rest of the line, including what is printed after the text
_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    r"""Replace control characters, surrogates and directional overrides, which could disturb the terminal.

    >>> visible("5 km\x1b[31m\r\nin all\u202e")
    '5 km�[31m\nin all�'
    """
    text = text.replace("\r\n", "\n")
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character in "\n\t":
        return character
    return "\ufffd" if character in _DIRECTION or unicodedata.category(character) in ("Cc", "Cs") else character


def one_line(text: str) -> str:
    r"""Join the lines of a text, and replace its control characters.

    >>> one_line("no weights\x1b[31m\n  in the file")
    'no weights�[31m in the file'
    """
    return visible(" ".join(text.split()))

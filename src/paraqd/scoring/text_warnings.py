"""Warn about texts for which a score means little."""

from __future__ import annotations

from paraqd.scoring.chatter import assistant_remark
from paraqd.scoring.language import is_foreign

_LONG = 200  # words; the longest question of the corpus from which the models learned has 120


def text_warnings(question: str, paraphrase: str) -> tuple[str, ...]:
    """Return the warnings about the two texts of a pair. They do not affect the score.

    >>> text_warnings("Juan tiene 5 manzanas. ¿Cuántas tiene?", "Juan has 5 apples. How many has he?")
    ('The original does not seem to be in English. The scorer was made for English, so the score may be wrong.',)
    >>> text_warnings("Tom has 5 pens. How many?", "Here is the paraphrase: Tom owns 5 pens. How many?")
    ('The paraphrase seems to contain a remark by an assistant: "Here is the paraphrase:".',)
    """
    foreign = [is_foreign(text) for text in (question, paraphrase)]
    found = []
    if any(foreign):
        which = "two texts do" if all(foreign) else "original does" if foreign[0] else "paraphrase does"
        found.append(
            f"The {which} not seem to be in English. The scorer was made for English, so the score may be wrong."
        )
    found += _length_warnings(question, paraphrase)
    if remark := assistant_remark(question, paraphrase):
        found.append(f'The paraphrase seems to contain a remark by an assistant: "{remark}".')
    return tuple(found)


def single_text_warnings(text: str) -> tuple[str, ...]:
    """Return the warnings about a single text. They do not affect the score.

    >>> single_text_warnings("Juan tiene 5 manzanas. ¿Cuántas tiene?")
    ('The text does not seem to be in English. The model was made for English, so the score may be wrong.',)
    """
    foreign = "The text does not seem to be in English. The model was made for English, so the score may be wrong."
    return (foreign,) if is_foreign(text) else ()


def _length_warnings(*texts: str) -> tuple[str, ...]:
    longest = max(len(text.split()) for text in texts)
    if longest <= _LONG:
        return ()
    return (
        f"A text has {longest} words. The scorer was made for single problems of up to {_LONG} words, so the score "
        "may be wrong.",
    )

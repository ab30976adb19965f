"""Find the remarks that an assistant adds to a paraphrase, such as "Here is a rewritten version:".

Stories and letters contain phrases such as "Sure!" and "I hope", too. A remark must therefore stand at the beginning of
the text, outside quotation marks, or speak of the assistant's own work.
"""

from __future__ import annotations

import re

_LONGEST_SHOWN = 80  # characters
_REST = r"[^\n.:?!]{0,80}"  # the rest of a sentence
_DONE = r"(?:paraphras|re-?writ|re-?wrote|re-?word|re-?phras|re-?stat)\w*"
_TEXT = r"(?:(?:math|maths|word) )*(?:version|problem|question|text|sentence|paragraph|passage|variant|option)s?"
_CHANGED = rf"(?:{_DONE}|(?:alternative|revised|simplified|simpler|shortened|improved|edited|updated|clearer) {_TEXT})"
_SURE = r"(?:sure(?: thing)?|certainly|absolutely|of course|happy to help|glad to help)"
_SO = rf"(?:{_SURE}|okay|ok|alright|great|got it|no problem)\s?[!,.:–—-]+\s*"
_HERE = r"(?:here(?:'s| is| are)|below (?:is|are))"
_LABEL = rf"(?:{_CHANGED}(?: {_TEXT})?|(?:option|version|variant) (?:#?1|one|a))(?: #?\d)?"

# what a note to oneself or to a reviewer says, as in *[DRAFT]* or *(to be checked by Ann)*
_NOTE = (
    r"(?:(?:final |first |second |revised |updated )?draft|to-?do|tbd|fixme|editor(?:'s|ial)? note"
    r"|(?:needs|for) (?:review|checking|editing)|to be (?:reviewed|checked|edited))\b[^\n\])]{0,80}"
)

# at the beginning of the text
_OPENINGS = (
    rf"(?:{_HERE}|this is)\b{_REST}\b{_CHANGED}\b{_REST}[:.]",
    rf"{_SO}{_HERE}\b{_REST}\b(?:{_TEXT}|{_CHANGED})\b{_REST}[:.]",
    rf"{_SO}(?:i(?:'ve|'ll|'d|'m| have| can| will)|let me)\b{_REST}\b(?:{_DONE}|help)\b{_REST}[:.!]",
    rf"(?:{_SO})?here you go\s?[:.!]",
    rf"{_SURE}(?:!|[.:]\s*\n)",
    rf"i(?:'ve| have)? {_DONE}\b{_REST}[:.]",
    rf"i(?:'m| am) sorry, but (?:i|as an)\b{_REST}|as an ai\b{_REST}|i (?:can't|cannot) (?:help|{_DONE})\b{_REST}",
    r"(?:output|answer|response|result)[*_]{0,2}\s?:",
    rf"(?<=[*#_])\s*{_TEXT}(?::[*_]{{1,2}}|[*_]{{1,2}}:|\s*\n)",  # a bold label or a heading
    r"[\[<](?:paraphrase\w*|output|answer|response)[\]>]",
    rf"\[{_NOTE}\]",
)
# anywhere in the text
_CLOSINGS = (
    rf"(?<=[.?!])\s*[\[(]{_NOTE}[\])]\s*\Z",
    r"```\w*",
    r"</?(?:think|thinking|thoughts?|reasoning)>",  # what a reasoning model thinks before it answers
    rf"i hope (?:this|that|it) (?:helps|is helpful|works|meets)\b{_REST}[.!]?",
    rf"let me know if (?:you(?:'d| would|r| need| want| have)|this|that|there|any)\b{_REST}[.!]?",
    rf"feel free to (?:ask|let me know|reach out|modify|adjust|edit)\b{_REST}[.!]?",
    rf"would you like (?:me to {_DONE}|another (?:{_CHANGED}|{_TEXT}))\b{_REST}\??",
    rf"is there anything else (?:i|you)\b{_REST}\??",
    rf"this (?:version|{_CHANGED})(?: {_TEXT})? (?:keeps|maintains|preserves|retains|conveys|uses|has|asks|is)\b"
    rf"{_REST}[.!]?",
    rf"i(?:'ve| have)? (?:kept|changed|maintained|preserved|replaced|adjusted|{_DONE}) (?:all )?(?:of )?the "
    rf"(?:original|numbers|numerical|meaning|wording|{_TEXT}|structure|phrasing|context)\b{_REST}[.!]?",
)
_OPENING = re.compile(rf"\A[\s*_#>]*(?:{'|'.join(_OPENINGS)})", re.I)
# on a line of its own or at the beginning of a line; without a colon, it must be bold or a heading
_LABELLED = re.compile(
    rf"^[ \t*_#>`-]{{0,9}}(?:{_LABEL}[*_]{{0,2}}\s?:[*_]{{0,2}}|(?:(?<=[*#])|(?<=# )){_LABEL})", re.I | re.M
)
_CLOSING = re.compile(rf"(?<!\w)(?:{'|'.join(_CLOSINGS)})", re.I)
_ITEM = re.compile(r"(?<!\S)[*_]{0,2}([1-9])[.)][*_]{0,2}\s")
_OPTION_SHARE = 0.5  # of the question's length; a shorter item may be a fact or a part of the question


def assistant_remark(question: str, paraphrase: str) -> str:
    """Return the first remark by an assistant in a paraphrase, or an empty string if there is none.

    A kind of remark that the question contains, too, belongs to the problem.

    >>> question = "Tom has 5 pens. How many has he?"
    >>> assistant_remark(question, "Sure! Here's a rewritten version: Tom owns 5 pens. How many are there?")
    "Sure! Here's a rewritten version:"
    >>> assistant_remark(question, '"Sure!" said Tom. "I have 5 pens." How many has he?')
    ''
    """
    asked, given = question.replace("’", "'"), paraphrase.replace("’", "'")
    for pattern in (_OPENING, _LABELLED, _CLOSING):
        match = pattern.search(given)
        if match and not pattern.search(asked):
            return _shortened(match[0])
    return _several_options(asked, given)


def _several_options(question: str, paraphrase: str) -> str:
    """Return the beginning of the second of several numbered paraphrases, or an empty string if there is only one."""
    items = list(_ITEM.finditer(paraphrase))
    if len(items) < 2 or [item[1] for item in items] != [str(number + 1) for number in range(len(items))]:
        return ""
    ends = [*(item.start() for item in items[1:]), len(paraphrase)]
    shortest = min(end - item.end() for item, end in zip(items, ends, strict=True))
    if shortest < _OPTION_SHARE * len(question) or _ITEM.search(question):
        return ""
    return _shortened(paraphrase[items[1].start() : ends[1]])


def _shortened(remark: str) -> str:
    shown = " ".join(remark.split()).lstrip("*_#> ").rstrip("*_# ")
    return shown if len(shown) <= _LONGEST_SHOWN else shown[: _LONGEST_SHOWN - 1].rstrip() + "…"

"""Find the paraphrases in the answer of an assistant, which may wrap them in remarks. This module reads JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from paraqd.paraphrasing.sources.answer_lists import FENCE, LABEL, NOUN_LABEL, REMARK, listed_texts
from paraqd.text_check import text_problem

_FENCED_JSON = re.compile(r"^[ \t]*```json[ \t]*$(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.S | re.M | re.I)
_OBJECT_LINE = re.compile(r"^[ \t]*(\{.*\}),?[ \t]*$", re.M)  # as in JSON Lines
# what a reasoning model thinks before it answers; the opening tag may be missing, or the closing one
_TAG = r"(?:think|thinking|thought|thoughts|reasoning)"
_THOUGHT = re.compile(rf"<{_TAG}>.*?(?:</{_TAG}>|\Z)", re.S | re.I)
_THOUGHT_END = re.compile(rf"</{_TAG}>", re.I)
_NUMBER = re.compile(r"^\(?\d{1,2}[.)]\s+")
_EMPHASIS = re.compile(r"(\*{1,3}|_{1,3})(.+)\1", re.S)
_QUOTES = ('"“”', "'‘’", "`")  # marks of a kind
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_WHOLE_STRING = re.compile(r'(?<=[\[,:])\s*("(?:[^"\\]|\\.)*")\s*(?=[,\]}]|$)', re.S)
_NOT_TEXTS = frozenset("comment error explanation message note notes original question reason style".split())
_MOST_STARTS = 50  # the number of brackets at which JSON may begin
_DECODER = json.JSONDecoder(strict=False)


def paraphrases_in(answer: str) -> list[str]:
    r"""Return the paraphrases in an answer: JSON, a list, or a single text without remarks.

    What stands in ``<think>`` tags is left out. If JSON was cut off, the complete strings count. A text that begins
    like JSON is never a paraphrase.

    >>> paraphrases_in('Sure! Here you go: ["Ann has 2 pens.", "2 pens are Ann\'s."] Enjoy!')
    ['Ann has 2 pens.', "2 pens are Ann's."]
    >>> paraphrases_in("Here are two versions:\n1. Ann has 2 pens.\n2) 2 pens are Ann's.\nI hope this helps!")
    ['Ann has 2 pens.', "2 pens are Ann's."]
    >>> paraphrases_in('["Ann has 2 pens.", "Bob has')
    ['Ann has 2 pens.']
    >>> paraphrases_in("<think>Two pens ...</think>2 pens are Ann's.")
    ["2 pens are Ann's."]
    >>> paraphrases_in("I'm sorry, I cannot do that.")
    []
    """
    text = _without_thoughts(answer).strip()
    objects = _OBJECT_LINE.findall(text)
    blocks = objects if len(objects) > 1 else _FENCED_JSON.findall(text)
    found = [each for block in blocks for each in _json_texts(block.strip())]
    found = found or _json_texts(FENCE.sub("", text).strip())
    cleaned = [_clean(each, NOUN_LABEL) for each in found] or [_clean(each, LABEL) for each in listed_texts(text)]
    texts = dict.fromkeys(_sentences(cleaned))
    return [each for each in texts if each[:1] not in ("[", "{") and not text_problem(each, unicode=True)]


def _without_thoughts(answer: str) -> str:
    """Return an answer without what a reasoning model thinks.

    >>> _without_thoughts("so 2 pens.</think>Ann has 2 pens."), _without_thoughts("Ann has 2 pens.<think>Is that")
    ('Ann has 2 pens.', 'Ann has 2 pens.')
    """
    return _THOUGHT_END.split(_THOUGHT.sub("", answer))[-1]


def _json_texts(text: str) -> list[str]:
    """Return the strings of the first JSON value that is the answer and not a part of a text, or an empty list."""
    for number, match in enumerate(re.finditer(r"[\[{]", text)):
        if number == _MOST_STARTS:
            break
        start = match.start()
        try:
            found, end = _DECODER.raw_decode(text, start)
            texts = _strings(found)
        except ValueError:
            if _begins_answer(text, start) and (texts := _whole_strings(text[start:])):
                return texts
            continue
        except RecursionError:
            break
        outside = len(text) - (end - start)
        if texts and (_begins_answer(text, start) or sum(map(len, texts)) > outside):
            return texts
    return []


def _begins_answer(text: str, start: int) -> bool:
    r"""Return True if only remarks and headings stand before a position, which begins a line.

    >>> _begins_answer("Here are two:\n[]", 14), _begins_answer("Ann has [2] pens.", 8)
    (True, False)
    """
    *before, line = text[:start].split("\n")
    return not line.strip() and all(
        not each.strip() or each.rstrip().endswith(":") or REMARK.match(each.strip()) for each in before
    )


def _whole_strings(text: str) -> list[str]:
    """Return the complete strings in JSON that was cut off, without the names of fields."""
    texts = []
    for match in _WHOLE_STRING.finditer(text):
        try:
            texts.append(str(_DECODER.decode(match[1])))
        except ValueError:
            continue
    return _sentences(texts)


def _strings(found: Any) -> list[str]:
    """Return the texts in a JSON value: strings, or objects with a text, in an array or in an object.

    >>> _strings({"note": "all kept", "paraphrases": {"1": "Ann has 2 pens.", "2": "2 pens are Ann's."}})
    ['Ann has 2 pens.', "2 pens are Ann's."]
    """
    if isinstance(found, dict):
        inner = [texts for value in found.values() if isinstance(value, list | dict) and (texts := _strings(value))]
        return inner[0] if inner else _fields(found)
    if not isinstance(found, list):
        return []
    texts = []
    for each in found:
        if isinstance(each, str):
            texts.append(each)
        elif isinstance(each, dict):
            texts += _fields(each)[:1] or _strings(each)
        else:
            texts += _strings(each)
    return _sentences(texts)


def _fields(found: dict[str, Any]) -> list[str]:
    """Return the texts among the fields of an object."""
    return _sentences(
        [value for name, value in found.items() if isinstance(value, str) and name.lower() not in _NOT_TEXTS]
    )


def _sentences(texts: Iterable[str]) -> list[str]:
    return [each for each in texts if " " in each.strip()]


def _clean(text: str, labels: re.Pattern[str]) -> str:
    """Remove a label and quotes around a text. They stay if there are more of their kind in the text.

    >>> _clean('**Version 1:** "How many?"', LABEL), _clean('"Go!" and "Stop!"', LABEL)
    ('How many?', '"Go!" and "Stop!"')
    """
    text = text.strip()
    if "\n" not in text:
        text = _NUMBER.sub("", text)
    if (label := labels.match(text)) and not NOUN_LABEL.search(text, label.end()):
        text = text[label.end() :]
    if (bold := _EMPHASIS.fullmatch(text)) and bold[1] not in bold[2]:
        text = bold[2].strip()
    for marks in _QUOTES:
        inside = _APOSTROPHE.sub("", text[1:-1])
        if len(text) > 1 and text[0] in marks and text[-1] in marks and not any(mark in inside for mark in marks):
            return text[1:-1].strip()
    return text

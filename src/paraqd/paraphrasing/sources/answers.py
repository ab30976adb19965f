"""Find the paraphrases in the answer of an assistant, which may wrap them in remarks."""

from __future__ import annotations

import json
import re
from typing import Any

from paraqd.text_check import text_problem

_FENCE = re.compile(r"^\s*```\w*\s*$", re.M)
# what a reasoning model thinks before it answers; the opening tag may be missing, or the closing one
_TAG = r"(?:think|thinking|thought|thoughts|reasoning)"
_THOUGHT = re.compile(rf"<{_TAG}>.*?(?:</{_TAG}>|\Z)", re.S | re.I)
_THOUGHT_END = re.compile(rf"</{_TAG}>", re.I)
_ITEM = re.compile(r"\s*(?:\(?\d{1,2}[.):]|([-*•–]))\s+(.+)$")
_SENTENCE_END = re.compile(r"[.?!…][\s)\]*_\"'”’`]*$")
_KNOWN_LABEL = re.compile(r"^\*{0,2}(?:paraphrase|version|rewrite|option)\b[^:]{0,20}:\*{0,2}\s*", re.I)
_WORK = r"(?:\w+ ){0,3}(?:versions?|rewrites?|paraphrases?|options?|rewordings?|rewritten|rephrased|reworded)\b"
# lines that are about the answer; a problem may begin with the same words, as in "Note that Ann has 5 pens."
_REMARK = re.compile(
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok|great|no problem)(?:[!,.:]| thing| *$)|"
    rf"(?:here|below) (?:is|are) {_WORK}|here's {_WORK}|here (?:you go|they are|it is)\b|(?:here|below)\b.*:$|"
    rf"these {_WORK}|(?:each|all) of (?:these|the|them)? ?{_WORK}|note:|as requested|"
    r"i (?:hope|have (?:kept|changed|rewritten|used|made))\b|i've\b|let me know|feel free|thank you|thanks\b|enjoy\b|"
    r"(?:would you like|do you want) (?:me|more|another|other|any)\b)",
    re.I,
)
_HEADING = re.compile(rf"[*_#\s]*(?:{_WORK}|[*_#])[^.?!]*$", re.I)  # such as "Two versions:" or "**Formal**"
_REFUSAL = re.compile(
    r"(?:(?:i'm|i’m|i am)\b.*\b(?:sorry|unable|not able|an ai)\b|sorry\b|i (?:cannot|can't|can’t|won't|will not)\b|"
    r"unfortunately, i\b|as an ai\b)",
    re.I,
)
_LEAD = re.compile(r"^(?:sure|certainly|of course|absolutely|okay|here(?:'s| is| are))\b[^:?]{0,80}:\s+(?=\S)", re.I)
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
    text = _FENCE.sub("", _without_thoughts(answer)).strip()
    listed = _json_texts(text)
    if listed is None:
        lines = text.splitlines()
        listed = _items(lines) or _single([line.strip() for line in lines if line.strip()])
    texts = dict.fromkeys(map(_clean, listed))
    return [each for each in texts if each[:1] not in ("[", "{") and not text_problem(each, unicode=True)]


def _without_thoughts(answer: str) -> str:
    """Return an answer without what a reasoning model thinks.

    >>> _without_thoughts("so 2 pens.</think>Ann has 2 pens."), _without_thoughts("Ann has 2 pens.<think>Is that")
    ('Ann has 2 pens.', 'Ann has 2 pens.')
    """
    return _THOUGHT_END.split(_THOUGHT.sub("", answer))[-1]


def _items(lines: list[str]) -> list[str]:
    """Return the items of a list of paraphrases, or an empty list if there is none.

    A line without a number belongs to the item before it, unless it follows a blank line and is not indented. If the
    items are only parts of a single text, such as the things that somebody buys, there is no list of paraphrases.

    >>> _items(["Here you go:", "1. Ann has 2 pens.", "How many?", "2. Ann owns 2 pens. How many?", "", "Enjoy!"])
    ['Ann has 2 pens. How many?', 'Ann owns 2 pens. How many?']
    >>> _items(["Ann has:", "- 5 red pens", "- 3 blue pens", "How many?"])
    []
    """
    items: list[str] = []
    opening = bulleted = gap = False
    for line in lines:
        text = line.strip()
        match = _ITEM.match(line)
        if match and items and not bulleted and match[1] and line[0].isspace():
            items[-1] += f"\n{text}"  # a list within a numbered item
        elif match:
            bulleted = match[1] is not None
            items.append(match[2].strip())
            gap = False
        elif not text:
            gap = True
        elif _REMARK.match(text) or _REFUSAL.match(text) or _HEADING.match(text):
            gap = True  # whatever follows a remark is no part of the item before it
        elif not items:
            opening = True
        elif line[0].isspace() or not (gap or bulleted):
            items[-1] += f" {text}"
        elif bulleted and (not gap or text.endswith("?")):
            return []  # a text goes on after its bullets
    parts = opening and not all(map(_SENTENCE_END.search, items))
    return [] if parts else items


def _single(lines: list[str]) -> list[str]:
    """Return the only paraphrase, in a list, or an empty list. A remark is dropped only if another line is left.

    >>> _single(["Sure!", "Note that Ann has 5 pens.", "How many?"])
    ['Note that Ann has 5 pens. How many?']
    """
    lines = [line for line in lines if not _REFUSAL.match(line)]
    kept = [line for line in lines if not _REMARK.match(line)]
    if not kept:
        kept = [line for line in lines[:1] if not line.endswith(":")]
    between = "\n" if any(map(_ITEM.match, kept)) else " "  # bullets stay on their own lines
    return [_LEAD.sub("", between.join(kept))] if kept else []


def _json_texts(text: str) -> list[str] | None:
    """Return the strings of the first JSON value that is the answer and not a part of a text, or None."""
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
            return None
        outside = len(text) - (end - start)
        if texts and (_begins_answer(text, start) or sum(map(len, texts)) > outside):
            return texts
    return None


def _begins_answer(text: str, start: int) -> bool:
    r"""Return True if only remarks and headings stand before a position, which begins a line.

    >>> _begins_answer("Here are two:\n[]", 14), _begins_answer("Ann has [2] pens.", 8)
    (True, False)
    """
    *before, line = text[:start].split("\n")
    return not line.strip() and all(
        not each.strip() or each.rstrip().endswith(":") or _REMARK.match(each.strip()) for each in before
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


def _sentences(texts: list[str]) -> list[str]:
    return [each for each in texts if " " in each.strip()]


def _clean(text: str) -> str:
    """Remove a label and quotes around a text. Quotes stay if there are more of their kind in the text.

    >>> _clean('**Version 1:** "How many?"'), _clean('"Go!" and "Stop!"')
    ('How many?', '"Go!" and "Stop!"')
    """
    text = _KNOWN_LABEL.sub("", text.strip()).strip("* ").strip()
    for marks in _QUOTES:
        inside = _APOSTROPHE.sub("", text[1:-1])
        if len(text) > 1 and text[0] in marks and text[-1] in marks and not any(mark in inside for mark in marks):
            return text[1:-1].strip()
    return text

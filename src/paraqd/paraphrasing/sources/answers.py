"""Find the paraphrases in the answer of an assistant, which may wrap them in remarks."""

from __future__ import annotations

import json
import re
from typing import Any

_FENCE = re.compile(r"^\s*```\w*\s*$", re.M)
_ITEM = re.compile(r"^\s*(?:\(?\d{1,2}[.):]|[-*•–])\s+(.+)$")
_KNOWN_LABEL = re.compile(r"^\*{0,2}(?:paraphrase|version|rewrite|option)\b[^:]{0,20}:\*{0,2}\s*", re.I)
_REMARK = re.compile(
    r"^(?:sure|certainly|of course|here (?:is|are)|here's|below|i hope|let me know|okay|ok\b|as requested|note|these|"
    r"each of|thank|feel free|absolutely|great|i have|i've|i'm|i am|sorry|unfortunately|as an ai)\b",
    re.I,
)
_QUOTES = "\"'“”‘’`"


def paraphrases_in(answer: str) -> list[str]:
    r"""Return the paraphrases in an answer: a JSON array, a list, or a single text without remarks.

    >>> paraphrases_in('Sure! Here you go: ["Ann has 2 pens.", "2 pens are Ann\'s."] Enjoy!')
    ['Ann has 2 pens.', "2 pens are Ann's."]
    >>> paraphrases_in("Here are two versions:\n1. Ann has 2 pens.\n2) 2 pens are Ann's.\nI hope this helps!")
    ['Ann has 2 pens.', "2 pens are Ann's."]
    >>> paraphrases_in("I'm sorry, I cannot do that.")
    []
    """
    text = _FENCE.sub("", answer).strip()
    listed = _json_texts(text)
    if listed is None:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        listed = [match[1] for line in lines if (match := _ITEM.match(line))]
        if not listed:
            kept = [line for line in lines if not _REMARK.match(line)]
            listed = [" ".join(kept)] if kept else []
    return list(dict.fromkeys(filter(None, map(_clean, listed))))


def _json_texts(text: str) -> list[str] | None:
    """Return the strings of the first JSON array in a text, or None if there is none."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"[\[{]", text):
        try:
            found, _ = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if texts := _strings(found):
            return texts
    return None


def _strings(found: Any) -> list[str]:
    """Return the texts in a JSON value: an array of strings or of objects, or an object with such an array."""
    if isinstance(found, dict):
        arrays = [value for value in found.values() if isinstance(value, list)]
        return _strings(arrays[0]) if arrays else []
    if not isinstance(found, list):
        return []
    texts = []
    for each in found:
        if isinstance(each, dict):
            each = next((value for value in each.values() if isinstance(value, str) and " " in value), None)
        if isinstance(each, str):
            texts.append(each)
    return [each for each in texts if " " in each.strip()]


def _clean(text: str) -> str:
    """Remove a label and quotes around a text.

    >>> _clean('**Version 1:** "How many?"')
    'How many?'
    """
    text = _KNOWN_LABEL.sub("", text.strip()).strip("* ").strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        text = text[1:-1].strip()
    return text

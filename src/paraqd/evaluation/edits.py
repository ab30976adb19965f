"""Describe the edits that turn a question into its paraphrase."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from paraqd.reading import read

SAME, DELETED, REPLACED, REWORDED = "same words", "words deleted", "words replaced", "reworded"
EDIT_KINDS = (SAME, DELETED, REPLACED, REWORDED)
WITH_QUANTITY = ", with a number or unit"

_WORD = re.compile(r"\w+")


class Edit(NamedTuple):
    """A difference between two texts: the words before and after, and the span of the old words in the first text."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    start: int
    end: int


def find_edits(question: str, paraphrase: str) -> list[Edit]:
    """Return the edits that turn the words of the question into the words of the paraphrase, ignoring case.

    >>> [(edit.before, edit.after) for edit in find_edits("Ann has 3 pens.", "ann has four red pens")]
    [(('3',), ('four', 'red'))]
    """
    old, new = list(_WORD.finditer(question)), _WORD.findall(paraphrase)
    matcher = SequenceMatcher(None, [word[0].lower() for word in old], [word.lower() for word in new], autojunk=False)
    edits = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            place = (old[i].start(), old[j - 1].end()) if i < j else (0, 0)
            edits.append(Edit(tuple(word[0] for word in old[i:j]), tuple(new[k:m]), *place))
    return edits


def edit_kind(question: str, paraphrase: str) -> str:
    """Return the kind of edit: no change, only deletions, only replacements of similar length, or a rewording.

    >>> edit_kind("Ann has 3 apples.", "Ann has 3 sona.")
    'words replaced'
    """
    edits = find_edits(question, paraphrase)
    if not edits:
        return SAME
    if not any(edit.after for edit in edits):
        return DELETED
    if all(edit.before and edit.after and abs(len(edit.before) - len(edit.after)) <= 1 for edit in edits):
        return REPLACED
    return REWORDED


def detailed_edit_kind(question: str, paraphrase: str) -> str:
    """Return the kind of edit, with a suffix if the edit deletes or replaces a number or a unit in the question.

    >>> detailed_edit_kind("Ann has 3 km to go.", "Ann has 3 miles to go.")
    'words replaced, with a number or unit'
    """
    quantities = [(quantity.start, quantity.end) for quantity in read(question).quantities]
    touched = any(
        edit.start < end and start < edit.end for edit in find_edits(question, paraphrase) for start, end in quantities
    )
    return edit_kind(question, paraphrase) + (WITH_QUANTITY if touched else "")

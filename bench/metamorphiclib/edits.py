"""List the edits, each with the label of its outputs and the share of them that a scorer should accept."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from metamorphiclib import name_edits, number_edits, sentence_edits, surface_edits
from metamorphiclib.fresh_texts import SENTENCES

SEED = 3407
Make = Callable[[str, random.Random], str | None]
Group = Literal["invalid", "valid", "harmless"]


@dataclass(frozen=True)
class Edit:
    """An edit of a question.

    Attributes
    ----------
    name, title : str
        The name on the command line, and the words in the table.
    group : str
        ``invalid``, ``valid``, or ``harmless`` for valid edits of white space, punctuation and capitals.
    make : callable
        Returns the edited text, or None if the edit does not apply.
    goal : float, optional
        The largest share of accepted outputs of an invalid edit, or the smallest of a valid edit.

    """

    name: str
    title: str
    group: Group
    make: Make
    goal: float | None = None

    @property
    def valid(self) -> bool:
        """True if the outputs are valid."""
        return self.group != "invalid"

    def meets(self, share: float) -> bool | None:
        """Return True if a share of accepted outputs meets the goal, or None without a goal."""
        if self.goal is None:
            return None
        return share >= self.goal if self.valid else share <= self.goal


@dataclass(frozen=True)
class Edited:
    """A question and the output of an edit."""

    id: str
    question: str
    text: str


def all_edits(texts: Sequence[str]) -> tuple[Edit, ...]:
    """Return all edits. The questions that one of them appends come from ``texts``."""
    donors = sorted({found for text in texts if (found := sentence_edits.question_sentence(text))})
    append = partial(sentence_edits.append_question, donors=donors)
    return (
        Edit("number-changed", "a number that occurs once is changed", "invalid", number_edits.change_single),
        Edit(
            "repeated-to-other",
            "a repeated number is changed in one place, to another number of the text",
            "invalid",
            number_edits.change_repeated_to_other,
            0.03,
        ),
        Edit(
            "repeated-to-1",
            "a repeated number is changed in one place, to 1",
            "invalid",
            number_edits.change_repeated_to_one,
            0.03,
        ),
        Edit(
            "repeated-to-fresh",
            "a repeated number is changed in one place, to a new number",
            "invalid",
            number_edits.change_repeated_to_fresh,
            0.03,
        ),
        Edit("number-deleted", "a number is deleted", "invalid", number_edits.delete_number, 0.01),
        Edit("numbers-swapped", "two numbers are swapped", "invalid", number_edits.swap_numbers, 0.02),
        Edit(
            "list-swapped",
            "two numbers of a list or sum are swapped (the order may not matter)",
            "invalid",
            number_edits.swap_listed_numbers,
        ),
        Edit(
            "respective-swapped",
            "two numbers of a list with *respectively* are swapped (the order may not matter)",
            "invalid",
            number_edits.swap_respective_numbers,
        ),
        Edit("name-mixed", "one mention of a name becomes another name", "invalid", name_edits.mix_one_mention, 0.05),
        Edit(
            "names-swapped-once",
            "two names are swapped in one sentence only",
            "invalid",
            name_edits.swap_in_one_sentence,
            0.05,
        ),
        Edit("question-appended", "another problem's question is appended", "invalid", append, 0.01),
        Edit("cut-between", "the question is cut off between words", "invalid", sentence_edits.cut_between_words, 0.05),
        Edit("cut-within", "the question is cut off within a word", "invalid", sentence_edits.cut_in_word, 0.05),
        Edit("sentence-before", "a harmless sentence is put before", "valid", sentence_edits.add_before, 0.95),
        Edit("sentence-after", "a harmless sentence is appended", "valid", sentence_edits.add_after, 0.95),
        Edit(
            "fresh-before",
            "a harmless sentence by another writer is put before",
            "valid",
            partial(sentence_edits.add_before, sentences=SENTENCES),
            0.95,
        ),
        Edit(
            "fresh-after",
            "a harmless sentence by another writer is appended",
            "valid",
            partial(sentence_edits.add_after, sentences=SENTENCES),
            0.95,
        ),
        Edit("names-swapped", "two names are swapped everywhere", "valid", name_edits.swap_everywhere, 0.8),
        *(Edit(name, title, "harmless", _fixed(make), 0.995) for name, title, make in _HARMLESS),
    )


_HARMLESS: tuple[tuple[str, str, Callable[[str], str | None]], ...] = (
    ("double-spaces", "doubled spaces", surface_edits.double_spaces),
    ("outer-spaces", "spaces before and after the text", surface_edits.outer_spaces),
    ("line-breaks", "line breaks between sentences", sentence_edits.break_lines),
    ("question-mark", "a space before the question mark, or none", surface_edits.question_mark_space),
    ("comma-space", "a space before commas", surface_edits.comma_space_added),
    ("comma-no-space", "no space after commas", surface_edits.comma_space_removed),
    ("bracket-spaces", "spaces inside brackets, or none", surface_edits.bracket_spaces),
    ("operator-spaces", "spaces around signs between digits, or none", surface_edits.operator_spaces),
    ("unit-space", "a space between number and unit, or none", surface_edits.unit_space),
    ("percent-space", "a space before the percent sign, or none", surface_edits.percent_space),
    ("quotes", "curly quotation marks and apostrophes, or straight ones", surface_edits.other_quotes),
    ("first-letter", "the other case of the first letter", surface_edits.first_letter),
    ("final-stop", "a final full stop, or none", surface_edits.final_stop),
)


def _fixed(make: Callable[[str], str | None]) -> Make:
    """Return an edit that draws nothing."""
    return lambda text, rng: make(text)


def draw_from(seed: int, *key: str) -> random.Random:
    """Return a generator of random numbers for a seed and a key, so that an output depends on nothing else."""
    return random.Random(hashlib.sha256("|".join([str(seed), *key]).encode("utf-8")).digest())


def apply(edit: Edit, rows: Sequence[Mapping[str, Any]], seed: int = SEED) -> list[Edited]:
    """Return the outputs of an edit for the questions to which it applies."""
    found = []
    for row in rows:
        key, text = str(row["id"]), str(row["question"])
        edited = edit.make(text, draw_from(seed, key, edit.name))
        if edited is not None and edited != text and edited.strip():
            found.append(Edited(key, text, edited))
    return found

"""Collect valid paraphrases with their styles, on which a paraphrasing generator is trained."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paraqd.lab.corpora.near_twins import near_twins
from paraqd.lab.corpora.reserved_questions import reserved_questions
from paraqd.lab.corpora.synthetic import SyntheticProblem, synthetic_part, synthetic_problems
from paraqd.reading.words import overlap
from paraqd.tables.datasets import DatasetError, find, load_questions, written_split
from paraqd.tables.table import open_table

# themes whose valid paraphrases are clumsy, nearly copies, or not in prose, so that nobody should learn to write them
_SKIPPED = frozenset(
    "algebraic-notation clumsy-english close-edits consistent-renaming converted-numbers editorial-rewrites"
    " editors-changes garbled-rewording harmless-details informal-writing light-edits machine-like"
    " machine-paraphrase-style near-copies-with-a-fault odd-synonyms renamed-objects short-sums small-words"
    " swapped-people-and-things tabular-facts translated-english units-and-number-formats".split()
)
_ORNATE = frozenset("elevated-language ornate-and-rare ornate-and-styled ornate-prose".split())
_SHORT, _LONG = 0.8, 1.5  # the length of a paraphrase as a multiple of the question's length
_MOST_OVERLAP = 0.75  # of the words, as `reading.words.overlap` counts them


class StyledRewrite(NamedTuple):
    """A question, a valid paraphrase and the paraphrase's style, one of `generators.styles.STYLES`."""

    question: str
    text: str
    style: str


def styled_rewrites(data_dir: str | Path | None = None) -> list[StyledRewrite]:
    """Return the valid paraphrases in the training parts of the written pairs, the synthetic text and the styles.

    Rewrites of near twins of held-out questions are left out; see `held_out_questions`.
    """
    problems = [problem for problem in synthetic_problems(data_dir) if synthetic_part(problem) == "train"]
    rewrites = [
        *rewrites_of_written(open_table(find("written_pairs", data_dir)).rows()),
        *rewrites_of_problems([*problems, *synthetic_problems(data_dir, name="styles")]),
    ]
    return without_near_twins(rewrites, held_out_questions(data_dir))


def held_out_questions(data_dir: str | Path | None = None) -> list[str]:
    """Return the questions on which nothing may be trained.

    These are the questions of the written pairs outside the training part, the reserved questions of the corpus, and
    the synthetic problems for validation. Test sets are not included, because only a training recipe names them.
    """
    written = list(open_table(find("written_pairs", data_dir)).rows())
    found = [str(row["question"]) for row in written if written_split(str(row["id"])) != "train"]
    found += [each.question for each in synthetic_problems(data_dir) if synthetic_part(each) == "validation"]
    with contextlib.suppress(DatasetError):  # if the corpus is missing, none of its questions can be reserved
        rows = load_questions("questions", data_dir=data_dir)
        found += [str(row["question"]) for row in reserved_questions(rows, {str(row["id"]) for row in written})]
    return list(dict.fromkeys(found))


def without_near_twins(rewrites: Sequence[StyledRewrite], held_out: Sequence[str]) -> list[StyledRewrite]:
    """Return the rewrites of questions that are not near twins of held-out questions.

    >>> rewrites = [StyledRewrite(text, "…", "plain") for text in ("Ann has 7 pens. How many?", "A car goes 5 km.")]
    >>> [each.question for each in without_near_twins(rewrites, ["Ann has 12 pens, how many?"])]
    ['A car goes 5 km.']
    """
    questions = list(dict.fromkeys(each.question for each in rewrites))
    twins = dict(zip(questions, near_twins(questions, held_out), strict=True))
    return [each for each in rewrites if not twins[each.question]]


def rewrites_of_written(rows: Iterable[Mapping[str, Any]]) -> Iterator[StyledRewrite]:
    """Yield the valid rewrites in the training part of the written pairs, except near copies of the question."""
    for row in rows:
        if written_split(str(row["id"])) == "train":
            for form in ("heavy_valid", "moderate_valid"):
                yield from _rewrite("written-pairs", str(row["question"]), str(row[form]))


def rewrites_of_problems(problems: Iterable[SyntheticProblem]) -> Iterator[StyledRewrite]:
    """Yield the valid paraphrases of problems, except near copies of the question and themes nobody should imitate."""
    for problem in problems:
        theme = problem.id.rpartition("-")[0]
        if theme not in _SKIPPED:
            for text in problem.valid:
                yield from _rewrite(theme, problem.question, text)


def style_of(theme: str, question: str, text: str) -> str:
    """Return the style of a paraphrase, given the theme under which it was written.

    The label ``engaging`` says only that the paraphrase is more than 1.5 times as long as the question, and ``short``
    only that it is less than 0.8 times as long. Nobody checked that a long paraphrase is a lively one.

    >>> style_of("sport", "Tom ran 5 km in 1 hour. What was his speed?", "Tom's speed over 5 km in 1 hour?")
    'short'
    """
    if theme in _ORNATE:
        return "ornate"
    length = len(text) / len(question)
    if length > _LONG:
        return "engaging"
    if length < _SHORT:
        return "short"
    return "plain"


def _rewrite(theme: str, question: str, text: str) -> Iterator[StyledRewrite]:
    if text.count("\n") < 2 and overlap(question, text) <= _MOST_OVERLAP:
        yield StyledRewrite(question, " ".join(text.split()), style_of(theme, question, text))

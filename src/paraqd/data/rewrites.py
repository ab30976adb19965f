"""Collect valid paraphrases with their styles, on which a paraphrasing generator is trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from paraqd.data.datasets import find, written_split
from paraqd.data.synthetic import SyntheticProblem, synthetic_part, synthetic_problems
from paraqd.data.tables import open_table

# themes whose valid paraphrases are clumsy, nearly copies, or not in prose, so that nobody should learn to write them
_SKIPPED = frozenset(
    "algebraic-notation clumsy-english close-edits consistent-renaming converted-numbers editorial-rewrites"
    " editors-changes harmless-details informal-writing light-edits machine-like machine-paraphrase-style"
    " near-copies-with-a-fault odd-synonyms renamed-objects small-words swapped-people-and-things tabular-facts"
    " translated-english units-and-number-formats".split()
)
_ORNATE = frozenset("elevated-language ornate-and-rare ornate-and-styled ornate-prose".split())
_EXAM = frozenset("exam-problems exam-rewordings entrance-exam-problems formal-rewrites aptitude-tests".split())
_SHORT, _LONG = 0.8, 1.5  # the length of a paraphrase as a multiple of the question's length
_MOST_OVERLAP = 0.75


class StyledRewrite(NamedTuple):
    """A question, a valid paraphrase and the paraphrase's style, one of `generators.styles.STYLES`."""

    question: str
    text: str
    style: str


def styled_rewrites(data_dir: str | Path | None = None) -> list[StyledRewrite]:
    """Return the valid paraphrases in the training parts of the written pairs, the synthetic text and the styles."""
    problems = [problem for problem in synthetic_problems(data_dir) if synthetic_part(problem) == "train"]
    return [
        *rewrites_of_written(open_table(find("written_pairs", data_dir)).rows()),
        *rewrites_of_problems([*problems, *synthetic_problems(data_dir, name="styles")]),
    ]


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
    return "exam" if theme in _EXAM else "plain"


def word_overlap(one: str, other: str) -> float:
    """Return the share of lower-cased words that two texts have in common (the Jaccard index).

    >>> word_overlap("Tom has pens", "has Tom books")
    0.5
    """
    words, others = set(one.lower().split()), set(other.lower().split())
    return len(words & others) / max(1, len(words | others))


def _rewrite(theme: str, question: str, text: str) -> Iterator[StyledRewrite]:
    if text.count("\n") < 2 and word_overlap(question, text) <= _MOST_OVERLAP:
        yield StyledRewrite(question, " ".join(text.split()), style_of(theme, question, text))

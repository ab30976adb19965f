"""Prepare a pair of texts for the rules and for a learned judge.

Scoring and training both use `prepare_pair`, so a judge scores texts in the form in which it was trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from paraqd.reading import Problem, read
from paraqd.scoring.evidence.matching import Matching
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.exchanged_names import undo_name_exchange
from paraqd.scoring.markup import PlainText, align_case, remove_markup
from paraqd.scoring.normalise_quantities import NormalisedText, normalise_quantities
from paraqd.scoring.shared_remarks import drop_shared_remarks
from paraqd.scoring.verdict import Evidence, Span


class PreparedPair(NamedTuple):
    """A question and a paraphrase, read and ready to be judged.

    Attributes
    ----------
    question, paraphrase : Problem
        The readings of both texts, which the rules compare: without markup and shared remarks, and with the question's
        names.
    matching : Matching
        The matched quantities of both texts.
    normalised : NormalisedText
        The paraphrase with its quantities written as in the question.
    plain_question, plain_paraphrase : PlainText
        The texts that were read, with the original position of each character.

    """

    question: Problem
    paraphrase: Problem
    matching: Matching
    normalised: NormalisedText
    plain_question: PlainText
    plain_paraphrase: PlainText

    @property
    def texts(self) -> tuple[str, str]:
        """The question and the paraphrase in the form in which a learned judge reads them."""
        return self.question.text, self.normalised.text

    def original_span(self, part: int, start: int, end: int) -> Span:
        """Map a span of ``texts[part]`` to the original text.

        ``part`` is 0 for the question and 1 for the paraphrase.
        """
        if part == 0:
            return self.plain_question.original_span(start, end)
        return self.plain_paraphrase.original_span(*self.normalised.original_span(start, end))

    def restore_spans(self, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """Return the evidence with its spans mapped from the plain texts to the original texts."""
        question, paraphrase = self.plain_question, self.plain_paraphrase
        if question.positions is None and paraphrase.positions is None:
            return tuple(evidence)
        return tuple(
            replace(
                piece,
                question_spans=question.original_spans(piece.question_spans),
                paraphrase_spans=paraphrase.original_spans(piece.paraphrase_spans),
            )
            for piece in evidence
        )


def prepare_pair(
    question: str,
    paraphrase: str,
    *,
    read_question: Callable[[str], Problem] = read,
    read_paraphrase: Callable[[str], Problem] = read,
) -> PreparedPair:
    """Remove markup and shared remarks, undo an exchange of names, read the texts, and write equal quantities alike.

    Parameters
    ----------
    question, paraphrase : str
        The original texts.
    read_question, read_paraphrase : callable
        The functions that read the texts (default: `paraqd.read`). Pass a caching function if texts recur.

    Examples
    --------
    >>> pair = prepare_pair("The trip takes 30 min.", "The trip takes <b>half an hour</b>.")
    >>> pair.texts
    ('The trip takes 30 min.', 'The trip takes  30 min .')
    >>> pair.original_span(1, 16, 18)
    (18, 30)

    """
    both = align_case(remove_markup(question), remove_markup(paraphrase))
    plain_question, plain_paraphrase = drop_shared_remarks(*both)
    plain_paraphrase = undo_name_exchange(plain_question.text, plain_paraphrase)
    here, there = read_question(plain_question.text), read_paraphrase(plain_paraphrase.text)
    matching = match_quantities(here, there)
    normalised = normalise_quantities(here, there, matching)
    return PreparedPair(here, there, matching, normalised, plain_question, plain_paraphrase)

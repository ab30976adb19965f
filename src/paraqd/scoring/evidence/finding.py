"""Define findings, which are the results of rules, and helpers for the wording of their messages."""

from __future__ import annotations

from typing import NamedTuple

from paraqd.scoring.verdict import EvidenceKind, Span

# the features of all rules; a fusion may give a weight only to these
FEATURES = frozenset(
    {
        "algebra_changed",
        "asked_other",
        "asked_unit",
        "label_stray",
        "multiple_turned",
        "name_mixed",
        "number_added",
        "number_changed",
        "number_derived",
        "number_lost",
        "number_replaced",
        "number_restated",
        "numbers_crossed",
        "numbers_exchanged",
        "order_turned",
        "question_cut",
        "question_lost",
        "question_target",
        "ratio_cut",
        "relation_opposed",
        "relation_turned",
        "small_number_added",
        "small_number_lost",
        "things_exchanged",
        "unit_changed",
        "word_missing",
    }
)


class Finding(NamedTuple):
    """A fault that a rule or a judge found.

    ``feature`` names the finding's weight in the fusion. The other fields become evidence.
    """

    feature: str
    kind: EvidenceKind
    question_spans: tuple[Span, ...]
    paraphrase_spans: tuple[Span, ...]
    message: str


def quote(text: str) -> str:
    r"""Return a text in quotation marks, on one line.

    >>> quote("red\n pens")
    '"red pens"'
    """
    return f'"{" ".join(text.split())}"'


def original_and_paraphrase(original: str, paraphrase: str) -> str:
    """Return the part of a message that quotes both texts, or only one text if the other quotation is empty.

    >>> original_and_paraphrase(quote("5 cats"), quote("5 dogs"))
    'original "5 cats", paraphrase "5 dogs"'
    >>> original_and_paraphrase(quote("each"), "")
    'original "each"'
    """
    return ", ".join(
        f"{name} {quoted}" for name, quoted in (("original", original), ("paraphrase", paraphrase)) if quoted
    )

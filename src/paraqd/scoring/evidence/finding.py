"""Define findings, which are faults that rules or judges report, and write their messages."""

from __future__ import annotations

from typing import NamedTuple

from paraqd.reading import Problem
from paraqd.scoring.verdict import EvidenceKind, Span

_PUNCTUATION = ".?!;, "
_REACH = 18  # characters on each side of a quoted place
# the features of all rules; a fusion may have weights only for these features
FEATURES = frozenset(
    {
        "algebra_changed",
        "asked_other",
        "asked_unit",
        "label_stray",
        "multiple_turned",
        "name_misplaced",
        "name_mixed",
        "number_added",
        "number_changed",
        "number_derived",
        "number_lost",
        "number_replaced",
        "number_restated",
        "numbers_crossed",
        "numbers_exchanged",
        "numbers_swapped",
        "only_number_changed",
        "order_turned",
        "question_added",
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
    """A fault that a rule or a judge reports.

    The fusion looks up the weight of the finding under ``feature``. The other fields become evidence.
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


def quote_context(problem: Problem, start: int, end: int, *, before: int = _REACH, after: int = _REACH) -> str:
    """Quote a span and the words around it. An ellipsis marks each end at which the sentence is cut.

    ``before`` and ``after`` are the maximum numbers of characters to quote on the two sides of the span.

    >>> from paraqd.reading import read
    >>> quote_context(read("Ann has red pens and 5 cups of tea. She drinks one."), 21, 22, before=10)
    '"… pens and 5 cups of tea"'
    """
    text = problem.text
    sentence = problem.sentence_at(start)
    first, last = (sentence.start, max(sentence.end, end)) if sentence else (0, len(text))
    left, right = max(first, start - before), min(last, end + after)
    head, tail = text[left:start], text[end:right]
    if left > first:
        head = f"… {head.partition(' ')[2]}"
    cut = text[right:last].strip(_PUNCTUATION)
    tail = f"{tail.rpartition(' ')[0].rstrip(',;:')} …" if cut else tail.rstrip(_PUNCTUATION)
    return quote(f"{head}{text[start:end]}{tail}")


def original_and_paraphrase(original: str, paraphrase: str) -> str:
    """Return the part of a message that quotes the two texts. A text whose quotation is empty is not mentioned.

    >>> original_and_paraphrase(quote("5 cats"), quote("5 dogs"))
    'the original says "5 cats"; the paraphrase says "5 dogs"'
    >>> original_and_paraphrase(quote("each"), "")
    'the original says "each"'
    """
    return "; ".join(
        f"the {name} says {quoted}" for name, quoted in (("original", original), ("paraphrase", paraphrase)) if quoted
    )


def as_sentence(message: str) -> str:
    """Add a full stop to a message, unless the quotation at its end already has one.

    >>> print(as_sentence('"3 p.m." became "4 p.m."'), as_sentence('"5" became "6"'))
    "3 p.m." became "4 p.m." "5" became "6".
    """
    return message if message.endswith(('."', '?"', '!"')) else f"{message}."

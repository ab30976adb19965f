"""Make grammatical mistakes that leave the meaning clear, as in a hasty text or a poor translation."""

from __future__ import annotations

import random

from paraqd.reading import Problem, Token
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.operator import Operator, Resources

_ARTICLES = frozenset({"a", "an", "the"})
_SLIPS = {
    "has": "have",
    "have": "has",
    "is": "are",
    "are": "is",
    "was": "were",
    "were": "was",
    "does": "do",
    "do": "does",
    "takes": "take",
    "costs": "cost",
    "makes": "make",
    "gets": "get",
    "buys": "buy",
    "sells": "sell",
    "travels": "travel",
    "works": "work",
}
_AUXILIARIES = frozenset({"does", "do", "did", "will", "would", "can"})
_DROPPED = frozenset({"is", "are", "was", "were", "been", "being", "that", "then"})
_ENDS = frozenset(".?!")


class ClumsyGrammar(Operator):
    """Make grammatical mistakes that leave the meaning clear: missing articles, wrong verb forms, joined sentences."""

    name = "ClumsyGrammar"
    polarity = "valid"
    changes = frozenset({"wording", "punctuation"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Introduce two to four kinds of mistakes; return None if no mistake is possible."""
        del resources
        kinds = rng.sample(_KINDS, rng.randint(2, 4))
        free = _outside_quantities(problem)
        edits: dict[tuple[int, int], str] = {}
        for kind in kinds:
            for start, end, new in kind(problem, free, rng):
                if not any(start < b and a < end for a, b in edits):
                    edits[start, end] = new
        made = keep_quantities(problem, [(start, end, new) for (start, end), new in sorted(edits.items())])
        if made is None or "".join(made.casefold().split()) == "".join(problem.text.casefold().split()):
            return None  # changing only capitals and spaces does not count as a mistake
        return " ".join(made.split())


def _outside_quantities(problem: Problem) -> list[Token]:
    """Return the tokens that are not part of a quantity."""
    spans = [quantity.span for quantity in problem.quantities]
    taken = {t.start for t in problem.tokens for a, b in spans if a <= t.start < b}
    return [token for token in problem.tokens if token.start not in taken]


def _drop_articles(problem: Problem, free: list[Token], rng: random.Random) -> list[Edit]:
    share = rng.choice((0.4, 0.8, 1.0))
    found = [t for t in free if t.text.lower() in _ARTICLES and rng.random() < share]
    return [_removal(problem.text, token) for token in found]


def _join_sentences(problem: Problem, free: list[Token], rng: random.Random) -> list[Edit]:
    del free
    text, found = problem.text, []
    for before, after in zip(problem.sentences, problem.sentences[1:], strict=False):
        if before.end < after.start and text[before.end - 1] in _ENDS and rng.random() < 0.8:
            found.append((before.end, after.start, ""))
    return found


def _use_wrong_verb_forms(problem: Problem, free: list[Token], rng: random.Random) -> list[Edit]:
    del problem
    return [(t.start, t.end, _SLIPS[t.text]) for t in free if t.text in _SLIPS and rng.random() < 0.5]


def _drop_auxiliary(problem: Problem, free: list[Token], rng: random.Random) -> list[Edit]:
    del rng
    asked = problem.question
    if asked is None:
        return []
    found = [t for t in free if asked.start < t.start < asked.end and t.text in _AUXILIARIES]
    return [_removal(problem.text, token) for token in found[:1]]


def _drop_copulas(problem: Problem, free: list[Token], rng: random.Random) -> list[Edit]:
    found = [t for t in free if t.text in _DROPPED and rng.random() < 0.4]
    return [_removal(problem.text, token) for token in found]


def _drop_commas(problem: Problem, free: list[Token], rng: random.Random) -> list[Edit]:
    text = problem.text
    found = []
    for token in free:
        near = text[max(0, token.start - 1) : token.start] + text[token.end : token.end + 2]
        if token.text == "," and not any(c.isdigit() for c in near) and rng.random() < 0.7:
            found.append((token.start, token.end, ""))
    return found


def _lower_first_letters(problem: Problem, free: list[Token], rng: random.Random) -> list[Edit]:
    del rng
    starts = problem.sentence_starts
    named = {entity.start for entity in problem.entities}
    return [
        (t.start, t.start + 1, t.text[0].lower())
        for t in free
        if t.start in starts and t.start not in named and t.text[0].isupper()
    ]


def _removal(text: str, token: Token) -> Edit:
    """Return the edit that removes a word and the space after it."""
    end = token.end + 1 if text[token.end : token.end + 1] == " " else token.end
    return (token.start, end, "")


_KINDS = (
    _drop_articles,
    _join_sentences,
    _use_wrong_verb_forms,
    _drop_auxiliary,
    _drop_copulas,
    _drop_commas,
    _lower_first_letters,
)

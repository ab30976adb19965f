"""Replace a few content words with synonyms."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

from paraqd.lab.operators.wording.content_words import (
    ContentWord,
    content_words,
    is_bare,
    is_compound,
    lemma_of,
    replacement,
)
from paraqd.reading import Problem
from paraqd.rewriting.document import Document, parse
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice

_LIST = Path(__file__).parents[1] / "files" / "synonyms.txt"
_MOST_SCORED = 8  # the maximum number of replacements per problem that a language model scores
# A replacement may lower the text's log-probability by this much. Rare words lower it even where they fit, so the
# limit for a synonym that always fits only excludes unnatural uses.
_LIMIT_IF_SAFE, _LIMIT_BY_SENSE = 12.0, 2.0
_PARTICLES = frozenset("up out off down over away back along around apart through about".split())


class LanguageModel(Protocol):
    """A model that tells how probable texts are, such as `paraqd.lab.generators.language_model.LanguageModel`."""

    def log_probabilities(self, texts: Sequence[str]) -> list[float]:
        """Return the log-probability of each text."""


class Synonym(NamedTuple):
    """A synonym. ``safe`` is False if it fits only one sense of the word; see the list for ``before_verb``."""

    word: str
    safe: bool
    before_verb: bool


class Proposal(NamedTuple):
    """A possible replacement of a word: the word's lemma, the edits, and True if the synonym always fits."""

    lemma: str
    edits: tuple[Edit, ...]
    safe: bool


class Synonyms(Operator):
    """Replace one to three content words with synonyms: buys a house → purchases a dwelling.

    The synonyms come from WordNet. Where the resource ``language_model`` is available, the operator also uses synonyms
    that fit only one sense of a word, and keeps a synonym if the text's log-probability drops little. Without a
    language model, it uses only the synonyms that always fit.
    """

    name = "Synonyms"
    polarity = "valid"
    changes = frozenset({"wording"})
    needs = ("parser",)
    extras = ("augment",)

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace the words; return None if no word has a synonym that fits."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Replace words in each problem; all problems are parsed together, and all replacements scored together."""
        documents = parse(resources.require("parser", needed_by=self.name), problems)
        model: LanguageModel | None = resources.get("language_model")
        offers = []
        for problem, document, rng in zip(problems, documents, rngs, strict=True):
            found = [] if document is None else _proposals(problem, document)
            found = [proposal for proposal in found if proposal.safe or model is not None]
            offers.append(rng.sample(found, min(len(found), _MOST_SCORED)))
        if model is not None:
            offers = _fitting(problems, offers, model)
        return [_replaced(problem, found, rng) for problem, found, rng in zip(problems, offers, rngs, strict=True)]


def _fitting(
    problems: Sequence[Problem], offers: Sequence[Sequence[Proposal]], model: LanguageModel
) -> list[list[Proposal]]:
    """Keep the proposals that lower the log-probability of the sentences they change only a little."""
    texts: list[str] = []
    for problem, found in zip(problems, offers, strict=True):
        for proposal in found:
            start, end = _changed_part(problem, proposal)
            after = len(problem.text) - end
            made = splice(problem.text, proposal.edits)
            texts += [problem.text[start:end], made[start : len(made) - after]]
    scores = iter(model.log_probabilities(texts) if texts else [])
    return [[proposal for proposal in found if next(scores) - next(scores) <= _limit(proposal)] for found in offers]


def _changed_part(problem: Problem, proposal: Proposal) -> tuple[int, int]:
    """Return the start and the end of the sentences that a proposal changes."""
    first, last = min(start for start, _, _ in proposal.edits), max(end for _, end, _ in proposal.edits)
    start = max((s.start for s in problem.sentences if s.start <= first), default=0)
    end = min((s.end for s in problem.sentences if s.end >= last), default=len(problem.text))
    return start, end


def _limit(proposal: Proposal) -> float:
    """Return by how much a proposal may lower the log-probability; each of its edits may cost the same."""
    return (_LIMIT_IF_SAFE if proposal.safe else _LIMIT_BY_SENSE) * len(proposal.edits)


def _replaced(problem: Problem, found: Sequence[Proposal], rng: random.Random) -> str | None:
    """Apply one to three of the proposals, at most one per word."""
    count = rng.choice((1, 2, 2, 3))
    edits: list[Edit] = []
    done: set[str] = set()
    for proposal in found:
        apart = all(b <= start or end <= a for a, b, _ in edits for start, end, _ in proposal.edits)
        if len(done) < count and proposal.lemma not in done and apart:
            done.add(proposal.lemma)
            edits += proposal.edits
    return keep_quantities(problem, edits)


def _proposals(problem: Problem, document: Document) -> list[Proposal]:
    """Return the possible replacements. A noun or an adjective is replaced everywhere, or not at all."""
    words = content_words(problem, document)
    by_lemma: dict[tuple[str, str], list[ContentWord]] = {}
    for word in words:
        by_lemma.setdefault((word.lemma, word.part), []).append(word)
    found = []
    for (lemma, part), same in by_lemma.items():
        synonyms = listed().get((lemma, part), ())
        if not synonyms or (part in "na" and not _is_whole(document, lemma, same)):
            continue
        groups = [same] if part in "na" else [[word] for word in same]
        for group in groups:
            for synonym in synonyms:
                if synonym.word in document.words or not all(_fits(document, word, synonym) for word in group):
                    continue
                edits = [replacement(problem.text, word, synonym.word) for word in group]
                if None not in edits:
                    made = tuple(edit for edit in edits if edit is not None)
                    found.append(Proposal(lemma, made, synonym.safe))
    return found


def _is_whole(document: Document, lemma: str, same: Sequence[ContentWord]) -> bool:
    """Return True if every mention of a lemma can be replaced, and none is part of a compound noun."""
    mentions = sum(lemma in (lemma_of(token), token.lower_) for token in document.doc)
    return mentions == len(same) and not any(is_compound(word.token) for word in same)


def _fits(document: Document, word: ContentWord, synonym: Synonym) -> bool:
    """Return True if the grammar around a word allows the synonym."""
    token = word.token
    if word.part == "n":
        return not is_bare(token) and not synonym.before_verb
    if word.part != "v":
        return token.dep_ in ("amod", "acomp", "advmod")
    following = document.doc[token.i + 1] if token.i + 1 < len(document.doc) else None
    if any(child.dep_ == "prt" for child in token.children):
        return False
    if following is not None and following.lower_ in _PARTICLES:
        return False
    before_verb = any(child.dep_ in ("xcomp", "ccomp") for child in token.children)
    return before_verb == synonym.before_verb and token.dep_ not in ("aux", "auxpass", "amod", "compound")


@cache
def listed() -> Mapping[tuple[str, str], tuple[Synonym, ...]]:
    """Return the list of synonyms, keyed by lemma and part of speech.

    >>> [synonym.word for synonym in listed()["buy", "v"]]
    ['purchase', 'acquire']
    """
    found: dict[tuple[str, str], tuple[Synonym, ...]] = {}
    part = ""
    for line in _LIST.read_text("utf-8").splitlines():
        if line.startswith("["):
            part = line[1]
        elif line and not line.startswith("#"):
            lemma, _, others = line.partition(": ")
            found[lemma, part] = tuple(
                Synonym(other.rstrip("+?"), "?" not in other, "+" in other) for other in others.split()
            )
    return found

"""Replace a content word with an unrelated word, so that the text makes no sense."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from paraqd.lab.operators.wording.content_words import ContentWord, content_words, form_of, lemma_of, replacement
from paraqd.lab.operators.wording.lexicon import above, is_word, lemmas, level, senses, synset
from paraqd.reading import Problem
from paraqd.rewriting.document import Document, parse
from paraqd.rewriting.kept_quantities import Edit
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import splice

# Topics, that is, lexicographer files of WordNet. The words of one group hardly ever make sense in the place of a word
# of the other group.
_THINGS = frozenset((5, 6, 8, 13, 15, 17, 18, 20, 21, 27))  # animals, artefacts, bodies, food, places, people, plants …
_NOTIONS = frozenset((7, 9, 12, 16, 19, 22, 26))  # qualities, ideas, feelings, motives, phenomena, processes, states
_DEEDS = frozenset((30, 33, 34, 35, 36, 38, 40, 42))  # change, contest, eating, contact, making, motion, possession …
_UTTERANCES = frozenset((29, 31, 32, 37, 39, 43))  # bodily care, thought, speech, feeling, perception, weather
_QUANTITIES = 23  # *jar* also means what a jar holds, which does not count here
_OTHER_TOPICS: Mapping[str, tuple[frozenset[int], frozenset[int]]] = {
    "n": (_THINGS, _NOTIONS),
    "v": (_DEEDS, _UTTERANCES),
}
_MOST_SENSES = 3  # a word with many senses may make sense in any place
_FIRST_SENSES = 2  # the senses of the old word that must be about one group of topics
_MOST_COMMON, _RAREST = 10, 50  # levels
_CLOSE = 15  # the most that the levels of two words of similar frequency differ
_TRIES = 30
# words that do not belong in school problems
_UNSUITED = frozenset(
    """
    abortion adulterer adulteress adultery anus bestiality bigotry brothel castrate coitus concubine copulate
    defecate erection excrement excrete fetish fornicate genitals genocide harlot heroin homicide incest lust
    masturbate molest murderer nipple nudity orgasm paedophile pederast penis pimp pornography pregnancy prostitute
    prostitution pubes racism racist rapist scrotum semen sexuality slavery sodomy suicide testicle urinate urine
    uterus vagina vulva whore
    """.split()
)


class UnrelatedWord(Operator):
    """Replace one or two content words with unrelated words: fills 48 jars → lampoons 48 jars.

    The new word has the part of speech and the inflection of the old word, and often a similar frequency.
    """

    name = "UnrelatedWord"
    polarity = "invalid"
    fault = "incoherent"
    changes = frozenset({"wording"})
    needs = ("parser",)
    extras = ("augment",)

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace the words; return None if the text has no suitable word."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Replace words in each problem. All problems are parsed in one batch."""
        documents = parse(resources.require("parser", needed_by=self.name), problems)
        return [
            None if document is None else _spoilt(problem, document, rng)
            for problem, document, rng in zip(problems, documents, rngs, strict=True)
        ]


def _spoilt(problem: Problem, document: Document, rng: random.Random) -> str | None:
    words = content_words(problem, document)
    counts = Counter(lemma_of(token) for token in document.doc)
    usable = [word for word in words if _topics(word.lemma, word.part) and _matters(word, counts)]
    edits: list[Edit] = []
    count = rng.choice((1, 1, 2))
    for word in rng.sample(usable, len(usable)):
        new = _draw(word, document, rng)
        edit = None if new is None else replacement(problem.text, word, new)
        if edit is not None and all(b <= edit[0] or edit[1] <= a for a, b, _ in edits):
            edits.append(edit)
        if len(edits) == count:
            return splice(problem.text, edits)
    return splice(problem.text, edits) if edits else None


def _matters(word: ContentWord, counts: Mapping[str, int]) -> bool:
    """Return True if the text makes no sense with another word in the place of this word.

    A counted thing that is mentioned only once could be exchanged for any other.
    """
    token = word.token
    if word.part == "v":
        return token.dep_ not in ("aux", "auxpass", "amod", "compound")
    counted = any(child.dep_ == "nummod" or child.lower_ in ("many", "much", "some") for child in token.children)
    return token.dep_ != "compound" and (counts[word.lemma] > 1 or not counted)


def _draw(word: ContentWord, document: Document, rng: random.Random) -> str | None:
    """Draw a word about something else; return None if no try succeeds."""
    own = level(word.lemma)
    candidates = _candidates(word.part, _topics(word.lemma, word.part))
    similar = rng.random() < 0.5
    for _ in range(_TRIES):
        new = rng.choice(candidates)
        if similar and abs(level(new) - own) > _CLOSE:
            continue
        known = is_word(form_of(new, word.token.tag_) or "")
        if known and new not in document.words and not _related(word.lemma, new, word.part):
            return new
    return None


def _topics(lemma: str, part: str) -> frozenset[int]:
    """Return the topics of words that make no sense in the place of a word, or an empty set if there are none."""
    first, second = _OTHER_TOPICS.get(part, (frozenset(), frozenset()))
    topics = {synset(sense.synset).topic for sense in senses(lemma, part)[:_FIRST_SENSES]} - {_QUANTITIES}
    if not topics:
        return frozenset()
    if topics <= first:
        return second
    return first if topics <= second else frozenset()


@cache
def _candidates(part: str, topics: frozenset[int]) -> tuple[str, ...]:
    """Return the words all of whose senses are about the topics.

    The most common words are left out, because they have many uses that dictionaries do not list.
    """
    found = []
    for word in lemmas(part):
        own = senses(word, part)
        fits = word not in _UNSUITED and len(word) > 3 and len(own) <= _MOST_SENSES
        if fits and _MOST_COMMON < level(word) <= _RAREST and not _is_rather(word, part):
            if all(synset(sense.synset).topic in topics for sense in own):
                found.append(word)
    return tuple(found)


def _is_rather(word: str, part: str) -> bool:
    """Return True if a word is more common in another part of speech."""
    counts = {other: sum(sense.count for sense in senses(word, other)) for other in "nvar"}
    return counts.pop(part) < max(counts.values())


def _related(one: str, other: str, part: str) -> bool:
    """Return True if two words share a sense, or if a sense of one is a kind of a sense of the other."""
    first, second = ({sense.synset for sense in senses(word, part)} for word in (one, other))
    wider = {number for sense in first | second for number in above(sense)}
    return bool(first & second or (first | second) & wider)

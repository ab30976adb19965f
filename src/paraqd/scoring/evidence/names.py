"""Find names that are new or in the wrong place, and pronouns that do not fit. Consistent renaming is no fault."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from paraqd.reading import Problem
from paraqd.reading.name_lists import people
from paraqd.scoring.evidence.content_words import STOP_WORDS, bare_name
from paraqd.scoring.evidence.finding import Finding, quote
from paraqd.scoring.exchanged_names import Mention, name_mentions
from paraqd.scoring.verdict import EvidenceKind, Span

_SPOKEN_TO = frozenset(
    "help tell let show for to can could if and".split()
)  # words before somebody who is addressed or introduced
_TITLES = frozenset("mr mrs ms miss dr prof".split())
_TOKEN = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"\s*(?:,\s*(?:(?:and|or|&)\s*)?|(?:and|or|&)\s*)", re.I)  # what separates the names in a list
_MOST_NAMES = 40  # no more findings of a kind are reported
_ROOT = 5  # initial letters by which other forms of a name are recognised, such as Waldos for Waldo
_PRONOUNS = {"f": frozenset({"she", "her", "hers", "herself"}), "m": frozenset({"he", "him", "his", "himself"})}
_RELATED = {
    "f": frozenset("mother mom mum sister aunt daughter wife girl woman lady grandmother grandma niece mrs ms".split()),
    "m": frozenset("father dad brother uncle son husband boy man grandfather grandpa nephew mr".split()),
}


def name_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find names that are new in the paraphrase and do not replace a name in the question.

    There are no findings if a text is all in lower case, because names cannot be recognised reliably there.
    """
    if not (question.cased and paraphrase.cased):
        return
    before, after = _names(question), _names(paraphrase)
    lower = question.text.lower()
    starts = paraphrase.sentence_starts
    new = [n for n in after if n not in before and not _known(n, lower, opens=after[n][0][0] in starts)]
    other = paraphrase.text.lower()
    gone = [name for name in before if name not in after and name not in other]
    if not new or not before or len(new) <= len(gone):
        return
    for name in new[len(gone) :][:_MOST_NAMES]:
        spans = tuple(after[name])
        written = paraphrase.text[slice(*spans[0])]
        message = f"The name {quote(written)} is not in the original."
        feature = "asked_other" if not gone and _only_asked(spans, paraphrase) else "name_mixed"
        yield Finding(feature, EvidenceKind.ENTITY_CHANGED, (), spans, message)


def misplaced_names(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a name that replaces another name in a copied sentence, if one of the two is unchanged in another place.

    If neither is unchanged, the two names may have been exchanged everywhere, which is no fault.
    """
    here, there = name_mentions(question.text), name_mentions(paraphrase.text)
    known = {name for *_, name in here} & {name for *_, name in there}
    if len(known) < 2:
        return
    mine, theirs = _names_by_sentence(question, here), _names_by_sentence(paraphrase, there)
    pairs: dict[tuple[str, str], tuple[Span, Span]] = {}
    for words in (words for words in mine if words in theirs):
        for (start, end, name), (first, last, other) in zip(mine[words], theirs[words], strict=True):
            pairs[name, other] = (start, end), (first, last)
    for (name, other), (span, other_span) in sorted(pairs.items(), key=lambda pair: pair[1]):
        if name != other and {name, other} <= known and ((name, name) in pairs or (other, other) in pairs):
            became = f"{quote(question.text[slice(*span)])} became {quote(paraphrase.text[slice(*other_span)])}"
            message = f"A name changed: {became}."
            yield Finding("name_misplaced", EvidenceKind.ENTITY_CHANGED, (span,), (other_span,), message)
            return


def _names_by_sentence(problem: Problem, mentions: Sequence[Mention]) -> dict[tuple[str, ...], list[Mention]]:
    """Return the names in each sentence that has names, keyed by its words, with ``*`` in place of each name.

    The names in a list (*Ann, Bob and Cara*) are sorted, because their order does not matter, unless the sentence
    contains a word such as *respectively*. If several sentences have the same key, all of them are left out.
    """
    found: dict[tuple[str, ...], list[Mention]] = {}
    repeated: set[tuple[str, ...]] = set()
    starts = [start for start, *_ in mentions]
    for sentence in problem.sentences:
        inside = mentions[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
        if inside:
            places = {start for start, *_ in inside}
            tokens = _TOKEN.finditer(problem.text, sentence.start, sentence.end)
            words = tuple("*" if token.start() in places else token[0].lower() for token in tokens)
            if words in found:
                repeated.add(words)
            ordered = any(word.startswith("respective") for word in words)
            found[words] = list(inside) if ordered else _with_sorted_lists(problem.text, inside)
    return {words: names for words, names in found.items() if words not in repeated}


def _with_sorted_lists(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    lists: list[list[Mention]] = []
    for mention in mentions:
        if lists and _JOINED.fullmatch(text, lists[-1][-1][1], mention[0]):
            lists[-1].append(mention)
        else:
            lists.append([mention])
    return [mention for each in lists for mention in sorted(each, key=lambda found: found[2])]


def _only_asked(spans: tuple[Span, ...], problem: Problem) -> bool:
    """Return True if a name appears only in the question clause, so a reader cannot know who is meant."""
    asked = problem.question
    if asked is None or not all(asked.start < start and end <= asked.end for start, end in spans):
        return False
    words = [word.strip(".,") for word in problem.text[asked.start : spans[0][0]].lower().split()]
    words = [word for word in words if word not in _TITLES]
    return bool(words) and words[-1] not in _SPOKEN_TO


def pronoun_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find pronouns that do not fit the gender of a new name, as in *Sarah … him*.

    There are no findings if the pronouns may refer to somebody else.
    """
    known = people()
    mine = {entity.text for entity in question.entities}
    named = [entity for entity in paraphrase.entities if entity.text in known]
    sexes = {known[entity.text] for entity in named}
    new = next((entity for entity in named if entity.text not in mine), None)
    if new is None or len(sexes) != 1 or sexes == {"u"} or sexes & {known.get(name) for name in mine}:
        return
    other = "m" if sexes == {"f"} else "f"
    s = paraphrase.stream
    words = list(zip(s.low, s.start, s.end, strict=True))
    if any(word in _PRONOUNS[sex] | _RELATED[sex] for word, _, _ in words for sex in sexes):
        return
    if any(word in _RELATED[other] for word, _, _ in words):
        return
    spans = tuple((start, end) for word, start, end in words if word in _PRONOUNS[other])
    if spans:
        pronoun = quote(paraphrase.text[slice(*spans[0])])
        message = f"The pronoun {pronoun} does not fit the name {quote(new.text)}."
        yield Finding("name_mixed", EvidenceKind.ENTITY_CHANGED, (), spans, message)


def _known(name: str, lower: str, *, opens: bool) -> bool:
    """Return True if a lower-case text contains a name.

    If the name opens a sentence, its first word may be an ordinary word (*Doubling Phil's*). In this case, the text
    need only contain the rest of the name.
    """
    first, _, last = name.partition(" ")
    if name[:_ROOT] in lower or name in STOP_WORDS:
        return True
    return opens and bool(last) and last[:_ROOT] in lower and first.title() not in people()


def _names(problem: Problem) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for entity in problem.entities:
        found.setdefault(bare_name(entity.text.lower()), []).append((entity.start, entity.end))
    return found

"""Refer to the wrong person or thing."""

from __future__ import annotations

import random
import re
from itertools import permutations

from paraqd.reading import Problem, Question, Span, read, same_quantities
from paraqd.reading.currencies import SIGN_PATTERN
from paraqd.reading.name_lists import people
from paraqd.rewriting.kept_quantities import Edit
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.renaming import every_mention, renameable
from paraqd.rewriting.text import match_case, splice

_ALIKE = re.compile(
    r"(?i)\b(?:equal|equally|evenly|the same (?:number|amount|age|rate|speed)|each other|identical|as good|twins?|"
    r"alike|ways|sit|seated|arrange\w*)\b"
)
_JOINT = re.compile(r"(?i)\b(?:each|they|them|their|both|other|probability|respectively|either)\b")
_ONE_WAY = re.compile(r"(?i)\b(?:than|twice|thrice|half|times|gives?|gave|sold|lent|respectively|ratio|exceeds?)\b")
_OWN_NUMBER = (
    r"(?i)\b{name}\b(?!,? (?:and|or)\b)(?: (?!and\b)[a-z]+){{1,7}} "
    rf"(?:{SIGN_PATTERN}|rs\. )?(\d[\d,./%]*)"
)
_ACTING = r"\b{name}(?:['’]s| (?:had|will|can|got|[a-z]+(?:ed|s))) "
_RELATIVES = "brother|sister|friend|mother|father|wife|husband|son|daughter|cousin|mom|dad|aunt|uncle|partner"
_KIN = re.compile(rf"\b(?:his|her) (?:younger |older |little |best )?(?:{_RELATIVES})\b(?!['’s,]| [A-Z])")
# people or machines named by a letter that cannot be a variable or an article
_LETTER = r"(?<![\w'’/^*+=-])([a-dp-s])"
_ASKED_LETTER = re.compile(
    rf"(?i)\b(?:will|can|could|would|did|does|is|was|(?<!value )of|by) {_LETTER}(?=(?: alone| take| get| receive| have|"
    rf" finish| complete| do\b| invest| now|[?.]|$))|{_LETTER}(?=['’]s\b| ['’] s\b)|"
    rf"\b(?:pipe|train|machine|tap|pump|car|worker|box|bag|shop|company) {_LETTER}(?! (?:day|week|hour|minute))\b"
)
_LISTED = re.compile(rf"(?i){_LETTER}\b(?=,? and [a-z]\b|, [a-z]\b|['’]s\b| alone| can )|\band ([b-dp-s])\b(?!['’])")
# groups whose members can replace each other in a question
_GROUPS_OF_PEOPLE = "boys girls adults teachers|men women children|males females|male female".split("|")
_GROUPS = _GROUPS_OF_PEOPLE + (
    "pennies nickels dimes quarters|"
    "red blue green yellow white black pink purple|apples oranges bananas pears peaches mangoes|pens pencils books|"
    "dogs cats ducks cows chickens pigs horses goats sheep rabbits|cars trucks bicycles buses|cookies cakes"
).split("|")


class WrongReference(Operator):
    """Refer to the wrong person or thing: Find Ann's age. → Find Tom's age."""

    name = "WrongReference"
    polarity = "invalid"
    fault = "entity_changed"
    changes = frozenset({"names", "things", "pronouns"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Change one reference; return None if no wrong reference is certain to alter the problem."""
        del resources
        asked = problem.question
        if asked is None or len(problem.questions) > 1 or _JOINT.search(asked.text) or _ALIKE.search(problem.text):
            return None  # if people or things may be treated alike, a wrong reference may change nothing
        ways = [
            way
            for find in (_person_edits, _relative_edits, _letter_edits, _group_edits)
            if (way := find(problem, asked))
        ]
        if not ways:
            return None
        start, end, new = rng.choice(rng.choice(ways))
        text = splice(problem.text, [(start, end, match_case(new, problem, start))])
        return text if same_quantities(problem.quantities, read(text).quantities) else None


def _statements(problem: Problem, asked: Question) -> list[Span]:
    """Return the spans of all sentences.

    The span of the sentence that contains the question ends where the question starts.
    """
    pieces = [(s.start, asked.start if s.start <= asked.start < s.end else s.end) for s in problem.sentences]
    return [(start, end) for start, end in pieces if start < end]


def _facts_differ(problem: Problem, asked: Question, one: str, other: str) -> bool:
    """Return True if the text states different facts about two people or things."""
    for start, end in _statements(problem, asked):
        piece = problem.text[start:end]
        named = [re.search(rf"\b{re.escape(name)}\b", piece, re.I) is not None for name in (one, other)]
        counts = any(start <= quantity.start < end for quantity in problem.quantities)
        if (all(named) and _ONE_WAY.search(piece)) or (sum(named) == 1 and counts):
            return True
    own = [set(re.findall(_OWN_NUMBER.format(name=re.escape(name)), problem.text)) for name in (one, other)]
    return all(own) and own[0] != own[1]


def _mentions_of_people(problem: Problem) -> dict[str, list[Span]]:
    """Map each person's name to the spans of its mentions, including names that are not in the list of names."""
    names = [e.text for e in problem.entities if e.category == "PERSON" and e.text.istitle() and e.text.isalpha()]
    acting = {n: every_mention(problem, n) for n in names if re.search(_ACTING.format(name=n), problem.text)}
    return dict(renameable(problem)) | acting


def _person_edits(problem: Problem, asked: Question) -> list[Edit]:
    """Return the edits that name a different person in the question, or in a statement about the question's person."""
    known, edits = _mentions_of_people(problem), list[Edit]()
    there = {name: [s for s in spans if asked.start <= s[0] < asked.end] for name, spans in known.items()}
    for one, other in permutations(known, 2):
        if len(there[one]) != 1 or len(known[one]) < 2 or there[other] or not _facts_differ(problem, asked, one, other):
            continue
        edits += [(*there[one][0], other)] * 2  # make an edit in the question more likely than an edit in a statement
        for start, end in _statements(problem, asked) if sum(map(bool, there.values())) == 1 else []:
            spans, rest = ([s for s in known[name] if start <= s[0] < end] for name in (one, other))
            if len(spans) == 1 and not rest and any(start <= q.start < end for q in problem.quantities):
                edits.append((*spans[0], other))
    pronoun = re.search(r"\b(?:[Hh]e|[Ss]he)\b", asked.text)
    if pronoun is not None and not any(there.values()):
        others = [n for n in known if people().get(n.title()) == ("f" if pronoun.group().lower() == "he" else "m")]
        meant = [name for name in known if name not in others]
        span = (asked.start + pronoun.start(), asked.start + pronoun.end())
        edits += [(*span, name) for name in others if len(meant) == 1 and _facts_differ(problem, asked, meant[0], name)]
    return edits


def _relative_edits(problem: Problem, asked: Question) -> list[Edit]:
    """Return the edits that ask about a relative instead of the only named person, or vice versa."""
    known, kin = renameable(problem), {m.group() for m in _KIN.finditer(problem.text)}
    if len(known) != 1 or len(kin) != 1 or len({e.text.lower() for e in problem.entities}) != 1:
        return []
    name, phrase = known[0][0], kin.pop()
    named = [s for s in every_mention(problem, name) if s[0] >= asked.start]
    called = [m.span() for m in re.finditer(re.escape(phrase), problem.text) if m.start() >= asked.start]
    same = re.search(rf"{phrase},? {name}|\b{name},? {phrase}", problem.text)  # such as "his son Tom"
    unclear = called and re.search(r"\b(?:he|she|him)\b", asked.text)
    if len(named) + len(called) != 1 or same or unclear or not _facts_differ(problem, asked, name, phrase.split()[-1]):
        return []
    return [(*span, phrase) for span in named] + [(*span, name) for span in called]


def _letter_edits(problem: Problem, asked: Question) -> list[Edit]:
    """Return the edits that replace the letter of a person or machine in the question: A → B."""
    found = [m.span(m.lastindex or 0) for m in _ASKED_LETTER.finditer(asked.text)]
    pieces = (problem.text[slice(*span)] for span in _statements(problem, asked))
    parties = {m.group(m.lastindex or 0) for piece in pieces for m in _LISTED.finditer(piece)}
    one = asked.text[slice(*found[0])] if len(found) == 1 else ""
    others = sorted(p for p in parties - {one} if p.isupper() == one.isupper())
    if one not in parties or any(re.search(rf"\b{p}\b", asked.text) for p in others if p != "a"):
        return []
    span = (asked.start + found[0][0], asked.start + found[0][1])
    return [(*span, other) for other in others if _facts_differ(problem, asked, one, other)]


def _group_edits(problem: Problem, asked: Question) -> list[Edit]:
    """Return the edits that ask about a different group: boys → girls."""
    statements, edits = " ".join(problem.text[slice(*span)] for span in _statements(problem, asked)), list[Edit]()
    if re.search(r"1 ?/ ?2|\b[Hh]alf\b|\b50", statements):
        return []  # the two groups may have the same size
    for group in _GROUPS:
        word = rf"\b(?:{group.replace(' ', '|')})\b(?!-)"
        found, there = list(re.finditer(word, asked.text)), set(re.findall(word, statements))
        one = found[0].group() if len(found) == 1 else ""
        # a statement must mention the group, except for people, because everyone who is not a girl is a boy
        if one in asked.target.split() and " and " not in asked.target and (one in there or group in _GROUPS_OF_PEOPLE):
            span = (asked.start + found[0].start(), asked.start + found[0].end())
            edits += [(*span, other) for other in sorted(there - {one})]
    return edits

"""Find reversed relations, in which a word became its opposite or two things changed places."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from paraqd.reading import Kind, Problem
from paraqd.reading.equality import signature
from paraqd.reading.types import computed_once
from paraqd.scoring.evidence.content_words import STOP_WORDS, WordCache, stem
from paraqd.scoring.evidence.finding import Finding, as_sentence, original_and_paraphrase, quote, quote_context
from paraqd.scoring.verdict import EvidenceKind, Span

_OPPOSITES = (
    (
        "more older elder taller longer heavier greater larger bigger higher dearer costlier",
        "fewer less younger shorter lighter smaller lower cheaper",
    ),
    ("before earlier", "after later"),
    ("faster", "slower"),
    ("ahead", "behind"),
    ("twice double doubled doubles", "half halved halves"),
    ("times", ""),
    ("exceeds exceed exceeded outweighs", ""),
    ("gives gave give", ""),
    ("lends lent", "borrows borrowed"),
    ("owes owed", ""),
    ("beats beat defeats defeated", ""),
    ("overtakes overtook", ""),
    (
        "increased increase increases increasing rise rises rose raised",
        "decreased decrease decreases decreasing reduced reduces reduce fell falls fall dropped drops lowered",
    ),
    ("profit gain gained gains", "loss lost loses"),
    ("least minimum", "most maximum"),
    ("with", "without"),
    ("above", "below"),
    ("added adds add", "subtracted subtracts subtract removed removes"),
    ("filled fills fill filling", "emptied empties empty emptying drains drained"),
    ("entered enters entering joined", "left leaving exited"),
    ("sells sold", "bought buys"),
    ("upstream", "downstream"),
    ("inside", "outside"),
    ("odd", "even"),
    ("deposited deposits", "withdrew withdraws withdrawn"),
    ("discount", "surcharge markup"),
    ("simple", "compound"),
    ("inclusive including", "exclusive excluding"),
    ("multiplied multiply multiplies", "divided divide divides"),
    ("north", "south"),
    ("east", "west"),
    ("clockwise", "anticlockwise counterclockwise"),
)
_SIDE: dict[str, tuple[int, int]] = {
    word: (number, side)
    for number, sides in enumerate(_OPPOSITES)
    for side, words in enumerate(sides)
    for word in words.split()
}
_COMPARED = frozenset(word for sides in _OPPOSITES[:7] for side in sides for word in side.split()) - {
    "doubled",
    "doubles",
}
# families whose words do not relate two things, so that no sides can change places
_ALONE = frozenset(
    number
    for number, sides in enumerate(_OPPOSITES)
    if sides[0].split()[0] in "upstream inside odd deposited discount simple multiplied north east clockwise".split()
)
_GIVING = frozenset(
    "gives gave give sells sold lends lent pays paid sends sent owes owed hands handed beats beat defeats defeated "
    "overtakes overtook follows followed passes passed buys bought borrows borrowed".split()
)
_PASSIVE = frozenset({"is", "are", "was", "were", "be", "been", "being", "by"})
_JOINTS = frozenset({"than", "as", "before", "after", "that", "of"})
_MULTIPLES = frozenset({"twice", "double", "half", "times"})
_AT_ONCE = _GIVING | _JOINTS | {"ahead", "behind", "exceeds", "exceed", "exceeded", "outweighs"}
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[.?!;,]")
_SPACES = re.compile(r"\s*")
_LEFT_RIGHT = re.compile(r"\bturn(?:s|ed|ing)?\b(?:\W+(?!and\b)\w+){0,2}?\W+(left|right)\b", re.I)
_MIRROR = {"left": "right", "right": "left"}
_DIRECTION = re.compile(r"\b(?:direction|facing|face|which way|bearing)\b", re.I)
_REACH = 5
_QUOTED = 40  # characters on each side of a relation, enough to show the things that it relates
_LONGEST_CLAUSE = 120  # words; without a limit, a text that repeats one word would take minutes
_APART = 2
_MEASURED = frozenset("many much old tall long heavy big large high fast great wide deep far expensive".split())


class Mention(NamedTuple):
    """A word that expresses a relation, with the words on both sides and the number that belongs to the relation."""

    side: int
    span: Span
    left: frozenset[str]
    right: frozenset[str]
    number: Hashable = None
    names: frozenset[str] = frozenset()
    has_pronoun: bool = False  # a personal pronoun is near the word
    vague: bool = False  # the two things that the word relates are not clear


def _not_comparable(mine: Mention, theirs: Mention) -> bool:
    """Return True if the sides of two mentions cannot be compared, for example if only one mention has a pronoun."""
    return mine.has_pronoun != theirs.has_pronoun or mine.vague or theirs.vague


def relation_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find relations whose word became its opposite, and relations whose two sides changed places.

    If both changes occur, the meaning stays the same: *Ann has 3 more than Bob* equals *Bob has 3 fewer than Ann*.
    """
    here, there = _layout(question), _layout(paraphrase)
    for family in sorted(here.places.keys() & there.places.keys()):
        mine, theirs = _mentions(question, here, family), _mentions(paraphrase, there, family)
        pairs = _paired(mine, theirs)
        for one, other in pairs:
            yield from _compared(question, paraphrase, one, other)
        mine = _except(mine, [one for one, _ in pairs])
        theirs = _except(theirs, [other for _, other in pairs])
        sure = family in _ALONE and len(mine) == len(theirs) == 1 and not _not_comparable(mine[0], theirs[0])
        yield from _opposites(question, paraphrase, mine, theirs, sure=sure)


def turning_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a left turn that became a right turn, or vice versa.

    If all turns are reversed, distances stay the same. This is a fault only if the question is about directions.
    """
    if "turn" not in question.low or "turn" not in paraphrase.low:
        return
    here, there = ([*_LEFT_RIGHT.finditer(problem.text)] for problem in (question, paraphrase))
    sides = [[match[1].lower() for match in turns] for turns in (here, there)]
    mirrored = [_MIRROR[side] for side in sides[0]] == sides[1] and not _DIRECTION.search(question.text)
    if here and len(here) == len(there) and sides[0] != sides[1] and not mirrored:
        place = next(i for i, (one, other) in enumerate(zip(*sides, strict=True)) if one != other)
        yield _reversed(question, paraphrase, (here[place].span(1),), (there[place].span(1),), sure=True)


def _paired(mine: list[Mention], theirs: list[Mention]) -> list[tuple[Mention, Mention]]:
    """Pair mentions that have the same number. If one mention is then left in each text, pair these two as well."""
    here, there = (Counter(mention.number for mention in mentions) for mentions in (mine, theirs))
    partners = {other.number: other for other in theirs if other.number is not None}
    found = [
        (one, partners[one.number])
        for one in mine
        if here[one.number] == there[one.number] == 1 and one.number in partners
    ]
    left, right = _except(mine, [one for one, _ in found]), _except(theirs, [other for _, other in found])
    if len(left) == len(right) == 1 and (left[0].left or left[0].right):
        found.append((left[0], right[0]))
    return found


def _except(mentions: list[Mention], gone: list[Mention]) -> list[Mention]:
    """Return the mentions that are not in ``gone``. Mentions are compared by identity."""
    ids = {id(mention) for mention in gone}
    return [mention for mention in mentions if id(mention) not in ids]


def _compared(question: Problem, paraphrase: Problem, mine: Mention, theirs: Mention) -> Iterator[Finding]:
    """Find a reversed relation by comparing a mention and its counterpart in the paraphrase."""
    there = (mine.left & theirs.right) - mine.right - theirs.left
    back = (mine.right & theirs.left) - mine.left - theirs.right
    stays = (mine.left & theirs.left) - mine.right - theirs.right
    too = (mine.right & theirs.right) - mine.left - theirs.left
    if mine.side == theirs.side:
        if there and back:
            yield _sides_swapped(question, paraphrase, mine, theirs)
        return
    if there and back:
        return
    # one side may be missing, but it must not be replaced
    names = mine.names | theirs.names
    apart = (
        (mine.left and theirs.left and not stays)
        or (mine.right and theirs.right and not too)
        or _other_names(mine.left & names, theirs.left & names)
        or _other_names(mine.right & names, theirs.right & names)
    )
    known = bool((stays | too) & names)
    sure = (stays or too) and not there and not back and not apart and (known or not _not_comparable(mine, theirs))
    yield _reversed(question, paraphrase, (mine.span,), (theirs.span,), sure=bool(sure))


def _other_names(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Return True if both sets contain names, but have no name in common."""
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _opposites(
    question: Problem, paraphrase: Problem, mine: list[Mention], theirs: list[Mention], *, sure: bool
) -> Iterator[Finding]:
    """Find words that are missing from the paraphrase while their opposites are new in the paraphrase."""
    for side in (0, 1):
        gone = tuple(mention.span for mention in mine if mention.side == side)
        come = tuple(mention.span for mention in theirs if mention.side != side)
        kept = sum(mention.side == side for mention in theirs)
        before = sum(mention.side != side for mention in mine)
        if len(gone) > kept and len(come) > before:
            yield _reversed(question, paraphrase, gone, come, sure=sure)


def _reversed(
    question: Problem, paraphrase: Problem, gone: tuple[Span, ...], come: tuple[Span, ...], *, sure: bool
) -> Finding:
    gone = tuple(_with_at(question.text, span) for span in gone)
    come = tuple(_with_at(paraphrase.text, span) for span in come)
    word, other = quote(question.text[slice(*gone[0])]), quote(paraphrase.text[slice(*come[0])])
    message = f"The meaning changed: {word} became {other}."
    feature = "relation_opposed" if sure else "relation_turned"
    return Finding(feature, EvidenceKind.RELATION_CHANGED, gone, come, message)


def _with_at(text: str, span: Span) -> Span:
    """Return a span that includes a preceding *at*, as in *at most*."""
    start = span[0] - 3
    return (start, span[1]) if start >= 0 and text[start : span[0]].lower() == "at " else span


def _sides_swapped(question: Problem, paraphrase: Problem, mine: Mention, theirs: Mention) -> Finding:
    where = original_and_paraphrase(_in_context(question, mine.span), _in_context(paraphrase, theirs.span))
    message = as_sentence(f"Two people or things changed places: {where}")
    spans = ((mine.span,), (theirs.span,))
    return Finding("things_exchanged", EvidenceKind.ENTITY_CHANGED, *spans, message)


def _in_context(problem: Problem, span: Span) -> str:
    """Quote a word that expresses a relation, with the words on both sides."""
    return quote_context(problem, *span, before=_QUOTED, after=_QUOTED)


class _Layout(NamedTuple):
    """A text's words in lower case, their positions, the names, and the indices of each family's words."""

    low: list[str]
    begins: list[int]
    stops: list[int]
    names: frozenset[str]
    places: dict[int, list[int]]


@computed_once
def _layout(problem: Problem) -> _Layout:
    """Return the layout of a text."""
    words = list(_WORD.finditer(problem.text))
    written = [match[0] for match in words]
    low = [_LOW[word] for word in written]
    places: dict[int, list[int]] = {}
    if _SIDE.keys().isdisjoint(low):
        return _Layout(low, [], [], frozenset(), places)
    begins, stops = [match.start() for match in words], [match.end() for match in words]
    for start in problem.sentence_starts:
        opening = bisect_left(begins, start)
        if begins[opening : opening + 1] == [start] and len(written[opening]) == 1:
            low[opening] = written[opening].lower()  # a single letter that opens a sentence is an article
    names = frozenset([stem(word) for word, as_written in zip(low, written, strict=True) if as_written[0].isupper()])
    for quantity in problem.quantities:  # words in quantities do not name the things that are related
        inside = slice(bisect_left(begins, quantity.start), bisect_right(stops, quantity.end))
        low[inside] = [word if word in _SIDE or word in _JOINTS else "" for word in low[inside]]
    for place, word in enumerate(low):
        if word in _SIDE:
            places.setdefault(_SIDE[word][0], []).append(place)
    return _Layout(low, begins, stops, names, places)


def _mentions(problem: Problem, layout: _Layout, family: int) -> list[Mention]:
    """Return all mentions of a family of relations, such as *more* and *fewer*."""
    low, names = layout.low, layout.names
    quantities = [quantity.end for quantity in problem.quantities]
    found = []
    for place in layout.places[family]:
        word, start = low[place], layout.begins[place]
        related = word in _COMPARED or word in _GIVING
        if word in _GIVING and not _PASSIVE.isdisjoint(low[max(0, place - 2) : place + 4]):
            related = False
        left = _near(low, place, -1) | _between(low, place) if related else frozenset()
        right = _near(low, place, 1) if related else frozenset()
        if (
            word in _GIVING
        ):  # only people can change places here: *a baker sold rolls* equals *the rolls that a baker sold*
            left, right = left & names, right & names
        if word == "buys" and _paid(problem, quantities, start):
            continue  # as in *every $5 buys three*, where nobody buys
        number = _number(problem, quantities, start) if word in _COMPARED else None
        has_pronoun = not _PRONOUNS.isdisjoint(_sentence_near(low, place))
        # *how long will it be before they meet* means the same as *after what time do they meet*
        vague = (word in _COMPASS and low[place + 1 : place + 2] == ["of"]) or low[max(0, place - 2) : place] in _UNTIL
        span = (start, layout.stops[place])
        found.append(Mention(_SIDE[word][1], span, left, right, number, names, has_pronoun, vague))
    return found


def _paid(problem: Problem, ends: Sequence[int], start: int) -> bool:
    """Return True if an amount of money immediately precedes a position."""
    before = bisect_right(ends, start) - 1
    return (
        before >= 0
        and problem.quantities[before].kind is Kind.MONEY
        and _SPACES.fullmatch(problem.text, ends[before], start) is not None
    )


def _sentence_near(low: list[str], place: int) -> list[str]:
    """Return the words of the same sentence that are at most ``_REACH`` words away from a word."""
    before, after = low[max(0, place - _REACH) : place], low[place + 1 : place + 1 + _REACH]
    first = max((i + 1 for i, word in enumerate(before) if word in _ENDS), default=0)
    last = next((i for i, word in enumerate(after) if word in _ENDS), len(after))
    return before[first:] + after[:last]


def _low(word: str) -> str:
    """Return a word in lower case. A single capital letter, which may be a name (rope A), becomes ``A#``."""
    if len(word) == 1 and word.isupper() and word != "I":
        return f"{word}#"
    return word.lower().replace("’", "'").removesuffix("'s")


_LOW = WordCache(_low)


def _number(problem: Problem, ends: Sequence[int], start: int) -> Hashable:
    """Return the signature of the quantity before a word, or None if more than two other words are in between.

    The quantity is *5 cm* in *5 cm taller*, and *9* in *9 red pens fewer*.
    """
    before = bisect_right(ends, start) - 1
    if before < 0 or len(list(islice(_WORD.finditer(problem.text, ends[before], start), _APART + 1))) > _APART:
        return None
    return signature(problem.quantities[before])


def _between(low: list[str], place: int) -> frozenset[str]:
    """Return the stems between a comparison and *than* or *as*, such as *boys* in *more boys than girls*."""
    found: list[str] = []
    joints = 1
    for word in low[place + 1 : place + 1 + _REACH] if low[place] not in _AT_ONCE else ():
        if word == "as" and low[place] in _MULTIPLES and joints:
            joints -= 1  # the first *as* in *times as many boys as girls*
            continue
        if word in _STOPS or word in {"than", "as"}:
            return frozenset(found)
        if word and word not in _NOBODY and word not in _SIDE and word not in _MEASURED and not word.isdecimal():
            found.append(stem(word))
    return frozenset()


def _near(low: list[str], place: int, step: int) -> frozenset[str]:
    """Return the stems of the content words on one side of a word, up to the end of the clause.

    ``step`` is -1 for the left side and 1 for the right side. On the right of a comparison, only words after *than*
    count.
    """
    found: list[str] = []
    joints = 0 if step < 0 or low[place] in _AT_ONCE else 1
    if step > 0 and low[place] in _MULTIPLES:
        joints = (
            2 if "as" in low[place + 1 : place + 3] else 0
        )  # the right side is *Ann* in *twice as old as Ann*, and *her age* in *twice her age*
    at = place + step
    end = max(-1, place - _LONGEST_CLAUSE) if step < 0 else min(len(low), place + _LONGEST_CLAUSE)
    while at != end and len(found) < _REACH:
        word = low[at]
        if word == "," and step < 0 and not found:
            at += step  # skip the comma in *the bucket, which is heavier*
            continue
        if word in _STOPS:
            break
        if word in _JOINTS and step > 0:
            joints -= 1
        elif joints <= 0 and word and not word.isdecimal() and word not in _NOBODY and word not in _SIDE:
            found.append(stem(word))
        at += step
    return frozenset(found)


_STOPS = frozenset(".?!;,")
_ENDS = frozenset(".?!;")
_PRONOUNS = frozenset("he she him her his hers they them their theirs i me my mine".split())
_UNTIL = (["it", "be"], ["is", "it"])
_COMPASS = frozenset({"north", "south", "east", "west"})
_NOBODY = STOP_WORDS | {"one", "ones"}  # *one* in *one is 4 more than the other* does not name a thing

"""Find a question that is missing, cut off or changed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache

from paraqd.reading import Problem
from paraqd.reading.currencies import PLURALS
from paraqd.reading.name_lists import people
from paraqd.reading.types import Question, computed_once
from paraqd.reading.unit_mentions import find_unit_mentions
from paraqd.reading.units import category, dimension
from paraqd.scoring.evidence.content_words import STOP_WORDS, bare_name, content_stems, stem
from paraqd.scoring.evidence.finding import Finding, as_sentence, original_and_paraphrase, quote
from paraqd.scoring.verdict import EvidenceKind

# groups of words; if a word is replaced with another word of its group, the question asks for something else
_ASKED_APART = (
    "perimeter area volume circumference diameter radius length width height depth diagonal",
    "sum difference product quotient ratio average median mode range",
    "smallest largest",
    "profit loss",
    "speed distance time",
    "first second third fourth fifth last",
    "numerator denominator",
    "mother father son daughter brother sister husband wife boys girls men women",
    "odd even prime",
    "seconds minutes hours days weeks months years",
    "inches feet yards miles metres kilometres centimetres",
    "ounces pounds grams kilograms tons",
    " ".join(PLURALS),
    "quarts gallons pints cups litres millilitres",
    "weekly daily monthly yearly hourly",
)
_OPEN = re.compile(
    r"\b(?:how|what|which|when|where|who|whose|whom|why|find|calculate|determine|compute|work out|give|name|state|tell|"
    r"say|list|decide|solve|evaluate|simplify|express|number|value)\b|[=_]",
    re.I,
)
_ASKS_OPENLY = re.compile(
    r"(?:(?:in|at|by|for|to|after|with|on|of|from) )?(?:how (?:many|much|long|far|old|fast|tall|high|deep|wide|large|"
    r"big|heavy|often|soon)|what|which|who|when|where|find|calculate|determine)\b",
    re.I,
)
_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|must)"
_POLAR = re.compile(rf"(?:^|, ){_AUXILIARY}\b(?! (?:you|we|anyone|somebody|someone)\b)", re.I)
_WHO = re.compile(rf"\b{_AUXILIARY} ((?!The\b|I\b)[A-Z][^\W\d_]+|they)\b(?!['’,]|\s+(?:and|or)\b)\W*([^\W\d_]*)")
_TRANSFER = re.compile(
    r"\b(?:sells?|sold|lends?|lent|buys?|bought|borrow\w*|rent\w*|hires?d?|owes?d?|pays?|paid|charge\w*|gives?|gave)\b",
    re.I,
)
_COMPARED = re.compile(
    r"\b(?:than|more|less|fewer|older|younger|taller|longer|shorter|heavier|faster|slower|ahead|behind|difference|differ|"
    r"times|beat|give|receive|owe|pay|from|by)\b",
    re.I,
)
_GROUPS = {stem(word): number for number, line in enumerate(_ASKED_APART) for word in line.split()}
_WORD = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"[^\W_]+")
_FORMS = {"day": ("daily",), "year": ("annual",), "month": ("mo.",)}
_BEFORE_UNIT = 12  # characters
_PER = re.compile(r"(?:\b(?:per|an?|each|every)\s|/)\s*$", re.I)
_WANTS_MORE = frozenset("an the and or their its our your my per every".split())
_DOING = frozenset({"does", "did", "do"})
_SUBJECTS = frozenset("he she it they we you i".split())
_ASKING = frozenset("how many much what which is are was were will does did do the of a in long".split())
_DANGLING = frozenset(
    "an the of and or if that will would does did how many much what which his their its every per than".split()
)
_WHOLE = (["after", "that"], ["before", "that"], ["than", "that"], ["like", "that"], ["that", "many"], ["that", "much"])
_FOREIGN = 0.6  # the smallest share of unknown topics in a question about something else
_LEAST_FOREIGN = 2  # the smallest number of unknown topics; a single one may be another word for what the original asks
_NOT_TOPICS = {
    stem(word)
    for word in (
        "many much long far old find calculate determine compute number total value answer question reply result final "
        "tally figure right correct sum amount count outcome get make"
    ).split()
}
_TAIL = 2  # the number of words at the end of a clause that show whether the clause is cut off
_HANGING = frozenset({"a", "not"})
_SAME = {
    "width": "breadth",
    "average": "mean",
    "profit": "gain",
    "smallest": "least minimum lowest shortest fewest youngest",
    "largest": "greatest maximum highest longest most oldest biggest",
    "metres": "meters",
    "kilometres": "kilometers",
    "centimetres": "centimeters",
    "litres": "liters",
    "millilitres": "milliliters",
}
_SAME_STEMS = {stem(other): stem(word) for word, others in _SAME.items() for other in others.split()}


def question_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a question that is missing, cut off or changed."""
    asked, there = question.question, paraphrase.question
    if asked is None:
        return
    if there is None:
        message = as_sentence(f"The question is missing; {original_and_paraphrase(_short(asked.text), '')}")
        yield Finding("question_lost", EvidenceKind.QUESTION_LOST, ((asked.start, asked.end),), (), message)
        return
    if _cut_off(there, paraphrase) and not _cut_off(asked, question):
        message = as_sentence(f"The question is cut off; {original_and_paraphrase('', _short(there.text))}")
        spans = (((asked.start, asked.end),), ((there.start, there.end),))
        yield Finding("question_cut", EvidenceKind.QUESTION_LOST, *spans, message)
    elif _polar(there) and _open(question) and not _open(paraphrase):
        where = original_and_paraphrase(_short(asked.text), _short(there.text))
        message = as_sentence(f"The question became a yes-or-no question: {where}")
        spans = (((asked.start, asked.end),), ((there.start, there.end),))
        yield Finding("question_cut", EvidenceKind.QUESTION_LOST, *spans, message)
    if len(paraphrase.questions) > 1:
        yield from _foreign_question(question, paraphrase)
    yield from _other_target(question, paraphrase)
    yield from _other_person(question, paraphrase, asked, there)
    yield from _other_unit(question, paraphrase, there)


def _foreign_question(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a question about things that are not in the original, asked last, after the original's own question."""
    marked = [asked for asked in paraphrase.questions if _marked(asked)]
    if len(marked) <= sum(map(_marked, question.questions)) or marked[-1] is not paraphrase.question:
        return
    known, last = set(content_stems(question)[0]), marked[-1]
    own = min(_unknown_share(_topics(asked.text), known) for asked in paraphrase.questions if asked is not last)
    topics, target = _topics(last.text), _topics(last.target)
    foreign = own < _FOREIGN <= _unknown_share(topics, known) and len(topics - known) >= _LEAST_FOREIGN
    if foreign and target and not target & known and _ASKS_OPENLY.match(last.text):
        message = as_sentence(f"The paraphrase also asks another question: {_short(last.text)}")
        yield Finding("question_added", EvidenceKind.QUESTION_CHANGED, (), ((last.start, last.end),), message)


def _marked(asked: Question) -> bool:
    return asked.text.rstrip("\"'”’) ").endswith(("?", "？"))


def _topics(text: str) -> set[str]:
    """Return the stems of the words that tell what a question is about."""
    return {stem(word) for word in _WORD.findall(text) if word.lower() not in STOP_WORDS} - _NOT_TOPICS


def _unknown_share(topics: set[str], known: set[str]) -> float:
    """Return the share of topics that are not known."""
    return len(topics - known) / len(topics) if topics else 0.0


def _other_unit(question: Problem, paraphrase: Problem, there: Question) -> Iterator[Finding]:
    """Find units and currencies in the paraphrase's question that do not appear in the original.

    The original may only imply a unit: the speed 54 km/h implies a time, and cents imply dollars.
    """
    asked_in = [
        mention
        for mention in find_unit_mentions(paraphrase)
        if mention.quantity is None and there.start <= mention.start < there.end
    ]
    if not asked_in:
        return
    units = [mention.unit for mention in find_unit_mentions(question)]
    known = {part for unit in units for part in unit.split("/")}
    kinds = {
        dimension(unit.partition("/")[0])[0] for unit in units
    }  # 54 km/h mentions a length and only implies a time
    low = question.text.lower()
    named = cache(lambda unit, word: _named(unit, word, low))
    for mention in asked_in:
        unit = mention.unit.partition("/")[0]
        word = paraphrase.text[mention.start : mention.end]
        if unit in known or _rate(paraphrase.text, mention.start) or named(unit, word):
            continue
        kind, is_currency = dimension(unit)[0], category(unit) == "currency"
        another_unit = not is_currency and kind in kinds
        another_currency = is_currency and kind not in kinds
        if another_unit or another_currency:
            message = f"The paraphrase asks for the answer in {quote(word)}, a unit that is not in the original."
            yield Finding("asked_unit", EvidenceKind.UNIT_CHANGED, (), ((mention.start, mention.end),), message)


def _open(problem: Problem) -> bool:
    """Return True if a text asks an open question, which cannot be answered with yes or no."""
    starts = [asked.start for asked in problem.questions]
    return any(
        _OPEN.search(sentence.text)
        for sentence in problem.sentences
        if bisect_left(starts, sentence.start) < bisect_left(starts, sentence.end)
    )


def _polar(asked: Question) -> bool:
    text = asked.text.rstrip()
    return text.endswith("?") and _POLAR.search(text) is not None and " or " not in text


def _other_person(question: Problem, paraphrase: Problem, asked: Question, there: Question) -> Iterator[Finding]:
    """Find a question about one person that became a question about a different person or about everybody."""
    mine, theirs = _WHO.search(asked.text), _WHO.search(there.text)
    if mine is None or theirs is None or mine[1].lower() == theirs[1].lower():
        return
    who, other = mine[1], theirs[1]
    if (
        _mentions_name(asked.text, other)
        or _mentions_name(there.text, who)
        or any(_COMPARED.search(q.text) for q in (asked, there))
    ):
        return  # both questions may mean the same: how much more than Ann, how much less than Bob
    if _TRANSFER.search(question.text) and stem(mine[2].lower()) != stem(theirs[2].lower()):
        return  # the amount that Ann received is the amount that Bob spent
    here, remain = _named_people(question), _named_people(paraphrase)
    both = here & remain
    if who not in remain and who != "they" and len(here - remain) > len(remain - here):
        both |= {who}  # a person is missing from the paraphrase and cannot have been renamed
    if not {who, other} - {"they"} <= both or ("they" in (who, other) and len(both) < 2):
        return
    spans = (
        ((asked.start + mine.start(1), asked.start + mine.end(1)),),
        ((there.start + theirs.start(1), there.start + theirs.end(1)),),
    )
    message = f"The question is about somebody else: {quote(who)} became {quote(other)}."
    yield Finding("asked_other", EvidenceKind.ENTITY_CHANGED, *spans, message)


def _mentions_name(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _named_people(problem: Problem) -> frozenset[str]:
    """Return the names of individual people in a text. Plurals such as *the Smiths* are skipped."""
    names = {bare_name(entity.text) for entity in problem.entities}
    return frozenset(name for name in names if not name.endswith("s") or name in people())


def _rate(text: str, start: int) -> bool:
    """Return True if a unit is the denominator of a rate, as in *per day*."""
    return _PER.search(text[max(0, start - _BEFORE_UNIT) : start]) is not None


def _named(unit: str, word: str, low: str) -> bool:
    """Return True if a lower-case text names a unit in any form, such as *hourly*, *daily* or *3-day*."""
    forms = (unit[:4], word.lower(), *_FORMS.get(unit, ()))
    return re.search(rf"\b(?:{'|'.join(map(re.escape, forms))})", low) is not None


def _other_target(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a word in the question's target that was replaced with a different word of the same group."""
    here, there = _all_grouped(question), _all_grouped(paraphrase)
    mine, theirs = here[-1], there[-1]
    if not mine or not theirs:
        return
    all_here, all_there = set().union(*here), set().union(*there)
    for name, (start, end, word) in mine.items():
        if name in all_there:
            continue
        rivals = [n for n in theirs if _GROUPS[n] == _GROUPS[name] and n not in all_here]
        if rivals:
            other_start, other_end, other = theirs[rivals[0]]
            message = f"The question asks for something else: {quote(word)} became {quote(other)}."
            spans = (((start, end),), ((other_start, other_end),))
            yield Finding("question_target", EvidenceKind.QUESTION_CHANGED, *spans, message)
            return


@computed_once
def _all_grouped(problem: Problem) -> list[dict[str, tuple[int, int, str]]]:
    """Return, for each question in a text, the words of its target that belong to a group."""
    return [_grouped(asked, problem) for asked in problem.questions]


def _grouped(asked: Question, problem: Problem) -> dict[str, tuple[int, int, str]]:
    """Return the words of a question's target that belong to a group, as (start, end, text) keyed by stem.

    Words inside quantities are skipped.
    """
    found: dict[str, tuple[int, int, str]] = {}
    first = asked.text.find(asked.target)
    if not asked.target or first < 0:
        return found
    for match in _WORD.finditer(asked.text, first, first + len(asked.target)):
        name = stem(match.group())
        name = _SAME_STEMS.get(name, name)
        start, end = asked.start + match.start(), asked.start + match.end()
        if name in _GROUPS and not _in_quantity(problem, start):
            found[name] = (start, end, match.group())
    return found


def _in_quantity(problem: Problem, place: int) -> bool:
    """Return True if a position is inside a quantity."""
    before = bisect_right(_quantity_starts(problem), place) - 1
    return before >= 0 and place < problem.quantities[before].end


@computed_once
def _quantity_starts(problem: Problem) -> list[int]:
    return [quantity.start for quantity in problem.quantities]


def _cut_off(asked: Question, problem: Problem) -> bool:
    """Return True if a clause ends with a word that cannot be its last, or consists only of question words."""
    words = [word.lower() for word in _TOKEN.findall(asked.text)[-_TAIL:]]
    if not words:
        return True
    end = asked.text.rstrip()[-1:]
    if words[-2:] in _WHOLE or (words[-1] in _DOING and _somebody_before(asked.text)):
        return False
    if words[-1] in _HANGING and end.isalpha():
        return True
    if words[-1] in _WANTS_MORE and end not in (":", "=", "_", "…"):
        return True
    if words[-1] in _DANGLING and end not in ("?", "？", ":", "=", "_", "…", "-", "–"):
        return True
    whole = problem.sentence_at(asked.start) or asked
    return len(words) > 1 and all(match[0].lower() in _ASKING for match in _TOKEN.finditer(whole.text))


def _somebody_before(text: str) -> bool:
    """Return True if the last word but one is a pronoun or a name, as in *the total number that he did*."""
    before = "".join(_TOKEN.findall(text)[-2:-1])
    return before.lower() in _SUBJECTS or before[:1].isupper()


def _short(text: str, limit: int = 80) -> str:
    text = " ".join(text.split())
    return quote(text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + " …")

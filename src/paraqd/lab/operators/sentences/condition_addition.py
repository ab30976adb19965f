"""Add a condition that changes the answer."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem, Question
from paraqd.reading.units import SPELLINGS
from paraqd.rewriting.operator import Operator, Resources

# clauses to add to the question, one group for each kind of question; {} stands for the counted noun
_COUNTED = (
    "not counting half of {}|leaving out the last two of {}|apart from a quarter of {}|leaving aside one of {}|"
    "excluding the first three of {}|if only every second of {} is counted|if a third of {} are not counted|"
    "if each of {} is counted twice|not including a tenth of {}|disregarding two thirds of {}"
).split("|")
_HELD = (
    "after half of {} have gone missing|once two of {} have been taken away|if a third of {} then disappear|"
    "after giving away half of {}|after losing one of {}|once a quarter of {} are gone|after parting with three of {}"
).split("|")
_PAID = (
    "plus a tax of one tenth|after a discount of one fifth|if a fee of one quarter comes on top|"
    "once prices have gone up by a third|with a tip of one tenth on top|if everything becomes twice as expensive|"
    "with a coupon that takes off a third|after a refund of one half"
).split("|")
_EARNED = (
    "after a tenth of it goes in tax|once a third of it has been given to charity|after half of it is stolen|"
    "after lending a quarter of it to a friend|once a fee of one fifth is taken off|if it is then doubled by a bonus"
).split("|")
_TAKEN = (
    "if everything goes at half the speed|at twice the usual pace|if the pace drops by a third|"
    "with a pause just as long in the middle|when everything runs one quarter faster|at three times the given speed|"
    "if the pace is one tenth lower throughout|with a delay that doubles the time"
).split("|")
_MEASURED = (
    "increased by one tenth|after a cut of one third|less one quarter of it|if it is then doubled|"
    "once it has been halved|after a rise of one half|reduced by one fifth|if it is then made three times as large"
).split("|")
_AGED = (
    "three years later|two years earlier|ten years after that|five years before that|a year and a half later"
).split("|")
# clauses to add to a statement about a daily event
_WORKDAYS = (
    "but only on weekdays|except on Sundays|but not on the first day|but only every other day|not counting weekends|"
    "with every third day off|but never on Mondays"
).split("|")
# separate sentences to insert before the question
_GONE = (
    "Then half of {} go missing.|After that, two of {} are lost.|Then a third of {} are taken away.|"
    "In the end, one of {} is given away.|Later, a quarter of {} disappear."
).split("|")
_DEARER = (
    "A tax of one tenth is added to everything.|Then all prices are cut by a third.|A fee of one fifth comes on top.|"
    "By then everything costs twice as much."
).split("|")
# sentences to add after or before the whole text
_AT_END = (
    "Halve the result in the end.|Then double the result.|Add one tenth to the result.|Take off a third of the result.|"
    "Give only a quarter of the result.|Multiply what you get by three.|Subtract two from what you get.|"
    "Divide what you find by five.|Answer with half of what you get."
).split("|")
_AT_START = (
    "Halve your answer to the following.|Give double the answer to the following.|Add a tenth to your answer below.|"
    "For the following, give only a third of the answer.|Take the answer to this and add two to it.|"
    "Subtract one from your answer below.|In the following, multiply the answer by four."
).split("|")
PHRASES = (
    *_COUNTED,
    *_HELD,
    *_PAID,
    *_EARNED,
    *_TAKEN,
    *_MEASURED,
    *_AGED,
    *_WORKDAYS,
    *_GONE,
    *_DEARER,
    *_AT_END,
    *_AT_START,
)

# in questions with such words, as in "how many more" and "at least", the condition may not affect the answer
_UNSURE = re.compile(
    r"\b(?:more|less|fewer|extra|cheaper|longer|faster|than|can|could|must|should|need\w*|require\w*|possible|least|most|"
    r"maximum|minimum|ways|originally|initial\w*|at first|before|begin\w*|start\w*|original|ratio|percent\w*|fraction|"
    r"probability|remainder|different|difference|which|such that|so that|or|digits?|divisible|value|times|factors?|"
    r"integers?|numbers|multiples|would|had|same|reduce|wrong|missing|series)\b|%",
    re.I,
)
_PLURAL = re.compile(r"(?!of\b|per\b)[a-z]+(?: (?!of\b|per\b)[a-z]+)??(?:[a-rt-z]s|children|people)", re.I)
_HOLDS = re.compile(r"\b(?:do|does|will) .*\bhave\b|\b(?:left|remain\w*|now)\b", re.I)
_TIME = r"(?:in )?(?:how long|how much time|how many (?:hours|days|minutes|seconds|weeks)|what time)\b.*"
_HEADS = (
    "(?:speed|distance|length|breadth|width|height|area|perimeter|volume|cost|price|amount|sum|profit|salary|income|"
    "weight|number|total|circumference)"
)
_KINDS_OF_QUESTION: tuple[tuple[str, list[str], list[str]], ...] = (
    (r"how old (?:is|will|was)\b|(?:what is|find) (?:the )?(?:\S+ ){0,3}age\b", _AGED, []),
    (_TIME + r"\b(?:take|finish|complete|fill|cross|pass|completed|finished|filled)\b", _TAKEN, []),
    (r"how much\b(?: \w+)? (?:did|does|do|will) .*\b(?:spend|pay|cost)\b", _PAID, _DEARER),
    (r"how much\b(?: money)? (?:did|does|do|will) .*\b(?:earn|make|get|receive|have|save)\b", _EARNED, []),
    (rf"(?:what (?:is|was|will be)|find|calculate) (?:the|his|her|its) (?:\w+ )?{_HEADS}\b", _MEASURED, []),
)
_DAILY = re.compile(r"\b(?:every|each|per|a) day\b|\bdaily\b", re.I)
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun|week)days?\b|\bweekend", re.I)
_LONG = re.compile(r"\b(?:weeks?|months?|years?)\b", re.I)


class ConditionAddition(Operator):
    """Add a condition that changes the answer, such as "not counting half of them" or "Then double the result"."""

    name = "ConditionAddition"
    polarity = "invalid"
    fault = "content_added"
    changes = frozenset({"sentences"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Add a condition; return None if no condition is certain to change the answer."""
        del resources
        asked = problem.question
        made = [] if asked is None else _with_conditions(problem, asked, rng)
        return rng.choice(made) if made else None


def _with_conditions(problem: Problem, asked: Question, rng: random.Random) -> list[str]:
    """Return one text for each suitable way of adding a condition."""
    text, made = problem.text, []
    daily = [s for s in problem.sentences if s.end < asked.start and s.text.endswith(".") and _DAILY.search(s.text)]
    if daily and _LONG.search(text) and not _WEEKDAY.search(text):
        at = rng.choice(daily).end - 1
        made.append(f"{text[:at]}, {rng.choice(_WORKDAYS)}{text[at:]}")
    tail = re.search(r"(?<=[\w)])\s*[?.]*\s*$", text)
    clauses, sentences = _fitting(asked)
    if _UNSURE.search(asked.text) or tail is None or tail.start() > asked.end or not clauses:
        return made if problem.cased else [each.lower() for each in made]
    clause, named = rng.choice(clauses), f"the {asked.target}"
    end, before, question = tail.start(), text[: asked.start], text[asked.start :]
    made += [f"{text[:end]}, {clause.format(noun)}{text[end:]}" for noun in ("them", named)]
    if "?" in tail.group():
        made.append(rng.choice((f"{text.rstrip()} {rng.choice(_AT_END)}", f"{rng.choice(_AT_START)} {text}")))
    if asked.start in problem.sentence_starts and before:
        if " it " not in f" {clause} " and clauses is not _MEASURED:
            opening = clause.format(named)
            made.append(f"{before}{opening[0].upper()}{opening[1:]}, {question[0].lower()}{question[1:]}")
        if sentences:
            made.append(f"{before}{rng.choice(sentences).format(named)} {question}")
    return made if problem.cased else [each.lower() for each in made]


def _fitting(asked: Question) -> tuple[list[str], list[str]]:
    """Return the clauses and sentences that suit the question."""
    for pattern, clauses, sentences in _KINDS_OF_QUESTION:
        if re.match(pattern, asked.text, re.I):
            return clauses, sentences
    counted = asked.text.lower().startswith("how many ") and _PLURAL.fullmatch(asked.target)
    if not counted or any(word in SPELLINGS for word in asked.target.lower().split()):
        return [], []
    return ([*_COUNTED, *_HELD], _GONE) if _HOLDS.search(asked.text) else (_COUNTED, [])

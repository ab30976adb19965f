"""Put a whole problem into another frame: *Given that …, find …*, the question first, or words to the reader.

These rules change how the sentences of a problem hang together. Operators then change the words inside them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from paraqd.reading import Problem

Rule = Callable[[Problem, random.Random], str | None]
_MOST_STATEMENTS, _MOST_WORDS = 3, 45  # the statements, and their words, that are put into one sentence
_NO_STATEMENT = re.compile(
    r"(?:if|when|suppose|assum\w+|given|let|then|after|before|while|so|but|and|or|however|also|note|consider|"
    r"imagine|say|now|next|later|finally|instead|please|we|you|find|calculate)\b",
    re.I,
)
_MARKS = re.compile(r"[;:?!()\n]")
_LOWERED = re.compile(
    r"(?:an?|the|s?he|they|it|its|there|this|that|these|those|his|her|their|each|every|all|both|some|one|two|three|four|"
    r"five|six|seven|eight|nine|ten|in|on|at|by|for|from|with|of|to|out|during|only|another|if|how|what|find|"
    r"calculate|determine|work|half|most|many|my|our|we|you|after|before|last|next|yesterday|today|as)\b",
    re.I,
)
_ASKS = re.compile(r"(?:how|what|find|calculate|determine|work out|figure out|compute)\b", re.I)
_LIMITS = re.compile(r"\b(?:if|when|assuming|given|provided|suppose|unless|while|until|once|then)\b|[;:()]", re.I)
_BACK = re.compile(
    r"\b(?:it|its|they|them|theirs?|this|these|those|such|then|so|same|others?|another|rest|both|remaining|former|latter|"
    r"above|now|we|our|i|my|you|your|her|hers|here|there|that|new|ones?|still|left|first|second|third|each|the (?:two|"
    r"three|four|five))\b",
    re.I,
)
_DEFINITE = re.compile(r"\bthe (?!total|number|amount|cost|price|value|sum|average|ratio|difference|area|length)", re.I)
_ORDER = re.compile(r"(find(?: out)?|calculate|determine|work out|figure out|compute) (.+?)\s*[.?]\s*$", re.I | re.S)
_OPENS = r"(?:^|(?<=[.?!]) +|, *(?:then )?| +then )"
# endings that break off, and the questions that can replace them
_BROKEN_OFF: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (
        re.compile(r"^(the \w+ of an? \w+) is with (.+?)\s*\?$", re.I),
        (r"what is \1 with \2?", r"find \1 with \2.", r"determine \1 with \2.", r"calculate \1 with \2."),
    ),
    (
        re.compile(
            rf"{_OPENS}((?:the|his|her|its|\w+['’]s) [^,.;:?=]{{3,70}}?) is (what (?:percent|fraction)\w* of .+?)\?$",
            re.I,
        ),
        (r"\2 is \1?", r"find \2 \1 is.", r"work out \2 \1 is."),
    ),
    (
        re.compile(rf"{_OPENS}(the [^,.;:?=\d]{{3,50}}?) (is|was|will be) (\w+ed) by\s*[:?.]*$", re.I),
        (r"by how much is \1 \3?",),
    ),
    (
        re.compile(
            rf"{_OPENS}(the [^,.;:?=]{{3,70}}?)(?: will be| is| are| was| were)(?: equal to)?\s*[:=?._]*$", re.I
        ),
        (r"what is \1?", r"find \1.", r"calculate \1.", r"determine \1.", r"work out \1."),
    ),
    (
        re.compile(rf"{_OPENS}([a-z(][\w ^*/+()-]{{0,24}}?)\s*=\s*\??$", re.I),
        (r"what is the value of \1?", r"find the value of \1.", r"determine \1.", r"work out the value of \1."),
    ),
    (
        re.compile(
            rf"{_OPENS}(?:evaluate|compute|find) (?:the (?:sum|value|product)(?: of)? ?:? ?)([^.?]*\d.*?)[.?]?$", re.I
        ),
        (r"what is the value of \1?", r"work out the value of \1.", r"determine the result of \1."),
    ),
)
# a question whose subject is *how many …*, so that the order of its words can stay
_STRAIGHT = re.compile(
    r"how many ((?:(?!(?:are|is|were|was|can|could|will|would|do|does|did|has|have|had)\b)[a-z0-9'’%.-]+ ){1,9}?)"
    r"((?:can|could|will|would|must|should|may) be|(?:are|were) (?:equal|in|on|at|between|divisible|left|needed|"
    r"required|used|sold|made|cast|added|not|also|multiples|factors|prime)|need to be|remain(?:ed)?)\b(.*?)[?.]?$",
    re.I | re.S,
)
_CONDITION = re.compile(
    r"if ([^.?;:]{8,}?)(, then|,| then)? ((?:in how many|by what|at what|in what|approximately how|how many|"
    r"how much|how long|what is|what was|what will|find|calculate)\b[^.?;:]*[.?]?)$",
    re.I,
)
# words that belong to the question, not to the condition before it: *at most how many*, *you have to find*
_LOOSE_END = re.compile(
    r"\b(?:at most|at least|about|approximately|exactly|roughly|out|to|you|we|by|in|at|for|of|know|tell me|please|can|"
    r"find|determine|calculate|asked|need|and|or|is|are|was|were|be|becomes?|equals?|takes?|has|have)$|, [^,]{0,12}$",
    re.I,
)
# a question with a verb of its own; after a condition without a comma, only such a question surely begins there
_WHOLE_QUESTION = re.compile(
    r"^(?:find|calculate)\b|\b(?:is|are|was|were|will|do|does|did|can|could|has|have|must|should)\b", re.I
)
_OPEN_ENDED = re.compile(r"\bthen (?:the|an?) [a-z]+ is\W*$", re.I)  # *then the triangle is*: of which kind?
_LISTS = re.compile(
    r"\b(?:I{2,3}|IV)\b|\bstatements?\b|\bfollowing\b(?! (?:day|week|month|year|morning|night|evening)\b)|"
    r"\(a\).*\(b\).*\(c\)|\(i\).*\(ii\)|(?:^|\s)a\).*\sb\)|\b1\) .*\b2\) |\n",
    re.I,
)
# a line break within prose: after the end of a sentence or after a long line, and not before a mark such as *(a)*
_BREAK = re.compile(r"(?:(?<=[.?!,])|(?<=[^\n]{40}))[ \t\r]*\n[ \t]*(?=[\w$€£₹“])(?!(?:[a-e]|[ivx]+|\d+)[.)])", re.I)


@dataclass(frozen=True, slots=True)
class Frame:
    """A rule with its name and the style that it belongs to (an empty string for all styles)."""

    name: str
    style: str
    apply: Rule


def has_options(problem: Problem) -> bool:
    """Return True if a problem has a list of statements or options, or asks to choose one: rules could break it.

    >>> from paraqd.reading import read
    >>> has_options(read("Which of the following is odd? I. x II. y")), has_options(read("Ann has 2 pens. How many?"))
    (True, False)
    """
    text = joined(problem.text)
    return _LISTS.search(text) is not None or _OPEN_ENDED.search(text) is not None


def joined(text: str) -> str:
    r"""Replace single line breaks in prose with spaces. Blank lines and lists stay as they are.

    >>> joined("Ann has 2 pens.\nHow many?"), joined("Prices:\npen 3\nbook 5")
    ('Ann has 2 pens. How many?', 'Prices:\npen 3\nbook 5')
    """
    return _BREAK.sub(" ", text)


def given_that(problem: Problem, rng: random.Random) -> str | None:
    """Put the statements and the question into one sentence.

    >>> from paraqd.reading import read
    >>> given_that(read("Ann has 2 pens. She buys 3 pens. How many pens does she have?"), random.Random(2))
    'Given that Ann has 2 pens and that she buys 3 pens, how many pens does she have?'
    """
    if (parts := _parts(problem)) is None:
        return None
    statements, asked = parts
    opening = rng.choice(("Given that", "Given that", "Assuming that", "If we know that"))
    return _cased(problem, f"{opening} {_listed(statements)}, {asked[0].lower()}{asked[1:]}")


def question_first(problem: Problem, rng: random.Random) -> str | None:
    """Put the question before the statements, and name the person to whom its pronouns refer.

    >>> from paraqd.reading import read
    >>> question_first(read("Ann has 2 pens. She buys 3 pens. How many pens does she have?"), random.Random(3))
    'How many pens does Ann have, given that Ann has 2 pens and that she buys 3 pens?'
    """
    if (parts := _parts(problem)) is None:
        return None
    statements, asked = parts
    named = _with_name(problem, asked)
    if named is None or _BACK.search(named) or _DEFINITE.search(named) or named[-1] not in ".?":
        return None
    link, that = rng.choice((("given that", "that "), ("if", ""), ("knowing that", "that ")))
    return _cased(
        problem, f"{named[:-1].rstrip()}, {link} {_listed(statements, that)}{named[-1]}".replace(", if", " if")
    )


def request(problem: Problem, rng: random.Random, openings: tuple[str, ...]) -> str | None:
    """Open an instruction at the end of a problem with a phrase: *Find …* → *Can you find …?*.

    Each opening ends with the mark that ends the new sentence.

    >>> from paraqd.reading import read
    >>> request(read("Ann has 2 pens. Find how many pens she needs."), random.Random(1), ("Can you?",))
    'Ann has 2 pens. Can you find how many pens she needs?'
    """
    last = problem.sentences[-1] if problem.sentences else None
    order = None if last is None else _ORDER.fullmatch(last.text)
    if (
        last is None
        or order is None
        or _MARKS.search(order[2])
        or re.search(r"\b(?:find|and what|and how)\b", order[2], re.I)
    ):
        return None
    chosen = rng.choice(openings)
    opening, mark = chosen[:-1], chosen[-1]
    return _cased(problem, f"{problem.text[: last.start]}{opening} {order[1].lower()} {order[2]}{mark}")


def straight_request(problem: Problem, rng: random.Random) -> str | None:
    """Turn a question about a number into an instruction, if *how many …* is its subject.

    >>> from paraqd.reading import read
    >>> straight_request(read("How many integers below 15 can be written as a sum?"), random.Random(4))
    'Work out how many integers below 15 can be written as a sum.'
    """
    last = problem.sentences[-1] if problem.sentences else None
    match = None if last is None else _STRAIGHT.fullmatch(" ".join(last.text.split()))
    if last is None or match is None or re.match(r"(?:times|of|more|fewer|other)\b", match[1], re.I):
        return None
    order = rng.choice(("Find", "Work out", "Determine", "Calculate", "Find out", "Figure out"))
    if rng.random() < 0.5 and order[-3:] != "out":
        asked = f"{order} the number of {match[1]}that {match[2]}{match[3]}."
    else:
        asked = f"{order} how many {match[1]}{match[2]}{match[3]}."
    return _cased(problem, problem.text[: last.start] + asked)


def split_condition(problem: Problem, rng: random.Random) -> str | None:
    """Put the condition of the last sentence into a sentence of its own.

    >>> from paraqd.reading import read
    >>> split_condition(read("Ann votes. If Tom gets 5 votes how many votes are left?"), random.Random(1))
    'Ann votes. Assume that Tom gets 5 votes. How many votes are left?'
    """
    last = problem.sentences[-1] if problem.sentences else None
    match = None if last is None else _CONDITION.fullmatch(" ".join(last.text.split()))
    if last is None or match is None or re.search(r"\b(?:if|when|were|would|had|then|and what)\b", match[1], re.I):
        return None
    condition, mark, question = match.groups()
    if (
        _LOOSE_END.search(condition)
        or (not mark and ("," in condition or not _WHOLE_QUESTION.search(question)))  # *…, Tom has how many pens?*
        or re.search(r"\b(?:if|when|given)\b", question, re.I)
        or re.search(r"\b(?:how|what|which)\b", condition, re.I)
    ):
        return None
    opening = rng.choice(("Suppose that", "Assume that", "Let us say that", "We know that"))
    asked = question[0].upper() + question[1:]
    return _cased(problem, f"{problem.text[: last.start]}{opening} {condition}. {asked}")


def completed(problem: Problem, rng: random.Random) -> str | None:
    """Turn an ending that breaks off into a question: *the area is:* → *what is the area?*.

    >>> from paraqd.reading import read
    >>> completed(read("If the side is doubled then the area is increased by:"), random.Random(1))
    'If the side is doubled, by how much is the area increased?'
    """
    text = problem.text.rstrip()
    for pattern, questions in _BROKEN_OFF:
        if (match := pattern.search(text)) is not None:
            before = text[: match.start()].rstrip(" ,")
            asked = match.expand(rng.choice(questions))
            asked = re.sub(r" (The|His|Her|Its)\b", lambda word: word[0].lower(), asked)
            starts = not before or before[-1] in ".?!"
            if not starts and not re.search(r"\b(?:if|when|given|for|suppose|let)\b", before, re.I):
                return None
            asked = asked[0].upper() + asked[1:] if starts else asked
            return _cased(problem, f"{before}{' ' if starts else ', '}{asked}".lstrip())
    return None


def _leading(*sentences: str) -> Rule:
    """Return a rule that puts one of the sentences before the problem."""

    def apply(problem: Problem, rng: random.Random) -> str | None:
        text = problem.text.lstrip()
        return _cased(problem, f"{rng.choice(sentences)} {text}") if text[:1].isalnum() else None

    return apply


def _closing(*sentences: str) -> Rule:
    """Return a rule that puts one of the sentences after the problem."""

    def apply(problem: Problem, rng: random.Random) -> str | None:
        text = problem.text.rstrip()
        ended = re.search(r"(?:\w{2}|[)%]|\d) ?[.?!]$", text)
        return f"{text} {_cased(problem, rng.choice(sentences))}" if ended else None

    return apply


def _asking(*openings: str) -> Rule:
    """Return a rule that opens an instruction with one of the phrases, each of which ends with the final mark."""
    return lambda problem, rng: request(problem, rng, openings)


FRAMES: tuple[Frame, ...] = (
    Frame("GivenThat", "", given_that),
    Frame("QuestionFirst", "", question_first),
    Frame("CompletedQuestion", "", completed),
    Frame("StraightRequest", "", straight_request),
    Frame("SplitCondition", "", split_condition),
    Frame("Request", "", _asking("Can you?", "Your task is to.", "You are asked to.", "The task is to.")),
    Frame("ExamRequest", "exam", _asking("Candidates must.", "You are required to.", "Students should.")),
    Frame(
        "ExamLead",
        "exam",
        _leading(
            "Answer the following question.",
            "Solve the following problem.",
            "Read the problem below and answer it.",
            "Work through the following problem.",
        ),
    ),
    Frame(
        "ExamClose", "exam", _closing("Show your working.", "Justify your answer.", "Show each step of your working.")
    ),
    Frame("EngagingRequest", "engaging", _asking("Can you?", "See if you can!", "Your challenge is to!", "Let's!")),
    Frame(
        "EngagingLead",
        "engaging",
        _leading(
            "Here is a puzzle for you.",
            "Picture this situation.",
            "Here is a little challenge.",
            "Put on your thinking cap!",
            "Imagine the following scene.",
        ),
    ),
    Frame("EngagingClose", "engaging", _closing("Good luck!", "See how quickly you can work it out!", "Have fun!")),
)


# --- parts of a problem ---------------------------------------------------------------------------


def _parts(problem: Problem) -> tuple[list[str], str] | None:
    """Return the statements, ready to follow a conjunction, and the question; None if they cannot be put together."""
    question = problem.question
    if question is None or len(problem.questions) != 1 or len(problem.sentences) < 2:
        return None
    *before, last = problem.sentences
    if len(before) > _MOST_STATEMENTS:
        return None
    asked = " ".join(last.text.split())
    if question.start < last.start or asked[-1] not in ".?":
        return None
    if not _ASKS.match(asked) or _LIMITS.search(asked):
        return None
    named = {entity.start for entity in problem.entities}
    statements = []
    for sentence in before:
        text = " ".join(sentence.text.split())
        if text[-1] != "." or _MARKS.search(text[:-1]) or _NO_STATEMENT.match(text) or len(text.split()) < 3:
            return None
        if _LOWERED.match(text) and sentence.start not in named:
            text = text[0].lower() + text[1:]
        elif problem.cased and sentence.start not in named and not text[0].isdigit():
            return None  # a name or a noun: its first letter cannot be decided
        statements.append(text[:-1].rstrip())
    return (statements, asked) if sum(len(each.split()) for each in statements) <= _MOST_WORDS else None


def _listed(statements: list[str], that: str = "that ") -> str:
    """Join statements with *and that*.

    >>> _listed(["a is 1", "b is 2", "c is 3"])
    'a is 1, that b is 2, and that c is 3'
    """
    if len(statements) < 3:
        return f" and {that}".join(statements)
    return f", {that}".join(statements[:-1]) + f", and {that}{statements[-1]}"


def _with_name(problem: Problem, asked: str) -> str | None:
    """Replace the first pronoun in a question with the only person of the problem; None if it has another pronoun."""
    pronoun = re.search(r"\b(?:s?he|him|his)\b", asked, re.I)
    if pronoun is None:
        return asked
    people = {entity.text for entity in problem.entities if entity.category == "PERSON"}
    others = [entity for entity in problem.entities if entity.category not in ("PERSON", "PLACE")]
    if len(people) != 1 or others or problem.entities[0].text not in people:
        return None
    name = people.pop()
    new = f"{name}'s" if pronoun[0].lower() == "his" else name
    return asked[: pronoun.start()] + new + asked[pronoun.end() :]


def _cased(problem: Problem, text: str) -> str:
    """Write a text in lower case if the problem is."""
    return text if problem.cased else text.lower()

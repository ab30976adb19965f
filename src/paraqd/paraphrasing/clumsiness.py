"""Recognise clumsy wordings that a chain of rules can cause, and put the right mark at the end of a text."""

from __future__ import annotations

import re

from paraqd.reading import read

_CLUMSY = (
    re.compile(r"\b([a-z]+) \1\b", re.I),
    re.compile(
        r"\b(?:given|assum\w+|suppos\w+|if|that) (?:that )?(?:we|you|it) (?:is|are|suppose|assume|know)\b", re.I
    ),
    re.compile(r"\b(?:if|given that|assuming|supposing)\b[^.?]*\b(?:if|given that|assuming|supposing|suppose)\b", re.I),
    re.compile(r"\b(?:if|given (?!that\b)\w+)\b[^.?]* and that\b|\bvalue of (?:if|given)\b", re.I),
    re.compile(
        r"\b(?:told|known|given|know|suppose|assume)(?:,)? (?:that )?(?:your task|the task|the facts|these are|this is|"
        r"here|you|can you|see if|please|find|calculate|determine|work out)\b",
        re.I,
    ),
    re.compile(r"\b(?:given|following|follows|known)\. (?:it is (?:given|known)|we (?:know|are)|you are)\b", re.I),
    re.compile(r"\b(?:seconds|minutes|hours|days|weeks)(?: that)? \w+ (?:will have|has|have|had) to\b", re.I),
    # *At midnight, find the temperature.*
    re.compile(
        r"(?:^|[.?!] )(?:at|in|on|after|before|by|during) [^,.?]*, (?:how|what|which|you|we|find|calculate|determine|"
        r"work|compute|tell|state|give|please|figure|can|your|the task)\b",
        re.I,
    ),
    re.compile(r"\b(?:follows|following|conditions|situation|known|information|story|given|facts|data), and\b", re.I),
    re.compile(r"\b1/[2-4] (?:the|his|her|their|its|as|court)\b|\bchildren['’] ", re.I),
    re.compile(r"\bin order to \w+ in order\b|\b(?:if|that) (?:in total|in all|altogether),", re.I),
)
_ASKED = re.compile(
    r"(?:^|[.] )(?:what|how|which|who)\b[^.,?]*$|, (?:what|how)\b[^.,?]*$", re.I
)  # a question at the end
_SHARED_RATE = re.compile(r"\d[^.?]* and [^.?]*\b(?:per|each|every|an?) (?:day|week|hour|month|minute|year)\b", re.I)
# a space before a mark, except in numbers such as *2 . 5*
_LOOSE_MARK = re.compile(r"(?<=\S)\s+([;?!]|[,.](?!\s*\d))(?=\s|$)")
# *what are the current's speed*: what belongs to somebody, up to a mark or a preposition
_OWNED = re.compile(
    r"\bwhat (?:are|were) (?:[\w-]+ ){0,3}[\w-]+['’]s ([\w-]+(?: [\w-]+)*?)"
    r"(?= (?:in|of|for|at|on|by|per|to|from|with|after|before|if|when|given|as)\b|[?.,;:]|$)",
    re.I,
)
_PLURAL = re.compile(
    r" and |(?:s|children|people|men|feet|teeth|mice|geese|dice|data|fish|sheep|radii|vertices)$", re.I
)


def ended(question: str, text: str) -> str:
    """Return a text without spaces before its marks, and with a mark at its end if the question has one.

    >>> ended("Ann has 2 pens. How many?", "If Ann has 2 pens, how many"), ended("How many?", "Find how many.")
    ('If Ann has 2 pens, how many?', 'Find how many.')
    """
    text = _LOOSE_MARK.sub(r"\1", text.rstrip())
    if question.rstrip()[-1:] not in ".?!" or text[-1:] in ":=":
        return text
    asks = _ASKED.search(text.rstrip(".?"))
    if text[-1:] == "." and asks:
        return f"{text[:-1]}?"
    return text if text[-1:] in ".?!)" else f"{text}{'?' if asks else '.'}"


def is_clumsy(question: str, text: str) -> bool:
    """Return True if a text has a clumsy wording that the question does not have.

    >>> is_clumsy("If Ann has 2, how many?", "Given that we suppose that Ann has 2, how many?")
    True
    """
    if _SHARED_RATE.search(question) and len(read(text).sentences) > len(read(question).sentences):
        return True  # *Ann makes 3 cups and Tom makes 5 jugs per day*: a split would take the rate from Ann
    if _disagreements(text) > _disagreements(question):
        return True
    return any(len(pattern.findall(text)) > len(pattern.findall(question)) for pattern in _CLUMSY)


def _disagreements(text: str) -> int:
    """Count the plural verbs with a singular noun after a possessive.

    >>> _disagreements("What are the current's speed?"), _disagreements("What are Tom's speeds in km per hour?")
    (1, 0)
    """
    return sum(_PLURAL.search(owned) is None for owned in _OWNED.findall(text))

"""Reorder sentences: move the question to the front, swap statements, and join or split clauses."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from paraqd.reading import Problem, read, same_quantities
from paraqd.rewriting.operator import Operator, Resources

_LEADS = (
    "Here is what is known.|Here are the facts.|The facts are as follows.|We know the following.|This is given.|"
    "This is the situation.|Use what follows.|Consider the following.|Here is the story.|These are the conditions.|"
    "You are told the following.|Here is the information.|Answer it from the following.|These are the data."
).split("|")
_SUPPOSE = (
    "Suppose|Suppose that|Assume that|Let us assume that|Imagine that|Suppose, for this problem, that|Say that|"
    "Let us suppose that|Assume, as given, that|Take it that|We shall assume that|Let us say that|We suppose that"
).split("|")
_IF = "if|if|if|given that|assuming that|supposing that|provided that|assuming|under the assumption that".split("|")


def _words_or_marks(words: str) -> re.Pattern[str]:
    """Return a pattern that matches any of the words, or a mark that makes a text too complex to reorder."""
    return re.compile(rf"\b(?:{words})\b|[;:()%]", re.I)


# words that refer to earlier text
_BACK = _words_or_marks(
    "s?he|him|his|hers?|it|its|they|them|theirs?|this|these|those|such|then|so|same|others?|another|rest|both|"
    "remaining|remainder|former|latter|also|too|again|still|instead|said|above|below|following|here|we|our|i|my|you|"
    "your|(?:of|in|at|on|for|by|is) that|that (?:day|night|week|month|year|time|price|rate|speed|target)|"
    "all (?:of|three|four)|the (?:two|three|four|five)|one of the|altogether|ones?|respectively|options?|statements?|"
    "except|not|first|second|third|new"
)
_IT_TAKES = re.compile(r"\bit (?:(?:will|would|did|does|can) )?take[sn]?\b|\b(?:will|would|does|did) it take\b", re.I)
_ASKS = re.compile(
    r"(?:(?:in|at|by|for|on|from|after|to|of|with) )?(?:how|what|which|who)\b(?! many (?:did|do|does|are|is|were|was|"
    r"has|have|had|can|could|will|would|should|of)\b)|(?:find|calculate|determine|work out)\b",
    re.I,
)
_LIMITS = _words_or_marks("if|when|assuming|given|provided|suppose|unless|while|where|until|once")
_NO_STATEMENT = re.compile(r"(?:if|when|suppose|assum\w+|given|let|then|after|before|while|so|but|and|or)\b", re.I)
_INDEFINITE = re.compile(r"\b(?:an?|one|two|three|four|some|\d+) (?:[a-z]+ )??([a-z]+?)s?\b", re.I)
_DEFINITE = re.compile(r"\b(?:the|each|that) (?:[a-z]+ )??([a-z]+?)s?\b", re.I)
_STATE = re.compile(
    r"(?:\S+ ){1,4}(?:has|have|had|(?:is|are|was|were)(?! \w+(?:ed|n)\b)|costs?|contains?|weighs?|holds?|owns?|earns?|"
    r"needs?|charges?|can|sells? for|takes?|measures?|reads?|eats?|drinks?|uses?|wants?|picked|"
    r"collected|scored|baked|walked|saved|planted|ran|ate)\b",
    re.I,
)
_IN_TURN = _words_or_marks(
    "next|last|later|now|after|before|left|total|only|ago|random|yesterday|today|tomorrow|finally|extra|additional|"
    "however|combined"
)
_COMPARES = re.compile(r"\b(?:than|more|less|fewer|twice|half|thrice|double|times|as|older|younger)\b")
_TO_A_NAME = re.compile(r"\b(?:than|as|of) [A-Z][a-z]+|\b[A-Z][a-z]+['’]s|, [A-Z]")
_LATER = re.compile(r"\b(?:s?he|him|his|her|it|its|this|that|these|those|other|another|rest|remaining)\b", re.I)
_CLAUSES = _words_or_marks(
    "if|when|that|who|which|whose|where|because|while|until|after|before|between|both|such|so|whenever|let|than|"
    "suppose|respectively|either|how|since|as|assuming|for every|for each"
)
_VERB = r"(?:has|had|is|was|can|costs?|earns?|gets?|needs?|wants?|buys?|sells?|gave|took|picked|baked|[a-z]{3,}ed)"
_AND_CLAUSE = re.compile(  # must not match "the combined age of Olga and Pavel is"
    rf"(?!(?:in|on|at|by)\b)[^,]*?(?:\b(?:has|had|is|was|are|were|can|costs|owns|needs|wants)\b|^[A-Z]\w+ [a-z]+ed)"
    rf"[^,]*?(?<!\bof)(?<!\bto)(?<!\bfor)(?<!\bwith)(?<!\bby) \w+(,? and )(?:s?he |they |it |[A-Z][a-z]+ {_VERB}\b)"
)
_LOWERED = re.compile(r"(?:an?|the|s?he|they|it|there|his|her|their|each|every|one|two|three)\b", re.I)
_NAMED = re.compile(rf"[A-Z][a-z]+ {_VERB}\b")
_BREAKS_OFF = re.compile(r"(?:then )?(the [^?:.=,;]{4,70}?)(?: will be| is| are| was| were)\s*[?:.=]*", re.I)
_TASKS = ("find {}.", "what is {}?", "calculate {}.", "determine {}.", "what would be {}?", "work out {}.")
_MOST_WORDS = 14  # the maximum length of each of two statements that are joined


class SentenceOrder(Operator):
    """Reorder, join or split sentences: Tom has 5 pens. How many … ? → How many … ? Tom has 5 pens."""

    name = "SentenceOrder"
    polarity = "valid"
    changes = frozenset({"order", "wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Reorder, join or split sentences; return None if every change might alter the meaning."""
        del resources
        return reordered(problem, rng)


def reordered(problem: Problem, rng: random.Random) -> str | None:
    """Return the text with its sentences reordered, joined or split, or None if no change is safe."""
    if len(problem.questions) != 1 or problem.questions[0].end != problem.sentences[-1].end:
        return None
    asked = problem.questions[0]
    broken = _BREAKS_OFF.fullmatch(asked.text)
    if broken is not None:  # "The speed of the train is:" must be rephrased before it can come first
        task = rng.choice(_TASKS).format(broken[1][0].lower() + broken[1][1:])
        task = task[0].upper() + task[1:] if problem.cased and asked.start in problem.sentence_starts else task
        problem = read(problem.text[: asked.start] + task)
        if len(problem.questions) != 1 or problem.questions[0].text != task:
            return None
    sentences = [" ".join(sentence.text.split()) for sentence in problem.sentences]
    if any(len(each.split()) < 3 or each[-1] not in ".?!" for each in sentences):
        return None  # the text may have been split at an abbreviation, or may contain a list or a formula
    # swapping statements is tried first, because it rarely applies
    moves = [_swapped, *rng.sample((_question_first, _condition_moved), 2)]
    made = next((new for move in moves if (new := move(problem, sentences, rng))), None)
    if made is None or rng.random() < 0.4:
        shapes = rng.sample((_joined, _split), 2)
        made = next((new for shape in shapes if (new := shape(problem, made or sentences, rng))), made)
    text = " ".join(made or ())
    return text if made and same_quantities(problem.quantities, read(text).quantities) else None


def _question_first(problem: Problem, sentences: list[str], rng: random.Random) -> list[str] | None:
    """Move the question to the front if it does not refer to earlier text."""
    *statements, asked = sentences
    plain = _IT_TAKES.sub("", asked)
    if not statements or not _ASKS.match(asked) or _BACK.search(plain) or _LIMITS.search(plain):
        return None
    if any(_NO_STATEMENT.match(each) or each[-1] == "?" for each in statements):
        return None
    lead = rng.choice(_LEADS) if rng.random() < 0.5 else ""
    return [asked, *filter(None, [lead if problem.cased else lead.lower()]), *statements]


def _condition_moved(problem: Problem, sentences: list[str], rng: random.Random) -> list[str] | None:
    """Move an if-clause that precedes the question to the end of the sentence or into a sentence of its own."""
    *statements, last = sentences
    asked = " ".join(problem.questions[0].text.split())
    match = re.fullmatch(r"if (.+?)(?:, then|,| then)", last.removesuffix(asked).strip(), re.I)
    if match is None or not _ASKS.match(asked) or _LIMITS.search(asked):
        return None
    condition = match[1]
    if re.search(r"\b(?:if|will|would|then)\b|[;:?]", condition):
        return None
    initial = asked[0].upper() if problem.cased else asked[0]
    # the question must not mention "the train" before the condition introduces it
    spoken = set(_INDEFINITE.findall(condition.lower())) & set(_DEFINITE.findall(asked.lower()))
    if spoken or _BACK.search(_IT_TAKES.sub("", asked)) or rng.random() < 0.4:
        opening = rng.choice(_SUPPOSE)
        return [*statements, f"{opening if problem.cased else opening.lower()} {condition}.", initial + asked[1:]]
    word = "if" if re.search(r"\b(?:were|had|would|could|should)\b", condition) else rng.choice(_IF)
    comma = "," if "," in asked or rng.random() < 0.3 else ""
    return [*statements, f"{initial}{asked[1:-1].rstrip()}{comma} {word} {condition}{asked[-1]}"]


def _swapped(problem: Problem, sentences: list[str], rng: random.Random) -> list[str] | None:
    """Swap two adjacent statements if their order does not matter."""
    named = {entity.start for entity in problem.entities}
    free = [
        (sentence.start in named or re.match(r"an? ", each, re.I))
        and each[-1] == "."
        and _STATE.match(each)
        and not (_BACK.search(each) or _IN_TURN.search(each) or each[-2].isdigit())
        and (_TO_A_NAME.search(each, 3) or not _COMPARES.search(each))
        for sentence, each in zip(problem.sentences, sentences, strict=True)
    ]
    pairs = []
    for n, (one, two) in enumerate(pairwise(each.lower() for each in sentences)):
        apart = one.split()[0] in {"a", "an"} or one.split()[0] != two.split()[0]
        # if the second sentence mentions "the box", the first sentence may introduce the box
        apart = apart and not re.search(r"\bthe\b", two)
        if free[n] and free[n + 1] and apart and not any(map(_LATER.search, sentences[n + 2 :])):
            pairs.append(n)
    if not pairs:
        return None
    n = rng.choice(pairs)
    return [*sentences[:n], sentences[n + 1], sentences[n], *sentences[n + 2 :]]


def _joined(problem: Problem, sentences: list[str], rng: random.Random) -> list[str] | None:
    """Join two short adjacent statements."""
    text = " ".join(problem.text.split())
    pairs = [
        n
        for n, (one, two) in enumerate(pairwise(sentences))
        if one[-1] == two[-1] == "."
        and max(len(one.split()), len(two.split())) <= _MOST_WORDS
        and f"{one} {two}" in text
        if (_LOWERED.match(two) or _NAMED.match(two)) and not _NO_STATEMENT.match(one)
        if not _CLAUSES.search(one + two)
    ]
    if not pairs:
        return None
    n = rng.choice(pairs)
    one, two = sentences[n : n + 2]
    two = two[0].lower() + two[1:] if _LOWERED.match(two) else two
    links = (", and ", "; ") if re.search(r"\band\b", one + two) else (", and ", " and ", "; ")
    return [*sentences[:n], one[:-1] + rng.choice(links) + two, *sentences[n + 2 :]]


def _split(problem: Problem, sentences: list[str], rng: random.Random) -> list[str] | None:
    """Split one statement before a clause such as "and he …" or "and Ann has …"."""
    found = [(n, match) for n, each in enumerate(sentences) if (match := _AND_CLAUSE.match(each)) and each[-1] == "."]
    found = [(n, match) for n, match in found if not _CLAUSES.search(sentences[n])]
    if not found:
        return None
    n, match = rng.choice(found)
    head, tail = sentences[n][: match.start(1)], sentences[n][match.end(1) :]
    tail = tail[0].upper() + tail[1:] if problem.cased else tail
    return [*sentences[:n], head + ".", tail, *sentences[n + 1 :]]

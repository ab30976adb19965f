"""Add or remove a heading or a harmless phrase about the weather, the place or a hobby, or to the reader."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

from paraqd.reading import Problem, read, same_quantities
from paraqd.reading.name_lists import people
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import delete

_WHEN = (
    "On a rainy afternoon, |On a sunny morning, |On a cold winter evening, |Not long ago, |Some time ago, |"
    "Once upon a time, |While the birds were singing, |Early in spring, |On a quiet summer evening, |Late in autumn, |"
    "On a windy day, |After a good night's sleep, |On a foggy morning, |Just for fun, |As it happened, "
).split("|")
_WHERE = (
    "In a small town near the sea, |In a quiet village, |Somewhere far away, |In a busy part of town, |"
    "In a peaceful valley, |Not far from the river, |Up in the hills, |In a pleasant little place, |"
    "In a faraway land, |Near the old bridge, |Somewhere in the countryside, |Close to the harbour, "
).split("|")
_WHO = (
    "who likes music|who loves the sea|who is always cheerful|who enjoys long walks|who sings well|"
    "who is fond of animals|who has a kind heart|who likes to read|who is known for being friendly|"
    "who speaks softly|who loves to cook|a cheerful person|a very polite person|who never complains|"
    "who dreams of becoming famous|who is rather shy|who has curly hair|who grew up by the sea|"
    "who loves bright colours|who laughs a lot|who is in a good mood|who likes to keep busy|who has a warm smile"
).split("|")
_SCENE = (
    "The weather was fine that day.|It was a lovely day.|The sky was clear and blue.|A gentle wind was blowing.|"
    "The sun was shining.|Everybody was in a good mood.|Spring had just begun.|It had been raining since dawn.|"
    "The air smelled of flowers.|Everything was calm and quiet.|There was music in the air.|It was rather cold outside."
).split("|")
_TO_READER = (
    "Read carefully.|Please read the following with care.|Take your time.|Here is a little puzzle for you.|"
    "Think carefully before you answer.|This is not as hard as it looks.|Be careful with your work.|"
    "Pay attention to the details.|Grab a pencil and some paper.|Let us look at the following problem.|"
    "Try this without a calculator.|Do not rush.|Here is something to think about.|"
    "This may come up in your exam.|Do your best.|Try to solve this on your own.|Good luck with this problem.|"
    "Consider the situation below.|Stay calm and think clearly."
).split("|")
_HINTS = (
    "Think carefully.|Take your time.|Now think.|Do not rush.|Be careful here.|Let us see.|Now comes the question.|"
    "This is the interesting part.|Think before you answer.|Here is the question.|Now for the hard part.|"
    "Try to answer without help.|This should not be too difficult.|Stay focused."
).split("|")
_CLOSING = (
    "Show your steps.|Write down your reasoning.|Check your result.|Draw a diagram if you like.|"
    "Give a reason for your answer.|Compare your result with a friend's.|Use any method you like.|"
    "You can do it!|See how quickly you can solve this!|Have fun with this one!|Remember to check your arithmetic.|"
    "Puzzles of this kind are good practice.|This one is a classic.|A drawing might be useful.|"
    "Talk it over with your neighbour.|Keep your work tidy.|Set out your work clearly.|"
    "Everyone can solve this with a bit of patience.|Outside, the rain had stopped.|A dog was barking somewhere.|"
    "The teacher smiled at the class.|Dinner was almost ready.|Nobody was in a hurry.|The evening was calm.|"
    "Somewhere a clock was ticking."
).split("|")
_WORD = re.compile(r"[a-z]{4,}")
_LIST = Path(__file__).parents[1] / "files" / "harmless_sentences.txt"  # kind and text, separated by a tab
PHRASES = (*_WHEN, *_WHERE, *_WHO, *_SCENE, *_TO_READER, *_HINTS, *_CLOSING)

_PEOPLE = "man|woman|boys?|girls?|shopkeeper|farmers?|baker|teacher|children|family|friends?|trader|mother|father"
_STORY = re.compile(rf"\b(?:{_PEOPLE})\b", re.I)
_STORY_OPENING = re.compile(rf"(?:an?|there (?:is|are) an?|two|some|my|the) (?:\w+ )?(?:{_PEOPLE})\b", re.I)
# words that an added phrase about a time or place could contradict or restrict
_TIMED = re.compile(
    r"\b(?:days?|daily|weeks?|weekly|weekends?|months?|monthly|years?|yearly|annual\w*|hours?|hourly|minutes?|seconds?|"
    r"mornings?|evenings?|nights?|afternoons?|noon|today|tomorrow|yesterday|ago|old|older|age|ages|aged|every|"
    r"always|usually|[ap]\.?m|\w+day|season|spring|summer|autumn|fall|winter|rain\w*|snow\w*|weather|birds?|"
    r"temperature|probability|daytime|now|currently|last|next|when|while)\b",
    re.I,
)
_PLACED = re.compile(
    r"\b(?:town|city|village|valley|river|sea|hill|land|country|state|countryside|island|boat|ship|stream|bridge|"
    r"school|college|university|camp|hotel|beach|mountain|ocean|forest|planet|station)s?\b",
    re.I,
)
_POINTING = re.compile(r"\b(?:it|its|they|them|their|these|those|this)\b", re.I)
_VERB = re.compile(r" (?:is|can|went|bought|sold|made|gave|got|ran|took|paid|spent|[a-z]{2,}(?:s|ed)|had|wants) ")
_STARTS = "|".join(phrase.rstrip() for phrase in (*_WHEN, *_WHERE))
_IDLE = re.compile(
    rf"(?:{_STARTS}|(?:On|It was) an? (?:rainy|sunny|cold|hot|warm|nice|beautiful|lovely|windy) (?:\w+ )?"
    r"(?:day|morning|afternoon|evening)[,.]|Luckily,|Fortunately,|Unfortunately,|As usual,|Interestingly,|"
    r"As you know,|Of course,|By the way,|Please|Kindly) (?=\w)",
    re.I,
)


class Decoration(Operator):
    """Add or remove a phrase that does not affect the answer, such as "Tom, who likes music, …" or "Read carefully"."""

    name = "Decoration"
    polarity = "valid"
    changes = frozenset({"sentences"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Add or remove a phrase; return None if no change is safe."""
        del resources
        kinds = [_remove_phrases, *rng.sample(_STORY_KINDS, len(_STORY_KINDS))]
        # phrases to the reader and closing remarks are usually tried last, because they fit nearly everywhere
        kinds.insert(0 if rng.random() < 0.2 else len(kinds), _to_reader)
        kinds.insert(0 if rng.random() < 0.35 else len(kinds), _at_end)
        kinds.insert(0 if rng.random() < 0.15 else len(kinds), _heading)
        for kind in kinds:
            made = kind(problem, rng)
            typed = made if made is None or problem.cased else made.lower()
            if typed is not None and _asks_the_same(problem, read(typed)):
                return typed
        return None


def _asks_the_same(problem: Problem, made: Problem) -> bool:
    asked = [each.question.target if each.question else None for each in (problem, made)]
    return asked[0] == asked[1] and same_quantities(problem.quantities, made.quantities)


def _at_start(problem: Problem, rng: random.Random) -> str | None:
    named = any(entity.start == 0 for entity in problem.entities)
    if not _is_story(problem) or not (named or _STORY_OPENING.match(problem.text)):
        return None
    placed = _PLACED.search(problem.text) or any(entity.category == "PLACE" for entity in problem.entities)
    phrases = [*([] if _TIMED.search(problem.text) else _WHEN), *([] if placed else _WHERE)]
    rest = problem.text if named else problem.text[0].lower() + problem.text[1:]
    return rng.choice(phrases) + rest if phrases else None


def _after_name(problem: Problem, rng: random.Random) -> str | None:
    for entity in problem.entities:
        known = entity.category == "PERSON" and entity.text.title() in people()
        if known and entity.start in problem.sentence_starts and _VERB.match(problem.text, entity.end):
            return f"{problem.text[: entity.end]}, {rng.choice(_WHO)},{problem.text[entity.end :]}"
    return None


def _scene(problem: Problem, rng: random.Random) -> str | None:
    if not _is_story(problem) or _TIMED.search(problem.text):
        return None
    before = rng.random() < 0.5 and problem.question is not None and not _POINTING.search(problem.question.text)
    return _insert_sentence(rng.choice(_SCENE), problem, before_question=before)


def _to_reader(problem: Problem, rng: random.Random) -> str | None:
    before = rng.random() < 0.5
    phrases = (*_HINTS, *listed_phrases("between")) if before else (*_TO_READER, *listed_phrases("before"))
    return _insert_sentence(rng.choice(phrases), problem, before_question=before)


def _at_end(problem: Problem, rng: random.Random) -> str | None:
    text = problem.text.rstrip()
    phrases = (*_CLOSING, *listed_phrases("after"), *listed_phrases("closing"))
    return f"{text} {rng.choice(phrases)}" if re.search(r"(?:\w{2}|[)%]) ?[.?!]$", text) else None


def _heading(problem: Problem, rng: random.Random) -> str | None:
    heading = rng.choice(listed_phrases("heading"))
    if set(_WORD.findall(heading.lower())) & set(_WORD.findall(problem.text.lower())):
        return None  # "Weight: 10%" before a problem about weights
    between = " " if heading[-1] in ".:!?)]" and rng.random() < 0.5 else "\n"
    return f"{heading}{between}{problem.text.lstrip()}"


@cache
def listed_phrases(kind: str) -> tuple[str, ...]:
    """Return the listed phrases of a kind: ``before``, ``between``, ``after``, ``heading`` or ``closing``."""
    rows = (line.split("\t") for line in _LIST.read_text(encoding="utf-8").splitlines())
    return tuple(text for each, text in rows if each == kind)


def _remove_phrases(problem: Problem, rng: random.Random) -> str | None:
    del rng
    idle = [match.span() for match in _IDLE.finditer(problem.text) if match.start() in problem.sentence_starts]
    return delete(problem, idle) if idle else None


def _insert_sentence(phrase: str, problem: Problem, *, before_question: bool) -> str | None:
    """Insert a sentence at the start of the text or before the question; return None if it would not fit there."""
    text, asked = problem.text, problem.question
    at = asked.start if asked is not None and before_question else 0
    ended = re.search(r"(?:\w{2}|[)%])[.?!]\s+$", text[:at])  # the stop in "H.C.F. " does not end a sentence
    if not text[at : at + 1].isalpha() or (before_question and not (ended and at in problem.sentence_starts)):
        return None
    return f"{text[:at]}{phrase} {text[at:]}"


def _is_story(problem: Problem) -> bool:
    """Return True if the text is about people and has more than one sentence."""
    named = any(entity.text.title() in people() for entity in problem.entities)
    return len(problem.sentences) > 1 and (named or _STORY.search(problem.text) is not None)


_STORY_KINDS = (_at_start, _after_name, _scene)

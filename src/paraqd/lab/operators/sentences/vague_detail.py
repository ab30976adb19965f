"""Add a harmless sentence that contains a vague number word."""

from __future__ import annotations

import random

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources

# none of the sentences is about the quantities of a problem
_DETAILS = (
    "It was a few days before the holidays.|Some people were watching.|Several birds sat on the fence outside.|"
    "A few clouds drifted across the sky.|They had talked about it for some time.|"
    "Many people know this kind of puzzle.|"
    "A number of visitors looked on with interest.|Some music was playing in the background.|"
    "Some neighbours waved from the window.|It took a while to write everything down.|"
    "Several other things happened on that day, but they do not matter here.|A few old photographs hung on the wall.|"
    "Many thanks for your help with this.|Some of us find such questions easy.|"
    "There was plenty of time left in the lesson.|"
    "A certain teacher likes this problem very much.|Quite a few pupils have asked about this one.|"
    "For some reason, the radio was on.|After some thought, the following was noted.|Most days are a little different.|"
    "A handful of people know the story behind it.|Various posters decorated the room.|"
    "Somebody had left a few crumbs on the table.|There was a lot of noise in the street.|"
    "Some say that this is a trick question, but it is not.|It had rained a little in the morning."
).split("|")


class VagueDetail(Operator):
    """Add a harmless sentence with a vague number word, such as "Several birds sat on the fence outside."."""

    name = "VagueDetail"
    polarity = "valid"
    changes = frozenset({"sentences"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Add the sentence before a sentence of the text; return None if the text is blank."""
        del resources
        if not problem.sentences:
            return None
        question = problem.question
        last = question.start if question is not None else len(problem.text)
        places = [s.start for s in problem.sentences if s.start <= last]
        place, detail = rng.choice(places or [0]), rng.choice(_DETAILS)
        if not problem.cased:
            detail = detail.lower().replace(".", " .").replace(",", " ,")
        return f"{problem.text[:place]}{detail} {problem.text[place:]}"

"""Make typing mistakes that do not change the meaning."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem, read, same_quantities
from paraqd.reading.name_lists import capitalised_words, not_names, people, places
from paraqd.reading.numerals import ONES, ORDINALS, SCALES, TENS
from paraqd.reading.units import SPELLINGS
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.renaming import words_of
from paraqd.rewriting.text import splice

_WORD = re.compile(r"(?<![\w'’&#*^/.-])[a-z]{5,}(?![\w'’;&*^/-])", re.ASCII)
# words that are certainly not names, for use in texts without capitals
_ORDINARY = re.compile(
    r"\w{3,}(?:ing|ed|tion|tions|ment|able|ally|ther|ence|ance|ity|ough|ight|ween)|"
    r"total|numbers?|average|price|which|their|there|these|those|money|people|trains?|length|students|books|boxes|"
    r"school|class|after|before|every|would|could|should|still|place|value|square|circle|rectangle|perimeter|"
    r"product|profit|amount|percentage|interest|apples|oranges|pencils|marbles|cookies|flowers|friends|children|"
    r"house|store|garden|sells|costs|speed|travels|whole|digits?|difference|following|possible|themselves"
)
# words that a misspelling must not produce; plurals and verb endings cannot change, because word ends are kept
_OTHER_WORDS = frozenset(
    "there three trail trial tries tires tried tired flies files fries fires angel angle quite quiet casual causal "
    "united untied dairy diary bread beard silver sliver later latter loses losses chose choose shots shoots super "
    "supper diner dinner desert dessert hoping hopping planed planned stared starred reminder envelops breath divided "
    "compete diving weighs rising deceased bought brought paying playing closet father farther contact contract "
    "trough teaches faulty manages county country though through employers employees shipping shopping concert "
    "convert skipped slipped requited required reserved reversed sacred scared parties solider soldier from form "
    "tiered stripped striped scraped scrapped tapped taped filed filled poled polled waking crates drives "
    "grades fights counties handing insect layers leaning matching marching markets multiples observes offices "
    "precious sending signing singing sorting stated stating states status stores string strips strikes tables "
    "tilling weaves weighed competing action sings signs fried fired taking making".split()
)
# words that must not be misspelt, because they determine the answer
_WEIGHTY = re.compile(r"(?:hal[fv]|twice|doubl|tripl|thrice|quarter|dozen|fewer|unless|without|except|least)\w*")
_NUMBER_WORDS = frozenset({*ONES, *ORDINALS, *SCALES, *TENS})
_KEYS = {key: row[i + 1] for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm") for i, key in enumerate(row[:-1])}
_LONG = 7  # removing a letter from a shorter word often produces another word
_STOP = re.compile(r"(?<=[a-z]{3})\.(?= +(?:[A-Z][a-z]|how\b|what\b|find\b|which\b|calculate\b))")
_LAST_MARK = re.compile(r"(?<=[a-z]{2})\s?[?.]\s*$")
_CAPITALISED = re.compile(r"\b[A-Z]\w+")
_GAP = re.compile(r"(?<=[A-Za-z,.]) (?=[A-Za-z])")
_MARK = re.compile(r"(?<=[a-z]{2})(?=[,?]|\.(?:\s+[A-Z]|$))")
_APOSTROPHE = re.compile(r"(?<=[A-Za-z])'(?=[a-z])")
_QUOTED = re.compile(r'"([^"]*)"')
_LONE = re.compile(r"(?<![\w'’])[A-Za-z](?![\w'’])")
_LOWERED = re.compile(r"\b(?:US|IT|WHO|IN|AT|AM|OR|NO|AN|[A-Z]+\d\w*)\b")  # words with another meaning in lower case


class Typography(Operator):
    """Make typing mistakes: misspelt words, missing capitals or full stops, odd spaces, HTML entities."""

    name = "Typography"
    polarity = "valid"
    changes = frozenset({"wording", "punctuation"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Introduce two or three kinds of mistakes; return None if fewer than two kinds are harmless."""
        del resources
        count, done = rng.choice((2, 2, 3)), 0
        text = problem.text
        for kind in rng.sample(_KINDS, len(_KINDS)):
            if done == count:
                break
            made = kind(text, problem, rng)
            if made != text and _harmless(problem, made):
                text, done = made, done + 1
        return text if done > 1 else None


def _harmless(problem: Problem, made: str) -> bool:
    """Return True if ``made`` has the problem's quantities and contains a question if the problem does."""
    again = read(made)
    asked = problem.question is None or again.question is not None
    return asked and same_quantities(problem.quantities, again.quantities)


def _misspell(text: str, problem: Problem, rng: random.Random) -> str:
    words_in_text = words_of(problem.text)
    named = words_of(" ".join([*(e.text for e in problem.entities), *_CAPITALISED.findall(problem.text)]))
    spans = [match.span() for match in _WORD.finditer(text) if _may_misspell(match.group(), named, cased=problem.cased)]
    edits = []
    for start, end in rng.sample(spans, min(len(spans), rng.randint(1, 4))):
        word = text[start:end]
        made = _misspelt(word, rng)
        if (
            made not in words_in_text | _OTHER_WORDS | not_names() | capitalised_words()
            and made.title() not in people()
        ):
            edits.append((start, end, made))
    return splice(text, edits)


def _may_misspell(word: str, named: frozenset[str], *, cased: bool) -> bool:
    """Return True unless a word is a number, a unit, a name or a word that determines the answer."""
    if word in named | _NUMBER_WORDS or word in SPELLINGS or _WEIGHTY.fullmatch(word):
        return False
    known = word.title() in people() or word.title() in places()
    return not known and (cased or _ORDINARY.fullmatch(word) is not None)


def _misspelt(word: str, rng: random.Random) -> str:
    """Misspell a word by swapping or doubling letters or, if the word is long, by omitting or mistyping a letter."""
    at = rng.randrange(1, len(word) - 2)
    new = (word[at + 1] + word[at], word[at] * 2, "", _KEYS.get(word[at], ""))
    which = rng.randrange(4 if len(word) >= _LONG else 2)
    return word[:at] + new[which] + word[at + (2 if which == 0 else 1) :]


def _lower_case(text: str, problem: Problem, rng: random.Random) -> str:
    del rng
    lone = {match.group() for match in _LONE.finditer(problem.text)} - {"A", "a", "I"}
    if _LOWERED.search(problem.text) or any(letter.lower() in lone for letter in lone if letter.isupper()):
        return text  # X and x may be two variables
    # without full stops, only capitals mark the sentences
    run_on = len(_STOP.findall(text)) < len(_STOP.findall(problem.text))
    return text if run_on or re.search(r"[a-z] A [a-z]", problem.text) else text.lower()


def _drop_stops(text: str, problem: Problem, rng: random.Random) -> str:
    del problem
    made = _LAST_MARK.sub("", text)
    return _STOP.sub("", made) if rng.random() < 0.5 else made


def _add_spaces(text: str, problem: Problem, rng: random.Random) -> str:
    del problem
    wide = [(m.start(), m.end(), "  ") for m in _spaces_between_words(text) if rng.random() < 0.25]
    loose = [(m.start(), m.end(), " ") for m in _MARK.finditer(text)]
    return splice(text, rng.choice((wide, loose, wide + loose)))


def _add_html_entities(text: str, problem: Problem, rng: random.Random) -> str:
    del problem
    share = rng.choice((0.05, 0.1, 0.25))
    hard = [(m.start(), m.end(), "&nbsp;") for m in _spaces_between_words(text) if rng.random() < share]
    made = splice(text, hard) if "&" not in text else text.replace("& ", "&amp; ")
    # avoid &#39;, because it would be read as the number 39
    return _APOSTROPHE.sub(rng.choice(("&apos;", "&rsquo;")), made) if rng.random() < 0.7 else made


def _use_curly_quotes(text: str, problem: Problem, rng: random.Random) -> str:
    del problem, rng
    return _QUOTED.sub(r"“\1”", _APOSTROPHE.sub("’", text))


def _spaces_between_words(text: str) -> list[re.Match[str]]:
    """Return the spaces between words, except after "how", because questions are recognised by "how many"."""
    return [m for m in _GAP.finditer(text) if text[: m.start()].rpartition(" ")[2].lower() != "how"]


_KINDS = (_misspell, _lower_case, _drop_stops, _add_spaces, _add_html_entities, _use_curly_quotes)

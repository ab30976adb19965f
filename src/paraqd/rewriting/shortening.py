"""Remove or add phrases that do not affect the answer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from paraqd.reading import Problem
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import fix_article

_COUNT = r"(?<![/\d.])\d+|two|three|four|five|six|seven|eight|nine|ten"
_UNIT = r"(?:km ?/ ?hr?|kmph|kmh|mph|m ?/ ?s|miles per hour|miles an hour|km per hour|meters per second)"
_SAYS = r"knows?|knew|says?|said|thinks?|realizes?|realized|finds out|found out|told \w+|believes?"
_GOT = "bought|sold|has|had|made|earned|spent|baked|picked|collected|received|used|found|sells|makes|buys|needs"
_CLAUSE = r"(?=(?:the|he|she|there|each|all) [^,.?]*\b(?:is|are|was|were|has|have|can|does|will|takes|costs|works)\b)"
_FAR = r"(?:km|miles|kilometers)\b(?! ?/| per| an?\b| more| less| faster| farther)"
_PLACES = "class|school|town|village|city|company|store|shop|library|factory|college|hotel|office|zoo|farm|garden"
_START = r"(?:^|(?<=[.?!] ))"
# the group in each pattern is removed
_OUT = (
    rf"\b(?:{_SAYS}|assuming|suppose|assume|given|provided) (that )(?=(?:the|he|she|they|it|there|an?|his|her|each)\b)",
    rf"\b(?:[a-z]+s|money|amount|cake|bread|book) (that )(?=(?:he|she|they|it|you|we) (?:{_GOT}|can|will)\b)",
    r"(?<!but )(?<!only )\b(?:he|she|they|there (?:is|are|were|was)|we|i) (also )(?=\w)",
    r"(?<=, )(then )(?=(?:what|how|find|which|the|in|at|he|she|it|they|his|her|their)\b)",
    r"\b(?:and|she|he|they) (then )(?=[a-z]+(?:s|ed)\b|went|bought|sold|gave|took|found|lost|ate|spent|put|got|made)",
    rf"{_START}(then,? |after that, |afterwards, |next, |in addition, |additionally, |furthermore, |however, |"
    r"moreover, |later, |it is known that |it is given that |we know that )(?=\w)",
    rf"\b(?:{_COUNT}|how many) (of them )(?=(?:are|were|have|had|broke|got|left|like|can|did|do|came)\b)",
    r"\b(the value of )(?=[a-z]\s*(?:[-+*/^?.=]|$|,? (?:if|when|for which|such)\b))",
    r"\b(exactly )(?=\$\d|\d[\d.]* (?:minutes|hours|days|weeks|miles|km|meters|feet|kg|pounds|years)\b)",
    r"\b(?:at|for) ((?:an?|the) (?:speed|rate|cost|price|period) of )(?=(?:\$|rs\.? ?)?\d)",
    r"\b(?:travels|covers|covered|runs|walks|walked|travell?ed|drove|drives) (a distance of )(?=\d)",
    r"\b(?:all|half) (of )(?=(?:the|his|her|their|its|these|those)\b)",
    r"\bin the ratio (of )(?=\d)",
    r"\b[a-z]+s ((?:who|that|which) are )(?=(?:[a-z]+ed|made|sold|written|built|taken) (?:in|on|by|at|from|for)\b)",
    r"\b(?:he|she|it|who) (?:has|had|made|bought|sold|spent|earned|paid|used|collected|ran) (a total of )(?=\$?\d)",
    r"(?<!on )(?<!of )\b(?:his|her|their|my|its) (own )(?=[a-z])",
    r"\ba (certain )(?=[a-z])",
    r"\baverage ?(\(arithmetic mean\) )",
    r"\bhow much (money )(?=(?:did|does|do|will|would) [^?.]{1,40} (?:spend|earn|make|pay|save|owe)\b)",
    r"\b(?:cross|pass) each other( completely)\b",
    r"\b(?:has|have|had) (already )(?=\w)",
    r"\b(still )(?=(?:has|have|had) (?:\$?\d|left))",
    r"\bleft( now)(?=\s?[?.,])",
    r"\b(now )(?=(?:has|have) (?:\$?\d[\d.]*|only \d+)(?: \w+){0,2} left)",
    r"(?<=[a-z])( as well)(?=[.,])",
    r"\b(in order )(?=to [a-z])",
    r"(?<=[A-Za-z])(, (?:who|which) (?:loves|likes|enjoys|is fond of|adores) [a-z ]{3,40},)(?= [a-z])",
)
# after a match of a pattern, one of its phrases may be inserted
_IN = (
    (rf"\b(?:assuming|suppose|assume) {_CLAUSE}", ("that ",)),
    (rf"\b(?:{_SAYS}) (?=(?:he|she|they|there) )", ("that ",)),
    (rf"\b(?:of|all) the (?:[a-z]+s|money) (?=(?:he|she|they) (?:{_GOT})\b)", ("that ", "which ")),
    (r"\b(?:all|half) (?=(?:the|his|her|their|its|these) [a-z]+)", ("of ",)),
    (r"\bin the ratio (?=\d)", ("of ",)),
    (rf"\b(?:travels|covers|covered|travell?ed|walks|walked) (?=\d[\d.]* ?{_FAR})", ("a distance of ",)),
    (r"\b(?:needed|required|necessary) (?=to [a-z])", ("in order ",)),
    (r"\bhow much (?=(?:did|does|do|will) [^?.]{1,30} (?:spend|earn|pay|save|owe)\b)", ("money ",)),
    (rf"(?:{_START}|\bin |\bat )a (?=(?:{_PLACES})\b)", ("certain ", "particular ")),
    (rf"{_START}if [^,.?]{{8,}}, (?=(?:what|how|find|which)\b)", ("then ",)),
    (r"\b(?:what is|find) (?=[b-hj-z](?: [-+*/] \w+)?\s?(?:[?.]|$))", ("the value of ",)),
    (rf"\bat (?=\d[\d.]* ?{_UNIT}(?!\w))", ("a speed of ", "the speed of ")),
    (r"\bat (?=\d[\d. /]* ?% (?:per annum|p\. ?a\.|per year))", ("a rate of ", "the rate of ")),
    (r"\b(?:the|an) average (?=of \d[\d,.]* (?!km|miles|m\b))", ("(arithmetic mean) ",)),
)
_OUTS = tuple(re.compile(pattern, re.I) for pattern in _OUT)
_INS = tuple((re.compile(pattern, re.I), new) for pattern, new in _IN)
_TOTAL_OUT = re.compile(
    r"how m(?:any|uch)\b[^?.]*[a-z](?<! were)(?<! are)(,? (?:in all|altogether|in total))(?=\s?\?)", re.I
)
_TOTAL_IN = re.compile(
    r"how many (?!days|hours|minutes|weeks|years|months|ways|times|seconds)[a-z]+ (?:does|did|do|will|are|were) "
    r"(?:\w+ ){0,3}(?:have|buy|sell|make|eat|read|earn|bake|collect|pick|use|plant|see|score|there|catch)(?=\s?\?)",
    re.I,
)
# in a question with one of these words, adding or removing "in all" would change the meaning
_PART = re.compile(
    r"\b(?:each|every|per|more|fewer|less|than|left|remain\w*|now|still|first|second|third|last|next|other|only|total|"
    r"average|additional|extra|initially|originally|beginning|different|possible|before|after|or)\b",
    re.I,
)
_LOSS = re.compile(r"\b(?:gave|gives|ate|eats|lost|loses|sold|sells|left|remain\w*|used|spent|uses|older|ago)\b", re.I)
_REST = re.compile(r"\b(?:left|remain\w*|rest|already|another|additional|extra|still|away)\b", re.I)
_ADJECTIVES = "big|old|new|beautiful|local|nice|little|lovely|huge|famous|delicious|fancy|shiny|wonderful|cute|nearby"
_DETERMINER = "an?|his|her|their|my|some|the(?! new)"
_ADJECTIVE = re.compile(rf"\b(?:{_DETERMINER}) (({_ADJECTIVES}) )([a-z]{{3,}})\b(?! (?:than|as)\b)", re.I)
_KINDS = re.compile(r"\b(?:bigg?\w*|old|new|small\w*|large\w*|little|tiny|used|original|another|other|second)\b", re.I)
_NEVER = frozenset(
    "average price number ratio salary mean one ones and rate value speed man men mixture solution machine cube total "
    "income year age population bit while more less set area length width size figure pair observation person member "
    "employee side square rectangle triangle circle tax cost way integer numbers volume weight height score hours over "
    "under student students fraction set team group brother sister mark contract".split()
)


class Shortening(Operator):
    """Remove or add up to three phrases that do not affect the answer, such as "in all", "then" or "a speed of"."""

    name = "Shortening"
    polarity = "valid"
    changes = frozenset({"wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Remove or add one to three phrases; return None if no change is possible."""
        del resources
        text = problem.text
        found = [_removal(problem, *span) for span in _removable(problem)]
        for pattern, new in _INS:
            if new != ("then ",) or rng.random() < 0.3:  # limited, because "then" fits in a quarter of all questions
                found += [(match.end(), match.end(), rng.choice(new)) for match in pattern.finditer(text)]
        asked = _TOTAL_IN.search(text)
        if asked and not _PART.search(asked.group()) and not _LOSS.search(text):
            found.append((asked.end(), asked.end(), rng.choice((" in all", " altogether", " in total"))))
        edits: list[Edit] = []
        for edit in rng.sample(found, min(len(found), rng.randint(1, 3))):
            if all(edit[1] <= start or end <= edit[0] for start, end, _ in edits):
                edits.append(edit)
        return keep_quantities(problem, edits)


def _removable(problem: Problem) -> Iterator[tuple[int, int]]:
    """Yield the spans of the phrases that may be removed."""
    text = problem.text
    for pattern in _OUTS:
        yield from (match.span(1) for match in pattern.finditer(text))
    for match in () if _REST.search(text) else _TOTAL_OUT.finditer(text):
        if not _PART.search(match.group()[: -len(match.group(1))]):
            yield match.span(1)
    for match in _ADJECTIVE.finditer(text):
        adjective, noun = match[2].lower(), match[3].lower()
        others = {word.lower() for word in _KINDS.findall(text)} - {adjective}
        bare = re.findall(rf"\b(?:{_DETERMINER}|this|that|{adjective}) {noun}", text, re.I)
        once = text.lower().count(adjective) == 1 and len(bare) == text.lower().count(noun)
        # otherwise, the adjective may distinguish this thing from others
        if once and noun not in _NEVER and not others:
            yield match.span(1)


def _removal(problem: Problem, start: int, end: int) -> Edit:
    """Return the edit that removes a span and corrects the preceding article or the following capital."""
    text = problem.text
    next_word = re.findall(r"^\w*", text[end:])[0]
    if problem.cased and start in problem.sentence_starts:
        return (start, end + 1, text[end : end + 1].upper())
    at, new = fix_article(text, start, next_word)
    return (at, end + len(next_word), new)

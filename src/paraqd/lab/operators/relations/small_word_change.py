"""Replace a short word or phrase on which the answer depends, such as each, at least or twice."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import expand_macros, fix_article

_MACROS = {
    "{amount}": r"(?:\$|rs\.? ?)?{n}",
    "{part}": r"(%|percent|per cent|\d/\d|half|thirds?|quarters?|fourths?|fifths?|sixth|tenth)",
    "{rose}": r"(increase[sd]?|decrease[sd]?|reduced|raised|lowered|rises|rose|falls|fell|drops|dropped|grew|declined)",
    "{can}": r"(?= (?:can|could|have|had|weigh|weighed|cost|earn|earned|own|sold|made|collected|scored|saved)\b)",
    "{do}": "(plays?|played|likes?|speaks?|study|studies|read|passed|failed|takes?|took|owns?|had|have)",
    "{time}": "(?:hours?|days?|weeks?|months?|years?|minutes?)",
    "{path}": r"((?:path|road|walk|border|footpath|veranda)\b[^.?]{0,40})",
    "{away}": "(sold|sells|spent|ate|gave|used|uses|eats|lost|spends)",
    "{asked}": r"(?=,? (?:how|what|in \d)|\s?\?)",
    "{?}": r"(?=\s?\?)",
    "{later}": r"(?=.+\b(?:{n} (?:days|weeks|months|years)|(?:in|for|after) a (?:week|month|year))\b)",
    "{n}": r"(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)",
    "{whole}": "(?! ?50 ?%| 50 per| 1/2| half)",  # "reduced by a half" and "reduced to a half" mean the same
}
# pattern => replacements; the lookarounds limit each pattern to places where the word has a mathematical meaning
_TABLE = r"""
(?<=\d )each(?=[.,;?]| and (?:\d|the\b|a\b)) => altogether / in total / in all / combined
({amount} (?!feet|foot|inch|m |cm|meters)[a-z]+) each(?=[.,;?]) => \1 altogether / \1 in total / \1 in all / \1 combined
each of the(?= {n} ) => one of the / only one of the / just one of the
{part} of (the|his|her|their|its) remaining => \1 of \2 original / \1 of \2 initial
{part} of the (?:rest|remainder)(?! of) => \1 of the total / \1 of the whole / \1 of the original
{rose} by(?= {amount}){whole} => \1 to
{rose} to(?= {amount}){whole} => \1 by
(?<!for )({n} {time}) before(?! each| every| that| \w+ing\b) => \1 after
({n} {time}) after(?! each| every| that) => \1 before
at least(?= (?:{amount}|one|an?|half)\b) => at most / no more than / less than
at most(?= (?:{amount}|one|an?|half)\b) => at least / no less than / more than
no (?:more|greater) than => no less than / at least
no (?:less|fewer) than => no more than / at most
exactly(?= (?:one|{n})\b) => at least / at most / more than / fewer than
(?<!not )(?<!if )only(?= {n} (?!x\b|\*)) => at least / more than
(?<![\d/.$])([2-9]|[1-9]\d) more ([a-z]+) than => \1 times as many \2 as
(?<![\d/.])(\d+) times as many ([a-z]+) as => \1 more \2 than / \1 fewer \2 than
(?<![\d/.])(\d+) years older than => \1 times as old as
first(?= {n} (?:natural|odd|even|positive|prime|whole|multiples|terms|integers|numbers|innings)) => last
{do} both ([a-z]+) and ([a-z]+) => \1 either \2 or \3 / \1 \2 or \3 / \1 neither \2 nor \3
(divisible by|(?<!common )multiples? of|(?<!common )factors? of) (?:both )?(\d+) and(?= \d) => \1 \2 or / \1 \2 but not
(divisible by|multiples? of) (?:either )?(\d+) or(?= \d) => \1 \2 and / \1 both \2 and / \1 \2 but not
without(?= (?:repetition|replacement|repeating|replacing|tax|discount|restriction)) => with
with(?= (?:repetition|replacement)) => without
excluding(?= (?:the |any |sales )?(?:stoppages?|tax|tip|captain|teacher)) => including / with
including(?= (?:the |sales )?(?:stoppages?|tax|tip|captain|teacher|principal)) => excluding / without
(\d,?) inclusive => \1 exclusive
{path} inside => \1 outside
{path} outside => \1 inside
{away} all (?:of )?(the|his|her|their) => \1 some of \2 / \1 half of \2 / \1 a few of \2
(?<!after )(?:each|every) (day|night|morning)(?! of){later} => every other \1 / every second \1 / every third \1
(?<!after )(?:each|every) (week|month|year)(?=.+\b{n} \1s\b) => every other \1 / every second \1 / every third \1
(?<!after )(?:each|every) day(?=[.,;]){later} => on the first day / on the last day / on one day only
(?<!after )(?:each|every) (week|month|year)(?=[.,;].+\b{n} \1s\b) => in the first \1 / in the last \1 / in one \1 only
(\$\d[\d.]*) per (hour|day|week|month|minute)(?=.*\b{n} \2s\b) => \1 for the first \2 / \1 for the last \2
(is|are|was|were)( there)? left{?} => \1\2 used / \1\2 gone / \1\2 missing
(does|did|do) (\w+) have left{?} => \1 \2 use up / \1 \2 give up / \1 \2 lose
(is|are|was|were) remaining{?} => \1 used / \1 gone / \1 missing
twice(?= (?:as|the)\b) => half
half(?= as (?:many|much|old|long|fast|big|tall)\b) => twice
double(?= the (?:number|amount|price|cost|weight|age|length)\b) => half
(?<!and )(?<!or )plus(?= (?:\d|half|twice|three)) => minus / times
(?<!or )minus(?= (?:\d|half|twice|three)) => plus / times
(%|percent) off(?= (?:the|its|his|her|all|any|every|each)\b) => \1 of
({n} (?:people|children|kids|years|items|hours|miles|guests|dollars)) or more => \1 or fewer / \1 or less
together{can} => each
(have|had|weigh|cost|sold|earned|collected) ({amount}(?: [a-z]+)?) (?:together|combined)(?=[.,]) => \1 \2 each
(?<!the )work(ing)? together => work\1 in turn / work\1 by turns / work\1 one after the other / work\1 one at a time
neither ([a-z]+) nor => either \1 or / both \1 and
(do|does|did|is|are|was|were|has|have) not(?! only| nec| more| less| equal| drawn| inc| to\b| exc) => \1
can ?not(?= (?:be|sit|use|have)) => can
how many more(?= [a-z]+ (?:does|do|did|must|should|would)\b)(?![^?]* than\b) => how many total
have now{?} => have at first / have to begin with / have originally / have in the beginning
(?:at first|originally|initially|(?:in|at) the beginning|to begin with){?} => at the end / in the end / afterwards
the same (colou?r|suit|gender) => a different \1 / a particular \1
(?<!ing )(?<!work )at (?:the|that|this) same (speed|rate|pace){asked} => at another \1 / at a different \1
towards? each other => away from each other
((?:took|takes|poured|moved|moves) {n} [a-z]+) from(?= (?:the|his|her|a)\b)(?![^.?]* (?:to|into)\b) => \1 to
all but(?= {n}\b) => only
(shared|divided|distributed|split) equally => \1 unequally
directly proportional => inversely proportional
inversely proportional => directly proportional
(holds?|carry|carries|seats?|fits?) up to(?= \d+ [a-z]) => \1 more than / \1 at least
"""


def _entries() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Return each line of the table as a compiled pattern and its replacements."""
    pairs = []
    for line in _TABLE.strip().splitlines():
        old, new = line.split(" => ")
        pattern = rf"(?<![\w-])(?:{expand_macros(old, _MACROS)})(?![\w-])"
        pairs.append((re.compile(pattern, re.I), tuple(new.split(" / "))))
    return tuple(pairs)


ENTRIES = _entries()


class SmallWordChange(Operator):
    """Change a small word on which the answer depends: $5 each → $5 in all, increased by 20 → increased to 20."""

    name = "SmallWordChange"
    polarity = "invalid"
    fault = "relation_changed"
    changes = frozenset({"relations", "numbers"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Return the problem with one word changed, or None if no pattern matches."""
        del resources
        found = [(matches, news) for pattern, news in ENTRIES if (matches := _matches(problem, pattern))]
        if not found:
            return None
        matches, news = rng.choice(found)  # every matching pattern is equally likely
        match = rng.choice(matches)
        start, new = fix_article(problem.text, match.start(), match.expand(rng.choice(news)))
        if problem.text[start].isupper():
            new = new[0].upper() + new[1:]
        return problem.text[:start] + new + problem.text[match.end() :]


def _matches(problem: Problem, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the matches in questions and in sentences with a quantity; elsewhere, the word may not matter."""
    found = []
    for match in pattern.finditer(problem.text):
        sentence = next((s for s in problem.sentences if s.start <= match.start() < s.end), None)
        if sentence is None:
            continue
        counted = any(sentence.start <= quantity.start < sentence.end for quantity in problem.quantities)
        if counted or sentence.text.endswith("?"):
            found.append(match)
    return found

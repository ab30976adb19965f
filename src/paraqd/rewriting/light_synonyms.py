"""Replace a few words or phrases with synonyms."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.text import expand_macros, fix_article

# groups of words that can replace each other anywhere
_FREELY = r"""
bought|purchased; children|kids; trip|journey; trips|journeys; bicycle|bike; bicycles|bikes; mother|mom; father|dad
grandmother|grandma; grandfather|grandpa; refrigerator|fridge; sofa|couch; persons|people; huge|enormous|gigantic
until|till; toward|towards; among|amongst; approximately|roughly; nearly|almost; breadth|width; large|big; rich|wealthy
thrice|three times; present age|current age; present ages|current ages; additional|extra; is equal to|equals; taxi|cab
years hence|years from now; kmph|km/h|km/hr; percent|per cent; per annum|per year; lovely|beautiful; famous|well-known
garbage|trash|rubbish; photograph|photo; photographs|photos; candies|sweets; lorry|truck; suppose|assume; color|colour
assuming that|supposing that|provided that; the next day|the following day; lorries|trucks; doctor|physician; gray|grey
lawyer|attorney; neighbor|neighbour; colored|coloured; colors|colours; meters|metres; kilometers|kilometres
liters|litres; traveling|travelling; liter|litre; traveled|travelled; center|centre; favorite|favourite
theater|theatre; consists of|is made up of; in the beginning|at the beginning|at the start; neighbors|neighbours
"""
# pattern > replacements; {n} requires a number or a determiner to follow, and {b} matches a preceding form of "to be"
_HERE = r"""
buys{n} > purchases; (to|did|can|not|could|will) buy > \1 purchase; (to|did|can|could|will) purchase > \1 buy
begins (with|to|at) > starts \1; starts (with|to) > begins \1; began > started; received{n} > got; earned(?= \$) > made
started (walking|running|working|reading|saving|to) > began \1; complete(?= the (?:work|job|task|race)) > finish
finish(?= the (?:work|job|task|race|project)) > complete; (he|she|who|each) receives{n} > \1 gets; needs to > has to
gets(?= (?:\$\d|a (?:discount|raise|bonus))) > receives; cost(?= \$[\d.]*\d each) > are priced at / sell for
(?<!it )costs(?= \$[\d.]*\d(?: and|[,;.]? (?:each|while|a)\b|[,.;?]$)) > is priced at; {he} owns{n} > \1 has
in all(?=[.?]) > altogether / in total; altogether(?=[.?]) > in all / in total; in total(?=[.?]) > in all / altogether
total number of > overall number of; {he} has(?= {own}s?\b(?! left)) > \1 owns; (he|she) earns(?= \$) > \1 makes
how much money(?= (?:did|does|do|will|is|was|has)\b) > what amount of money; (\$[\d.]+|\d+ \w+) an hour > \1 per hour
(\$[\d.]+|\d+ (?:miles|km|dollars|pages|words|gallons|liters|units)) per (day|week|month|year|minute) > \1 a \2
(\$[\d.]+|\d+ (?:miles|dollars|pages|words|gallons|liters|units)) per hour > \1 an hour; need to > have to
(\$[\d.]+|\d+ \w+) a (day|week|month|year|minute) > \1 per \2; every (day|week|month|year|hour|minute) > each \1
each (day|week|month|year|hour|minute|night|morning) > every \1; (trains?|it|he|she) crosses{n} > \1 passes
(?:^|(?<=[.,;:?] )|(?<=then ))find(?= (?:the|its|his|her|their)\b) > determine / work out / calculate; what's > what is
given that(?= [^.?]*, (?:what|how|find)) > if; (he|she) makes(?= \$) > \1 earns; wants to > would like to / wishes to
the remaining (money|students|people|water|work|land) > the rest of the \1; want to > would like to / wish to
decides to > chooses to; decided to > chose to; (?:is|are) able to > can; currently > at present / presently
at present > currently; precisely > exactly; exactly(?= (?:\d|one|two|three)) > precisely; {he} has to > \1 needs to
distinct > different; contains{n} > has; different (ways|integers|numbers|digits|positive|prime|values) > distinct \1
consisting of > made up of / composed of; {box} contains{n} > \1 holds; positive integer(s?) > positive whole number\1
how long (will|does|did|would) it take > how much time \1 it take; how much time (will|does|did|would) > how long \1
how far (did|does|can|will|has|had) > what distance \1; increases by > goes up by / rises by; pupils > students
{b} decreased by > \1 reduced by / \1 lowered by; {b} reduced by > \1 decreased by / \1 lowered by; students > pupils
decreases by > goes down by / falls by / drops by; travels at > moves at / goes at; moving at > travelling at
(?:traveling|travelling) at > moving at / going at; (trains?.{0,25}) running at > \1 moving at / \1 travelling at
{he} travels(?= \d+ (?:km|miles|kilom)) > \1 covers; initially > at first / at the start; the entire > the whole
(train|car|bus|he|she) covers(?= \d+ (?:km|miles|kilom)) > \1 travels; originally > initially / at first
the whole(?! number) > the entire; movie(s?)(?! the| ti) > film\1; employee(s?) > staff member\1; such that > so that
{b} (?:selected|picked) at random > \1 chosen at random; {b} randomly (selected|chosen) > \1 \2 at random
{b} chosen at random > \1 selected at random / \1 picked at random; {b} chosen > \1 selected; {b} selected > \1 chosen
a certain > a particular; in order to > so as to; so as to > in order to; because of > due to; as well as > along with
during the (first|second|third|last|next) > in the \1; marks obtained > marks scored; {b} required > \1 needed
required(?= to (?:fill|complete|finish|make|build|cover)) > needed; requires{n} > needs; {b} placed (in|on) > \1 put \2
at the same time(?=[.,]) > simultaneously; (?<!it )takes(?= \d+ (?:hours|days|minutes) to\b) > needs; what is > what's
simultaneously(?=[.,]) > at the same time; collected(?= \d) > gathered; eats(?= \d) > consumes; ate(?= \d) > consumed
(to|can) build > \1 construct; (compounded|paid) annually > \1 yearly; vacation > holiday; the largest > the greatest
(trains?|it) passes(?= (?:a|the) (?:pole|platform|bridge|tunnel|man)) > \1 crosses; years of age > years old
the greatest(?! common) > the largest; maximum number of > greatest number of / largest number of; {at} store > \1 shop
minimum number of > smallest number of / least number of; smallest (number|integer|possible) > least \1
the least (number|integer|possible) > the smallest \1; (\d+ (?:m|cm|km|meters|metres|feet|miles)) in length > \1 long
(\d+ (?:m|cm|km|meters|metres|feet|miles)) long(?= (?:is|and|crosses|passes|runs|takes)\b|[,.]) > \1 in length
(\d+) years old(?=[.,?]| and) > \1 years of age; years ago > years back; (a|the) gain (of|percent) > \1 profit \2
twice(?= as (?:many|much|old|long|fast|large)) > two times; at a gain > at a profit; (a|the) profit of > \1 gain of
{at} shop > \1 store
"""
_NUMBER = r"(?= (?:\$|rs\.? ?)?(?:\d|(?:an?|the|some|two|three|four|five|six|seven|eight|nine|ten|his|her)\b))"
_OWNED = "cars?|dogs?|cats?|books?|cows?|horses?|goats?|bikes?|houses?|farm|shop|restaurant|marbles|stamps|toys?|dolls?"
_MACROS = {
    "{n}": _NUMBER,
    "{b}": "(is|are|was|were|be|been)",
    "{he}": r"(he|she|who|man|woman|(?-i:(?!It\b|Each|This|That|There|One\b|Which)[A-Z][a-z]+))",
    "{own}": rf"(?:a|an|\d+|two|three|four|five|six|ten) (?:\w+ )?(?:{_OWNED})",
    "{box}": "(bag|box|basket|jar|urn|bowl|tank|packet|bottle|purse|drawer|pack)",
    "{at}": r"(a|the|local|this|one|each|two|several)",
}
# fixed phrases, and phrases in which a listed word has another meaning
_GUARDS = re.compile(
    r"(?:round|field|road|business|boat|return)[ -]trips?|at the start of|(?:shop|store) (?:floor|manager|room)s?|"
    r"(?:parking|water|gas|taxi) meters?|no more than|big toe|pep talk|\d(?: \w+)? large\b|in the beginning of|"
    r"people's|father-in-law|mother-in-law|whole numbers?|(?:greatest|largest) common|so large|"
    r"which (?:is|are|was) equal to|more than one|as big as|"
    r"what is (?:it|this|that)\b|least common|least once|"
    r"\b(?:college|universit|campus|graduate).*students|students.*(?:college|universit|campus|graduate)",
    re.I,
)
_WORD = re.compile(r"[a-z]{4,}")


def _entries() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Return the entries of both tables, each as a whole-word pattern and its replacements.

    Hyphenated and possessive forms do not match the patterns.
    """
    pairs: list[tuple[str, tuple[str, ...]]] = []
    for group in filter(None, re.split(r";\s*|\n", _FREELY)):
        words = group.strip().split("|")
        pairs += [(re.escape(old), tuple(new for new in words if new != old)) for old in words]
    for entry in filter(None, re.split(r";\s+|\n", _HERE)):
        old, new = entry.strip().split(" > ")
        pairs.append((expand_macros(old, _MACROS), tuple(new.split(" / "))))
    return tuple((re.compile(rf"(?<![\w'’-])(?:{old})(?![\w'’-])", re.I), new) for old, new in pairs)


ENTRIES = _entries()


class LightSynonyms(Operator):
    """Replace one to four words or phrases with synonyms: buys → purchases, per hour → an hour."""

    name = "LightSynonyms"
    polarity = "valid"
    changes = frozenset({"wording", "numbers", "units"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace all occurrences of each chosen word or phrase; return None if nothing can be replaced."""
        del resources
        text = problem.text
        blocked = [match.span() for match in _GUARDS.finditer(text)]
        found: list[list[Edit]] = []
        for pattern, news in ENTRIES:
            matches = [m for m in pattern.finditer(text) if not any(a < m.end() and m.start() < b for a, b in blocked)]
            fitting = [new for new in news if matches and not _already_in_text(text, matches[0], new)]
            # "what's" is chosen less often, because "what is" occurs in a third of all questions
            if fitting and (news != ("what's",) or rng.random() < 0.3):
                new = rng.choice(fitting)
                found.append([_edit(text, match, new) for match in matches])
        edits: list[Edit] = []
        for group in rng.sample(found, min(len(found), rng.choice((1, 2, 2, 3, 3, 4)))):
            if not any(a < end and start < b for a, b, _ in edits for start, end, _ in group):
                edits += group
        return keep_quantities(problem, edits)


def _already_in_text(text: str, match: re.Match[str], new: str) -> bool:
    """Return True if the text already contains a word of the replacement.

    The replacement is then unsafe, because big boxes and large boxes may be different boxes.
    """
    fresh = set(_WORD.findall(match.expand(new).lower())) - set(_WORD.findall(match.group().lower()))
    return any(word[:5] in text.lower() for word in fresh)


def _edit(text: str, match: re.Match[str], new: str) -> Edit:
    made = match.expand(new)
    start, made = fix_article(text, match.start(), made)
    if start == match.start() and text[start].isupper():
        made = made[0].upper() + made[1:]
    return (start, match.end(), made)

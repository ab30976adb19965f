"""Define the words and patterns for relations that can be stated from either party's side."""

from __future__ import annotations

import re

from paraqd.reading.currencies import SIGN_PATTERN

_OPPOSITES = {
    "older": "younger",
    "taller": "shorter",
    "longer": "shorter",
    "heavier": "lighter",
    "faster": "slower",
    "bigger": "smaller",
    "larger": "smaller",
    "greater": "smaller",
    "wider": "narrower",
    "deeper": "shallower",
    "higher": "lower",
    "cheaper": "more expensive",
    "warmer": "cooler",
    "hotter": "colder",
    "earlier": "later",
    "richer": "poorer",
}
TURNED = {**{b: a for a, b in _OPPOSITES.items()}, **_OPPOSITES, "elder": "younger", "smaller": "larger"}
# nouns for amounts, which take "less" rather than "fewer"
UNITS = frozenset(
    "year years month months week weeks day days hour hours minute minutes second seconds km kilometers kilometres m "
    "meters metres cm centimeters miles mile feet foot inches inch kg kgs kilograms grams pounds pound ounces dollars "
    "dollar cents rupees rs units unit degrees liters litres gallons mph kmph yards tons mtr hrs".split()
)
COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
PARTS = dict(enumerate("half third quarter fifth sixth seventh eighth ninth tenth".split(), start=2))
# phrases that introduce the other party at the start of a sentence
BESIDE = tuple(
    "compared with|compared to|in comparison with|in comparison to|as compared with|as compared to|"
    "when compared with|when compared to|relative to|by comparison with|set against|measured against".split("|")
)
# verbs with a singular subject
SINGULAR_VERBS = (
    "is|has|weighs|costs|earns|scores|runs|drives|travels|walks|swims|reads|sells|makes|gets|owns|buys|eats|takes|"
    "works|spends|saves|collects|receives|contains|finishes|produces|lives|pays|invests|needs|uses|bakes|plants|picks|"
    "drinks|lasts|charges|grows|jumps|moves|types|writes|cooks|sleeps|leaves|starts|arrives|departs|gives|lends|beats|"
    "defeats|borrows|does"
)
# verbs in the past or future tense, and plural verbs
OTHER_VERBS = (
    "was|will be|had|weighed|cost|earned|scored|ran|drove|travell?ed|walked|swam|read|sold|made|got|owned|bought|ate|"
    "took|worked|spent|saved|collected|received|contained|finished|produced|paid|caught|won|found|picked|baked|"
    "planted|used|wrote|drank|raised|donated|invested|answered|solved|needed|gave|saw|painted|grew|jumped|lost|sent|"
    "visited|attended|watched|completed|studied|practiced|lifted|slept|played|are|have|were"
)
_VERB = (
    rf"(?P<verb>(?:{SINGULAR_VERBS}|{OTHER_VERBS}|is [a-z]+ing|can (?!be\b|not\b)[a-z]+(?: (?:the|a|an|this) "
    r"(?:same )?[a-z]+)?)(?: now| currently)?)(?: only| exactly| just| also)?"
)
_NUMBER_WORD = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|a hundred"
)
# words that cannot be part of a party's name
_STOP = (
    "if|that|and|or|but|while|when|who|whom|which|whose|is|are|was|were|has|had|have|than|as|then|there|it|they|this|"
    "these|those|we|you|i|what|how|each|every|both|all|other|others|another|not|by|with|at|from|to|for|in|on|half|"
    "twice|thrice|double|triple|times|only|will|would|can|does|did|do|so|since|because|after|before|percent|per|less|"
    "more|fewer|last|yesterday|today|usual|expected|either|any|some|them|him|me|us|my|your|our|their|now|also|still|"
    "where|whereas|together|respectively|original|previous|normal|average|sum|total|one|two|three|four|most|least|"
    "therefore|thus|hence"
)
_WORD = rf"(?!(?:{_STOP})\b)[a-z][\w'’-]*"
_PARTY = rf"{_WORD}(?: {_WORD}){{0,5}}"
_OTHER = rf"(?P<b>(?:his |her |its )?{_PARTY}?)"
_LEAD = (
    r"(?P<lead>^|[.?!;]\s+|,\s+|\b(?:if|that|and|but|while|when|suppose|whereas|because|since|ago|hence|later|now)\s+)"
)
_PURE_AMOUNT = (
    rf"(?:(?:{SIGN_PATTERN}|rs\.?) ?)?(?:\d[\d,]*(?:\.\d+)?|{_NUMBER_WORD})"
    rf"(?! ?%|\w| ?/|\.\d)(?: {_WORD}(?: per [a-z]+| ?/ ?[a-z]+)?)?"
)
_AMOUNT = rf"(?P<amount>{_PURE_AMOUNT})"
_MORE = rf"(?P<word>more expensive|more|fewer|less|{'|'.join(TURNED)})"
_MULTIPLE = (
    rf"(?P<times>twice|thrice|double|(?:\d+(?:\.\d+)?|{'|'.join(COUNTS)}) times|\d+/\d+(?: times)?|half|"
    r"(?:one|a|1)[ -](?:half|third|fourth|quarter|fifth|sixth|tenth))"
)
_AFTER = r"(?: (?:does|did|do|has|had|is|was|have|will be))?"
_WHO = r"(?P<who>(?:, who (?:(?!\b(?:and|but|or)\b)[^.,;?!]|\.(?=\d))+(?=\.(?!\d)|$))?)"
_NEXT = (
    rf"(?!(?:{SINGULAR_VERBS}|{OTHER_VERBS})\b){_WORD} (?:{_WORD} )?(?:{SINGULAR_VERBS}|{OTHER_VERBS}|can) "
    r"(?!together\b|combined\b|put\b)"
)
# a clause ends at a full stop, before a question, or before a conjunction that has its own subject and verb
_END = (
    rf"(?=\s*(?:[.;?!](?!\d)|$)|,? (?:how|what|find|calculate)\b|, then\b|,? (?:and|but|while) {_NEXT}|"
    r",? and (?:the (?:sum|total|difference|product)|together|if|their|they|there)\b)"
)
_MONEY = (
    rf"(?:(?:{SIGN_PATTERN}|rs\.?) ?)?\d[\d,]*(?:\.\d+)?(?: (?:dollars|rupees|cents|each|apiece|years?|months?|days?))*"
)
# the thing must not contain "his", "her" or "its", which would refer to the other party after the swap
_THING = (
    rf"(?P<thing>(?:{_PURE_AMOUNT}|(?:a|an|the) {_WORD})"
    rf"(?: (?!(?:his|her|its)\b)(?:of (?:the )?(?!(?:his|her|its)\b))?{_WORD}){{0,3}}?)"
)
_TAIL = rf"(?P<tail>(?: (?:for|at) {_MONEY})?)"
GIVING = {
    "gave": "got|received|was given",
    "gives": "gets|receives|is given",
    "lent": "borrowed|was lent",
    "lends": "borrows|is lent",
    "sold": "bought|purchased",
    "sells": "buys|purchases",
    "sent": "got|received|was sent",
    "paid": "got|received|was paid",
    "pays": "gets|receives|is paid",
    "handed": "got|received|was handed",
}
GETTING = {
    "bought": "sold",
    "buys": "sells",
    "purchased": "sold",
    "borrowed": "lent",
    "borrows": "lends",
    "received": "gave",
    "got": "gave",
    "receives": "gives",
    "gets": "gives",
}
HANDING = frozenset((*GIVING, *GETTING))
_COMING = "left|leaves|started|starts|arrived|arrives|finished|finishes|was born|set out|set off|came|departed|departs"
BEFORE_AFTER = {
    "before": ("after", "later than"),
    "after": ("before", "earlier than"),
    "earlier than": ("later than", "after"),
    "later than": ("earlier than", "before"),
    "ahead of": ("behind", "after"),
    "behind": ("ahead of", "before"),
}
BEATEN = {
    "beats": "loses to|is beaten by",
    "beat": "lost to|was beaten by",
    "can beat": "can be beaten by",
    "defeats": "loses to|is defeated by",
}


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


ANY_VERB = _compile(rf"\b(?:{SINGULAR_VERBS}|{OTHER_VERBS}|can)\b")
_SUBJECT = rf"{_LEAD}(?P<a>{_PARTY})"
THAN = _compile(rf"{_SUBJECT} {_VERB} {_AMOUNT} {_MORE}(?P<what>(?: {_WORD}){{0,3}}) than {_OTHER}{_AFTER}{_WHO}{_END}")
AS = _compile(
    rf"{_SUBJECT} {_VERB} {_MULTIPLE} (?P<what>as {_WORD}(?: (?:of |a (?=work))?{_WORD}){{0,3}}|"
    rf"the (?:number|amount) of {_WORD}(?: {_WORD})?) as {_OTHER}{_AFTER}{_WHO}{_END}"
)
IS_TIMES = _compile(
    rf"{_SUBJECT} (?P<verb>is|was|will be) {_MULTIPLE} (?P<of>the (?:age|height|weight|size) of )?(?:of )?"
    rf"(?P<b>(?:the |its ){_PARTY}?|{_WORD}(?: {_WORD}){{0,2}}?){_END}"
)
_SORT = rf"{_WORD}(?: {_WORD}){{0,2}}?"
_HAVING = (
    r"(?P<before>\b(?:[Tt]here (?:are|were)|has|owns|contains|needs|wants|(?:[Hh]e|[Ss]he|[Tt]hey|[Ww]e|[A-Z][a-z]+) "
    r"(?:had|bought|sold|picked|ordered|planted|baked|made|collected|owned|found|caught|got|have|saw|used|needed)) )"
)
_PLACE = (
    r"(?=\s*(?:[.;?!](?!\d)|$)|, (?:and there|while there|but there)|,? (?:how|what|then)\b|"
    r" (?:in|on|at) (?:the|a|an|his|her|this)\b|,? and (?:\w+ (?:more|fewer|less)|twice|half|\w+ times) )"
)
MORE_SORTS = re.compile(rf"{_HAVING}{_AMOUNT} (?P<word>more|fewer|less) (?P<x>{_SORT}) than (?P<y>{_SORT}){_PLACE}")
TIMES_SORTS = re.compile(
    rf"{_HAVING}{_MULTIPLE} as many (?P<x>{_SORT}) as (?P<there>there (?:are|were) |s?he (?:does|did|has) )?"
    rf"(?P<y>{_SORT}){_PLACE}"
)
_FIGURES = r"(?P<m>\d+(?:\.\d+)?)(?P<colon>\s?:\s?| to )(?P<n>\d+(?:\.\d+)?)(?!\s?:|\d|\.\d| to |%|/)"
_SIDE = rf"(?:the )?{_WORD}(?: (?:in |at |the |a |of )?{_WORD}){{0,6}}?"
RATIO_TO = _compile(
    rf"\bratio (?:of|between) (?P<x>{_SIDE})(?P<link> to )(?P<y>{_SIDE})"
    rf"(?P<mid>(?: (?:in|at|on|of) (?:the|a|an|this|that|his|her)\b[^.,;?:\d]*?)? (?:is|was) (?:now )?){_FIGURES}"
)
_SHORT = rf"(?:the )?(?!the\b)(?:number of )?(?!of\b){_WORD}(?: (?!of\b){_WORD})?"
RATIO_AND = _compile(
    rf"(?:\b(?:of|between|among|by|friends|liquids|whose|if|contains?|containing) |^|(?<=[.?!] ))"
    rf"(?P<x>{_SHORT})(?P<link> and )(?P<y>{_SHORT})(?P<mid>(?: (?:in|of|at) (?:a|an|the) {_WORD}(?: {_WORD})?)? "
    rf"(?:(?P<is>is|was)|(?:(?:are|were|is) |(?:split|divided?|shared?) [^.,;:?]{{0,30}}?)?"
    rf"in (?:the|a) ratio(?: of)?) ){_FIGURES}"
)
RATIO_ASKED = _compile(
    rf"\b(?:what (?:is|was)|find|calculate) the ratio of (?P<x>{_SIDE}) to (?P<y>{_SIDE})(?=\s*[?.]|$)"
)
RATIO_ORDER = _compile(r"\brespective|\bproportion|\bratios\b")
RATIO_NAMED = _compile(rf"ratio (?:of|between) (?!their|the (?:two|ages|numbers)\b){_SIDE} (?:to|and) ")
GIVE_TO = _compile(rf"{_SUBJECT} (?P<verb>{'|'.join(GIVING)}) {_THING} to {_OTHER}{_TAIL}{_END}")
GIVE = _compile(rf"{_SUBJECT} (?P<verb>gave|gives|lent|lends|sent|paid|pays) {_OTHER} {_THING}{_TAIL}{_END}")
GET = _compile(rf"{_SUBJECT} (?P<verb>{'|'.join(GETTING)}) {_THING} from {_OTHER}{_TAIL}{_END}")
WHEN = _compile(
    rf"{_SUBJECT} (?P<verb>{_COMING})"
    rf"(?P<where>(?: (?:the|for|at|in|from|home|school|work|city|town)(?: {_WORD}){{0,2}}?)?)"
    rf" (?P<amount>(?:\d[\d.]*|{_NUMBER_WORD}|half an) (?:hours?|minutes?|seconds?|days?|years?|months?|weeks?)) "
    rf"(?P<word>{'|'.join(BEFORE_AFTER)}) {_OTHER}{_AFTER}{_END}"
)
BEAT = _compile(rf"{_SUBJECT} (?P<verb>{'|'.join(BEATEN)}) (?P<b>{_PARTY}) by {_AMOUNT}{_END}")
ASK_PARTIES = _compile(
    rf"\b(?P<how>how (?P<much>many|much)) {_MORE}(?P<what>(?: {_WORD}){{0,3}}?) "
    rf"(?P<verb>does|did|do|is|was|will|are|were|can) (?P<a>{_PARTY}?)(?P<base>(?: (?:have|{_WORD}))?) than "
    rf"{_OTHER}{_AFTER}(?=\s*[?.]|$| (?:in|on|at|per|after) )"
)
ASK_SORTS = _compile(
    rf"\bhow many (?P<word>more|fewer|less) (?P<x>{_SORT}) than (?P<y>{_SORT})"
    r"(?= (?:are|were|does|did|do|has|have|had|in)\b|\s*\?)"
)
ONE_AND_OTHER = _compile(
    rf"\bone (?P<a>(?:{_WORD} )?)(?:is|was|has|weighs|costs) {_AMOUNT} {_MORE}(?P<what>(?: {_WORD}){{0,3}}) than "
    rf"(?:the other|another)(?: {_WORD})?{_END}"
)

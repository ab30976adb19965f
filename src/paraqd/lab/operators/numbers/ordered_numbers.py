"""Reorder the sentences and swap two numbers."""

from __future__ import annotations

import random
import re
from itertools import combinations, pairwise

from paraqd.reading import Kind, Problem, Span, read
from paraqd.reading.units import category
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.sentence_order import reordered
from paraqd.rewriting.text import splice

_DIGITS = r"(?<![\d.,/:^-])(?P<{}>\d+(?:,\d{{2,3}})*(?:\.\d+)?)(?![\d/:^]|\.\d|,\d)"
_MONEY = r"(?:\$|rs\.? ?)"
_EACH = r"\b(?:each|per|every|apiece)\b|/"
# Each row holds a pattern, a pattern that must also occur in the text, and a pattern that must not occur. "<a>" and
# "<b>" are the two numbers. Swapping the numbers changes the answer, because one number is divided by the other,
# subtracted from it or weighted differently. "<p>" and "<q>" are two other numbers, which must differ. "~" matches any
# short text without digits.
_TABLE = (
    (rf"(?:buys?|bought|sells?|sold) <a> (?:[a-z]+ ){{1,2}}for {_MONEY}?<b>", "", _EACH),
    (
        r"(?:make|produce|read|type|print|bake|pack|wash|paint|pick|write)s?(?:d|ed)? <a> (?:[a-z]+ ){1,2}in <b> "
        r"(?:seconds|minutes|hours|days|weeks|months)\b",
        "",
        _EACH,
    ),
    (r"<a> (?:[a-z]+ ){1,4}(?:divided|shared|distributed|split) (?:equally |evenly )?(?:among|into) <b>", "", ""),
    (r"increase[sd]? by <a> ?(?:%|percent)~(?:decrease|reduce)[sd]? by <b> ?(?:%|percent)", "", "net|same|product"),
    (r"divided by <a>,?~remainder (?:is |of |as )?<b>", "", ""),
    (r"remainder (?:is |of )?<a>,? when~divided by <b>", "", ""),
    (r"quotient (?:is |of )?<a> and (?:the )?remainder (?:is |of )?<b>", "", ""),
    (r"average~of~<p>~(?:is|was|are|be) <a>~average~of~<q>~(?:is|was|are|be) <b>", "", ""),
    (r"\bfill(?:s|ed)?\b~in <a>~(?:empty|empties|emptied|drain)~in <b>", "", ""),
    (rf"{_MONEY}<a>~amounts? to {_MONEY}?<b>", "", ""),
    (rf"(?:bought|buys|purchased|purchases)~{_MONEY}<a>~(?:sold|sells|selling)~{_MONEY}<b>", "", ""),
    (r"(?:cost price|c\.?p\.?)~<a>~(?:selling price|sold|s\.?p\.?)~<b>", "", ""),
    (rf"(?:sold|selling|sells|sell|price)~{_MONEY}<a>~(?:loss|losing|gain|profit) of <b> ?(?:%|percent)", "", ""),
    (rf"(?:loses|gains|lost|gained|(?:loss|gain|profit) of) <a> ?(?:%|percent)~(?:sold|sell\w*)~{_MONEY}<b>", "", ""),
    (
        r"<a> (?:[a-z]+ ){0,3}(?:out of|from among|(?:chosen|selected|drawn|picked|formed) from|"
        r"from an? (?:group|set|class|team|batch|pack|box|bag) of) (?:[a-z]+ ){0,3}<b>",
        "",
        "",
    ),
    (r"(?:radius|diameter)~<a>~(?:height|depth|long|length|deep|high)~<b>", "volume|contain|water|earth", "surface"),
    (r"(?:height|depth|length)~<a>~(?:radius|diameter)~<b>", "volume|contain|water|earth", "surface"),
)
_ROLES = tuple(
    (
        re.compile(re.sub(r"<(\w)>", lambda m: _DIGITS.format(m[1]), pattern.replace("~", r"[^\d?]{0,70}?")), re.I),
        re.compile(needed, re.I),
        re.compile(banned or r"(?!)", re.I),
    )
    for pattern, needed, banned in _TABLE
)
_RATIO = re.compile(
    r"\bratio (?:of|between) (?:the )?(?:ages? of |numbers? of )?([a-z]+) (?:to|and|:) (?:the )?([a-z]+)\b[^.?!\d]*?"
    r"(\d+) ?(?::|to) ?(\d+)(?! ?:)",
    re.I,
)
_HAD = re.compile(rf"[^.?!\d]*?\b(?:has|had|have|there (?:are|were)|with) {_MONEY}?{_DIGITS.format('a')}", re.I)
_LOST = re.compile(
    r"\b(?:gives?|gave|eats?|ate|sells?|sold|loses?|lost|uses?|used|spends?|spent|donates?|donated|broke|pays?|paid) "
    rf"(?:away )?{_MONEY}?{_DIGITS.format('b')}(?! ?(?:%|percent|times|per|each|every)\b)",
    re.I,
)
_ALIKE = re.compile(r"\b(?:total|sum|together|altogether|both|all|combined|average|difference|each|every|per|ways?)\b")
_OWNED = re.compile(
    r"\b(?!She|He|They|It|There)([A-Z][a-z]+) (?:has|had|is|weighs|earns|picked|collected|scored|saved|ate|baked|"
    rf"bought)(?: [a-z]+)? \$?{_DIGITS.format('a')} ?(?!(?:more|fewer|less|times|percent|in|for|on|at|of|by|to)\b)"
    r"([a-z]+)\b(?! (?:more|fewer|less|older|younger|taller|heavier))"
)
_COUNTED = re.compile(rf"{_DIGITS.format('a')} ([a-z]{{3,}}?)s?\b", re.I)
_LISTED = re.compile(
    r"(?<![\d.,/:$-])(\d+) ([a-z]{3,})(?: [a-z]+)?(?:,| and|, and) (\d+) (?!are\b|were\b)([a-z]{3,})\b"
)
_MOST_QUANTITIES = 40  # word problems have fewer quantities


class OrderedNumbers(Operator):
    """Reorder the sentences and swap two numbers: 120 km in 3 hours → 3 km in 120 hours."""

    name = "OrderedNumbers"
    polarity = "invalid"
    fault = "number_changed"
    changes = frozenset({"order", "wording"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Swap two numbers and reorder the sentences; return None if no swap is certain to change the problem."""
        del resources
        text = problem.text
        if len(problem.quantities) > _MOST_QUANTITIES:
            return None
        pairs = []
        for a, b in sorted(
            {
                *_pairs_in_table(problem),
                *_pairs_of_owners(problem),
                *_pairs_with_remainder(problem),
                *_pairs_with_distance(problem),
                *_pairs_with_rates(problem),
            }
        ):
            values = {text[slice(*span)].replace(",", "") for span in (a, b)}
            if len(values) == 2 and "1" not in values:  # "1 hours" would give the swap away
                pairs.append((a, b))
        if not pairs:
            return None
        a, b = rng.choice(pairs)
        return reordered(read(splice(text, [(*a, text[slice(*b)]), (*b, text[slice(*a)])])), rng)


def _pairs_in_table(problem: Problem) -> list[tuple[Span, Span]]:
    """Return the pairs of numbers that match a pattern in the table of roles."""
    return [
        (match.span("a"), match.span("b"))
        for pattern, needed, banned in _ROLES
        if needed.search(problem.text) and not banned.search(problem.text)
        for match in pattern.finditer(problem.text)
        if "p" not in pattern.groupindex or match["p"] != match["q"]
    ]


def _pairs_of_owners(problem: Problem) -> list[tuple[Span, Span]]:
    """Return the pairs of numbers that belong to two people or things if the question mentions only one of the two."""
    asked, text = problem.question, problem.text
    if asked is None or _ALIKE.search(asked.text.lower()):
        return []
    statements = text[: asked.start]
    found = [(m[1], m[2], m.span(3), m.span(4)) for m in _RATIO.finditer(statements)]
    if not _ALIKE.search(statements.lower()):
        found += [(m[2], m[4], m.span(1), m.span(3)) for m in _LISTED.finditer(statements)]
        owners = combinations(_OWNED.finditer(statements), 2)
        found += [(a[1], b[1], a.span("a"), b.span("a")) for a, b in owners if a[3] == b[3]]
    return [
        (a, b)
        for one, two, a, b in found
        if len({re.search(rf"\b{name.rstrip('s')}", asked.text, re.I) is None for name in (one, two)}) == 2
    ]


def _pairs_with_remainder(problem: Problem) -> list[tuple[Span, Span]]:
    """Pair the initial amount with each amount that is taken from it, if the question asks how much is left."""
    asked, first = problem.question, _HAD.match(problem.text)
    if asked is None or first is None or not re.search(r"\b(?:left|remain\w*|still have)\b", asked.text):
        return []
    kinds = {q.number_span: (q.kind, q.unit) for q in problem.quantities}
    lost = [match.span("b") for match in _LOST.finditer(problem.text, first.end(), asked.start)]
    initial = first.span("a")
    return [(initial, span) for span in lost if initial in kinds and kinds.get(span) == kinds[initial]]


def _pairs_with_distance(problem: Problem) -> list[tuple[Span, Span]]:
    """Pair each distance with the adjacent speed or time by which it is divided.

    Numbers that are farther apart are not paired because they may be multiplied, as 66 and 8 are in "66 m in 15 days;
    what length in 8 days?".
    """
    found: list[tuple[Span, Span]] = []
    measured = [q for q in problem.quantities if q.kind is Kind.MEASURE and q.surface[0].isdigit()]
    for one, two in pairwise(measured):
        between = problem.text[one.end : two.start]
        kinds = (category(one.unit), category(two.unit))
        takes = kinds == ("length", "time") and re.search(r"\b(?:in|or|takes|took|taking)\b", between)
        if (takes or set(kinds) == {"length", "speed"}) and not re.search(r"[\d.?!]|\b(?:each|every|day)\b", between):
            found.append((one.number_span, two.number_span))
    return found


def _pairs_with_rates(problem: Problem) -> list[tuple[Span, Span]]:
    """Pair the counts of two things that have different rates, such as 3 pens at $2 each and 5 hats at $9 each."""
    found: dict[str, tuple[Span, Span]] = {}
    for match in _COUNTED.finditer(problem.text):
        one = rf"\b(?:each|per|every|an?|one) {match[2]}\b(?! and)[^.,?!;\d]{{0,30}}?(\d+(?:\.\d+)?)(?![\d.]* ?%)"
        rate = re.search(one, problem.text, re.I)
        if rate is not None and match.start() != rate.start(1):
            found.setdefault(match[2].lower(), (match.span("a"), rate.span(1)))
    # exclude products, such as 3 boxes with 4 bags each and 5 pens in each bag, because a swap does not change them
    taken = {q.number_span for q in problem.quantities if q.kind is not Kind.COUNT} | {
        rate for _, rate in found.values()
    }
    pairs = combinations([(count, rate) for count, rate in found.values() if count not in taken], 2)
    value = {rate: problem.text[slice(*rate)] for _, rate in found.values()}
    return [(min(a, b), max(a, b)) for (a, one), (b, two) in pairs if value[one] != value[two]]

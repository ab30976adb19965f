"""Find relations that can be stated from either party's side.

For example, *Ann has 5 more than Bob* means the same as *Bob has 5 fewer than Ann*. Each finder handles one kind of
relation. For each clause, the finder yields correct reversals (``right``) and faulty reversals, which change only the
relation word or only the parties (``broken``). A pattern must match the whole clause, because an unknown word might
describe only one of the parties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paraqd.reading import Problem
from paraqd.reading.name_lists import people
from paraqd.rewriting import converse_patterns as patterns
from paraqd.rewriting.converse_parties import (
    are_comparable,
    are_sorts,
    exchanged,
    in_sentence,
    is_plural,
    is_pronoun,
    is_referred_to,
    keeps_pronouns,
    mentions_of,
    reversed_parties,
    same_form,
    verb_fits,
)

Ways = tuple[tuple[str, ...], ...]  # groups of wordings; every group is equally likely


@dataclass(frozen=True)
class Converse:
    """A clause that can be reversed.

    ``start`` and ``end`` delimit the clause. ``right`` holds the correct reversals, and ``broken`` holds the incorrect
    reversals. ``plain`` is True if the clause itself distinguishes the parties, either because the clause is the
    question or because it states a number for one party.
    """

    start: int
    end: int
    parties: tuple[str, str]
    right: Ways
    broken: Ways
    plain: bool = False


def find(problem: Problem) -> list[Converse]:
    """Return the clauses in a problem that can be reversed safely, in their order in the text.

    >>> from paraqd.reading import read
    >>> [each.right[0] for each in find(read("Ann is 5 years older than Bob. Bob is 7. How old is Ann?"))]
    [('Bob is 5 years younger than Ann', 'Bob is 5 years younger than Ann is')]
    """
    finders = (_comparisons, _one_and_other, _sorts, _ratios, _transfers, _races, _questions)
    found = [each for finder in finders for each in finder(problem)]
    return sorted(found, key=lambda each: (each.start, each.end))


def distinguishes_parties(problem: Problem, converse: Converse) -> bool:
    """Return True if the text states or asks something about only one of the two parties.

    If the text does not, the parties differ only in their names, and swapping the parties does not change the problem.
    """
    if converse.plain:
        return True
    text = problem.text
    asked = problem.question
    mentions = [mentions_of(party) for party in converse.parties]
    for piece in re.finditer(r"(?:[^.?!;,]|[.,](?=\d))+", text):
        if piece.end() > converse.start and piece.start() < converse.end:
            continue
        weighty = bool(re.search(r"\d", piece.group())) or (
            asked is not None and asked.start < piece.end() <= asked.end
        )
        if weighty and sum(bool(pattern.search(piece.group())) for pattern in mentions) == 1:
            return True
    return False


def _comparisons(problem: Problem) -> Iterator[Converse]:
    for match in _complete_matches(patterns.THAN, problem):
        word, what, amount = match["word"].lower(), match["what"].strip(), match["amount"]
        turned = () if word in patterns.TURNED and what else _opposite(word, what, amount, match["a"])
        relations = tuple(_relation(amount, each, what) for each in turned)
        yield from _reversed_comparisons(problem, match, _relation(amount, word, what), relations, "than")
    for match in _complete_matches(patterns.AS, problem):
        relations = tuple(f"{times} {match['what']}" for times in _inverse(match["times"]))
        yield from _reversed_comparisons(problem, match, f"{match['times']} {match['what']}", relations, "as")
    for match in _complete_matches(patterns.IS_TIMES, problem):
        of = f" {match['of'].strip()}" if match["of"] else ""
        if are_comparable(match["a"], match["b"], of=bool(of)):
            relations = tuple(times + of for times in _inverse(match["times"]))
            yield from _reversed_comparisons(problem, match, match["times"] + of, relations, "")


def _one_and_other(problem: Problem) -> Iterator[Converse]:
    for match in patterns.ONE_AND_OTHER.finditer(problem.text):
        turned = _opposite(match["word"].lower(), match["what"].strip(), match["amount"], match["a"].strip())
        rest = problem.text[: match.start()] + problem.text[match.end() :]
        if re.search(r"\b(?:other|another|first|second)\b", rest, re.I):
            continue  # the reversed word would change the meaning of "the other" or "the first" elsewhere
        if turned and not (match["word"].lower() in patterns.TURNED and match["what"]):
            # if the parties are "one" and "the other", only the word is reversed, and there is no broken form
            yield Converse(match.start("word"), match.end("word"), ("one", "other"), (turned,), ())


def _races(problem: Problem) -> Iterator[Converse]:
    """Find clauses such as "Ann left 5 minutes before Bob" and "Ann beats Bob by 5 m"."""
    for match in _complete_matches(patterns.WHEN, problem):
        event = match["b"].lower().startswith(("the ", "a ")) and not match["a"].lower().startswith(("the ", "a "))
        if not event:  # "2 days before the end" has no second party
            turned = tuple(f"{match['amount']} {word}" for word in patterns.BEFORE_AFTER[match["word"].lower()])
            same = f"{match['amount']} {match['word']}"
            yield from _reversed_comparisons(problem, match, same, turned, "", extra=match["where"])
    for match in _complete_matches(patterns.BEAT, problem):
        verb, tail = match["verb"], f" by {match['amount']}"
        lost = patterns.BEATEN[verb.lower()].split("|")
        right = [f"{{x}} {each} {{y}}{tail}" for each in lost]
        wrong = [f"{{a}} {each} {{b}}{tail}" for each in lost] + [f"{{x}} {verb} {{y}}{tail}"] * len(lost)
        yield from _fill_in_parties(problem, match, right, wrong)


def _transfers(problem: Problem) -> Iterator[Converse]:
    for pattern in (patterns.GIVE_TO, patterns.GIVE):
        for match in _complete_matches(pattern, problem):
            verb, thing, tail = match["verb"].lower(), match["thing"], match["tail"]
            got = [f"{each} {thing} {'by' if ' ' in each else 'from'}" for each in patterns.GIVING[verb].split("|")]
            right = [f"{{x}} {each} {{y}}{tail}" for each in got]
            wrong = [f"{{a}} {each} {{b}}{tail}" for each in got]
            wrong += [f"{{x}} {verb} {thing} to {{y}}{tail}"] * len(got)
            yield from _fill_in_parties(problem, match, right, wrong)
    for match in _complete_matches(patterns.GET, problem):
        verb, thing, tail = match["verb"].lower(), match["thing"], match["tail"]
        gave = f"{patterns.GETTING[verb]} {thing} to"
        wrong = [f"{{a}} {gave} {{b}}{tail}", f"{{x}} {verb} {thing} from {{y}}{tail}"]
        yield from _fill_in_parties(problem, match, [f"{{x}} {gave} {{y}}{tail}"], wrong)


def _sorts(problem: Problem) -> Iterator[Converse]:
    """Find comparisons of two kinds of things, such as "5 more pens than pencils"."""
    for match in patterns.MORE_SORTS.finditer(problem.text):
        x, y, word, amount = match["x"], match["y"], match["word"], match["amount"]
        turned = "fewer" if word == "more" else "more"
        right = [f"{amount} {turned} {y} than {x}"]
        wrong = [f"{amount} {turned} {x} than {y}", f"{amount} {word} {y} than {x}"]
        if are_sorts(x, y) and not is_referred_to(problem, match.end()):
            yield Converse(match.end("before"), match.end(), (x, y), (tuple(right),), (tuple(wrong),))
    for match in patterns.TIMES_SORTS.finditer(problem.text):
        x, y, there, inverse = match["x"], match["y"], match["there"] or "", _inverse(match["times"])
        if there.startswith("there") and "there" not in match["before"].lower():
            continue
        right = [f"{times} as many {y} as {there}{x}" for times in inverse]
        wrong = [f"{times} as many {x} as {there}{y}" for times in inverse]
        wrong += [f"{match['times']} as many {y} as {there}{x}"] * len(inverse)
        if are_sorts(x, y) and not is_referred_to(problem, match.end()):
            yield Converse(match.end("before"), match.end(), (x, y), (tuple(right),), (tuple(wrong),))


def _ratios(problem: Problem) -> Iterator[Converse]:
    text = problem.text
    for pattern in (patterns.RATIO_TO, patterns.RATIO_AND):
        for match in pattern.finditer(text):
            x, y, m, n, mid, link = (match[name] for name in ("x", "y", "m", "n", "mid", "link"))
            own = text.lower().rfind("ratio", max(0, match.start() - 50), match.start("x"))
            rest = text[: own if own >= 0 else match.start()] + " " + text[match.end() :]
            if m == n or x.lower() == y.lower() or not _other_ratios_name_sides(rest):
                continue
            if pattern is patterns.RATIO_AND and (not same_form(x, y) or (match["is"] and own < 0)):
                continue
            same = f"{x}{link}{y}"
            if text[match.start("x")].isupper() and x.lower().startswith(("the ", "a ", "an ")):
                x, y = x[0].lower() + x[1:], y[0].upper() + y[1:]
            turned, colon = exchanged(x, link, y), match["colon"]
            wrong = (f"{turned}{mid}{m}{colon}{n}", f"{same}{mid}{n}{colon}{m}")
            right = ((f"{turned}{mid}{n}{colon}{m}",),)
            yield Converse(match.start("x"), match.end(), (match["x"], match["y"]), right, (wrong,))
    for match in patterns.RATIO_ASKED.finditer(text):
        # a question about the reversed ratio has a different answer, so there is only a broken form
        x, y = match["x"], match["y"]
        yield Converse(match.start("x"), match.end(), (x, y), (), ((exchanged(x, " to ", y),),), plain=True)


def _questions(problem: Problem) -> Iterator[Converse]:
    for match in patterns.ASK_PARTIES.finditer(problem.text):
        a, b, verb, base, how = (match[name] for name in ("a", "b", "verb", "base", "how"))
        if verb.lower() in {"is", "was", "are", "were"}:
            a, base = a + base, ""  # ``base`` is the second word of a name and not a verb
        word, what = match["word"].lower(), match["what"].strip()
        sides = reversed_parties(problem, a, b, verb.lower())
        turned = _opposite(word, what, match["much"], a)
        if sides is None or not turned or not verb_fits(verb.lower(), a, sides[0]):
            continue
        x, y = sides
        right = tuple(f"{how} {_relation('', each, what)} {verb} {x}{base} than {y}" for each in turned)
        wrong = (
            *(f"{how} {_relation('', each, what)} {verb} {a}{base} than {b}" for each in turned),
            f"{how} {_relation('', word, what)} {verb} {x}{base} than {y}",
        )
        yield Converse(match.start(), match.end(), (a, b), (right,), (wrong,), plain=True)
    for match in patterns.ASK_SORTS.finditer(problem.text):
        x, y, word = match["x"], match["y"], match["word"]
        if are_sorts(x, y):
            new = "fewer" if word.lower() == "more" else "more"
            wrong = (f"{new} {x} than {y}", f"{word} {y} than {x}")
            right = (f"{new} {y} than {x}",)
            yield Converse(match.start("word"), match.end(), (x, y), (right,), (wrong,), plain=True)


def _other_ratios_name_sides(rest: str) -> bool:
    """Return True if every ratio in ``rest`` names its sides.

    A ratio that does not name its sides may rely on the order of the ratio that is to be reversed.
    """
    ratios = [found.start() for found in re.finditer(r"\bratio\b", rest, re.I)]
    figures = re.findall(r"\d\s?:\s?\d|\d to \d", rest)
    return (
        not patterns.RATIO_ORDER.search(rest)
        and len(figures) <= len(ratios)
        and all(patterns.RATIO_NAMED.match(rest, start) for start in ratios)
    )


def _complete_matches(pattern: re.Pattern[str], problem: Problem) -> Iterator[re.Match[str]]:
    """Yield the matches whose subject is complete, which excludes "Ann" in "Tom and Ann sold"."""
    for match in pattern.finditer(problem.text):
        before, lead = problem.text[: match.start("a")].rstrip(), match["lead"].strip().lower()
        if re.search(r"\b(?:mr|mrs|ms|dr|rs|st|no)\.$", before, re.I):
            continue
        if lead == "and":
            clause = re.split(r"[.;,?!:]\s|\b(?:if|that|while|when)\b", before[:-3], flags=re.I)[-1]
            whole = patterns.ANY_VERB.search(clause) or before[:-3].rstrip().endswith(",")
            if not whole or not re.fullmatch(rf"{patterns.SINGULAR_VERBS}|can", match["verb"].split()[0].lower()):
                continue
        yield match


def _reversed_comparisons(
    problem: Problem, match: re.Match[str], same: str, turned: tuple[str, ...], link: str, extra: str = ""
) -> Iterator[Converse]:
    """Yield the reversals of a comparison, including wordings such as "Compared with Ann, Bob has …".

    ``same`` is the original relation, ``turned`` holds the opposite relations, and ``link`` is "than", "as" or empty.
    """
    verb, joint = match["verb"], f" {link} " if link else " "
    # allow "than Ann is", but not "than its length is" or "than he is is"
    short = (
        not match["b"].lower().startswith(("its ", "his ", "her "))
        and len(match["a"].split()) < 3
        and not is_pronoun(match["a"])
    )
    ends = ("", f" {verb}") if link and short and verb.lower() in {"is", "was", "has", "had"} else ("",)
    opening = short and link and match["lead"].strip() in {"", ".", "?", "!"} and not match.groupdict().get("who")

    def plain(subject: str, relation: str, other: str) -> list[str]:
        return [f"{{{subject}}} {verb}{extra} {relation}{joint}{{{other}}}{end}" for end in ends]

    def fronted(subject: str, relation: str, other: str) -> list[str]:
        return [f"{beside} {{{other}}}, {{{subject}}} {verb} {relation}" for beside in patterns.BESIDE if opening]

    groups = []
    for ways in (plain, fronted):
        right = [way for each in turned for way in ways("x", each, "y")]
        wrong = [way for each in turned for way in (*ways("a", each, "b"), *ways("x", same, "y"))]
        groups += [right, wrong]
    yield from _fill_in_parties(problem, match, *groups)


def _fill_in_parties(
    problem: Problem,
    match: re.Match[str],
    right: list[str],
    wrong: list[str],
    right_fronted: Sequence[str] = (),
    wrong_fronted: Sequence[str] = (),
) -> Iterator[Converse]:
    """Insert the parties into the templates of a clause. Yield nothing if the parties cannot be reversed safely.

    In a template, ``{a}`` and ``{b}`` are the parties in their original order. ``{x}`` is the second party as the
    subject, and ``{y}`` is the first party as the object. A clause at the start of a sentence is capitalised.
    """
    a, b, verb = match["a"], match["b"], match["verb"].split()[0].lower()
    sides = reversed_parties(problem, a, b, verb)
    if sides is None or not right or not verb_fits(verb, a, sides[0]) or not keeps_pronouns(problem, match.end(), a, b):
        return
    x, y = sides
    who = match.groupdict().get("who") or ""
    begins = match["lead"].strip() in {"", ".", "?", "!"} and a[0].isupper()
    forms = {"a": in_sentence(a), "b": b + who, "x": f"{x}{who}," if who else x, "y": y}

    def fill(ways: Sequence[str]) -> tuple[str, ...]:
        made = [way.format(**forms) for way in ways]
        return tuple(each[0].upper() + each[1:] if begins else each for each in made)

    good = tuple(group for group in (fill(right), fill(right_fronted)) if group)
    bad = tuple(group for group in (fill(wrong), fill(wrong_fronted)) if group)
    yield Converse(match.start("a"), match.end(), (a, b), good, bad, plain=bool(who and re.search(r"\d", who)))


def _relation(amount: str, word: str, what: str) -> str:
    return " ".join(filter(None, (amount, word, what)))


def _opposite(word: str, what: str, amount: str, party: str) -> tuple[str, ...]:
    """Return the opposites of a comparison word, or an empty tuple if the opposite is uncertain."""
    if word == "more expensive":
        return ("cheaper", "less expensive")
    if word == "shorter":
        if len(party) == 1 or is_pronoun(party):
            return ()
        return ("taller",) if party.title() in people() else ("longer",)
    if word in patterns.TURNED:
        return (patterns.TURNED[word],)
    if word in {"fewer", "less"}:
        return ("more",)
    last = (what or amount).lower().split(" a ")[0].split()[-1]
    counted = is_plural(last) and last.isalpha() and last not in patterns.UNITS
    return ("fewer",) if counted or amount.lower() == "many" else ("less",)


def _inverse(times: str) -> tuple[str, ...]:
    """Return the ways to write the inverse of a multiple: twice → half, 3 times → a third.

    >>> _inverse("three times")
    ('one third', 'a third', '1/3')
    """
    low = times.lower().replace("-", " ")
    if low in {"twice", "double"}:
        return ("half", "half", "one half")
    first = low.split()[0]
    if low == "thrice":
        value = Fraction(3)
    elif low.startswith(("half", "one ", "a ", "1 ")) and "times" not in low:
        part = low.split()[-1].replace("fourth", "quarter")
        value = Fraction(1, next(n for n, name in patterns.PARTS.items() if name == part))
    else:
        try:
            value = Fraction(patterns.COUNTS[first]) if first in patterns.COUNTS else Fraction(first)
        except ZeroDivisionError:
            return ()
    if not value:
        return ()
    turned = 1 / value
    if turned.numerator == 1 and turned.denominator in patterns.PARTS:
        part = patterns.PARTS[turned.denominator]
        return (
            ("half",) if part == "half" else (f"one {part}", f"{'an' if part == 'eighth' else 'a'} {part}", str(turned))
        )
    if turned == 2:
        return ("twice", "two times", "2 times")
    if turned.denominator == 1 and turned > 2:
        names = [name for name, count in patterns.COUNTS.items() if count == turned]
        return (f"{turned} times", *(f"{name} times" for name in names))
    return (f"{turned} times",) if turned > 1 else (f"{turned}",)

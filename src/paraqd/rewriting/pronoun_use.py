"""Replace a repeated name with a pronoun, or a pronoun with the name."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem, Token
from paraqd.reading.name_lists import people
from paraqd.rewriting.kept_quantities import Edit, keep_quantities
from paraqd.rewriting.operator import Operator, Resources
from paraqd.rewriting.renaming import renameable
from paraqd.rewriting.text import match_case

_PRONOUNS = {"m": ("he", "him", "his"), "f": ("she", "her", "her")}
_OTHER_GENDER = {"m": frozenset({"she", "her", "hers"}), "f": frozenset({"he", "him", "his"})}
_NOUNS = {
    "m": "man boy brother father dad son uncle grandfather grandpa nephew husband king gentleman salesman mr sir",
    "f": "woman girl sister mother mom mum daughter aunt grandmother grandma niece wife queen lady mrs ms miss",
    "u": "friend cousin child kid baby person worker teacher student player employee owner manager captain doctor "
    "coach classmate roommate partner neighbor neighbour boss seller shopkeeper dealer trader merchant farmer driver "
    "customer client buyer runner swimmer cyclist someone somebody anyone another other baker painter tailor dog cat "
    "horse cow pet colleague stranger guest twin parent sibling candidate opponent winner puppy kitten monkey dr prof "
    "cashier clerk waiter waitress assistant landlord chef cook nurse lawyer professor principal helper officer",
}
_RIVALS = {gender: frozenset(f"{_NOUNS[gender]} {_NOUNS['u']}".split()) for gender in "mf"}
_VERB = re.compile(
    r"(?:has|had|have|is|was|will|would|can|could|should|must|does|did|buys?|bought|sells?|sold|gives?|gave|gets?|got|"
    r"makes?|made|eats?|ate|earns?|spends?|spent|pays?|paid|saves?|needs?|wants?|uses?|takes?|took|runs?|ran|drives?|"
    r"drove|walks?|works?|reads?|bakes?|plants?|collects?|receives?|finds?|found|goes|went|sees?|saw|owns?|keeps?|"
    r"kept|loses?|lost|wins?|won|then|also|still|already|decides?|starts?|travels?|puts?|adds?|cuts?|leaves?|left|"
    r"invests?|borrows?|lives?|weighs?|rides?|rode|lends?|lent|[a-z]{2,}ed)$"
)
_AUXILIARY = frozenset("do does did will would can could should must has had is was".split())
_CLAUSE = frozenset(". ? ! , ; : if when then that because so after before while but as than once since until".split())
_TO = frozenset("to for from with costs cost give gave gives pays paid take takes took left".split())
_AFTER_OBJECT = re.compile(r"(?:[.,?!;\d$].*|an?|the|in|on|at|with|for|after|if|when|to|some|half|one|two|three)$")
_NO_POSSESSED = re.compile(r"(?:is|was|are|were|and|a|an|the|not|going|been|in|\w+ing)$")
_AT = re.compile(r"\b(?:in|at|from|to|near|of|the|towards?|between) $", re.I)
_OPENING = frozenset(
    "the a an he she it they there this that each every if how what when in on at after then his her its their all "
    "one two three some half both who which i we you find so and but now next last today most".split()
)


class PronounUse(Operator):
    """Replace names with pronouns or pronouns with names: Tom has 5. Tom eats 2. → Tom has 5. He eats 2."""

    name = "PronounUse"
    polarity = "valid"
    changes = frozenset({"pronouns"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace names or pronouns; return None if every replacement would be ambiguous."""
        del resources
        shorter, longer = list[Edit](), list[Edit]()
        words = {token.text.lower() for token in problem.tokens}
        for name, spans in renameable(problem):
            used = people()[name.title()]
            for gender in ("m", "f") if used == "u" else (used,):
                if words & _OTHER_GENDER[gender] and not _mentions_other(problem, name, "f" if gender == "m" else "m"):
                    continue  # the gender may be wrong, or another person may not have been recognised
                within = (spans[0][0], _first_rival(problem, name, gender))
                shorter += _pronoun_edits(problem, name, gender, within) if used != "u" else []
                longer += _name_edits(problem, name, gender, within)
        edits = rng.choice([way for way in (shorter, longer) if way] or [[]])
        return keep_quantities(problem, rng.sample(edits, rng.randint(1, len(edits)))) if edits else None


def _mentions_other(problem: Problem, name: str, gender: str) -> bool:
    """Return True if the text mentions another person of the given gender."""
    named = (people().get(e.text.split()[0].title()) for e in problem.entities if e.text.lower() != name.lower())
    return gender in named or any(token.text.lower() in _NOUNS[gender].split() for token in problem.tokens)


def _is_name(token: Token, name: str) -> bool:
    return re.split("['’]", token.text.lower())[0] == name.lower()


def _first_rival(problem: Problem, name: str, gender: str) -> int:
    """Return the position of the first other person to whom a pronoun could refer, or the length of the text."""
    others = [len(problem.text)]
    for entity in problem.entities:
        known = people().get(entity.text.split()[0].title())
        # in "Jordan has 5", Jordan is a person and not a place
        place = entity.category == "PLACE" and _AT.search(problem.text[: entity.start])
        if entity.text.lower() != name.lower() and not place and known in {gender, "u", None}:
            others.append(entity.start)
    for i, token in enumerate(problem.tokens[:-1]):
        word = re.split("['’]", token.text.lower())[0]
        # a name that is not in any list, such as Zorvan in "Zorvan has 5"
        opens = token.start in problem.sentence_starts and word not in _OPENING and not _is_name(token, name)
        opens = opens and word.isalpha() and word.title() not in people()
        if word in _RIVALS[gender] or (opens and _VERB.match(problem.tokens[i + 1].text)):
            others.append(token.start)
    return min(others)


def _around(problem: Problem, i: int) -> tuple[str, str]:
    """Return the tokens before and after token ``i``, in lower case.

    If token ``i`` starts a sentence, the first value is a full stop. If token ``i`` ends the text, the second value is
    a full stop.
    """
    tokens = problem.tokens
    before = tokens[i - 1].text.lower() if i and tokens[i].start not in problem.sentence_starts else "."
    return before, tokens[i + 1].text.lower() if i + 1 < len(tokens) else "."


def _pronoun_edits(problem: Problem, name: str, gender: str, within: tuple[int, int]) -> list[Edit]:
    """Return the edits that replace the name with a pronoun in the range ``within``."""
    edits, (he, him, his) = list[Edit](), _PRONOUNS[gender]
    for i, token in enumerate(problem.tokens):
        if not _is_name(token, name) or not within[0] < token.start < within[1]:
            continue
        before, after = _around(problem, i)
        new = None
        if token.text.lower() != name.lower():
            new = his if after.isalpha() and not _NO_POSSESSED.match(after) and before not in {"and", "or"} else None
        elif (before in _CLAUSE and _VERB.match(after)) or (
            before in _AUXILIARY and after.isalpha() and after != "and"
        ):
            new = he
        elif before in _TO and _AFTER_OBJECT.match(after) and not _mentioned_before(problem, i, name):
            new = him
        if new is not None:
            edits.append((token.start, token.end, match_case(new, problem, token.start)))
    return edits


def _name_edits(problem: Problem, name: str, gender: str, within: tuple[int, int]) -> list[Edit]:
    """Return the edits that replace a pronoun with the name in the range ``within``."""
    edits, (he, him, his) = list[Edit](), _PRONOUNS[gender]
    for i, token in enumerate(problem.tokens):
        word = token.text.lower()
        before, after = _around(problem, i)
        if (
            word not in {he, him, his}
            or not within[0] < token.start < within[1]
            or {before, after} & {"or", "/", "and"}
        ):
            continue
        if word == he:
            edits.append((token.start, token.end, name))
        # "her" can mean "him" or "his"; at the start of a sentence, it means "his"
        elif not _mentioned_before(problem, i, name) and (his != him or before == "."):
            edits.append((token.start, token.end, f"{name}'s" if word == his else name))
    return edits


def _mentioned_before(problem: Problem, i: int, name: str) -> bool:
    """Return True if the name or a pronoun occurs before token ``i`` in the same sentence."""
    start = max(s for s in problem.sentence_starts if s <= problem.tokens[i].start)
    earlier = [token for token in problem.tokens[:i] if token.start >= start]
    return any(_is_name(token, name) or token.text.lower() in {"he", "she", "his", "her", "him"} for token in earlier)

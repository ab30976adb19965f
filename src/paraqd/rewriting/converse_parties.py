"""Recognise and reverse the two parties of a relation, and check the pronouns that refer to the parties."""

from __future__ import annotations

import re

from paraqd.reading import Problem
from paraqd.reading.name_lists import capitalised_words, not_names, people
from paraqd.rewriting.converse_patterns import HANDING, OTHER_VERBS, SINGULAR_VERBS, UNITS

_PERSON_PLURALS = frozenset(
    "boys girls men women children students adults kids people teachers parents workers".split()
)
_PERSON_NOUNS = frozenset(
    "boy girl man woman child son daughter father mother brother sister friend teacher student boss wife husband uncle "
    "aunt cousin neighbor neighbour dad mom worker player".split()
)
_POINTING = r"he|she|his|her|him|himself|herself|latter|former"
# pairs such as "his sister", in which the two people have different genders, so "he" and "she" stay unambiguous
_OTHER_GENDER = frozenset(
    (whose, kin)
    for whose, kins in (("his", "sister mother mom wife aunt"), ("her", "brother father dad husband uncle"))
    for kin in kins.split()
)
_SIZES = re.compile(r"\b(?:length|width|breadth|height|base|altitude)\b", re.I)


def mentions_of(party: str) -> re.Pattern[str]:
    """Return a pattern that matches mentions of a party. For the party "a", the pattern does not match the article."""
    if party.lower() == "a":
        return re.compile(r"\ba(?= (?:and|is|has|can|alone|does|did|was|have|gets?|or)\b|['’]s|\s*[,.?]|$)", re.I)
    word = re.sub(r"^(?:the|an?|his|her|its) (?=\w\w)", "", party, flags=re.I)
    return re.compile(r"(?!)") if is_pronoun(word) else re.compile(rf"\b{re.escape(word)}\b", re.I)


def is_pronoun(words: str) -> bool:
    """Return True if a party is "he" or "she"."""
    return words.lower() in {"he", "she"}


def in_sentence(words: str) -> str:
    """Return a party as it is written inside a sentence, with its article or pronoun in lower case."""
    return words[0].lower() + words[1:] if is_pronoun(words) or re.match(r"(?:the|an?) ", words, re.I) else words


def reversed_parties(problem: Problem, a: str, b: str, verb: str) -> tuple[str, str] | None:
    """Return the second party as the subject and the first party as the object.

    Return None if the parties cannot be reversed safely.
    """
    if a.lower() == b.lower() or not _can_be_party(problem, a) or not _same_kind(a, b):
        return None
    y = low = in_sentence(a)
    if is_pronoun(a):
        if verb in HANDING:
            y = "him" if low == "he" else "her"
        elif verb in {"is", "was", "has", "had", "does", "did"}:
            y = f"{low} {verb}"
        else:
            return None
    whose, _, rest = b.partition(" ")
    of = re.fullmatch(r"the ([\w-]+) of ((?:the|an?) .+)", low)
    if whose.lower() in {"his", "her", "its"}:
        if not rest or not _can_be_party(problem, f"the {rest}"):
            return None
        if whose == "its":
            return (f"the {rest} of {of[2]}", f"its {of[1]}") if of else None
        if is_pronoun(a):
            return (b, y) if (low, whose) in {("he", "his"), ("she", "her")} else None
        if re.fullmatch(r"(?:a|the) (?:man|father|woman|mother|person|boy|girl)", low) and verb in {"is", "was"}:
            return f"{low}'s {rest}", f"{'he' if whose == 'his' else 'she'} {verb}"
        return (f"{a}'s {rest}", y) if " " not in a and len(a) > 1 else None
    if not _can_be_party(problem, b) or is_pronoun(b):
        return None
    if of and re.fullmatch(r"the [\w-]+", b) and _SIZES.search(b):
        return f"{b} of {of[2]}", f"the {of[1]}"
    return b, y


def _same_kind(a: str, b: str) -> bool:
    """Return True if the parties are of the same kind: both nouns, both people, both possessions or both letters.

    For example, the parties in "Ann scored twice as much as the lowest score" are of different kinds.
    """
    nouns = [bool(re.match(r"(?:the|an?) ", each, re.I)) for each in (a, b)]
    if nouns[0] != nouns[1]:
        noun = a if nouns[0] else b
        return noun.lower().split()[-1] in _PERSON_NOUNS or b.lower().startswith(("his ", "her ", "its "))
    owned = [bool(re.match(r"\w+['’]s ", each)) for each in (a, b)]
    if owned[0] != owned[1]:
        return (a if owned[0] else b).lower().split()[-1] in _PERSON_NOUNS
    letters = [len(each.split()[-1]) == 1 for each in (a, b)]
    return letters[0] == letters[1]


def _can_be_party(problem: Problem, words: str) -> bool:
    """Return True if the words can be a party, such as a pronoun, a name, a letter or a noun with its article."""
    if is_pronoun(words):
        return True
    each, low = words.split(), words.lower()
    if re.fullmatch(
        rf".*(?:ed|ing)|{OTHER_VERBS}|{SINGULAR_VERBS}|years?|months?|days?|time|week|ago", each[-1].lower()
    ):
        return False
    if len(each) == 1:
        return len(low) == 1 or (_is_name(problem, words) and not low.endswith(("'s", "’s")))
    if each[0].lower() in {"the", "a", "an"}:
        noun = low.split(" of ")[0].split()[1:]
        return (1 <= len(noun) <= 3 and noun[0] != "of" and noun[-1] not in {"rest", "same", "number"}) or bool(
            re.fullmatch(r"the number of \w+(?: \w+)?", low)
        )
    if each[0].endswith(("'s", "’s")):
        return len(each) <= 3 and _is_name(problem, each[0][:-2])
    if len(each) == 2 and len(each[1]) == 1:
        return each[0].islower() and len(each[0]) > 2  # as in "train A"
    return len(each) <= 3 and all(_is_name(problem, word) for word in each)


def _is_name(problem: Problem, word: str) -> bool:
    """Return True if a word is a known name, a capitalised word, or a repeated entity in a lower-case text."""
    if word.title() in people():
        return True
    if word[0].isupper():
        return len(word) > 2 and word.lower() not in capitalised_words() | not_names()
    again = len(re.findall(rf"\b{re.escape(word)}\b", problem.text)) > 1
    return again and not problem.cased and any(entity.text == word for entity in problem.entities)


def verb_fits(verb: str, a: str, b: str) -> bool:
    """Return True if the verb agrees in number with both parties."""
    if re.fullmatch(rf"{SINGULAR_VERBS}|was", verb):
        return not is_plural(a) and not is_plural(b)
    if verb in {"are", "have", "were", "do"}:
        return is_plural(a) and is_plural(b)
    return True


def is_plural(words: str) -> bool:
    """Return True if a noun phrase is plural. Names and letters are never plural."""
    head = words.lower().split(" of ")[0].split()[-1]
    if head in {"men", "women", "children", "people", "sheep"} or head.endswith("fish"):
        return True
    single = (words[0].isupper() and " " not in words) or words.title() in people()
    return not single and head.endswith("s") and not head.endswith(("ss", "us", "'s", "’s", "is"))


def are_sorts(x: str, y: str) -> bool:
    """Return True if two plural nouns without articles are two kinds of things, rather than a thing and its owner."""
    last, other = x.split()[-1], y.split()[-1]
    bare = not x.startswith("the ") and not y.startswith("the ") and x == x.lower() and y == y.lower()
    bare = bare and " of " not in x + y  # in "pounds of apples than grapes", both sides are pounds
    both = bare and is_plural(x) and is_plural(y) and x != y
    return both and (last in _PERSON_PLURALS) == (other in _PERSON_PLURALS) and not {last, other} & UNITS


def same_form(x: str, y: str) -> bool:
    """Return True if two phrases have the same form.

    For example, "cost price" and "selling price" have the same form, but "red" and "blue balls" do not.
    """
    short = [re.sub(r"^the ", "", each, flags=re.I).split() for each in (x, y)]
    if len(short[0]) != len(short[1]) or short[0] == short[1]:
        return False
    return len(short[0]) == 1 or short[0][-1] == short[1][-1] or short[0][0] == short[1][0]


def exchanged(x: str, link: str, y: str) -> str:
    """Swap the two sides of a ratio, but keep shared words in place: red to blue balls → blue to red balls."""
    shared = re.match(r"(?:the )?numbers? of ", x, re.I)
    if shared and not re.match(r"(?:the )?number of ", y, re.I) and " of " not in y:
        return f"{shared[0]}{y}{link}{x[shared.end() :]}"
    article = "the " if x.startswith("the ") and not y.startswith("the ") else ""
    short, long = x.removeprefix("the ").split(), y.split()
    if len(short) == 1 and len(long) == 2 and is_plural(long[1]) and not is_plural(short[0]):
        return f"{article}{long[0]}{link}{short[0]} {long[1]}"
    return f"{y}{link}{x}"


def are_comparable(a: str, b: str, *, of: bool) -> bool:
    """Return True if the parties can be compared as multiples, such as two sides, two prices or two people's ages.

    ``of`` is True if the relation names the measure, as in "twice the age of".
    """
    a, b = a.lower(), b.lower()
    if of:
        return " of " not in a + b and "'" not in a + b and a.startswith("the ") == b.startswith("the ")
    mine, yours = (re.fullmatch(r"\w+['’]s (\w+)", each) for each in (a, b))
    if mine or yours:
        return bool(mine and yours and mine[1] == yours[1])
    if not a.startswith("the ") or not b.startswith(("the ", "its ")):
        return len(a) == len(b) == 1
    heads = [re.sub(r"^(?:the|its) ", "", each).split(" of ")[0] for each in (a, b)]
    if all(_SIZES.fullmatch(head) for head in heads):
        return True
    return heads[0] == heads[1] if " of " in a + b else heads[0] != heads[1]


def keeps_pronouns(problem: Problem, end: int, a: str, b: str) -> bool:
    """Return True if swapping the parties of a clause does not change what a later pronoun refers to."""
    if _SIZES.search(a):
        return True  # "it" refers to the rectangle, regardless of which side comes first
    known = [people().get(each.title()) for each in (a, b)]
    if sorted(filter(None, known)) == ["f", "m"]:
        return True
    rest = problem.text[end:]
    whose, _, kin = b.lower().partition(" ")
    if (whose, kin) in _OTHER_GENDER or (kin in {"son", "daughter"} and b.lower() in rest.lower()):
        return True
    # the "it" in "how long does it take" has no antecedent
    thing = r"|its|this|it(?! (?:takes?|took|would take|will take|be)\b)"
    found = re.search(rf"\b(?:{_POINTING}{'' if all(known) else thing})\b", rest, re.I)
    if found is None:
        return True
    if found[0].lower() in {"it", "its"} and re.search(r"\b(?:work|job|task|tank)\b", rest[: found.start()], re.I):
        return True
    # a name between the clause and the pronoun is the antecedent
    return any(end <= entity.start < end + found.start() for entity in problem.entities)


def is_referred_to(problem: Problem, end: int) -> bool:
    """Return True if the rest of the sentence or the next sentence contains "they" or a similar word."""
    after = [sentence.end for sentence in problem.sentences if sentence.end > end][:2]
    rest = problem.text[end : after[-1]] if after else ""
    return bool(re.search(r"\b(?:they|them|these|those|latter|former)\b", rest, re.I))

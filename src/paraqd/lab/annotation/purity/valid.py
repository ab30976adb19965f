"""Check that a valid operator's output keeps the problem and changes only the parts that the operator declares."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

from paraqd.lab.annotation.purity.compare import (
    STOP,
    content_stems,
    glued,
    is_subsequence,
    renaming,
    roles,
    singular_things,
    skeleton,
    split_possessives,
    stem,
)
from paraqd.lab.annotation.purity.numerals import NUMBER_WORDS
from paraqd.lab.annotation.purity.pair import PURE, Finding, Pair, by_two, doubt, impure
from paraqd.lab.annotation.purity.units import UNITS
from paraqd.reading import Problem
from paraqd.reading.unit_mentions import UnitMention, find_unit_mentions

Check = Callable[[Pair], Finding | None]

_ASKS = re.compile(
    r"\?|？|\b(?:how|what|which|who|whose|when|where|why|find|calculate|determine|compute|evaluate|solve|simplify|estimate|"
    r"express|state|give|name|tell|show|prove|identify|(?:work|figure)(?: it)? out)\b",
    re.I,
)
_PRONOUN_ONE = re.compile(
    r"\b(?:this|that|other|another|which|each|every|last|any|no|only|bigger|smaller|larger|some|1st|2nd|3rd|4th|the) 1"
    r"(?= ?(?:[;?!)]|[.,](?!\d)|$)"
    r"| (?:is|was|are|were|of|has|had|have|to|in|for|and|or|than|that|which|who|with|can|will)\b)"
    r"|\b1 (?:another|must|should|can|who|would)\b",
    re.I,
)
# words that are not names, although they may be capitalised at the start of a sentence
_NO_NAMES = STOP | frozenset(UNITS) | NUMBER_WORDS
_NO_NAMES |= frozenset(
    "negative minus determine calculate compute evaluate solve given suppose assume assuming work".split()
)
_HALF_LIST = re.compile(r"\d,(?:" + "|".join(sorted(NUMBER_WORDS)) + r")\b", re.I)
_OPERATOR_SIGNS = frozenset("+*=<>×÷")
_LETTERS = frozenset("mgslh")
_PRONOUNS = frozenset("he she him her his hers they them their".split())
# words for a relation and for its opposite; a rewording may use another word from the same side
_OPPOSITES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("more",), ("fewer", "less")),
    (("increased", "increases", "increase"), ("decreased", "decreases", "decrease", "reduced")),
    (("bought", "buys", "buy"), ("sold", "sells", "sell")),
    (("profit", "gain"), ("loss",)),
    (("upstream",), ("downstream",)),
    (("older", "elder"), ("younger",)),
    (("faster",), ("slower",)),
    (("taller", "longer"), ("shorter",)),
    (("heavier",), ("lighter",)),
    (("largest", "greatest", "maximum", "highest"), ("smallest", "least", "minimum", "lowest")),
    (("odd",), ("even",)),
    (("positive",), ("negative",)),
)
_NEW_WORDS = 0.5  # a rewording with a larger share of new content words is suspicious
_MOST_REPLACED = 2  # the maximum number of words that a rewording may replace in the question
_STEM = 4  # the number of letters that the forms of a word share
# a unit belongs to a rate that ends within this many characters before the unit (_BEFORE) or after its start (_AFTER)
_BEFORE, _AFTER = 9, 30


def check_valid(pair: Pair) -> Finding:
    """Check a pair whose paraphrase should state the same problem."""
    doubtful = None
    for finding in _findings(pair):
        if not finding.ok:
            return finding
        doubtful = doubtful or finding
    return doubtful or PURE


def _findings(pair: Pair) -> Iterator[Finding]:
    checks: tuple[Check, ...] = (_unchanged, _glue, same_numbers, _same_units, _same_names, _question_kept)
    checks += (_wording,) if "wording" in pair.free else (_nothing_else, _odd_edits)
    for check in checks:
        finding = check(pair)
        if finding is not None:
            yield finding


def _unchanged(pair: Pair) -> Finding | None:
    if not pair.paraphrase.strip():
        return impure("blank")
    same = "".join(pair.question.split()) == "".join(pair.paraphrase.split())
    return impure("unchanged") if same else None


def _glue(pair: Pair) -> Finding | None:
    if "punctuation" in pair.free:  # the space between sentences may have been removed deliberately
        return None
    return impure("glued together") if glued(pair.question, pair.paraphrase) else None


def same_numbers(pair: Pair) -> Finding | None:
    """Compare the quantities; if relations may change, *twice* may become *half*, and likewise for other inverses."""
    by_reader, by_count = any(pair.quantities), any(pair.counted)
    if "relations" in pair.free:
        by_reader, by_count = _differ_by_more_than_inverses(*pair.values), _differ_by_more_than_inverses(*pair.numbers)
    if by_reader and not by_count:
        return impure("quantities differ by the reader, not by the second count")
    return by_two(by_reader, by_count, "quantities differ")


def _differ_by_more_than_inverses(lost: Counter[Fraction], added: Counter[Fraction]) -> bool:
    folded = [Counter(max(v, 1 / v) if v > 0 else v for v in values.elements()) for values in (lost, added)]
    # "one half" adds a 1 to the second count
    return any(value != 1 for values in (folded[0] - folded[1], folded[1] - folded[0]) for value in values)


def _lone_units(problem: Problem) -> Counter[str]:
    """Count the units that do not belong to a quantity, unlike "kg" in "Rs. 9 per kg"."""
    bottoms: dict[str, list[int]] = {}
    for q in problem.quantities:
        if q.unit and "/" in q.unit:
            bottoms.setdefault(q.unit.partition("/")[2], []).append(q.end)

    def belongs(mention: UnitMention) -> bool:
        ends = bottoms.get(mention.unit, [])
        k = bisect_right(ends, mention.start - _BEFORE)
        return k < len(ends) and ends[k] < mention.start + _AFTER

    return Counter(m.unit for m in find_unit_mentions(problem) if m.quantity is None and not belongs(m))


def _same_units(pair: Pair) -> Finding | None:
    """Compare the units that have no number; a rewording may repeat a unit but must not add a new unit."""
    read_before, read_after = _lone_units(pair.q), _lone_units(pair.p)
    before, after = pair.qc.lone_units(), pair.pc.lone_units()
    if "wording" in pair.free:  # the reader's units without a number depend on the words around them
        other = set(before) != set(after)
        return by_two(other and set(read_before) != set(read_after), other, "units differ")
    return by_two(read_before != read_after, before != after, "units differ")


# --- names --------------------------------------------------------------------------------------


def _same_names(pair: Pair) -> Finding | None:
    if "pronouns" in pair.free:
        lost_or_new = any(not before or not after for before, after in _name_changes(pair).values())
        return impure("names differ") if lost_or_new and "names" not in pair.free else None
    if "names" not in pair.free:
        changed = _name_changes(pair)
        if "sentences" in pair.free:  # a word in an added sentence may look like a name
            changed = {name: times for name, times in changed.items() if times[0]}
        return impure("names differ") if changed else None
    if "wording" not in pair.free:
        return None  # other checks compare the texts word by word
    changed = {name: times for name, times in _name_changes(pair).items() if times[0]}
    if any(after for _, after in changed.values()):
        return impure("names mixed")
    before, after = Counter(split_possessives(pair.qc.low)), Counter(split_possessives(pair.pc.low))
    new = Counter(times for word, times in after.items() if word not in before)
    gone = Counter(times for times, _ in changed.values())
    return doubt("names differ more than by a renaming") if gone - new else None


def _name_changes(pair: Pair) -> dict[str, tuple[int, int]]:
    """Map each name that is not equally frequent in both texts to its frequencies in the question and the paraphrase.

    The reader decides which words are names. All tokens are searched for these names, because the reader may overlook
    some mentions.
    """
    names = {word.lower() for e in (*pair.q.entities, *pair.p.entities) for word in re.findall(r"[^\W\d_]+", e.text)}
    names -= _NO_NAMES
    # a word that also occurs in lower case is not a name: "Tom Bought …, Ann bought"
    if any(c.isupper() for c in pair.question):
        names -= {token for token in (*pair.qc.tokens, *pair.pc.tokens) if token.islower()}
    before, after = Counter(split_possessives(pair.qc.low)), Counter(split_possessives(pair.pc.low))
    return {name: (before[name], after[name]) for name in names if before[name] != after[name] and len(name) > 1}


# --- the question -------------------------------------------------------------------------------


def _question_kept(pair: Pair) -> Finding | None:
    by_reader = bool(pair.q.questions) and not pair.p.questions
    by_count = bool(_ASKS.search(pair.question)) and not _ASKS.search(pair.paraphrase)
    lost = by_two(by_reader, by_count, "question lost")
    if lost is not None or pair.q.question is None:
        return lost
    target = set(content_stems(pair.q.question.target))
    if "names" in pair.free:
        target -= {stem(word) for e in pair.q.entities for word in e.text.split()}
    if "things" in pair.free:
        target -= {stem(word) for change in pair.changes for word in change.old}
    found = {word[:_STEM] for word in content_stems(pair.paraphrase)}
    missing = {word for word in target if word[:_STEM] not in found}
    if 2 * len(missing) <= len(target):
        return None
    # one or two words may have been replaced, for example "how much did he save" with "his savings"
    return impure("question changed") if len(missing) > _MOST_REPLACED else doubt("the question lost a word")


# --- only the promised edit ---------------------------------------------------------------------


def _nothing_else(pair: Pair) -> Finding | None:
    """Check that the texts differ only in the parts that may change."""
    if pair.free == {"names"}:
        return _only_renamed(pair)
    if pair.free == {"things"}:
        consistent = renaming(*(singular_things(text.tokens) for text in (pair.qc, pair.pc))).consistent
        return None if consistent else impure("not a consistent renaming")
    if pair.free == {"pronouns"}:
        return _only_pronouns(pair)
    if pair.free == {"question"}:
        return _only_question(pair)
    if "sentences" in pair.free:
        return _only_sentences(pair)
    numbers, units = "numbers" in pair.free, "units" in pair.free
    before = skeleton(pair.qc, numbers=numbers, units=units)
    after = skeleton(pair.pc, numbers=numbers, units=units)
    if before.words != after.words:
        renamed = "names" in pair.free and renaming(before.words, after.words).consistent
        return None if renamed else impure("other words changed")
    return None if before.stops_like(after) else impure("sentence end lost or added")


def _only_renamed(pair: Pair) -> Finding | None:
    found = renaming(pair.qc.tokens, pair.pc.tokens)
    if not found.consistent:
        return impure("not a consistent renaming")
    cased = any(c.isupper() for c in pair.question)
    words = [token.removesuffix("'s") for token in pair.qc.tokens]
    low = [word.lower() for word in words]
    for phrase in found.names:
        for k, word in enumerate(low):
            if word == phrase[0] and ((cased and words[k].islower()) or (k and low[k - 1] in {"a", "an"})):
                return doubt("the renamed word may not be a name")
    return None


def _only_pronouns(pair: Pair) -> Finding | None:
    """Check that every changed word is a name or a pronoun."""
    names = {word.lower() for e in pair.q.entities for word in re.findall(r"[^\W\d_]+", e.text)}
    allowed = names | _PRONOUNS | {"'s", "'"}
    other = [w for change in pair.changes for w in (*change.old, *change.new) if w not in allowed]
    return impure("other words changed") if other else None


def _only_question(pair: Pair) -> Finding | None:
    """Check that the text before and after the question is unchanged."""
    question = pair.q.question
    if question is None:
        return impure("there was no question")
    before, after, text = (
        "".join(part.split())
        for part in (pair.question[: question.start], pair.question[question.end :], pair.paraphrase)
    )
    return None if text.startswith(before) and text.endswith(after) else impure("changed outside the question")


def _only_sentences(pair: Pair) -> Finding | None:
    """Check that one text can be produced by adding words to the other text."""
    before, after = ([w for w in text.low if w[0].isalnum()] for text in (pair.qc, pair.pc))
    short, long = sorted((before, after), key=len)
    return None if is_subsequence(short, long) else impure("other words changed")


def _odd_edits(pair: Pair) -> Finding | None:
    """Find wrong edits that both the reader and the second count accept.

    Examples are the pronoun *one* written as a number, and a variable written as a unit.
    """
    if "numbers" in pair.free:
        if _HALF_LIST.search(pair.paraphrase) and not _HALF_LIST.search(pair.question):
            return doubt("a list partly in words")
        found = {m.lower() for m in _PRONOUN_ONE.findall(pair.paraphrase)}
        if found - {m.lower() for m in _PRONOUN_ONE.findall(pair.question)}:
            return doubt("the pronoun one written as a number")
    if "units" not in pair.free:
        return None
    for change in pair.changes:
        letters = [token for token in change.old if token in _LETTERS]
        if letters and any(_is_variable(pair, letter) for letter in letters):
            return impure("a variable written as a unit")
    return None


def _is_variable(pair: Pair, letter: str) -> bool:
    low = pair.qc.low
    for k, token in enumerate(low):
        if token != letter:
            continue
        before, after = low[k - 1] if k else "", low[k + 1] if k + 1 < len(low) else ""
        times = {"*", "×"} if before[:1].isdigit() else set()  # in "80 m * 60 m", the letter is a unit
        if after in _OPERATOR_SIGNS - times or before in _OPERATOR_SIGNS:
            return True
    return False


def _reversed_relation(pair: Pair) -> str | None:
    """Return two opposites, such as "more, fewer", if words for one were lost and words for the other were added.

    Return None if no relation is reversed.
    """
    before, after = Counter(pair.qc.low), Counter(pair.pc.low)
    for one, other in _OPPOSITES:
        added = [sum(after[word] - before[word] for word in side) for side in (one, other)]
        if min(added) < 0 < max(added):
            return f"{next(iter(one))}, {next(iter(other))}"
    return None


def _wording(pair: Pair) -> Finding | None:
    """Check that a rewording reverses no relation, keeps numbers with their nouns, and keeps enough content words."""
    reversed_relation = _reversed_relation(pair)
    if reversed_relation is not None and "relations" not in pair.free:
        return impure(f"a relation is reversed ({reversed_relation})")
    before, after = roles(pair.qc), roles(pair.pc)
    lost, new = before - after, after - before
    # compare the nouns, because numbers were swapped only if the same nouns have other numbers
    if len(lost) > 1 and Counter(role[1:] for role in lost.elements()) == Counter(role[1:] for role in new.elements()):
        return doubt("numbers belong to other words")
    target, found = content_stems(pair.question), content_stems(pair.paraphrase)
    if "names" in pair.free:
        for e in pair.q.entities:
            target -= content_stems(e.text)
    if sum((target - found).values()) > _NEW_WORDS * sum(target.values()):
        return doubt("most content words are new")
    return None

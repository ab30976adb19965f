"""What invalid operators promise: that the problem is really another one, in the way that their name says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from paraqd.annotation.purity.amounts import count
from paraqd.annotation.purity.compare import (
    SILENT,
    STOP,
    content_stems,
    fold,
    glued,
    is_subsequence,
    renaming,
    roles,
    skeleton,
    split_possessives,
    stem,
)
from paraqd.annotation.purity.numerals import NUMBER_WORDS
from paraqd.annotation.purity.pair import PURE, Finding, Pair, by_two, doubt, impure
from paraqd.annotation.purity.units import UNITS
from paraqd.reading import tokenize
from paraqd.reading.unit_mentions import find_unit_mentions
from paraqd.reading.units import category, dimension

Check = Callable[[Pair], Finding | None]

CONSISTENT = "consistent_renaming"
_VAGUE = frozenset("some a an the few many lot of his her their its my our your these those".split())
_LETTERS = frozenset({"m", "g", "s", "h", "l", "in", "p", "c", "f"})  # units only where a number stands before them
_OF_UNITS = frozenset("celsius fahrenheit centigrade nautical metric fluid degree degrees second cube".split())
_SEEMING = re.compile(r"\bsecond\b|\b[kcm]?m ?\^? ?[23]\b|[²³]", re.I)
_MAY_GLUE = frozenset({"RandomDeletion", "TfidfReplacement", "LossyParaphrase", "T5Paraphrase"})
_MARKS = frozenset("+*/^=<>×÷√%°$€£₹¥")  # they say as much as a word
_MOST_DELETED = 2
_CUT_TOKENS = 3
_NOT_SENTENCE_END = re.compile(r"(?:^|[\s(])(?:rs|mr|mrs|dr|ms|no|sq)\.$", re.I)
_LETTER_END = re.compile(r"(?:^|\s)[a-z]\.$", re.I)
_LETTER_START = re.compile(r"\s*[a-z](?:\.|$|\s*\?)", re.I)
# words that mean the same in a question: one in the other's place asks nothing new
_SYNONYMS = (
    "average mean",
    "total sum altogether overall",
    "cost price",
    "largest greatest biggest highest maximum most",
    "smallest least lowest minimum fewest",
    "breadth width",
    "speed velocity",
    "left remain remaining remained",
    "find calculate determine compute evaluate",
    "gain profit",
    "rate speed",
    "amount sum",
)
_SAME_MEANING = tuple(frozenset(map(stem, group.split())) for group in _SYNONYMS)
# words that say how things relate; a flip puts one of them in another's place
_RELATIONS = frozenset(
    (
        "more less fewer greater lesser smaller larger bigger higher lower taller shorter longer older elder "
        "younger heavier lighter faster slower earlier later cheaper costlier thicker thinner wider narrower "
        "deeper nearer farther most least largest smallest greatest highest lowest maximum minimum biggest "
        "longest shortest oldest youngest before after ago hence from now then bought sold buy buys sell "
        "sells buying selling purchased earned spent earn spend earns spends earning spending received "
        "receives gave give gives given got gets get take takes took taken profit profits loss losses gain "
        "gained gains lose loses lost win wins won increase increased increases increasing decrease decreased "
        "decreases decreasing reduced raised rise rises rose fall falls fell add added adding subtract "
        "subtracted subtracting remove removed multiply multiplied divide divided product sum difference "
        "quotient between each total all in together altogether per every upstream downstream with without "
        "inside outside same opposite direction directions positive negative odd even above below over under "
        "fill fills filled empty empties emptied first last north south east west left right up down top "
        "bottom plus minus simple compound deposit deposited withdraw withdrew ascending descending toward "
        "towards away forward backward the to of than as for two this both either only not by out into at "
        "inclusive exclusive"
    ).split()
)


def check_invalid(pair: Pair, deciding: str) -> Finding:
    """Check a pair whose last operator is meant to change the problem."""
    if not pair.paraphrase.strip():
        return impure("blank")
    if fold(pair.question) == fold(pair.paraphrase):
        return impure("equal to the question")
    check = CHECKS.get(deciding)
    finding = generic_invalid(pair) if check is None else check(pair)
    if finding is not None:
        return finding
    if deciding not in _MAY_GLUE and check is not None and glued(pair.question, pair.paraphrase):
        return doubt("glued together")
    return PURE


def generic_invalid(pair: Pair) -> Finding | None:
    """Check an invalid pair of which nothing more is known: what looks valid in every way is suspicious."""
    if any(pair.quantities) or any(pair.counted):
        return None
    before, after = content_stems(pair.question), content_stems(pair.paraphrase)
    asks = bool(pair.p.questions) or not pair.q.questions
    if before == after and asks and roles(pair.qc) == roles(pair.pc):
        return doubt("looks valid")
    return None


# --- numbers and units --------------------------------------------------------------------------


def _words_apart(pair: Pair, *, numbers: bool, units: bool, ignoring: frozenset[str] = frozenset()) -> bool:
    """Tell whether anything but numbers or units differs; of no use where the wording or names are free."""
    if pair.free & {"wording", "names"}:
        return False
    before = skeleton(pair.qc, numbers=numbers, units=units)
    after = skeleton(pair.pc, numbers=numbers, units=units)
    return [w for w in before.words if w not in ignoring] != [w for w in after.words if w not in ignoring]


def _number_deletion(pair: Pair) -> Finding | None:
    # by value alone: without its number a unit may be read as something else
    (lost, gained), (lost_here, gained_here) = pair.values, pair.numbers
    if not lost or not lost_here:
        return by_two(not lost, not lost_here, "no quantity lost")
    # what is no number beside one may look like one by itself: second, m 2, cm^3
    seeming = {Fraction(2), Fraction(3)} if _SEEMING.search(pair.question) else set()
    new, new_here = gained.keys() - seeming, gained_here.keys() - seeming
    if new or new_here:
        return by_two(bool(new), bool(new_here), "a quantity changed into another")
    regions = sum(any(_is_number(token) for token in change.old) for change in pair.changes)
    many_here = sum(lost_here.values()) if "wording" in pair.free else regions
    if sum(lost.values()) > _MOST_DELETED and many_here > _MOST_DELETED:
        return impure("more than two quantities lost")
    if _words_apart(pair, numbers=True, units=True, ignoring=_VAGUE | _LETTERS):
        return doubt("other words changed")
    return None


def _is_number(token: str) -> bool:
    return token[0].isdigit() or token in NUMBER_WORDS


def _number_change(pair: Pair) -> Finding | None:
    same, same_here = not any(pair.quantities), not any(pair.counted)
    if same or same_here:
        return by_two(same, same_here, "no quantity changed")
    # by value alone: of 5 feet 6 inches one number changes, and one quantity
    many = max(sum(c.values()) for c in pair.values) > 1
    many_here = max(sum(c.values()) for c in pair.numbers) > 1
    if many or many_here:
        return by_two(many, many_here, "more than one quantity changed")
    if _words_apart(pair, numbers=True, units=False):
        return doubt("other words changed")
    return None


def _number_swap(pair: Pair) -> Finding | None:
    before, after = (Counter(w for w in text.low if _is_number(w)) for text in (pair.qc, pair.pc))
    if before != after and any(pair.numbers):
        return by_two(any(pair.values), True, "not the same numbers")
    if roles(pair.qc) == roles(pair.pc):
        return impure("every number stands with the same thing as before")
    if _words_apart(pair, numbers=True, units=False):
        return doubt("other words changed")
    return None


def _unit_replacement(pair: Pair) -> Finding | None:
    before, after = ([m.unit for m in find_unit_mentions(problem)] for problem in (pair.q, pair.p))
    changed = before != after or any(pair.quantities)
    if changed and not any(pair.quantities) and list(map(dimension, before)) == list(map(dimension, after)):
        return impure("every quantity is equal to what it was")
    changed_here = pair.qc.lone_units() != pair.pc.lone_units() or roles(pair.qc) != roles(pair.pc)
    if not changed or not changed_here:
        return by_two(not changed, not changed_here, "no other unit")
    if any(pair.values) or any(pair.numbers):
        return by_two(any(pair.values), any(pair.numbers), "numbers changed")
    other = len(before) == len(after) and list(map(_category, before)) != list(map(_category, after))
    if "wording" not in pair.free and other:
        return doubt("a unit of another category")
    if _words_apart(pair, numbers=False, units=True, ignoring=_LETTERS | _OF_UNITS):
        return doubt("other words changed")
    return None


def _category(unit: str) -> str | None:
    return category(unit) or category(unit.partition("/")[0])


# --- sentences and the question -----------------------------------------------------------------


def _prefix_rest(pair: Pair) -> str | None:
    """Return what was cut off at the end, or None where the paraphrase is no proper beginning of the question."""
    kept, whole = " ".join(pair.paraphrase.split()), " ".join(pair.question.split())
    return whole[len(kept) :] if whole.startswith(kept) and len(kept) < len(whole) else None


def _last_sentence_deletion(pair: Pair) -> Finding | None:
    if pair.free:
        return generic_invalid(pair)
    rest = _prefix_rest(pair)
    if rest is None:
        return impure("no beginning of the question")
    if len(pair.q.sentences) > 1:
        if rest.split() != pair.q.sentences[-1].text.split():
            return impure("not exactly the last sentence is gone")
        if not re.search(r"\w", rest):
            return impure("nothing but punctuation lost")
        before = pair.paraphrase.strip()
        if _NOT_SENTENCE_END.search(before[-12:]) or (_LETTER_END.search(before[-6:]) and _LETTER_START.match(rest)):
            return doubt("cut inside an abbreviation")
        start = pair.q.sentences[-1].start
        if "?" in pair.paraphrase and not any(q.end > start for q in pair.q.quantities):
            return doubt("the question stands before what was lost")
        return None
    fewer = (
        len(tokenize(pair.question)) - len(tokenize(pair.paraphrase)),
        len(pair.qc.tokens) - len(pair.pc.tokens),
    )
    return None if _CUT_TOKENS in fewer else impure("not three tokens fewer")


def _question_truncation(pair: Pair) -> Finding | None:
    if pair.free:
        ends = pair.paraphrase.rstrip()[-1:] in {".", "?", "!"}
        return doubt("the question may be whole") if ends else None
    rest = _prefix_rest(pair)
    if rest is None:
        return impure("no beginning of the question")
    words = re.findall(r"\w+", rest)
    if len(words) < 2 or pair.paraphrase.rstrip()[-1:] in {".", "?", "!"}:
        return impure("the question is whole")
    if pair.q.question is not None and len(pair.paraphrase.rstrip()) <= pair.q.question.start:
        return doubt("cut off before the question")
    if all(w.lower() in SILENT for w in words):
        return doubt("only function words lost")
    return None


def _question_replacement(pair: Pair) -> Finding | None:
    question = pair.q.question
    if question is None:
        return impure("there was no question")
    if pair.p.question is None:
        return doubt("the question is gone")
    if pair.free & {"wording", "names"}:
        before, after = ({w for w in count(q.text).low if w not in SILENT} for q in (question, pair.p.question))
        return doubt("asks in the same words") if before == after else None
    old = [w for change in pair.changes for w in change.old]
    new = [w for change in pair.changes for w in change.new]
    if pair.paraphrase[: question.start] != pair.question[: question.start]:
        return impure("changed outside the question")
    if not any(w[0].isalnum() for w in old + new):
        return impure("the question's words are the same")
    if _same_meaning(old, new):
        return impure("asks the same in other words")
    return _other_units(old, new)


def _other_units(old: Sequence[str], new: Sequence[str]) -> Finding | None:
    before, after = ([UNITS[w] for w in words if w in UNITS] for words in (old, new))
    return impure("the same unit in another spelling") if before and before == after and len(old) == 1 else None


def _same_meaning(old: Sequence[str], new: Sequence[str]) -> bool:
    before = {stem(w) for w in old if w not in STOP and w[0].isalpha()}
    after = {stem(w) for w in new if w not in STOP and w[0].isalpha()}
    if before == after:
        return not (set(old) ^ set(new)) - SILENT
    return any(before <= group and after <= group and before and after for group in _SAME_MEANING)


def _condition_deletion(pair: Pair) -> Finding | None:
    (lost, gained), (lost_here, gained_here) = pair.quantities, pair.counted
    if not lost or not lost_here:
        return by_two(not lost, not lost_here, "no quantity lost")
    if gained or gained_here:
        return by_two(bool(gained), bool(gained_here), "a quantity changed into another")
    if pair.q.questions and not pair.p.questions:
        return impure("the question is gone")
    if pair.free & {"wording", "names"}:
        return None
    if any(w[0].isalnum() for change in pair.changes for w in change.new):
        return impure("words added")
    if pair.q.question is not None:
        wanted = set(content_stems(pair.q.question.target))
        missing = wanted - set(content_stems(pair.paraphrase))
        if 2 * len(missing) > len(wanted) > 0:
            return impure("the question is gone")
    return None


def _relation_flip(pair: Pair) -> Finding | None:
    by_reader, by_count = any(pair.quantities), any(pair.counted)
    if by_reader or by_count:
        return by_two(by_reader, by_count, "quantities differ")
    if pair.free & {"wording", "names"}:
        before, after = (Counter(w for w in text.low if w in _RELATIONS - SILENT) for text in (pair.qc, pair.pc))
        return doubt("no relation changed") if before == after else None
    old = [w for change in pair.changes for w in change.old]
    new = [w for change in pair.changes for w in change.new]
    if max(len(old), len(new)) > 6 or len(pair.changes) > 2:
        return impure("more than one relation changed")
    names = {word.lower() for e in pair.q.entities for word in e.text.split()}
    if names & {*old, *new}:
        return impure("a name changed")
    strange = [w for w in new if w not in _RELATIONS]
    return doubt("a strange word") if strange else None


# --- names --------------------------------------------------------------------------------------


def _entity_replacement(pair: Pair) -> Finding | None:
    names = {word.lower() for e in pair.q.entities for word in re.findall(r"[^\W\d_]+", e.text)}
    old = {word for change in pair.changes for word in change.old}
    if not old & names:
        capitals = {t.lower() for t in split_possessives(pair.qc.tokens) if t[:1].isupper()}
        return by_two(True, not old & capitals, "no name changed")
    noted = pair.note == CONSISTENT
    if "wording" in pair.free:
        return Finding(consistent_renaming=noted)
    consistent = renaming(pair.qc.tokens, pair.pc.tokens).consistent
    if consistent and not noted:
        return Finding(ok=False, reason="a consistent renaming, not noted", consistent_renaming=True)
    if noted and not consistent:
        return doubt("noted as a consistent renaming, and is none")
    return Finding(consistent_renaming=consistent)


def _inconsistent_renaming(pair: Pair) -> Finding | None:
    if "wording" in pair.free:
        return generic_invalid(pair)
    found = renaming(pair.qc.tokens, pair.pc.tokens)
    if found.consistent:
        return impure("a consistent renaming")
    if any(pair.counted):
        return doubt("quantities differ")
    left = set(split_possessives(pair.pc.low))
    before = set(split_possessives(pair.qc.low))
    mixed = any(w.lower() in left for phrase in found.names for w in phrase) or any(
        w.lower() in before for phrase in found.names.values() for w in phrase
    )
    return None if mixed else impure("no name stands under two names")


# --- words lost or replaced ---------------------------------------------------------------------


def _phrase_deletion(pair: Pair) -> Finding | None:
    if "wording" in pair.free:
        return generic_invalid(pair)
    # by characters: what stood on both sides of a deleted mark may now stand together (2/5, semi-annual)
    if not is_subsequence("".join(pair.pc.low), "".join(pair.qc.low)):
        return impure("words added")
    return _lost_something(pair)


def _lost_something(pair: Pair) -> Finding | None:
    lost = Counter(_words(pair.qc.low)) - Counter(_words(pair.pc.low))
    if not lost:
        return impure("no word lost")
    if all(word in SILENT for word in lost):
        return impure("only function words lost")
    return None


def _words(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token[0].isalnum() or token in _MARKS]


def _random_replacement(pair: Pair) -> Finding | None:
    if "wording" in pair.free:
        return generic_invalid(pair)
    touched = _words([w for change in pair.changes for w in (*change.old, *change.new)])
    return impure("no content word replaced") if all(w in SILENT for w in touched) else None


CHECKS: Mapping[str, Check] = {
    "NumberDeletion": _number_deletion,
    "NumberChange": _number_change,
    "NumberSwap": _number_swap,
    "UnitReplacement": _unit_replacement,
    "LastSentenceDeletion": _last_sentence_deletion,
    "QuestionTruncation": _question_truncation,
    "QuestionReplacement": _question_replacement,
    "ConditionDeletion": _condition_deletion,
    "RelationFlip": _relation_flip,
    "EntityReplacement": _entity_replacement,
    "InconsistentRenaming": _inconsistent_renaming,
    "ImportantPhraseDeletion": _phrase_deletion,
    "RandomDeletion": _phrase_deletion,
    "TfidfReplacement": _random_replacement,
    "LossyParaphrase": generic_invalid,
    "T5Paraphrase": generic_invalid,
}

"""Check that an invalid operator's output changes the problem in the way that the operator declares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from paraqd.lab.annotation.purity.amounts import count
from paraqd.lab.annotation.purity.compare import (
    SILENT,
    STOP,
    content_stems,
    fold,
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
from paraqd.reading import tokenize
from paraqd.reading.currencies import SIGNS
from paraqd.reading.unit_mentions import find_unit_mentions
from paraqd.reading.units import category, dimension

Check = Callable[[Pair], Finding | None]

CONSISTENT = "consistent_renaming"
_VAGUE = frozenset("some a an the few many lot of his her their its my our your these those".split())
_LETTERS = frozenset({"m", "g", "s", "h", "l", "in", "p", "c", "f"})  # these are units only after a number
_OF_UNITS = frozenset("celsius fahrenheit centigrade nautical metric fluid degree degrees second cube".split())
_SEEMING = re.compile(r"\bsecond\b|\b[kcm]?m ?\^? ?[23]\b|[²³]", re.I)
_MARKS = frozenset({*"+*/^=<>×÷√%°", *SIGNS})  # marks that are as meaningful as words
_MOST_DELETED = 2
_CUT_TOKENS = 3
_NOT_SENTENCE_END = re.compile(r"(?:^|[\s(])(?:rs|mr|mrs|dr|ms|no|sq)\.$", re.I)
_LETTER_END = re.compile(r"(?:^|\s)[a-z]\.$", re.I)
_LETTER_START = re.compile(r"\s*[a-z](?:\.|$|\s*\?)", re.I)
# words with the same meaning; replacing one with another does not change a question
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
# words that express relations; reversing a relation replaces one of these words with another
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


def check_invalid(pair: Pair, fault: str) -> Finding:
    """Check a pair whose paraphrase should state a different problem.

    ``fault`` is the expected kind of fault, or an empty string if the kind is not known.
    """
    if not pair.paraphrase.strip():
        return impure("blank")
    if fold(pair.question) == fold(pair.paraphrase):
        return impure("equal to the question")
    check = _CHECKS.get(fault, _any_fault)
    finding = check(pair)
    if finding is not None:
        return finding
    may_glue = check in {_any_fault, _incoherent} or "punctuation" in pair.own
    if not may_glue and glued(pair.question, pair.paraphrase):
        return doubt("glued together")
    return PURE


def _any_fault(pair: Pair) -> Finding | None:
    """Check a pair whose kind of fault is not known; the pair is suspicious if no fault can be found."""
    if any(pair.quantities) or any(pair.counted):
        return None
    before, after = content_stems(pair.question), content_stems(pair.paraphrase)
    asks = bool(pair.p.questions) or not pair.q.questions
    if before == after and asks and roles(pair.qc) == roles(pair.pc):
        return doubt("looks valid")
    return None


# --- numbers and units --------------------------------------------------------------------------


def _other_words_differ(pair: Pair, *, numbers: bool, units: bool, ignoring: frozenset[str] = frozenset()) -> bool:
    """Return True if words other than numbers and units differ, unless the wording or names may differ."""
    if (pair.free | pair.own) & {"wording", "names"}:
        return False
    before = skeleton(pair.qc, numbers=numbers, units=units)
    after = skeleton(pair.pc, numbers=numbers, units=units)
    return [w for w in before.words if w not in ignoring] != [w for w in after.words if w not in ignoring]


def _number_lost(pair: Pair) -> Finding | None:
    # compare only values, because a unit that has lost its number may be read as something else
    (lost, added), (lost_here, added_here) = pair.values, pair.numbers
    if not lost or not lost_here:
        return by_two(not lost, not lost_here, "no quantity lost")
    # the remains of a lost quantity may look like a number: second, m 2, cm^3
    seeming = {Fraction(2), Fraction(3)} if _SEEMING.search(pair.question) else set()
    new, new_here = added.keys() - seeming, added_here.keys() - seeming
    if new or new_here:
        return by_two(bool(new), bool(new_here), "a quantity changed into another")
    regions = sum(any(_is_number(token) for token in change.old) for change in pair.changes)
    many_here = sum(lost_here.values()) if "wording" in pair.free else regions
    if sum(lost.values()) > _MOST_DELETED and many_here > _MOST_DELETED:
        return impure("more than two quantities lost")
    if _other_words_differ(pair, numbers=True, units=True, ignoring=_VAGUE | _LETTERS):
        return doubt("other words changed")
    return None


def _is_number(token: str) -> bool:
    return token[0].isdigit() or token in NUMBER_WORDS


def _number_changed(pair: Pair) -> Finding | None:
    return _numbers_exchanged(pair) if "order" in pair.own else _one_number_changed(pair)


def _one_number_changed(pair: Pair) -> Finding | None:
    same, same_here = not any(pair.quantities), not any(pair.counted)
    if same or same_here:
        return by_two(same, same_here, "no quantity changed")
    # compare only values, because a changed 5 in 5 feet 6 inches is one changed number
    many = max(sum(c.values()) for c in pair.values) > 1
    many_here = max(sum(c.values()) for c in pair.numbers) > 1
    if many or many_here:
        return by_two(many, many_here, "more than one quantity changed")
    if _other_words_differ(pair, numbers=True, units=False):
        return doubt("other words changed")
    return None


def _numbers_exchanged(pair: Pair) -> Finding | None:
    before, after = (Counter(w for w in text.low if _is_number(w)) for text in (pair.qc, pair.pc))
    if before != after and any(pair.numbers):
        return by_two(any(pair.values), True, "not the same numbers")
    if roles(pair.qc) == roles(pair.pc):
        # roles contain only nouns and units, so they cannot show which of two averages a number describes
        finding = doubt if "wording" in pair.own else impure
        return finding("every number still belongs to the same thing")
    if _other_words_differ(pair, numbers=True, units=False):
        return doubt("other words changed")
    return None


def _unit_changed(pair: Pair) -> Finding | None:
    before, after = ([m.unit for m in find_unit_mentions(problem)] for problem in (pair.q, pair.p))
    changed = before != after or any(pair.quantities)
    if changed and not any(pair.quantities) and list(map(dimension, before)) == list(map(dimension, after)):
        return impure("every quantity is still the same")
    changed_here = pair.qc.lone_units() != pair.pc.lone_units() or roles(pair.qc) != roles(pair.pc)
    if not changed or not changed_here:
        return by_two(not changed, not changed_here, "no other unit")
    if any(pair.values) or any(pair.numbers):
        return by_two(any(pair.values), any(pair.numbers), "numbers changed")
    other = len(before) == len(after) and list(map(_category, before)) != list(map(_category, after))
    if "wording" not in pair.free and other:
        return doubt("a unit of another category")
    if _other_words_differ(pair, numbers=False, units=True, ignoring=_LETTERS | _OF_UNITS):
        return doubt("other words changed")
    return None


def _category(unit: str) -> str | None:
    return category(unit) or category(unit.partition("/")[0])


# --- sentences and the question -----------------------------------------------------------------


def _missing_end(pair: Pair) -> str | None:
    """Return the missing end of the question, or None if the paraphrase is not the start of the question."""
    kept, whole = " ".join(pair.paraphrase.split()), " ".join(pair.question.split())
    return whole[len(kept) :] if whole.startswith(kept) and len(kept) < len(whole) else None


def _question_lost(pair: Pair) -> Finding | None:
    return _last_sentence_lost(pair) if "sentences" in pair.own else _question_cut_off(pair)


def _last_sentence_lost(pair: Pair) -> Finding | None:
    if pair.free:
        return _any_fault(pair)
    rest = _missing_end(pair)
    if rest is None:
        return impure("not a beginning of the question")
    if len(pair.q.sentences) > 1:
        if rest.split() != pair.q.sentences[-1].text.split():
            return impure("something other than the last sentence is missing")
        if not re.search(r"\w", rest):
            return impure("only punctuation lost")
        before = pair.paraphrase.strip()
        if _NOT_SENTENCE_END.search(before[-12:]) or (_LETTER_END.search(before[-6:]) and _LETTER_START.match(rest)):
            return doubt("cut inside an abbreviation")
        start = pair.q.sentences[-1].start
        if "?" in pair.paraphrase and not any(q.end > start for q in pair.q.quantities):
            return doubt("the question comes before the lost sentence")
        return None
    fewer = (
        len(tokenize(pair.question)) - len(tokenize(pair.paraphrase)),
        len(pair.qc.tokens) - len(pair.pc.tokens),
    )
    return None if _CUT_TOKENS in fewer else impure("not three tokens fewer")


def _question_cut_off(pair: Pair) -> Finding | None:
    if pair.free:
        ends = pair.paraphrase.rstrip()[-1:] in {".", "?", "!"}
        return doubt("the question may be complete") if ends else None
    rest = _missing_end(pair)
    if rest is None:
        return impure("not a beginning of the question")
    words = re.findall(r"\w+", rest)
    if len(words) < 2 or pair.paraphrase.rstrip()[-1:] in {".", "?", "!"}:
        return impure("the question is complete")
    if pair.q.question is not None and len(pair.paraphrase.rstrip()) <= pair.q.question.start:
        return doubt("cut off before the question")
    if all(w.lower() in SILENT for w in words):
        return doubt("only function words lost")
    return None


def _question_changed(pair: Pair) -> Finding | None:
    question = pair.q.question
    if question is None:
        return impure("there was no question")
    if pair.p.question is None:
        return doubt("the question is missing")
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
        return impure("asks the same question in other words")
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


def _content_lost(pair: Pair) -> Finding | None:
    return _condition_lost(pair) if "sentences" in pair.own else _words_lost(pair)


def _condition_lost(pair: Pair) -> Finding | None:
    (lost, added), (lost_here, added_here) = pair.quantities, pair.counted
    if not lost or not lost_here:
        return by_two(not lost, not lost_here, "no quantity lost")
    if added or added_here:
        return by_two(bool(added), bool(added_here), "a quantity changed into another")
    if pair.q.questions and not pair.p.questions:
        return impure("the question is missing")
    if pair.free & {"wording", "names"}:
        return None
    if any(w[0].isalnum() for change in pair.changes for w in change.new):
        return impure("words added")
    if pair.q.question is not None:
        target = set(content_stems(pair.q.question.target))
        missing = target - set(content_stems(pair.paraphrase))
        if 2 * len(missing) > len(target) > 0:
            return impure("the question is missing")
    return None


def _content_added(pair: Pair) -> Finding | None:
    if pair.free:
        return _any_fault(pair)
    if not is_subsequence(_words(pair.qc.low), _words(pair.pc.low)):
        return impure("words lost")
    added = Counter(_words(pair.pc.low)) - Counter(_words(pair.qc.low))
    return impure("only function words added") if all(word in SILENT for word in added) else None


def _relation_changed(pair: Pair) -> Finding | None:
    by_reader, by_count = any(pair.quantities), any(pair.counted)
    if (by_reader or by_count) and not pair.own & {"numbers", "order"}:
        return by_two(by_reader, by_count, "quantities differ")
    if "order" in pair.own:  # the parties of the relation may have been swapped
        return None
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
    unknown = [w for w in new if w not in _RELATIONS | NUMBER_WORDS]
    return doubt("a strange word") if unknown and "numbers" not in pair.own else None


# --- names --------------------------------------------------------------------------------------


def _entity_changed(pair: Pair) -> Finding | None:
    noted = pair.note == CONSISTENT
    if "wording" in pair.free:
        return Finding(consistent_renaming=True) if noted else _any_fault(pair)
    if pair.own == {"names"} and not _touches_a_name(pair):
        return by_two(True, not _touches_a_name(pair, capitals=True), "no name changed")
    found = renaming(
        *(singular_things(text.tokens) if "things" in pair.own else text.tokens for text in (pair.qc, pair.pc))
    )
    if found.consistent and not noted:
        return Finding(ok=False, reason="a consistent renaming, not noted", consistent_renaming=True)
    if noted and not found.consistent:
        return doubt("noted as a consistent renaming, but it is not")
    return Finding(consistent_renaming=found.consistent)


def _touches_a_name(pair: Pair, *, capitals: bool = False) -> bool:
    """Return True if a name in the question changed; with ``capitals``, every capitalised word counts as a name."""
    old = {word for change in pair.changes for word in change.old}
    if capitals:
        return bool(old & {t.lower() for t in split_possessives(pair.qc.tokens) if t[:1].isupper()})
    return bool(old & {word.lower() for e in pair.q.entities for word in re.findall(r"[^\W\d_]+", e.text)})


# --- words lost or replaced ---------------------------------------------------------------------


def _words_lost(pair: Pair) -> Finding | None:
    if "wording" in pair.free:
        return _any_fault(pair)
    # compare characters, because deleting a mark may join the words on both sides (2/5, semi-annual)
    if not is_subsequence("".join(pair.pc.low), "".join(pair.qc.low)):
        return impure("words added")
    lost = Counter(_words(pair.qc.low)) - Counter(_words(pair.pc.low))
    if not lost:
        return impure("no word lost")
    return impure("only function words lost") if all(word in SILENT for word in lost) else None


def _words(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token[0].isalnum() or token in _MARKS]


def _incoherent(pair: Pair) -> Finding | None:
    if "wording" in pair.free:
        return _any_fault(pair)
    changed = _words([w for change in pair.changes for w in (*change.old, *change.new)])
    return impure("no content word lost or replaced") if all(w in SILENT for w in changed) else None


# maps each evidence kind to its check
_CHECKS: Mapping[str, Check] = {
    "number_lost": _number_lost,
    "number_changed": _number_changed,
    "unit_changed": _unit_changed,
    "entity_changed": _entity_changed,
    "question_lost": _question_lost,
    "question_changed": _question_changed,
    "relation_changed": _relation_changed,
    "content_lost": _content_lost,
    "content_added": _content_added,
    "incoherent": _incoherent,
}

"""One pair judged by its operator's name; an operator that is not known, by its label."""

from __future__ import annotations

from collections.abc import Mapping

from paraqd.annotation.purity.invalid import CHECKS, check_invalid
from paraqd.annotation.purity.pair import PURE, Finding, Pair, impure
from paraqd.annotation.purity.valid import check_valid

_WORDING = frozenset({"wording", "numbers", "units"})
# what each valid operator may change
VALID: Mapping[str, frozenset[str]] = {
    "Backtranslation": _WORDING,
    "RewriteKeepingVoice": _WORDING,
    "Rewrite": _WORDING,
    "ActivePassive": _WORDING,
    "CorruptedReconstruction": _WORDING,
    "NumToWords": frozenset({"numbers"}),
    "WordsToNumbers": frozenset({"numbers"}),
    "UnitExpansion": frozenset({"units"}),
    "UnitContraction": frozenset({"units"}),
    "EqualQuantity": frozenset({"numbers", "units"}),
    "ConsistentRenaming": frozenset({"names"}),
}
_SAME = "SameSentence"


def check_pair(question: str, paraphrase: str, operator: str, label: int, note: str = "") -> Finding:
    """Check one augmented pair against its operator's promise.

    Parameters
    ----------
    question, paraphrase : str
        The pair.
    operator : str
        The operator's name; of ``A+B`` the last decides, and what A may change may change too. ``A#2``, A's second
        draw, promises what A does.
    label : int
        1 valid, 0 invalid; decides by itself where the operator is not known.
    note : str
        What the operator noted: ``consistent_renaming`` or nothing.

    Examples
    --------
    >>> check_pair("It is 5 km.", "It is five km.", "NumToWords", 1)
    Finding(ok=True, reason='', consistent_renaming=False, suspicious=False)
    >>> check_pair("It is 5 km.", "It is fivekm.", "NumToWords", 1).reason
    'glued together'
    >>> check_pair("It is 5 km.", "It is 5 kilometres.", "UnitReplacement", 0).reason
    'no other unit'

    """
    parts = [part.partition("#")[0] for part in operator.split("+")]
    free = frozenset[str]().union(*(VALID.get(part, frozenset() if part == _SAME else _WORDING) for part in parts[:-1]))
    last = parts[-1]
    if (last in CHECKS and label != 0) or ((last in VALID or last == _SAME) and label != 1):
        return impure("wrong label")
    if last == _SAME and not free:
        return PURE if question == paraphrase else impure("not the same text")
    if label == 0:
        return check_invalid(Pair(question, paraphrase, operator, free, note), last)
    free |= VALID.get(last, frozenset() if last == _SAME else _WORDING)
    return check_valid(Pair(question, paraphrase, operator, free, note))

"""Check one pair against its operator's promise."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from paraqd.lab.annotation.purity.invalid import check_invalid
from paraqd.lab.annotation.purity.pair import PURE, Finding, Pair, Promise, impure
from paraqd.lab.annotation.purity.valid import check_valid

NO_PROMISES: Mapping[str, Promise] = MappingProxyType({})
# an operator without a promise is assumed to reword the text
_REWORDING = frozenset({"wording", "numbers", "units"})


def check_pair(
    question: str,
    paraphrase: str,
    operator: str,
    label: int,
    note: str = "",
    *,
    promises: Mapping[str, Promise] = NO_PROMISES,
) -> Finding:
    """Check one augmented pair against its operator's promise.

    Parameters
    ----------
    question, paraphrase : str
        The pair.
    operator : str
        The operator's name. An output of a composed operator ``A+B`` must keep B's promise, except that the parts that
        A may change can also differ. A further output of the same operator, such as ``A#2``, must keep A's promise.
    label : int
        The label: 1 for valid, 0 for invalid.
    note : str
        The operator's note: ``consistent_renaming`` or an empty string.
    promises : mapping of str to Promise
        The promises, keyed by the operator's name, such as ``paraqd.lab.operators.declarations()``. If the operator has
        no promise, the pair is checked only against its label.

    Examples
    --------
    >>> from paraqd.lab.operators import declarations
    >>> promises = declarations()
    >>> check_pair("It is 5 km.", "It is five km.", "NumToWords", 1, promises=promises)
    Finding(ok=True, reason='', consistent_renaming=False, suspicious=False)
    >>> check_pair("It is 5 km.", "It is fivekm.", "NumToWords", 1, promises=promises).reason
    'glued together'
    >>> check_pair("It is 5 km.", "It is 5 kilometres.", "UnitReplacement", 0, promises=promises).reason
    'no other unit'

    """
    *before, last = (promises.get(part.partition("#")[0]) for part in operator.split("+"))
    free = frozenset[str]().union(*(_changes(promise) for promise in before))
    if last is not None and label != int(last.polarity == "valid"):
        return impure("wrong label")
    if label == 0:
        fault = (last.fault or "") if last is not None else ""
        own = last.changes if last is not None else frozenset[str]()
        return check_invalid(Pair(question, paraphrase, free, own, note), fault)
    free |= _changes(last)
    if not free:
        return PURE if question == paraphrase else impure("not the same text")
    return check_valid(Pair(question, paraphrase, free, note=note))


def _changes(promise: Promise | None) -> frozenset[str]:
    return _REWORDING if promise is None else promise.changes

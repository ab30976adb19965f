"""Name the fault of a pair in one word."""

from __future__ import annotations

from paraqd.scoring.verdict import Verdict

INVALID = "invalid"  # the fault of an invalid paraphrase without evidence
ERROR = "error"  # the fault of a pair that cannot be scored


def fault_of(verdict: Verdict | str) -> str:
    """Return the kind of the strongest evidence against a pair, and an empty string for a valid pair.

    >>> fault_of("the question is blank"), fault_of(Verdict(0.9, True, (), "")), fault_of(Verdict(-1, False, (), ""))
    ('error', '', 'invalid')
    """
    if isinstance(verdict, str):
        return ERROR
    if verdict.valid:
        return ""
    return verdict.evidence[0].kind.value if verdict.evidence else INVALID

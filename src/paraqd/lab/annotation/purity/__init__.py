"""Check label purity by comparing each augmented pair with its operator's promise, without using the operators' code.

`check_pair` checks one pair, and `check_file` checks all pairs in a file.
"""

from __future__ import annotations

from paraqd.lab.annotation.purity.check import check_pair
from paraqd.lab.annotation.purity.files import OperatorPurity, PurityReport, check_file
from paraqd.lab.annotation.purity.pair import Finding, Promise

__all__ = ["Finding", "OperatorPurity", "Promise", "PurityReport", "check_file", "check_pair"]

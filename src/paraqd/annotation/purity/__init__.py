"""Label purity: each augmented pair checked against what its operator promises, without the operators' code.

`check_pair` judges one pair, `check_file` a whole file.
"""

from __future__ import annotations

from paraqd.annotation.purity.check import check_pair
from paraqd.annotation.purity.files import OperatorPurity, PurityReport, check_file
from paraqd.annotation.purity.pair import Finding

__all__ = ["Finding", "OperatorPurity", "PurityReport", "check_file", "check_pair"]

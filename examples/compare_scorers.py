"""Run the checklist with your own scorer, in this example a rule that only compares the digits in both texts.

python examples/compare_scorers.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from paraqd.evaluation.checklist import judge_by, load_cases, run_checklist


def same_digits(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return 1 for each pair whose texts contain the same numbers in digits, and 0 for other pairs."""
    return [float(sorted(re.findall(r"\d+", a)) == sorted(re.findall(r"\d+", b))) for a, b in pairs]


if __name__ == "__main__":
    report = run_checklist(judge_by(same_digits, threshold=0.5), load_cases())
    print(f"right: {report.total.pass_rate:.1%}")
    for row in sorted(report.capabilities, key=lambda row: row.pass_rate)[:5]:
        print(f"  {row.capability}: {row.pass_rate:.0%}")

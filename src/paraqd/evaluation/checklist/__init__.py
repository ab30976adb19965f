"""Run a checklist that tests a scorer's capabilities with labelled pairs.

Each pair tests one capability. Most invalid pairs also state the kind of their fault and the words at fault.

>>> from paraqd.scoring.verdict import Verdict
>>> case = parse_case({"question": "Tom has 5 pens. How many?", "paraphrase": "Tom has 5 pens.", "label": 0,
...     "kinds": ["question_lost"], "where": {"question": ["How many?"], "paraphrase": []}}, capability="question")
>>> report = run_checklist(lambda pairs: [Verdict(0.9, True, (), "") for _ in pairs], [case])
>>> report.total.pass_rate
0.0
"""

from paraqd.evaluation.checklist.cases import Case, ChecklistError, load_cases, parse_case
from paraqd.evaluation.checklist.judging import (
    CapabilityRow,
    CaseResult,
    ChecklistReport,
    Judge,
    first_of_each,
    judge_by,
    run_checklist,
    shows_the_fault,
)

__all__ = [
    "CapabilityRow",
    "Case",
    "CaseResult",
    "ChecklistError",
    "ChecklistReport",
    "Judge",
    "first_of_each",
    "judge_by",
    "load_cases",
    "parse_case",
    "run_checklist",
    "shows_the_fault",
]

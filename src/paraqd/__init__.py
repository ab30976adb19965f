"""Check whether a paraphrase of a math word problem is still the same problem.

>>> import paraqd
>>> problem = paraqd.read("Alex travelled 100 km at 20 kmph. How many hours did it take him?")
>>> [(str(q.value), q.unit) for q in problem.quantities]
[('100', 'kilometre'), ('20', 'kilometre/hour')]
>>> paraqd.Scorer.load().score("Ann has 5 pens. How many?", "Ann has 6 pens. How many?").evidence[0].message
'A number changed: "5" became "6".'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paraqd.telemetry import switch_off
from paraqd.version import __version__

if TYPE_CHECKING:
    from paraqd.errors import ModelError, ParaqdError
    from paraqd.paraphrasing.files import paraphrase_file
    from paraqd.paraphrasing.paraphraser import Paraphrase, paraphrase
    from paraqd.paraphrasing.report import ParaphraseReport
    from paraqd.reading import Problem, Quantity, equal, read
    from paraqd.runs.calibrate import calibrate_file
    from paraqd.runs.decide import decide_file
    from paraqd.runs.evaluate import evaluate_file
    from paraqd.runs.report import write_report
    from paraqd.runs.run import RunInterrupted
    from paraqd.runs.score import Model, ScoreReport, score_file
    from paraqd.runs.solvable import SolvableReport, solvable_file
    from paraqd.scoring.decisions import Band, Decision
    from paraqd.scoring.pair_errors import PairError, PairsError
    from paraqd.scoring.scorer import Scorer
    from paraqd.scoring.solvable import QuestionEvidence, QuestionFault, Solvability, SolvableChecker
    from paraqd.scoring.verdict import Evidence, EvidenceKind, Verdict
    from paraqd.server.client import AsyncClient, Client
    from paraqd.server.client_messages import ClientError
    from paraqd.tables.formats import TableError
    from paraqd.tables.table import Columns

switch_off()

# Names are loaded on first use, so that a program loads only the modules that it needs.
_LATER = {
    "Problem": "paraqd.reading",
    "Quantity": "paraqd.reading",
    "equal": "paraqd.reading",
    "read": "paraqd.reading",
    "Scorer": "paraqd.scoring.scorer",
    "Columns": "paraqd.tables.table",
    "Model": "paraqd.runs.score",
    "ModelError": "paraqd.errors",
    "PairError": "paraqd.scoring.pair_errors",
    "PairsError": "paraqd.scoring.pair_errors",
    "Paraphrase": "paraqd.paraphrasing.paraphraser",
    "ParaphraseReport": "paraqd.paraphrasing.report",
    "ParaqdError": "paraqd.errors",
    "RunInterrupted": "paraqd.runs.run",
    "ScoreReport": "paraqd.runs.score",
    "TableError": "paraqd.tables.formats",
    "calibrate_file": "paraqd.runs.calibrate",
    "decide_file": "paraqd.runs.decide",
    "evaluate_file": "paraqd.runs.evaluate",
    "paraphrase": "paraqd.paraphrasing.paraphraser",
    "paraphrase_file": "paraqd.paraphrasing.files",
    "score_file": "paraqd.runs.score",
    "QuestionEvidence": "paraqd.scoring.solvable",
    "QuestionFault": "paraqd.scoring.solvable",
    "Solvability": "paraqd.scoring.solvable",
    "SolvableChecker": "paraqd.scoring.solvable",
    "SolvableReport": "paraqd.runs.solvable",
    "solvable_file": "paraqd.runs.solvable",
    "Band": "paraqd.scoring.decisions",
    "Decision": "paraqd.scoring.decisions",
    "write_report": "paraqd.runs.report",
    "Evidence": "paraqd.scoring.verdict",
    "EvidenceKind": "paraqd.scoring.verdict",
    "Verdict": "paraqd.scoring.verdict",
    "AsyncClient": "paraqd.server.client",
    "Client": "paraqd.server.client",
    "ClientError": "paraqd.server.client_messages",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "AsyncClient",
    "Band",
    "Client",
    "ClientError",
    "Columns",
    "Decision",
    "Evidence",
    "EvidenceKind",
    "Model",
    "ModelError",
    "PairError",
    "PairsError",
    "Paraphrase",
    "ParaphraseReport",
    "ParaqdError",
    "Problem",
    "Quantity",
    "QuestionEvidence",
    "QuestionFault",
    "RunInterrupted",
    "ScoreReport",
    "Scorer",
    "Solvability",
    "SolvableChecker",
    "SolvableReport",
    "TableError",
    "Verdict",
    "__version__",
    "calibrate_file",
    "decide_file",
    "equal",
    "evaluate_file",
    "paraphrase",
    "paraphrase_file",
    "read",
    "score_file",
    "solvable_file",
    "write_report",
]

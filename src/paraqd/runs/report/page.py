"""Assemble the HTML page of a report from its template, its scripts and its data."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from paraqd.runs.report.pairs import DECISIONS, ReportPair, ScoredPairs
from paraqd.runs.report.summary import ReportSummary, summarise
from paraqd.version import __version__

_STYLES = ("pair_view.css", "report.css", "print.css")
_SCRIPTS = ("pair_view.js", "data.js", "filters.js", "charts.js", "list.js", "rows.js", "main.js")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def report_html(scored: ScoredPairs, *, title: str, notes: Sequence[str] = ()) -> str:
    """Return a report as one HTML page that loads nothing else."""
    summary = summarise(scored.pairs)
    style = "".join(map(_file, _STYLES))
    script = "".join(map(_file, _SCRIPTS))
    data = f'"use strict"; const REPORT_DATA = "{packed(report_data(scored, summary, title=title, notes=notes))}";'
    # only these scripts and this style may run, and nothing may be loaded
    policy = (
        f"default-src 'none'; script-src {_hash(data)} {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "title": escape(title),
        "version": escape(__version__),
        "policy": policy,
        "style": style,
        "script": script,
        "data": data,
        "counts": _counts(summary),
    }
    return _PLACE.sub(lambda found: parts[found[1]], _file("report.html"))


def report_data(
    scored: ScoredPairs, summary: ReportSummary, *, title: str, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the data of a report. Questions and kinds of evidence are listed once, and pairs refer to them."""
    questions: dict[str, int] = {}
    kinds: dict[str, int] = {}
    pairs = [_fields(pair, questions, kinds) for pair in scored.pairs]
    return {
        "title": title,
        "source": scored.name,
        "date": scored.date,
        "version": __version__,
        "threshold": scored.threshold,
        "band": scored.band,
        "signatures": list(scored.signatures.items()),
        "notes": list(notes),
        "summary": summary.to_dict(),
        "questions": list(questions),
        "kinds": list(kinds),
        "pairs": pairs,
    }


def _fields(pair: ReportPair, questions: dict[str, int], kinds: dict[str, int]) -> list[Any]:
    """Return the fields of a pair in the order in which ``data.js`` reads them."""
    evidence = [
        [
            kinds.setdefault(piece["kind"], len(kinds)),
            piece["question_spans"],
            piece["paraphrase_spans"],
            piece["message"],
            piece["delta"],
        ]
        for piece in pair.evidence
    ]
    return [
        pair.row,
        questions.setdefault(pair.question, len(questions)),
        pair.paraphrase,
        pair.score,
        DECISIONS.index(pair.decision),
        evidence,
        list(pair.warnings),
        pair.error,
        pair.id,
        pair.column,
    ]


def packed(data: Any) -> str:
    """Return data as JSON, compressed and in base64, which is safe inside a script. The same data give the same text.

    >>> json.loads(gzip.decompress(base64.b64decode(packed({"a": "</script>"}))))
    {'a': '</script>'}
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII, so that broken Unicode is kept
    return base64.b64encode(gzip.compress(text.encode("ascii"), 6, mtime=0)).decode("ascii")


def _file(name: str) -> str:
    return files("paraqd.runs.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _counts(summary: ReportSummary) -> str:
    """Return a table of the counts for browsers without JavaScript."""
    counts = {
        "pairs": summary.rows,
        "valid": summary.valid,
        "review": summary.review,
        "invalid": summary.invalid,
        "not scored": summary.errors,
        "with warnings": summary.warned,
    }
    rows = [f"<tr><th scope='row'>{name}</th><td>{number:,}</td></tr>" for name, number in counts.items()]
    rows += [
        f"<tr><th scope='row'>{escape(kind)}</th><td>{number:,}</td></tr>" for kind, number in summary.faults.items()
    ]
    return f"<table>{''.join(rows)}</table>"

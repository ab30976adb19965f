"""Render an augmentation report as a self-contained HTML page without scripts, with a light and a dark theme."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template

from paraqd.lab.corpora.augment_report import AugmentReport, Example, OperatorReport
from paraqd.reading.word_difference import differences

_BAR, _STEP, _WIDTH, _LETTER = 16, 26, 900, 7.4
_HIST_WIDTH, _HIST_HEIGHT = 220, 70
_SHOWN = 4000  # the maximum number of characters shown of each text in an example
# colours for viewers that do not apply the page's CSS to SVG
_FILL = {"valid": "#0f8a7e", "invalid": "#c8641b", "track": "#e4e2dd"}


def report_html(report: AugmentReport) -> str:
    """Return the report as an HTML page."""
    page = Template(files("paraqd.runs").joinpath("augment_report_page.txt").read_text(encoding="utf-8"))
    valid = sum(operator.applied for operator in report.operators if operator.label == 1)
    facts = {
        "questions": f"{report.questions:,}",
        "pairs written": f"{report.written:,}",
        "valid": f"{valid:,}",
        "invalid": f"{report.written - valid:,}",
        "operators": str(len(report.operators)),
        "rows skipped": f"{report.skipped:,}",
    }
    return page.substitute(
        title=escape(report.out),
        recipe=escape(report.recipe),
        seed=report.seed,
        version=escape(report.version),
        state="" if report.complete else '<p class="warn">Interrupted: only the questions finished so far.</p>',
        facts="".join(f"<div><b>{value}</b><span>{name}</span></div>" for name, value in facts.items()),
        bars=_bars(report.operators),
        histograms="".join(_histogram(operator) for operator in report.operators),
        losses=_losses(report),
        examples="".join(_examples(operator) for operator in report.operators),
    )


def _fill(name: str) -> str:
    return f'class="{name}" fill="{_FILL[name]}"'


def _verdict(operator: OperatorReport) -> str:
    return "valid" if operator.label == 1 else "invalid"


def _bars(operators: tuple[OperatorReport, ...]) -> str:
    """Plot the percentage of questions for which each operator produced an output."""
    height = len(operators) * _STEP + 4
    margin = int(max(len(_named(operator)) for operator in operators) * _LETTER) + 16
    room = _WIDTH - margin - 130
    rows = []
    for i, operator in enumerate(operators):
        y = i * _STEP + 4
        share = f"{room * operator.applied_percent / 100:.1f}"
        name = escape(_named(operator))
        figures = f"{operator.applied_percent:.1f} %  ({operator.applied:,})"
        rows.append(
            f'<text x="{margin - 10}" y="{y + 13}" text-anchor="end">{name}</text>'
            f'<rect {_fill("track")} x="{margin}" y="{y}" width="{room}" height="{_BAR}" rx="3"/>'
            f'<rect {_fill(_verdict(operator))} x="{margin}" y="{y}" width="{share}" height="{_BAR}" rx="3">'
            f"<title>{name}: {figures}</title></rect>"
            f'<text class="figure" x="{margin + room + 10}" y="{y + 13}">{figures}</text>'
        )
    return f'<svg viewBox="0 0 {_WIDTH} {height}" font-size="13" role="img" aria-label="Applied">{"".join(rows)}</svg>'


def _named(operator: OperatorReport) -> str:
    paper_id = f" ({operator.paper_id})" if operator.paper_id else ""
    return f"{operator.name}{paper_id}{' *' if operator.stand_in else ''}"


def _histogram(operator: OperatorReport) -> str:
    """Plot the edit distances between an operator's outputs and their questions."""
    if not operator.applied:
        return ""
    bins = operator.histogram
    width = _HIST_WIDTH / len(bins)
    top = max(bins)
    columns = []
    for i, count in enumerate(bins):
        height = _HIST_HEIGHT * count / top
        columns.append(
            f'<rect {_fill(_verdict(operator))} x="{i * width + 0.5:.1f}" y="{_HIST_HEIGHT - height:.1f}" '
            f'width="{width - 1:.1f}" height="{height:.1f}">'
            f"<title>{i / len(bins):.2f} to {(i + 1) / len(bins):.2f}: {count:,}</title></rect>"
        )
    base, low = _HIST_HEIGHT, _HIST_HEIGHT + 13
    svg = (
        f'<svg viewBox="0 0 {_HIST_WIDTH} {low + 3}" font-size="12" role="img" aria-label="Edit distances">'
        f"{''.join(columns)}"
        f'<line x1="0" x2="{_HIST_WIDTH}" y1="{base}" y2="{base}"/>'
        f'<text class="figure" x="0" y="{low}">0</text>'
        f'<text class="figure" x="{_HIST_WIDTH}" y="{low}" text-anchor="end">1</text></svg>'
    )
    mean = f"mean {operator.edit_distance:.2f}, {operator.edit_characters:.0f} characters"
    return f"<figure><figcaption>{escape(_named(operator))}<span>{mean}</span></figcaption>{svg}</figure>"


def _losses(report: AugmentReport) -> str:
    """Return a table of skipped operators, stand-ins, dropped outputs, failures, notes and skipped rows."""
    rows = [(name, "left out", why, "") for name, why in report.left_out.items()]
    kinds: tuple[tuple[str, str], ...] = (("dropped", "dropped"), ("failed", "failed"), ("notes", "noted"))
    for operator in report.operators:
        if operator.stand_in:
            rows.append((operator.name, "stand-in *", f"written by {operator.source_model}", ""))
        for attribute, word in kinds:
            counts: Mapping[str, int] = getattr(operator, attribute)
            rows += [(operator.name, word, why, f"{n:,}") for why, n in sorted(counts.items())]
    if report.skipped:
        reasons: dict[str, list[int]] = {}
        for row, why in report.skipped_rows:
            reasons.setdefault(why, []).append(row)
        for why, numbers in reasons.items():
            some = ", ".join(map(str, numbers[:20])) + (", …" if len(numbers) > 20 else "")
            rows.append(("(rows)", "skipped", f"{why}: row {some}", f"{len(numbers):,}"))
    if not rows:
        return "<p>Nothing was dropped, skipped or left out.</p>"
    cells = "".join(
        f"<tr><td>{escape(a)}</td><td>{escape(b)}</td><td>{escape(c)}</td><td class='n'>{d}</td></tr>"
        for a, b, c, d in rows
    )
    head = "<tr><th>operator</th><th>what</th><th>why</th><th class='n'>times</th></tr>"
    return f"<table>{head}{cells}</table>"


def _examples(operator: OperatorReport) -> str:
    if not operator.examples:
        return ""
    shown = "".join(f"<li>{_example(example)}</li>" for example in operator.examples)
    badge = f'<span class="badge {_verdict(operator)}">{_verdict(operator)}</span>'
    return f"<details open><summary>{escape(_named(operator))} {badge}</summary><ul>{shown}</ul></details>"


def _example(example: Example) -> str:
    tags = {"=": "{}", "-": "<del>{}</del>", "+": "<ins>{}</ins>"}
    segments = differences(example.question[:_SHOWN], example.paraphrase[:_SHOWN])
    return "".join(tags[sign].format(escape(text)) for sign, text in segments)

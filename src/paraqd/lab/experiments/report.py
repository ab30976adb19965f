"""Write an HTML report on a run, with all finished tables and figures, and the parts that could not run."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from paraqd.evaluation.tables import DATASET, NOTHING, PAPER, SOURCE, shown
from paraqd.lab.experiments.declared import EXPERIMENTS
from paraqd.tables.writers import replacing

_DECIMALS = {"n": 0, "label": 0, "valid_percent": 2, "invalid_percent": 2}


def write_report(folder: Path) -> Path:
    """Write ``report.html`` from the files in a run's folder, and return the report's path."""
    facts = json.loads((folder / "run.json").read_text("utf-8"))
    scale = facts["scale"]
    parts = [part for found in EXPERIMENTS if (part := _part(folder, found.name))]
    page = Template(files("paraqd.lab.experiments").joinpath("report_page.txt").read_text(encoding="utf-8"))
    done = page.substitute(
        title=escape(f"ParaQD experiments, {scale['name']} scale"),
        note=f'<p class="warn">{escape(scale["note"])}</p>' if scale["note"] else "",
        facts=_facts(facts),
        contents="".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in parts),
        key="Grey rows contain the paper's results. " if any('class="paper"' in p[2] for p in parts) else "",
        parts=_WORDS + "".join(html for _, _, html in parts),
    )
    path = folder / "report.html"
    with replacing(path) as temporary:
        temporary.write_text(done, encoding="utf-8")
    return path


_WORDS = (
    '<details class="card"><summary><b>Terms</b></summary>'
    "<p>A pair is accepted if its score, the cosine of two embeddings, is above 0.5. <b>F1 (paper)</b> is the harmonic "
    "mean of the averaged precision and the averaged recall. <b>Macro F1</b>, which is stricter, is the mean F1 of "
    "both classes. <b>μ+</b> and <b>μ-</b> are the mean scores of valid and invalid pairs. <b>Separation</b> is μ+ "
    "minus μ-. <b>w pl</b> means with pseudo-labels. <b>Op+</b> and <b>Op-</b> are the valid and invalid operators "
    "whose removal lowers the separation most. <b>search</b> is the seed that was best on validation data.</p>"
    "<p>Valid operators: f1 back-translation, f2 the same text, f3 numbers in words, f4 units in full. Invalid: f5 a "
    "key phrase deleted, f6 the last sentence deleted, f7 names replaced, f8 numbers deleted, f9 a lossy paraphrase, "
    "f10 units replaced.</p></details>"
)


def _part(folder: Path, name: str) -> tuple[str, str, str] | None:
    described = folder / "experiments" / f"{name}.json"
    if not described.is_file():
        return None
    facts = json.loads(described.read_text("utf-8"))
    tables = folder / "tables" / f"{name}.json"
    html = [f'<section id="{name}"><h2>{escape(facts["title"])}</h2>']
    if tables.is_file():
        html += [_table(table) for table in json.loads(tables.read_text("utf-8"))]
        links = ", ".join(f'<a href="tables/{name}.{ending}">{ending}</a>' for ending in ("md", "tex", "json"))
        html.append(f'<p class="links">Download as {links}</p>')
    if facts["not_run"]:
        items = "".join(f"<li><b>{escape(what)}</b>: {escape(why)}</li>" for what, why in facts["not_run"].items())
        html.append(f'<div class="card"><b>Not run</b><ul>{items}</ul></div>')
    pictures = [
        f'<figure><a href="{escape(figure["path"])}"><img loading="lazy" alt="{escape(figure["title"])}"'
        f' src="{escape(figure["path"])}"></a><figcaption>{escape(figure["title"])}</figcaption></figure>'
        for figure in facts["figures"]
    ]
    if pictures:
        html.append(f'<div class="grid">{"".join(pictures)}</div>')
    return name, facts["title"], "".join(html) + "</section>"


def _table(table: dict[str, Any]) -> str:
    columns = table["columns"]
    heads = "".join(f"<th>{escape(column['title'])}</th>" for column in columns)
    body = []
    for row in table["rows"]:
        kind = ' class="paper"' if row.get(SOURCE) == PAPER else ""
        cells = []
        for column in columns:
            value = row.get(column["key"])
            text = _cell(value, column["key"])
            if not kind and column["best"] and _number(value) is not None:
                beside = [other for other in table["rows"] if other.get(DATASET) == row.get(DATASET)]
                if _number(value) == _best(beside, column["key"]):
                    text = f"<b>{text}</b>"
            side = "" if isinstance(value, str) else ' class="n"'
            cells.append(f"<td{side}>{text}</td>")
        body.append(f"<tr{kind}>{''.join(cells)}</tr>")
    notes = "".join(f"<p>{escape(note)}</p>" for note in table["notes"])
    return (
        f'<div class="card"><h3>{escape(table["title"])}</h3><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>{notes}</div>"
    )


def _cell(value: Any, key: str) -> str:
    if isinstance(value, dict):
        low, high = (f"{value[side]:.2f}" for side in ("low", "high"))
        return f'{value["value"]:.3f} <span class="range">[{low}, {high}]</span>'
    return escape(NOTHING if value is None else shown(value, _DECIMALS.get(key, 3)))


def _number(value: Any) -> float | None:
    number = value["value"] if isinstance(value, dict) else value
    return round(float(number), 3) if isinstance(number, int | float) else None


def _best(rows: list[dict[str, Any]], key: str) -> float | None:
    ours = [found for row in rows if row.get(SOURCE) != PAPER and (found := _number(row.get(key))) is not None]
    return max(ours) if len(set(ours)) > 1 else None  # if all values are equal, no value is marked as the best


def _facts(facts: dict[str, Any]) -> str:
    scale, settings = facts["scale"], facts["scale"]["settings"]
    shown_facts = {
        "scale": scale["name"],
        "encoder": scale["encoder"] + (f", {scale['layers']} layers" if scale["layers"] else ""),
        "epochs": str(settings["epochs"]),
        "batch size": str(settings["batch_size"]),
        "learning rate": f"{settings['learning_rate']:g}",
        "seed": str(settings["seed"]),
    }
    return "".join(f"<div><b>{escape(value)}</b><span>{name}</span></div>" for name, value in shown_facts.items())

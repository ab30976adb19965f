"""The report of a run: tables as Markdown, and a plot."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from speedlib.figures import Found, limits, measured, needed, pair_costs, rates, ratios
from speedlib.plot import plot

# --- tables ---------------------------------------------------------------------------------------


def spread(values: Sequence[float], form: Callable[[float], str]) -> str:
    """Write the median, and the least and the most where there are several.

    >>> spread([3, 1, 2], lambda value: f"{value:.1f}")
    '2.0 (1.0 to 3.0)'
    """
    if not values:
        return "–"
    middle = form(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({form(min(values))} to {form(max(values))})"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _tenth(value: float) -> str:
    return f"{value:,.1f}"


def _hundredth(value: float) -> str:
    return f"{value:,.2f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = ["---"] + ["---:"] * (len(heads) - 1)
    return ["", *(f"| {' | '.join(cells)} |" for cells in (heads, marks, *rows))]


def throughput(found: Found, which: str) -> list[str]:
    """Return the table of one set."""
    best = limits(found)
    rows = []
    for name, title in measured(found):
        rate = rates(found, name, which)
        work = needed(found, name, which)
        shares = ["–" if not work else f"{statistics.median(rate) * work / each / 1e9:.0%}" for each in best.values()]
        rows.append([title, spread(rate, _whole), spread(ratios(found, name, which), _hundredth), *shares])
    about = found["sets"][which]
    repeats = f"{about['pairs']} pairs of {about['texts']} different texts"
    heads = ["", "pairs/s", f"× {found['titles'][found['reference']]}", *(f"of the {name} limit" for name in best)]
    return ["", f"### {which}: {repeats}", *_table(heads, rows)]


def latency(found: Found) -> list[str]:
    """Return the table of single pairs and memory."""
    rows = []
    for name, title in measured(found):
        runs = found["runs"][name]
        quantiles = [[float(np.quantile(run["single_ms"], at)) for run in runs] for at in (0.5, 0.99)]
        memory = [[run[key] for run in runs] for key in ("peak_mb", "growth_mb")]
        loads = spread([run["load_s"] for run in runs], _hundredth)
        cells = [*(spread(each, _tenth) for each in quantiles), *(spread(each, _whole) for each in memory), loads]
        rows.append([title, *cells])
    heads = ["", "p50, ms", "p99, ms", "peak memory, MB", "of it while scoring, MB", "loading in Python, s"]
    return _table(heads, rows)


def padding(found: Found) -> list[str]:
    """Return the table of what went through each model."""
    rows = []
    for name, title in measured(found):
        for which, counts in found["counts"].get(name, {}).items():
            if not counts["cells"]:
                continue
            share = f"{1 - counts['tokens'] / counts['cells']:.1%}"
            per = f"{counts['rows'] / counts['pairs']:.2f}"
            rows.append([title, which, per, f"{counts['tokens'] / counts['pairs']:.0f}", share])
    return _table(["", "set", "rows per pair", "tokens per pair", "padding"], rows)


def starting(found: Found) -> list[str]:
    """Return the table of cold starts and of what is installed."""
    rows = []
    titles = {"python": "python -c pass", **found["titles"]}
    for name, title in titles.items():
        runs, size = found["cold_start"].get(name), found["size"].get(name)
        if not runs and not size:
            continue
        seconds = spread([run["seconds"] for run in runs or ()], _hundredth)
        memory = spread([run["peak_mb"] for run in runs or ()], _whole)
        packages = f"{size['packages']}" if size else "–"
        megabytes = f"{size['mb'] + size['own_mb']:,.0f}" if size else "–"
        largest = ", ".join(f"{each} {mb:,.0f}" for each, mb in list(size["largest"].items())[:3]) if size else "–"
        rows.append([title, seconds, memory, packages, megabytes, largest])
    heads = ["", "seconds", "peak memory, MB", "packages", "installed, MB", "the largest"]
    return _table(heads, rows)


def growth(found: Found) -> list[str]:
    """Return the table of larger and larger files."""
    rows = []
    for size in sorted({run["pairs"] for run in found["growth"]}):
        runs = [run for run in found["growth"] if run["pairs"] == size]
        wall, core = (pair_costs(found, size, key).values() for key in ("seconds", "cpu_s"))
        rows.append(
            [
                f"{size:,}",
                spread([run["seconds"] for run in runs], _tenth),
                spread([1 / each for each in wall], _whole),
                spread([1e3 * each for each in core], _hundredth),
                spread([run["peak_mb"] for run in runs], _whole),
                str(len(runs)),
            ]
        )
    heads = ["pairs", "seconds", "pairs/s", "a pair, ms of a core", "peak memory, MB", "runs"]
    return _table(heads, rows)


def flatness(found: Found) -> list[str]:
    """Say how the cost of a pair in large files compares to that in the smallest."""
    sizes = sorted({run["pairs"] for run in found["growth"]} - {1})
    cost = {(size, key): pair_costs(found, size, key) for size in sizes for key in ("seconds", "cpu_s")}
    lines = []
    for size in sizes[1:]:
        told = []
        for key, called in (("seconds", "time"), ("cpu_s", "of the cores' time")):
            base, mine = cost[sizes[0], key], cost[size, key]
            if not base or not mine:
                continue
            # within a turn, and against the median where none has both
            both = base.keys() & mine.keys()
            middle = statistics.median(base.values())
            more = [mine[turn] / base[turn] - 1 for turn in sorted(both)] or [
                each / middle - 1 for each in mine.values()
            ]
            told.append(f"{spread(more, lambda value: f'{value:+.1%}')} {called}")
        if told:
            lines.append(f"- A pair of {size:,} against one of {sizes[0]:,}: {', '.join(told)}.")
    return ["", *lines] if lines else []


def quality(found: Found) -> list[str]:
    """Return the table of how far the others' scores are from those of torch in 32 bits."""
    rows = [
        [found["titles"][name], f"{row['pairs']:,}", *(f"{row[key]:.5f}" for key in ("median", "p99", "max"))]
        for name, row in found["quality"].items()
    ]
    return _table(["", "pairs", "median", "p99", "max"], rows)


# --- the whole ------------------------------------------------------------------------------------


def markdown(found: Found) -> str:
    """Return the report."""
    machine = found["machine"]
    turns = max((len(runs) for runs in found["runs"].values()), default=0)
    named = [f"{name} {version}" for name, version in found["versions"].items()]
    lines = [
        "# Speed, measured",
        "",
        "Made by `make bench` (`bench/speed.py`); the figures are in [bench.json](bench.json).",
    ]
    if found["quick"]:
        lines += ["", "**A smoke run: few pairs, nothing here is a result.**"]
    if found.get("stopped"):
        lines += ["", "**The run was stopped: what is missing was not measured.**"]
    lines += [
        "",
        f"{machine['processor']}, {machine['cores']} cores ({', '.join(machine['instructions'])}), "
        f"{machine['memory_gb']} GB of memory, {machine['system']}, Python {machine['python']}; "
        f"{machine['threads']} threads for everybody. Load before the run: {machine['load_before']}.",
        "",
        f"{', '.join(named)}.",
    ]
    if found.get("rivals_versions"):
        theirs = [f"{name} {version}" for name, version in found["rivals_versions"].items()]
        lines += ["", f"For the ONNX backend and fastembed, in an environment of their own: {', '.join(theirs)}."]
    for name, why in {**found["not_run"], **found["absent_sets"]}.items():
        lines += ["", f"Not measured: {found['titles'].get(name, name)}: {why}."]
    for what, why in found["failed"].items():
        lines += ["", f"Failed: {what}: {why}."]
    lines += [
        "",
        f"Median (least to most) of {turns} turns. Each measurement is a process of its own; contenders take turns, "
        "and a ratio is taken within a turn. Ours reads, judges and names evidence, but for the mode encoder, which "
        "has the same weights as the others: two vectors and their cosine. It makes one vector of each text, the "
        "others one wherever it stands, unless the table says *each text once*.",
    ]
    if found["runs"]:
        lines += ["", "![ratios, latency, growth](bench.png)", *_speeds(found)]
    if found["cold_start"]:
        lines += ["", "## One pair from a cold start, and what is installed", "", _STARTING, *starting(found)]
    if found["growth"]:
        lines += ["", "## Growth of the default", "", _GROWTH, *growth(found), *flatness(found)]
    return "\n".join(lines) + "\n"


def _speeds(found: Found) -> list[str]:
    lines = ["", "## Pairs a second", "", *_limit_lines(found)]
    for which in found["sets"]:
        lines += throughput(found, which)
    lines += ["", "## One pair at a time, and memory", "", _LATENCY, *latency(found)]
    if found["counts"]:
        lines += ["", "## What goes through the models", "", _PADDING, *padding(found)]
    if found["quality"]:
        lines += [
            "",
            "## Scores beside those of torch in 32 bits",
            "",
            "How far scores are from each other, all sets together.",
            *quality(found),
        ]
    return lines


_LATENCY = (
    "200 pairs, each alone, after 20 that warm up. Memory is that of the process at its peak while it scores the sets, "
    "and how far that is above what it held before."
)
_PADDING = (
    "A row is a text, or for the judge a pair. Fewer rows than texts or pairs: what was there before is remembered, "
    "and what is plain is not asked."
)
_STARTING = (
    "`paraqd explain` with a pair, against a few lines of Python that import, load and encode the same pair. Installed "
    "is the package with all that it depends on, from the packages' own lists of files, and the weights; without "
    "compiled bytecode."
)
_GROWTH = (
    "`paraqd score` on files of JSON lines, from the start of the command to its end, turn by turn. The files hold 120 "
    "shipped pairs of at most 250 characters in both texts (a million of these take less than an hour) over and over, "
    "with other numbers each time, so that no two are the same. What a pair takes is told less what a file of one pair "
    "takes, which is mostly starting."
)


def _limit_lines(found: Found) -> list[str]:
    if not found["limits"]:
        return ["The machine's own limits were not measured."]
    rows, inner, outer = found["shape"]
    told = [f"{name} {spread([each[name] for each in found['limits']], _whole)} GOP/s" for name in found["limits"][0]]
    return [
        f"A plain matrix product of {rows} × {inner} × {outer} does: {'; '.join(told)}. The limit of a contender is "
        "the better of these by the operations that a pair needs (six layers over the tokens of both texts, or of the "
        "pair for the judge, without padding, nothing skipped or remembered). A share above 100 % is work that was not "
        "done (texts that came before, pairs that need no judge) or, of the fp32 limit, done in int8.",
    ]


def write_report(found: Found, out: Path) -> None:
    """Write ``README.md`` and ``bench.png``."""
    (out / "README.md").write_text(markdown(found), encoding="utf-8")
    if found["runs"]:
        plot(found, out / "bench.png")

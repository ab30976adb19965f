"""Write the report on a run, with tables in Markdown and a plot."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from speedlib.figures import (
    Found,
    costs_of_asking,
    limits,
    measured,
    medians_by_asked,
    needed,
    pair_costs,
    rates,
    ratios,
)
from speedlib.plot import plot

# --- tables ---------------------------------------------------------------------------------------


def spread(values: Sequence[float], form: Callable[[float], str]) -> str:
    """Format the median of the values, followed by the minimum and maximum if there are several values.

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
    """Return the throughput table for a set."""
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
    """Return the table of latency and memory."""
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


def asking(found: Found) -> list[str]:
    """Return the table of the language-model judge, or nothing if it was not measured."""
    rows = []
    for name, title in measured(found):
        runs = found["runs"][name]
        for which in found["sets"]:
            asked = runs[0]["sets"][which].get("asked", 0)
            if asked:
                share = f"{asked / runs[0]['sets'][which]['pairs']:.1%}"
                cost = spread(costs_of_asking(found, name, which), _tenth)
                rows.append([title, which, share, spread(rates(found, name, which), _tenth), cost])
    if not rows:
        return []
    singles = []
    for name, title in measured(found):
        both = [medians_by_asked(found["runs"][name], asked) for asked in (False, True)]
        if both[1]:
            singles.append([title, *(spread(each, _tenth) for each in both)])
    heads = ["", "set", "pairs asked about", "pairs/s", "ms for each pair asked about"]
    return [*_table(heads, rows), *_table(["", "sure pair, p50, ms", "unsure pair, p50, ms"], singles)]


def padding(found: Found) -> list[str]:
    """Return the table of rows, tokens and padding that each model processed."""
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
    """Return the table of cold starts and installed sizes."""
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
    """Return the table of speed and memory for growing files."""
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
    heads = ["pairs", "seconds", "pairs/s", "CPU ms per pair", "peak memory, MB", "runs"]
    return _table(heads, rows)


def flatness(found: Found) -> list[str]:
    """Return lines that compare the cost of a pair in larger files with the cost in the smallest file."""
    sizes = sorted({run["pairs"] for run in found["growth"]} - {1})
    cost = {(size, key): pair_costs(found, size, key) for size in sizes for key in ("seconds", "cpu_s")}
    lines = []
    for size in sizes[1:]:
        costs = []
        for key, called in (("seconds", "wall time"), ("cpu_s", "CPU time")):
            base, mine = cost[sizes[0], key], cost[size, key]
            if not base or not mine:
                continue
            # compare sizes within a turn, or with the median if no turn measured both sizes
            both = base.keys() & mine.keys()
            middle = statistics.median(base.values())
            more = [mine[turn] / base[turn] - 1 for turn in sorted(both)] or [
                each / middle - 1 for each in mine.values()
            ]
            costs.append(f"{spread(more, lambda value: f'{value:+.1%}')} {called}")
        if costs:
            lines.append(f"- A pair in a file of {size:,} against one of {sizes[0]:,}: {', '.join(costs)}.")
    return ["", *lines] if lines else []


def quality(found: Found) -> list[str]:
    """Return the table of differences from the scores of torch in 32 bits."""
    rows = [
        [found["titles"][name], f"{row['pairs']:,}", *(f"{row[key]:.5f}" for key in ("median", "p99", "max"))]
        for name, row in found["quality"].items()
    ]
    return _table(["", "pairs", "median", "p99", "max"], rows)


# --- the whole ------------------------------------------------------------------------------------


def markdown(found: Found) -> str:
    """Return the report as Markdown."""
    machine = found["machine"]
    turns = max((len(runs) for runs in found["runs"].values()), default=0)
    named = [f"{name} {version}" for name, version in found["versions"].items()]
    lines = [
        "# Speed",
        "",
        "`make bench` (`bench/speed.py`) made this report. The raw figures are in [bench.json](bench.json).",
    ]
    if found["quick"]:
        lines += ["", "**This was a trial run with few pairs. Do not use its figures.**"]
    if found.get("stopped"):
        lines += ["", "**The run was stopped before everything was measured.**"]
    lines += [
        "",
        f"{machine['processor']}, {machine['cores']} cores ({', '.join(machine['instructions'])}), "
        f"{machine['memory_gb']} GB of memory, {machine['system']}, Python {machine['python']}; "
        f"{machine['threads']} threads for every contender. Load before the run: {machine['load_before']}.",
        "",
        f"{', '.join(named)}.",
    ]
    if found.get("rivals_versions"):
        theirs = [f"{name} {version}" for name, version in found["rivals_versions"].items()]
        lines += ["", f"The ONNX backend and fastembed have their own environment: {', '.join(theirs)}."]
    for name, why in {**found["not_run"], **found["absent_sets"]}.items():
        lines += ["", f"Not measured: {found['titles'].get(name, name)}: {why}."]
    for what, why in found["failed"].items():
        lines += ["", f"Failed: {what}: {why}."]
    lines += [
        "",
        f"Figures are the median (minimum to maximum) of {turns} turns. Each measurement runs in its own process. The "
        "contenders take turns, and ratios compare measurements of the same turn. paraqd compares the texts and names "
        "the evidence, except in mode encoder. There it does what the others do, with the same weights: it makes two "
        "vectors and takes their cosine. In that mode, paraqd encodes each text once; the others encode a text every "
        "time it occurs, unless the table says *each text once*.",
    ]
    if found["runs"]:
        lines += ["", "![ratios, latency, growth](bench.png)", *_speeds(found)]
    if found["cold_start"]:
        lines += ["", "## Cold start and installed size", "", _STARTING, *starting(found)]
    if found["growth"]:
        lines += ["", "## Growing files", "", _GROWTH, *growth(found), *flatness(found)]
    return "\n".join(lines) + "\n"


def _speeds(found: Found) -> list[str]:
    lines = ["", "## Pairs per second", "", *_limit_lines(found)]
    for which in found["sets"]:
        lines += throughput(found, which)
    lines += ["", "## Single pairs and memory", "", _LATENCY, *latency(found)]
    if table := asking(found):
        lines += ["", "## The language-model judge", "", _ASKING, *table]
    if found["counts"]:
        lines += ["", "## Rows, tokens and padding", "", _PADDING, *padding(found)]
    if found["quality"]:
        lines += [
            "",
            "## Differences from scores of torch in 32 bits",
            "",
            "Absolute differences over all sets.",
            *quality(found),
        ]
    return lines


_LATENCY = (
    "200 pairs, scored one at a time after 20 warm-up pairs. Memory is the peak of the process while it scores the "
    "sets, and the part of it that was added by scoring."
)
_ASKING = (
    "The share of the pairs about which the language-model judge was asked. The time for such a pair is the time that "
    "the set takes beyond that of the small judge alone, divided by the number of these pairs. Single pairs are those "
    "of the table above; an unsure pair is one about which the judge was asked."
)
_PADDING = (
    "A row is a text, or a pair for the judge. There can be fewer rows than texts or pairs, because paraqd remembers "
    "texts, and does not ask the judge about pairs that the rules decide."
)
_STARTING = (
    "`paraqd explain` with one pair, against a few lines of Python that import a library, load the model and "
    "encode the same pair. The installed size is that of the package, all its dependencies (from their own lists "
    "of files) and the weights, without compiled bytecode."
)
_GROWTH = (
    "`paraqd score` on JSON Lines files, from the start of the command to its end. The files repeat 120 shipped "
    "pairs of at most 250 characters in both texts (a million of these take less than an hour), with other "
    "numbers each time, so that no two are the same. The cost of a pair excludes the time for a file of one pair, "
    "which is mostly start-up."
)


def _limit_lines(found: Found) -> list[str]:
    if not found["limits"]:
        return ["The limits of the machine were not measured."]
    rows, inner, outer = found["shape"]
    speeds = [f"{name} {spread([each[name] for each in found['limits']], _whole)} GOP/s" for name in found["limits"][0]]
    return [
        f"A plain matrix product of {rows} × {inner} × {outer} reaches {'; '.join(speeds)}. The limit is the better of "
        "these, divided by the operations that a pair needs: six layers over the tokens of both texts, or of the pair "
        "for the judge, without padding and without skipping or remembering anything. A share above 100 % means that "
        "work was avoided (texts seen before, pairs that need no judge) or, for the fp32 limit, done in int8.",
    ]


def write_report(found: Found, out: Path) -> None:
    """Write ``README.md`` and ``bench.png``."""
    (out / "README.md").write_text(markdown(found), encoding="utf-8")
    if found["runs"]:
        plot(found, out / "bench.png")

"""The plot of a run: ratios, single pairs, growth."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from speedlib.figures import Found, measured, ratios

_SHADES = ("#1f6f8b", "#e07a3f", "#8a9a5b")


def plot(found: Found, path: Path) -> None:
    """Draw ratios, single pairs and growth."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [name for name, _ in measured(found)]
    sets = list(found["sets"])
    wide = 3 if found["growth"] else 2
    figure, axes = pyplot.subplots(1, wide, figsize=(5.2 * wide + 1.6, 0.62 * len(names) + 2.4), layout="constrained")
    _draw_ratios(axes[0], found, names, sets)
    _draw_latency(axes[1], found, names)
    if found["growth"]:
        _draw_growth(axes[2], found)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _bars(values: Sequence[Sequence[float]]) -> tuple[list[float], list[list[float]]]:
    """Return medians, and how far the least and the most are from them."""
    middles = [statistics.median(each) for each in values]
    below = [middle - min(each) for middle, each in zip(middles, values, strict=True)]
    above = [max(each) - middle for middle, each in zip(middles, values, strict=True)]
    return middles, [below, above]


def _draw_ratios(axis: Any, found: Found, names: list[str], sets: list[str]) -> None:
    shown = [name for name in names if all(ratios(found, name, which) for which in sets)]
    against = found["titles"][found["reference"]]
    height = 0.8 / max(1, len(sets))
    for number, which in enumerate(sets):
        if not shown:
            break
        middles, ends = _bars([ratios(found, name, which) for name in shown])
        places = [place + (number - (len(sets) - 1) / 2) * height for place in range(len(shown))]
        axis.barh(places, middles, height, xerr=ends, label=which, color=_SHADES[number], error_kw={"elinewidth": 1})
        for place, middle, end in zip(places, middles, ends[1], strict=True):
            axis.annotate(
                f"{middle:.1f}", (middle + end, place), (3, 0), textcoords="offset points", va="center", size=7
            )
    axis.axvline(1, color="#333333", linewidth=0.8, linestyle=":")
    axis.set_yticks(range(len(shown)), [_short(found["titles"][name]) for name in shown])
    axis.invert_yaxis()
    axis.margins(x=0.1)
    axis.set_xlabel("times as many pairs a second (bars: least to most)")
    axis.set_title(f"Throughput, {against} = 1", loc="left", size=10)
    axis.legend(frameon=False, fontsize=8)


def _draw_latency(axis: Any, found: Found, names: list[str]) -> None:
    for at, shift, colour, shown in ((0.5, -0.2, _SHADES[0], "p50"), (0.99, 0.2, _SHADES[1], "p99")):
        values = [[float(np.quantile(run["single_ms"], at)) for run in found["runs"][name]] for name in names]
        middles, ends = _bars(values)
        places = [place + shift for place in range(len(names))]
        axis.barh(places, middles, 0.38, xerr=ends, label=shown, color=colour, error_kw={"elinewidth": 1})
        for place, middle, end in zip(places, middles, ends[1], strict=True):
            axis.annotate(
                f"{middle:.1f}", (middle + end, place), (3, 0), textcoords="offset points", va="center", size=7
            )
    axis.set_yticks(range(len(names)), [_short(found["titles"][name]) for name in names])
    axis.invert_yaxis()
    axis.margins(x=0.1)
    axis.set_xlabel("milliseconds")
    axis.set_title("One pair at a time", loc="left", size=10)
    axis.legend(frameon=False, fontsize=8)


def _draw_growth(axis: Any, found: Found) -> None:
    ways = list(dict.fromkeys(row["how"] for row in found["growth"]))
    memory = axis.twinx()
    for how, colour in zip(ways, _SHADES, strict=False):
        sizes = sorted({row["pairs"] for row in found["growth"] if row["how"] == how})
        runs = {size: [r for r in found["growth"] if r["how"] == how and r["pairs"] == size] for size in sizes}
        middles, ends = _bars([[size / row["seconds"] for row in runs[size]] for size in sizes])
        axis.errorbar(sizes, middles, yerr=ends, label=f"{how}, pairs/s", color=colour, marker="o", capsize=3)
        peaks = [statistics.median(row["peak_mb"] for row in runs[size]) for size in sizes]
        memory.plot(sizes, peaks, label=f"{how}, peak MB", color=colour, marker="s", linestyle=":", alpha=0.7)
    axis.set_xscale("log")
    axis.set_ylim(bottom=0)
    memory.set_ylim(bottom=0)
    memory.spines["top"].set_visible(False)
    axis.set_xlabel("pairs")
    axis.set_ylabel("pairs a second (lines)")
    memory.set_ylabel("peak memory, MB (dotted)")
    axis.set_title("Growth of the default", loc="left", size=10)
    lines = [axis.get_legend_handles_labels(), memory.get_legend_handles_labels()]
    axis.legend(lines[0][0] + lines[1][0], lines[0][1] + lines[1][1], frameon=False, fontsize=8, loc="lower left")


def _short(title: str) -> str:
    return title.replace(", ", ",\n", 1).replace(" (all-MiniLM-L6-v2)", "")

"""Plot a run's throughput, latency and growth."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from speedlib.figures import Found, measured, pair_costs, rates, ratios

_SHADES = ("#1f6f8b", "#e07a3f", "#8a9a5b", "#9a5b8a")


def plot(found: Found, path: Path) -> None:
    """Plot throughput, latency and, if it was measured, growth."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [name for name, _ in measured(found)]
    layout: Any = (
        [["ratios", "single", "rate"], ["ratios", "single", "memory"]] if found["growth"] else [["ratios", "single"]]
    )
    size = (5.0 * len(layout[0]), 0.75 * len(names) + 1.8)
    figure, axes = pyplot.subplot_mosaic(layout, figsize=size, layout="constrained")
    _draw_ratios(axes["ratios"], found, names)
    _draw_single(axes["single"], found, names)
    if found["growth"]:
        _draw_growth(axes["rate"], axes["memory"], found)
    for axis in axes.values():
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="both", which="major", color="#e6e6e6", linewidth=0.7)
        axis.set_axisbelow(True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _draw_ratios(axis: Any, found: Found, names: list[str]) -> None:
    sets = list(found["sets"])
    compared = bool(found["runs"].get(found["reference"]))
    figure = ratios if compared else rates
    shown = [name for name in names if figure(found, name, sets[0])]
    for number, which in enumerate(sets):
        shift = (number - (len(sets) - 1) / 2) * 0.8 / len(sets)
        colour = _SHADES[number % len(_SHADES)]
        _points(axis, [figure(found, name, which) for name in shown], shift, colour, which.replace(", ", ",\n", 1))
    _finish(axis, [found["titles"][name] for name in shown])
    if compared:
        axis.axvline(1, color="#333333", linewidth=0.9, linestyle=":")
    axis.set_xlabel("times as many pairs per second (log)" if compared else "pairs per second (log)")
    against = f"; {found['titles'][found['reference']]} = 1" if compared else ""
    axis.set_title(f"Throughput{against}", loc="left", size=10)


def _draw_single(axis: Any, found: Found, names: list[str]) -> None:
    for at, shift, colour, label in ((0.5, -0.15, _SHADES[0], "p50"), (0.99, 0.15, _SHADES[1], "p99")):
        values = [[float(np.quantile(run["single_ms"], at)) for run in found["runs"][name]] for name in names]
        _points(axis, values, shift, colour, label)
    _finish(axis, [found["titles"][name] for name in names])
    axis.set_xlabel("milliseconds (log)")
    axis.set_title("One pair at a time", loc="left", size=10)


def _points(axis: Any, values: Sequence[Sequence[float]], shift: float, colour: str, label: str) -> None:
    """Plot medians with their minimum and maximum, and label each median."""
    middles, ends = _middles(values)
    places = [place + shift for place in range(len(values))]
    axis.errorbar(
        middles, places, xerr=ends, fmt="o", color=colour, label=label, markersize=5, capsize=3, elinewidth=1.2
    )
    for place, middle, above in zip(places, middles, ends[1], strict=True):
        text = f"{middle:.1f}" if middle < 100 else f"{middle:,.0f}"
        axis.annotate(text, (middle + above, place), (6, 0), textcoords="offset points", va="center", size=7.5)


def _finish(axis: Any, titles: Sequence[str]) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_xscale("log")
    axis.set_yticks(range(len(titles)), [_short(title) for title in titles], size=8.5)
    axis.set_ylim(len(titles) + 0.4, -0.6)  # room for the legend below
    axis.margins(x=0.12)
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.legend(frameon=False, fontsize=8, ncols=3, loc="lower left", bbox_to_anchor=(-0.02, -0.01))


def _draw_growth(rate: Any, memory: Any, found: Found) -> None:
    sizes = sorted({run["pairs"] for run in found["growth"] if pair_costs(found, run["pairs"], "cpu_s")})
    drawn: list[tuple[Any, Sequence[Sequence[float]], str]] = [
        (
            rate,
            [[1e3 * cost for cost in pair_costs(found, size, "cpu_s").values()] for size in sizes],
            "CPU ms per pair",
        ),
        (
            memory,
            [[run["peak_mb"] for run in found["growth"] if run["pairs"] == size] for size in sizes],
            "peak memory, MB",
        ),
    ]
    for axis, values, label in drawn:
        middles, ends = _middles(values)
        axis.errorbar(sizes, middles, yerr=ends, color=_SHADES[0], marker="o", markersize=5, capsize=3)
        axis.set_xscale("log")
        axis.set_ylim(0, axis.get_ylim()[1] * 1.08)
        axis.set_ylabel(label)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    rate.set_title("Growth of paraqd score", loc="left", size=10)
    memory.set_xlabel("pairs (log)")


def _middles(values: Sequence[Sequence[float]]) -> tuple[list[float], list[list[float]]]:
    """Return the medians, and the distances from each median to the minimum and to the maximum."""
    middles = [statistics.median(each) for each in values]
    below = [middle - min(each) for middle, each in zip(middles, values, strict=True)]
    above = [max(each) - middle for middle, each in zip(middles, values, strict=True)]
    return middles, [below, above]


def _short(title: str) -> str:
    return title.replace(", ", ",\n", 1).replace(" (all-MiniLM-L6-v2)", "")

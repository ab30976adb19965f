"""Each figure is drawn, as PNG or SVG by its name, with the same bytes for the same data."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from paraqd.evaluation import plots
from paraqd.evaluation.calibration import calibrate
from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.intervals import Estimate
from paraqd.evaluation.tsne import tsne_plot

LABELS = [1, 1, 0, 0, 1, 0] * 5
SCORES = [0.9, 0.4, 0.6, -0.8, 1.0, -1.0] * 5
MATRIX = [[200, 101], [10, 129]]


def drawn():
    """A call for each figure, and words that must stand on it."""
    return {
        "confusion": (lambda path: plots.confusion_plot({"A": MATRIX, "B": MATRIX}, path), ["labelled", "129", "66%"]),
        "operators": (lambda path: plots.operator_plot({"SAWP": MATRIX}, path), ["intended", "annotated", "SAWP"]),
        "histogram": (lambda path: plots.histogram_plot(LABELS, SCORES, path), ["score", "valid (15, mean 0.77)"]),
        "reliability": (lambda path: plots.reliability_plot({"A": calibrate(LABELS, SCORES)}, path), ["A: Brier"]),
        "histograms": (
            lambda path: plots.histograms_plot(LABELS, {"ours": SCORES, "theirs": SCORES}, path),
            ["ours", "theirs", "valid (15, mean 0.77)"],
        ),
        "thresholds": (lambda path: plots.threshold_plot(LABELS, SCORES, path), ["precision", "threshold 0.5"]),
        "separation": (
            lambda path: plots.separation_plot({"A": Estimate(0.7, 0.6, 0.8), "B": 0.1}, path, published={"B": 0.2}),
            ["separation", "paper", "ours"],
        ),
    }


@pytest.mark.parametrize("name", drawn())
def test_svg_says_what_it_shows_and_never_changes(name, tmp_path, monkeypatch):
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")  # texts as texts
    draw, words = drawn()[name]
    for file in ("one.svg", "two.svg"):
        draw(tmp_path / file)
    text = (tmp_path / "one.svg").read_text("utf-8")
    assert all(word in text for word in words)
    assert (tmp_path / "two.svg").read_text("utf-8") == text


@pytest.mark.parametrize("name", drawn())
def test_png(name, tmp_path):
    drawn()[name][0](tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_other_data_give_another_figure(tmp_path):
    plots.confusion_plot({"A": MATRIX}, tmp_path / "one.png")
    plots.confusion_plot({"A": [[20, 281], [10, 129]]}, tmp_path / "two.png")
    assert (tmp_path / "one.png").read_bytes() != (tmp_path / "two.png").read_bytes()


@pytest.fixture
def embeddings():
    anchors = np.random.default_rng(0).normal(size=(10, 8))
    rows = np.concatenate([anchors, anchors + 0.01, 5 - anchors])
    return rows, [(i, i + 10, i + 20) for i in range(10)]


def test_triplets_in_the_plane(tmp_path, monkeypatch, embeddings):
    pytest.importorskip("sklearn")
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
    for file in ("one.svg", "two.svg"):
        tsne_plot(*embeddings, tmp_path / file)
    text = (tmp_path / "one.svg").read_text("utf-8")
    assert all(word in text for word in ("7 triplets at random", "all 10 triplets", "anchor", "invalid"))
    assert (tmp_path / "two.svg").read_text("utf-8") == text


def test_what_cannot_be_drawn(tmp_path, embeddings):
    with pytest.raises(EvaluationError, match=r"use \.png or \.svg"):
        plots.confusion_plot({"A": MATRIX}, tmp_path / "figure.pdf")
    with pytest.raises(EvaluationError, match="cannot write"):
        plots.confusion_plot({"A": MATRIX}, tmp_path / "none" / "figure.png")
    with pytest.raises(EvaluationError, match="nothing to plot"):
        plots.confusion_plot({}, tmp_path / "figure.png")
    with pytest.raises(EvaluationError, match="two rows and two columns"):
        plots.confusion_plot({"A": [[1, 2]]}, tmp_path / "figure.png")
    rows, triplets = embeddings
    with pytest.raises(EvaluationError, match="at least two triplets"):
        tsne_plot(rows, triplets[:1], tmp_path / "figure.png")
    with pytest.raises(EvaluationError, match="there are 5 embeddings"):
        tsne_plot(rows[:5], triplets, tmp_path / "figure.png")

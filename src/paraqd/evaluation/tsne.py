"""Plot the embeddings of triplets in two dimensions with t-SNE, as in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.errors import EvaluationError
from paraqd.evaluation.intervals import SEED
from paraqd.evaluation.plots import PALETTE, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 7
_GREY = "#555555"
_ROLES = (("anchor", "o"), ("valid", "P"), ("invalid", "X"))


def project(embeddings: NDArray[Any], *, seed: int = SEED) -> NDArray[np.float64]:
    """Project embeddings onto the plane with t-SNE and the cosine distance."""
    from sklearn.manifold import TSNE

    n = len(embeddings)
    # the perplexity must be below the number of points, and is usually at most a third of that number
    perplexity = min(30.0, max(1.0, (n - 1) / 3))
    reducer = TSNE(n_components=2, metric="cosine", init="random", perplexity=perplexity, random_state=seed)
    points: NDArray[np.float64] = reducer.fit_transform(np.asarray(embeddings, dtype=np.float64)).astype(np.float64)
    return points


def tsne_plot(
    embeddings: NDArray[Any],
    triplets: Sequence[tuple[int, int, int]],
    path: str | Path,
    *,
    shown: int = SHOWN,
    seed: int = SEED,
    title: str = "",
) -> None:
    """Plot a random sample of the triplets in the left panel, and all triplets in the right panel.

    Each triplet has its own colour, and each role has its own marker. Both panels show the same projection. In the left
    panel, a solid line connects each anchor to its valid paraphrase, and a dotted line connects it to its invalid
    paraphrase.

    Parameters
    ----------
    embeddings
        An array with one row for each text.
    triplets
        The row indices of each triplet's anchor, valid text and invalid text.
    shown
        The number of triplets in the left panel.
    """
    chosen = np.asarray(triplets, dtype=np.intp)
    if chosen.ndim != 2 or chosen.shape[1] != 3 or len(chosen) < 2:
        raise EvaluationError("t-SNE needs at least two triplets (anchor, valid, invalid); pass more triplets")
    if chosen.min() < 0 or chosen.max() >= len(embeddings):
        raise EvaluationError(
            f"a triplet refers to a text without an embedding (there are {len(embeddings):,} embeddings); pass an "
            "embedding for every text"
        )
    used, places = np.unique(chosen, return_inverse=True)
    points = project(np.asarray(embeddings)[used], seed=seed)[places.reshape(chosen.shape)]
    few = np.random.default_rng(seed).permutation(len(chosen))[:shown]
    with drawing(path, width=11, height=5.4) as figure:
        left, right = figure.subplots(1, 2)
        _panel(left, points[np.sort(few)], size=110, lines=True)
        left.set_title(f"{len(few)} triplets at random")
        _panel(right, points, size=26, lines=False)
        right.set_title(f"all {len(chosen):,} triplets")
        handles: list[Any] = [
            right.plot([], [], marker, color=_GREY, fillstyle=fill, linestyle="none", markersize=9, label=role)[0]
            for (role, marker), fill in zip(_ROLES, ("none", "full", "full"), strict=True)
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        if title:
            figure.suptitle(title)


def _panel(axes: Axes, points: NDArray[np.float64], *, size: float, lines: bool) -> None:
    import matplotlib

    wheel = matplotlib.colormaps["turbo"]
    for i, triplet in enumerate(points):
        colour = PALETTE[i] if len(points) <= len(PALETTE) else wheel((i + 0.5) / len(points))
        if lines:
            for other, style in ((1, "-"), (2, ":")):
                axes.plot(*triplet[[0, other]].T, color=colour, linestyle=style, linewidth=1.2, zorder=1)
        # the anchor is a ring, because the valid paraphrase is often in the same place
        (x, y), others = triplet[0], triplet[1:]
        axes.scatter(x, y, s=1.8 * size, marker="o", facecolor="none", edgecolor=colour, linewidth=1.4, zorder=3)
        for (_, marker), (x, y) in zip(_ROLES[1:], others, strict=True):
            axes.scatter(x, y, s=size, marker=marker, color=colour, edgecolor="white", linewidth=0.6, zorder=2)
    axes.set_xlabel("t-SNE, first dimension")
    axes.set_ylabel("t-SNE, second dimension")
    axes.tick_params(labelbottom=False, labelleft=False, length=0)

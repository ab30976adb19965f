"""Measure the bands of scores in which the shipped models leave the decision to a person.

    PARAQD_DATA_DIR=data python bench/review_bands.py CACHE.json

The pairs are validation pairs: the validation parts of the written pairs and of the synthetic problems, and the half
of the styles validation on which choices are made. Test sets, the benchmark and the reporting half are never read. From
each set, at most 250 valid and 250 invalid pairs are drawn with a fixed seed, and each set has the same total weight.
The scores are kept in ``CACHE.json``, keyed by signature, so that a second call measures again without scoring.

The output has a row for each model and judge: the narrowest band around the threshold for which 95 % of the pairs
outside are right, and the same figures when the band is chosen on four fifths of the questions and measured on the
rest. Copy the bands into ``BANDS`` in ``src/paraqd/scoring/decisions.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from math import ceil, floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paraqd import Scorer
from paraqd.evaluation.suggestion import RIGHT, narrowest_band
from paraqd.lab.corpora.faulty_pairs import FaultyPair, written_faults
from paraqd.lab.corpora.synthetic import problem_pairs
from paraqd.lab.training.fusion_fitting import is_across
from paraqd.lab.training.judge_corpus import choosing_half, synthetic_problems_of
from paraqd.scoring.decisions import Band
from paraqd.tables.datasets import find, load_pairs, written_split
from paraqd.tables.table import open_table

SEED = 3407
MOST = 250  # pairs per set and label
FOLDS = 5
SCALE = 1000  # the ends of a band have three decimals
MODELS = (("default", "small"), ("default", "cascade"), ("default", "large"), ("reading", None))
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def validation_pairs() -> dict[str, list[FaultyPair]]:
    """Return the sample of validation pairs, keyed by set."""
    written = (row for row in open_table(find("written_pairs")).rows() if written_split(str(row["id"])) == "validation")
    return {
        "written": sample(written_faults(written)),
        "synthetic": sample(problem_pairs(synthetic_problems_of("validation"))),
        "styles": sample(choosing_half(load_pairs("styles_validation"))),
    }


def sample(pairs: Iterable[FaultyPair]) -> list[FaultyPair]:
    """Draw the same number of valid and invalid pairs of a question and a paraphrase."""
    own = [pair for pair in pairs if not is_across(pair)]
    drawn: list[FaultyPair] = []
    for label in (1, 0):
        of_label = [pair for pair in own if pair.label == label]
        random.Random(SEED).shuffle(of_label)
        drawn += of_label[:MOST]
    return drawn


def scores_of(scorer: Scorer, pairs: Sequence[FaultyPair], cache: Path) -> list[float]:
    """Return the scores of the pairs, and keep them in the cache."""
    texts = [(pair.question, pair.paraphrase) for pair in pairs]
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
    kept: dict[str, list[float]] = json.loads(cache.read_text()) if cache.is_file() else {}
    key = f"{digest}|{scorer.signature}"
    if key not in kept:
        kept[key] = [verdict.score for verdict in scorer.score_pairs(texts)]
        cache.write_text(json.dumps(kept))
    return kept[key]


def short_band(scores: Floats, labels: Bools, weights: Floats, threshold: float) -> Band | None:
    """Return the narrowest band, widened until its ends have three decimals and 95 % outside it are right."""
    found = narrowest_band(scores, labels, threshold, weights=weights)
    if found is None:
        return None
    low, high = floor(found.low * SCALE), ceil(found.high * SCALE)
    while low > -SCALE and high < SCALE:
        band = Band(low / SCALE, high / SCALE)
        if measured(in_band(scores, band), (scores > threshold) == labels, weights)[0] >= RIGHT:
            return band
        low, high = low - 3, high + 1  # the same step in probability on both sides
    return None


def measured(inside: Bools, right: Bools, weights: Floats) -> tuple[float, float]:
    """Return the share of the pairs outside a band that are right, and the share of the pairs inside it."""
    return float((weights * right)[~inside].sum() / weights[~inside].sum()), float(weights[inside].sum())


def held_out(scores: Floats, labels: Bools, weights: Floats, questions: Sequence[str], threshold: float) -> Bools:
    """Say for each pair if it is inside the band that was chosen on the questions of the other folds."""
    folds = np.array([hashlib.sha256(f"band|{name}".encode()).digest()[0] % FOLDS for name in questions])
    inside = np.zeros(len(scores), dtype=bool)
    for fold in range(FOLDS):
        rest = folds != fold
        band = short_band(scores[rest], labels[rest], weights[rest], threshold)
        if band is not None:
            inside[~rest] = in_band(scores[~rest], band)
    return inside


def in_band(scores: Floats, band: Band) -> Bools:
    """Say for each score if it is inside a band."""
    found: Bools = (scores >= band.low) & (scores <= band.high)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the default bands for review.")
    parser.add_argument("cache", type=Path, help="the file that keeps the scores")
    arguments = parser.parse_args()
    sets = validation_pairs()
    pairs = [pair for each in sets.values() for pair in each]
    names = np.array([name for name, each in sets.items() for _ in each])
    weights = np.array([1 / len(each) / len(sets) for each in sets.values() for _ in each])
    labels = np.array([pair.label == 1 for pair in pairs])
    print(", ".join(f"{name}: {len(each)} pairs" for name, each in sets.items()))
    columns = ["signature", "right without", "band", "right outside", "for review", "left out: right", "for review"]
    print("\n| " + " | ".join([*columns, *sets]) + " |")
    print("|" + " --- |" * (len(columns) + len(sets)))
    for model, judge in MODELS:
        scorer = Scorer.load(model, judge=judge)
        scores = np.array(scores_of(scorer, pairs, arguments.cache))
        right = (scores > scorer.threshold) == labels
        cells = [scorer.signature.split("|", 1)[1].replace("|", " "), f"{(weights * right).sum():.1%}"]
        band = short_band(scores, labels, weights, scorer.threshold)
        if band is None:
            cells += ["none"] + ["–"] * (4 + len(sets))
        else:
            inside = in_band(scores, band)
            left_out = held_out(scores, labels, weights, [pair.id for pair in pairs], scorer.threshold)
            cells.append(str(band))
            cells += [f"{share:.1%}" for each in (inside, left_out) for share in measured(each, right, weights)]
            for name in sets:  # the share that is right outside the band, and the share for review
                of_set = names == name
                outside, share = measured(inside[of_set], right[of_set], np.full(of_set.sum(), 1 / of_set.sum()))
                cells.append(f"{outside:.1%}, {share:.1%}")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

"""Fit the fusion, which is a logistic regression in which findings can only lower a paraphrase's score."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.calibration import calibrate
from paraqd.evaluation.intervals import bootstrap
from paraqd.lab.corpora.faulty_pairs import FaultyPair
from paraqd.lab.training.recipes import load_judge_recipe
from paraqd.lab.training.settings import FusionSettings
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.scoring.verdict import THRESHOLD, probability_of

METRICS = ("macro_f1", "auc", "separation")  # the metrics that are reported with confidence intervals


def fit_fusion(
    features: Sequence[Sequence[str]],
    labels: Sequence[int],
    *,
    model: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
    settings: FusionSettings | None = None,
) -> Fusion:
    """Fit a fusion to labelled pairs. The pairs are weighted so that both labels have the same total weight.

    Parameters
    ----------
    features : sequence of sequence of str
        The features of each pair's findings.
    labels : sequence of int
        The label of each pair: 1 for valid, 0 for invalid.
    model : sequence of float, optional
        The judge's log-odds for each pair. By default, the fusion does not use a judge.
    weights : sequence of float, optional
        The weight of each pair before the labels are balanced (default: equal weights).
    settings : FusionSettings, optional
        The priors and the penalty (default: the settings in the recipe ``default``).

    Examples
    --------
    >>> fusion = fit_fusion([[], [], ["number_lost"], []], [1, 1, 0, 0])
    >>> fusion.score([]) > 0.5 > fusion.score(["number_lost"])
    True

    """
    settings = settings or load_judge_recipe("default").fusion
    names = sorted({name for row in features for name in row} | settings.reliable)
    table = _table(features, names)
    logits = np.zeros(len(labels)) if model is None else np.asarray(model, dtype=np.float64)
    inputs = np.column_stack([table, logits])
    target = np.asarray(labels, dtype=np.float64)
    share = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
    for label in (0, 1):
        share[target == label] /= max(share[target == label].sum(), 1e-12) * 2
    solved = _solve(inputs, target, share, names, settings)
    found = {name: float(min(weight, 0.0)) for name, weight in zip(names, solved[:-2], strict=True)}
    return Fusion(float(solved[-1]), found, float(max(solved[-2], 0.0)) if model is not None else 0.0)


def fit_and_measure(
    sets: Mapping[str, tuple[Sequence[FaultyPair], NDArray[np.float32]]], settings: FusionSettings
) -> dict[str, Any]:
    """Fit the fusion to validation pairs, and evaluate it by cross-validation.

    ``sets`` maps the name of each set to the set's pairs and the judge's log-odds for these pairs. Pairs in which both
    texts are rewrites are ignored. Return the entries ``fusion`` and ``validation`` to be stored in ``paraqd.json``.
    """
    pairs, odds, names = [], [], []
    for name, (set_pairs, scores) in sets.items():
        for pair, score in zip(set_pairs, scores, strict=True):
            if not is_across(pair):
                pairs.append(pair)
                odds.append(float(score))
                names.append(name)
    labels = [pair.label for pair in pairs]
    prepared = (prepare_pair(pair.question, pair.paraphrase) for pair in pairs)
    features = [
        [finding.feature for finding in READER.findings(each.question, each.paraphrase, each.matching)]
        for each in prepared
    ]
    questions = [pair.id.partition("|")[0] for pair in pairs]
    sizes = Counter(names)
    shares = [1 / sizes[name] for name in names]  # every set has the same total weight
    measured = held_out_scores(features, labels, odds, shares, questions, settings)
    fusion = fit_fusion(features, labels, model=odds, weights=shares, settings=settings)
    weights = {name: round(weight, 4) for name, weight in fusion.weights.items()}
    fusion = Fusion(round(fusion.bias, 4), weights, round(fusion.model_weight, 4))  # rounded as in the model folder
    fusion = replace(fusion, ceiling=_ceiling(fusion, features, odds))
    decided = [each for each, found in zip(odds, features, strict=True) if fusion.decided(found)]
    validation = {}
    for name in sets:
        rows = [i for i, each in enumerate(names) if each == name]
        validation[name] = _metrics([labels[i] for i in rows], measured[rows], [questions[i] for i in rows])
    return {
        "fusion": {
            "bias": fusion.bias,
            "weights": weights,
            "model_weight": fusion.model_weight,
            "ceiling": round(fusion.ceiling, 4),
            "presumed": round(float(np.mean(decided)), 4) if decided else 0.0,
        },
        "validation": validation,
    }


def is_across(pair: FaultyPair) -> bool:
    """Return True if both texts of a pair are rewrites of a third text.

    >>> is_across(FaultyPair("a", "q", "p", 1, source="synthetic-across"))
    True
    """
    return pair.source.startswith("across") or pair.source.endswith("across")


def held_out_scores(
    features: Sequence[Sequence[str]],
    labels: Sequence[int],
    odds: Sequence[float],
    shares: Sequence[float],
    questions: Sequence[str],
    settings: FusionSettings,
) -> NDArray[np.float64]:
    """Return each pair's score from a fusion that was fitted only to the other folds."""
    # the prefix makes this hash independent of the hash that selected the validation questions
    folds = [hashlib.sha256(f"fold|{name}".encode()).digest()[0] % settings.folds for name in questions]
    scores = np.zeros(len(labels))
    for fold in range(settings.folds):
        rest = [i for i, each in enumerate(folds) if each != fold]
        fitted = fit_fusion(
            [features[i] for i in rest],
            [labels[i] for i in rest],
            model=[odds[i] for i in rest],
            weights=[shares[i] for i in rest],
            settings=settings,
        )
        for i, each in enumerate(folds):
            if each == fold:
                scores[i] = fitted.score(features[i], odds[i])
    return scores


def _metrics(labels: Sequence[int], scores: NDArray[np.float64], questions: Sequence[str]) -> dict[str, Any]:
    found = bootstrap(labels, scores, groups=questions).estimates  # all pairs of a question are resampled together
    fit = calibrate(labels, scores)
    return {
        "pairs": len(labels),
        **{metric: round(found[metric].value, 4) for metric in METRICS},
        "intervals": {m: [round(found[m].low, 4), round(found[m].high, 4)] for m in METRICS},
        "brier": round(fit.brier, 4),
        "ece": round(fit.ece_width, 4),
    }


def _ceiling(fusion: Fusion, features: Sequence[Sequence[str]], odds: Sequence[float]) -> float:
    """Return the lowest ceiling at which skipping the judge does not change the verdict on any of the given pairs.

    The judge is skipped for a pair that would be invalid even if the judge's log-odds were equal to the ceiling. The
    judge's highest log-odds would also be a safe ceiling, but an unnecessarily high one, because the judge gives pairs
    with findings lower log-odds than other pairs.
    """
    if not fusion.model_weight:
        return max(odds)
    share = probability_of(THRESHOLD)
    needed = math.log(share / (1 - share))
    # for each pair that is scored as valid, the highest ceiling at which the judge would be wrongly skipped
    too_low = [
        (needed - fusion.log_odds(found)) / fusion.model_weight
        for found, each in zip(features, odds, strict=True)
        if fusion.log_odds(found, each) > needed
    ]
    return min(max(odds), max(too_low) + 1e-3) if too_low else max(odds)


def _table(features: Sequence[Sequence[str]], names: Sequence[str]) -> NDArray[np.float64]:
    """Return a table of feature counts with a row for each pair. Features are counted as in `Fusion`."""
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(features), len(names)))
    counter = Fusion(0.0, dict.fromkeys(names, -1.0))
    for row, found in enumerate(features):
        for name, count in Counter(found).items():
            table[row, place[name]] = -counter.log_odds([name] * count)
    return table


def _solve(
    inputs: NDArray[np.float64],
    target: NDArray[np.float64],
    share: NDArray[np.float64],
    names: Sequence[str],
    settings: FusionSettings,
) -> NDArray[np.float64]:
    """Return the fitted weight of each column in ``inputs``, followed by the bias."""
    from scipy.optimize import minimize

    priors = [settings.reliable_prior if name in settings.reliable else settings.prior for name in names]
    prior = np.array([*(each.weight for each in priors), 0.0])
    penalty = np.array([*(each.pairs for each in priors), settings.judge_penalty]) / max(len(target), 1)

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds = inputs @ parameters[:-1] + parameters[-1]
        away = parameters[:-1] - prior
        value = share @ (np.logaddexp(0, odds) - target * odds) + penalty @ away**2
        slope = share * (1 / (1 + np.exp(-odds)) - target)
        gradient = np.append(inputs.T @ slope + 2 * penalty * away, slope.sum())
        return float(value), gradient

    bounds = [(None, 0.0)] * len(names) + [(0.0, None), (None, None)]
    solved: NDArray[np.float64] = minimize(
        loss, np.zeros(inputs.shape[1] + 1), jac=True, bounds=bounds, method="L-BFGS-B"
    ).x
    return solved

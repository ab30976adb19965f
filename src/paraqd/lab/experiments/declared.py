"""Declare the models, test sets and columns for every table and figure in the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paraqd.lab.experiments.data import PUBLISHED_IDS
from paraqd.lab.experiments.methods import (
    DELETION,
    FALLBACKS,
    METHODS,
    PARAQD,
    PRETRAINED,
    PUBLIC_CODE,
    PUBLISHED,
    SSMBA,
    UDA,
    Method,
    Training,
)
from paraqd.lab.experiments.scales import Scale
from paraqd.lab.training.encoders import PAPER_ENCODERS
from paraqd.lab.training.settings import MARGINS

VALID_OPERATORS = ("f1", "f2", "f3", "f4")
# the columns that identify a row in the experiments on the gap between our results and the paper's
ARM = ("dataset", "arm", "seed")
INVALID_OPERATORS = ("f5", "f6", "f7", "f8", "f9", "f10")


@dataclass(frozen=True)
class Row:
    """A table row: how its model is trained, the cells that identify the row, and the name of the test set."""

    training: Training
    names: dict[str, str]
    test_set: str


@dataclass(frozen=True)
class Experiment:
    """An experiment that produces one or more tables.

    ``on`` contains the keys of the columns that identify a row. ``table`` is the name of the corresponding table in the
    paper, or an empty string if the paper has no such table. ``kind`` determines how the tables are built; by default,
    they are built from scores on test sets. If ``embeddings`` is True, the figures include histograms, reliability
    curves and plots of the embeddings.
    """

    name: str
    title: str
    table: str = ""
    on: tuple[str, ...] = ()
    rows: Callable[[Scale], list[Row]] = lambda scale: []
    kind: str = "scores"
    embeddings: bool = False

    def trainings(self, scale: Scale) -> list[Training]:
        """Return the declarations of all models that the experiment needs, without duplicates."""
        return list(dict.fromkeys(row.training for row in self.rows(scale)))


def training(method: Method, scale: Scale) -> Training:
    """Return the declaration of a method's model at a given scale."""
    return Training(method, scale.encoder, scale.settings, layers=scale.layers, questions=scale.questions)


def _ablated(made: Training, scale: Scale) -> Training:
    """Apply the scale's smaller numbers of questions and epochs, which are for tables with many models."""
    if scale.ablation_questions is not None:
        made = replace(made, questions=scale.ablation_questions)
    return made if scale.ablation_epochs is None else made.with_settings(epochs=scale.ablation_epochs)


def _main(scale: Scale) -> list[Row]:
    methods = (*METHODS, PUBLIC_CODE)
    return [Row(training(m, scale), {"dataset": s, "method": m.name}, s) for s in scale.test_sets for m in methods]


def _operators(scale: Scale) -> list[Row]:
    whole = _ablated(training(PARAQD, scale), scale)
    rows = []
    for test_set in scale.test_sets:
        rows.append(Row(whole, {"dataset": test_set, "operator": "none left out"}, test_set))
        for operator in (*VALID_OPERATORS, *INVALID_OPERATORS):
            rows.append(Row(replace(whole, without=operator), {"dataset": test_set, "operator": operator}, test_set))
    return rows


def _loss(scale: Scale) -> list[Row]:
    base = training(PARAQD, scale)
    losses = {
        "Triplet": base,
        "Triplet, Euclidean, margin 5": base.with_settings(distance="euclidean", margin=5.0),
        "MNRL": base.with_settings(loss="mnrl"),
    }
    return [Row(made, {"loss": name}, scale.first_set) for name, made in losses.items()]


def _encoder(scale: Scale) -> list[Row]:
    rows = []
    for name in PAPER_ENCODERS:
        for method in (PARAQD, UDA, SSMBA):
            made = replace(training(method, scale), encoder=name)
            rows.append(Row(made, {"encoder": name, "method": method.name}, scale.first_set))
    return rows


def _seed(scale: Scale) -> list[Row]:
    rows = []
    for search in (False, True):
        for method in (PARAQD, UDA, SSMBA):
            made = _ablated(training(method, scale), scale)
            name = "search" if search else str(scale.settings.seed)
            rows.append(Row(replace(made, seed_search=search), {"seed": name, "method": method.name}, scale.first_set))
    return rows


def _train_operators(scale: Scale) -> list[Row]:
    methods = (*METHODS, PUBLIC_CODE)
    return [Row(training(m, scale), {"method": m.name}, scale.train_operator_set) for m in methods]


def _arm(method: Method, scale: Scale, **settings: Any) -> Training:
    """Declare a model for the experiments on the gap between our results and the paper's.

    By default, the batch size and the learning rate are larger than the paper's, and batches are grouped, for speed.
    """
    made = replace(training(method, scale), questions=scale.arm_questions)
    fast = {"batch_size": scale.arm_batch_size, "learning_rate": 7e-5, "batches": "grouped"}
    return made.with_settings(**{"epochs": scale.arm_epochs, **fast, **settings})


def _arms(
    scale: Scale, arms: Mapping[str, Training], seeds: Sequence[int], *, more_sets: Sequence[str] = ()
) -> list[Row]:
    """Return a row for each combination of test set, arm and seed."""
    return [
        Row(made.with_settings(seed=seed), {"dataset": test_set, "arm": name, "seed": str(seed)}, test_set)
        for test_set in dict.fromkeys((*scale.test_sets, *more_sets))
        for name, made in arms.items()
        for seed in seeds
    ]


def _full_size_seeds(scale: Scale) -> tuple[int, ...]:
    """Return the seeds of the full-size models: two, or one if the scale has only one seed per arm."""
    return (scale.settings.seed, 1)[: len(scale.arm_seeds)]


def _recipes(scale: Scale) -> list[Row]:
    arms = {method.name: training(method, scale) for method in (PARAQD, PUBLIC_CODE)}
    for name, made in list(arms.items()):
        arms[f"{name}, Euclidean, margin 5"] = made.with_settings(distance="euclidean", margin=5.0)
    return _arms(scale, arms, _full_size_seeds(scale), more_sets=[scale.train_operator_set])


def _leak(scale: Scale) -> list[Row]:
    arms = {"paper": _arm(PARAQD, scale), "public-code": _arm(PUBLIC_CODE, scale)}
    return _arms(scale, arms, scale.arm_seeds, more_sets=[scale.train_operator_set])


def _fallback(scale: Scale) -> list[Row]:
    settings = replace(scale.settings, distance="euclidean", margin=MARGINS["euclidean"])
    few = Training(PUBLISHED[0], scale.encoder, settings, layers=scale.layers, sources=(PUBLISHED_IDS,))
    arms = {f"{m.name}, published questions": replace(few, method=m) for m in (*FALLBACKS, *PUBLISHED)}
    more = replace(few, sources=scale.arm_sources, questions=scale.fallback_questions)
    more = more.with_settings(epochs=min(settings.epochs, scale.fallback_epochs))
    arms |= {f"{m.name}, {scale.fallback_questions:,} questions": replace(more, method=m) for m in FALLBACKS}
    return _arms(scale, arms, scale.arm_seeds)


def _deletion(scale: Scale) -> list[Row]:
    arms = {"f8 deletes or makes vague": _arm(PARAQD, scale), "f8 deletes": _arm(DELETION, scale)}
    return _arms(scale, arms, scale.arm_seeds)


def _sources(scale: Scale) -> list[Row]:
    whole = replace(_arm(PARAQD, scale), questions=None, triplets=scale.arm_triplets)
    arms = {f"{source} only": replace(whole, sources=(source,)) for source in scale.arm_sources}
    return _arms(scale, arms, scale.arm_seeds)


def _more_questions(scale: Scale) -> list[Row]:
    few, total = _arm(PARAQD, scale), scale.arm_questions + scale.arm_more_count
    arms = {
        f"{scale.arm_questions:,} of the corpus": few,
        f"{scale.arm_questions:,} of the corpus, with {scale.arm_more_questions}": replace(
            few, more_questions=scale.arm_more_questions
        ),
        f"{total:,} of the corpus": replace(few, questions=total),
    }
    return _arms(scale, arms, scale.arm_seeds)


def _optimisation(scale: Scale) -> list[Row]:
    large = replace(_arm(PARAQD, scale), questions=scale.arm_few_questions)
    small = large.with_settings(batch_size=16, learning_rate=2e-5, batches="shuffled")
    arms = {
        "192 at 7e-5": large,
        "16 at 2e-5": small,
        "16 at 2e-5, sentence-transformers' fit": replace(small, trainer="fit"),
    }
    return _arms(scale, arms, scale.arm_seeds[:2])


def _margin(scale: Scale) -> list[Row]:
    arms = {f"cosine, {margin:g}": _arm(PARAQD, scale, margin=margin) for margin in (2.0, 1.0, 0.5, 0.3)}
    arms["Euclidean, 5"] = _arm(PARAQD, scale, distance="euclidean", margin=5.0)
    return _arms(scale, arms, scale.arm_seeds)


def _collapse(scale: Scale) -> list[Row]:
    untrained = _arms(scale, {"Pretrained": training(PRETRAINED, scale)}, (scale.settings.seed,))
    whole = _arms(scale, {"ParaQD, full size": training(PARAQD, scale)}, _full_size_seeds(scale))
    leak = _arms(scale, {"public-code": _arm(PUBLIC_CODE, scale)}, scale.arm_seeds)
    rows = [*untrained, *whole, *_margin(scale), *leak]
    return sorted(rows, key=lambda row: scale.test_sets.index(row.test_set))


def _examples(scale: Scale) -> list[Row]:
    return [Row(training(m, scale), {"method": m.name}, "examples") for m in (PRETRAINED, PARAQD)]


EXPERIMENTS = (
    Experiment(
        "main",
        "All methods on all test sets",
        table="main",
        on=("dataset", "method"),
        rows=_main,
        embeddings=True,
    ),
    Experiment(
        "operators",
        "ParaQD trained without one operator",
        table="operators",
        on=("dataset", "operator"),
        rows=_operators,
    ),
    Experiment("loss", "ParaQD with other losses", table="loss", on=("loss",), rows=_loss, embeddings=True),
    Experiment("encoder", "Other encoders", table="encoder", on=("encoder", "method"), rows=_encoder),
    Experiment(
        "seed", "One seed, and the best of several on validation data", table="seed", on=("seed", "method"), rows=_seed
    ),
    Experiment(
        "train-operators",
        "A test set made with the training operators",
        table="train_operators",
        on=("method",),
        rows=_train_operators,
    ),
    Experiment(
        "pseudo-labels",
        "Pseudo-labels: how many of the baselines' outputs count as valid",
        table="pseudo_labels",
        on=("dataset", "method"),
        kind="pseudo-labels",
    ),
    Experiment(
        "recipes",
        "The paper's recipe and the public code's at full size",
        on=ARM,
        rows=_recipes,
    ),
    Experiment("leak", "Word replacement if an operator does not apply", on=ARM, rows=_leak),
    Experiment("fallback", "The public code's fallback and its published outputs", on=ARM, rows=_fallback),
    Experiment("deletion", "f8 that only deletes numbers", on=ARM, rows=_deletion),
    Experiment("sources", "One corpus of questions against another, in equal steps", on=ARM, rows=_sources),
    Experiment(
        "more-questions", "Questions by EM_Math's publisher as further training questions", on=ARM, rows=_more_questions
    ),
    Experiment("optimisation", "Batches, learning rates and trainers", on=ARM, rows=_optimisation),
    Experiment("margin", "Margins of the triplet loss", on=ARM, rows=_margin),
    Experiment("collapse", "Scores that are the product of two signs", on=ARM, rows=_collapse, kind="collapse"),
    Experiment(
        "test-operators",
        "The operators that made the test sets, recovered from the order of rows",
        on=("dataset",),
        kind="test-operators",
    ),
    Experiment("examples", "The paper's examples, scored", rows=_examples, kind="examples"),
)


def experiment(name: str) -> Experiment:
    """Return the experiment with the given name.

    >>> experiment("loss").on
    ('loss',)
    """
    return next(found for found in EXPERIMENTS if found.name == name)

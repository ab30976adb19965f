"""Print the tables on the model that tells whether a question is solvable.

    python bench/solvable_tables.py WORK ODDS.npz

``WORK`` is the work folder of ``paraqd train --recipe solvable``, with its texts and tokens. ``ODDS.npz`` contains the
log-odds of models on the validation sets and on the test questions, with keys such as ``taught-shipped|corpus``; the
rows are in the order of the tokens. The model of the package is measured on the test questions, too.

``python bench/solvable_tables.py --long`` prints another table, about long texts: sentences of other problems are put
in front of the last sentence of each test question.

The baseline looks only at the form of a text: does it end with a question mark, does it contain a question word, and
does it have at least two numbers? Its score is the number of conditions that hold.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paraqd import SolvableChecker, read
from paraqd.data.question_texts import FAMILIES, KINDS, QuestionText, hand_written, read_texts
from paraqd.evaluation.metrics import evaluate
from paraqd.training.recipes import load_recipe
from paraqd.training.recipes.solvable import SolvableRecipe
from paraqd.training.solvable_corpus import set_files
from paraqd.training.solvable_training import TEST, fit_platt

MODELS = {
    "taught-measured": "without the two families",
    "taught-shipped": "all families",
    "large-measured": "MPNet, without the two families",
    "large-shipped": "MPNet, all families",
}
FORM = "form only"
Floats = NDArray[np.float64]
_LENGTHS = (0, 100, 200, 300, 500)  # words of the lengthened texts
_ASKING = re.compile(r"\b(?:how|what|which|who|when|where|find|calculate|determine|compute|work out|solve)\b", re.I)


def form_score(text: str) -> float:
    """Return the number of conditions on its form that a text meets.

    >>> form_score("Tom has 5 pens and 3 caps. How many things has he?"), form_score("Tom has 5 pens.")
    (3.0, 0.0)
    """
    return float(text.rstrip().endswith("?")) + bool(_ASKING.search(text)) + (len(read(text).quantities) >= 2)


def auc(scores: Floats, labels: NDArray[np.int64]) -> float:
    """Return the area under the ROC curve."""
    return float(evaluate(labels, scores).auc)


def labels_of(texts: Sequence[QuestionText]) -> NDArray[np.int64]:
    """Return the labels of texts."""
    return np.array([text.label for text in texts])


def family_table(texts: Sequence[QuestionText], scores: Mapping[str, Floats], held_out: Sequence[str]) -> list[str]:
    """Return a table with the AUC of each family of faults against all solvable texts."""
    labels, families = labels_of(texts), np.array([text.family for text in texts])
    lines = _head(["family", "texts", *scores])
    for family in FAMILIES:
        broken = (families == family) & (labels == 0)
        if broken.any():
            rows = broken | (labels == 1)
            name = f"{family} (held out)" if family in held_out else family
            cells = [f"{auc(found[rows], labels[rows]):.3f}" for found in scores.values()]
            lines.append(_row([name, str(broken.sum()), *cells]))
    return [
        *lines,
        _row(["all", str((labels == 0).sum()), *(f"{auc(found, labels):.3f}" for found in scores.values())]),
    ]


def set_table(sets: Mapping[str, Sequence[QuestionText]], scores: Mapping[str, Mapping[str, Floats]]) -> list[str]:
    """Return a table with the AUC on each validation set."""
    lines = _head(["set", "solvable", "broken", *scores])
    for name, texts in sets.items():
        labels = labels_of(texts)
        cells = [f"{auc(found[name], labels):.3f}" for found in scores.values()]
        lines.append(_row([name, str(labels.sum()), str((labels == 0).sum()), *cells]))
    return lines


def figures_on_test(texts: Sequence[QuestionText], scores: Mapping[str, Floats]) -> list[str]:
    """Return a table with the figures on the test questions, given scores that accept a text if they are above 0."""
    labels, kinds = labels_of(texts), np.array([text.kind for text in texts])
    lines = _head(["figure", *scores])
    found = {name: evaluate(labels, each, threshold=0.0) for name, each in scores.items()}
    lines.append(_row(["AUC", *(f"{each.auc:.3f}" for each in found.values())]))
    lines.append(_row(["macro F1", *(f"{each.macro_f1:.3f}" for each in found.values())]))
    for kind in ("", *KINDS):
        rows = (kinds == kind) & (labels == (not kind))
        if rows.any():
            shares = [f"{(each[rows] > 0).mean():.1%}" for each in scores.values()]
            lines.append(_row([f"accepted: {kind or 'solvable'} ({rows.sum()})", *shares]))
    return lines


def lengthened(text: str, others: Sequence[str], words: int) -> str:
    """Return a text of at least ``words`` words, with sentences of other problems in front of its last sentence.

    >>> lengthened("Tom has 5 pens. How many pens has he?", ["Ann has a dog.", "It rains."], 12)
    'Tom has 5 pens. Ann has a dog. How many pens has he?'
    """
    start, last = _sentences(text)[:-1], _sentences(text)[-1]
    for other in others:
        if len(" ".join([*start, last]).split()) >= words:
            break
        start.append(other)
    return " ".join([*start, last])


def long_table(data_dir: Path | None = None) -> list[str]:
    """Return a table about test questions that sentences of other problems make longer."""
    checker, parts = (
        SolvableChecker.load(),
        sorted({_sentences(each.text)[0] for each in hand_written("solvable", data_dir)}),
    )
    others = [part for part in parts if part.endswith(".") and part[0].isupper() and len(part) > 40]
    texts = [text for text in hand_written("solvable_test", data_dir) if len(_sentences(text.text)) > 1]
    labels = labels_of(texts)
    lines = _head(["words", f"accepted: solvable ({labels.sum()})", f"accepted: broken ({(labels == 0).sum()})", "AUC"])
    for words in _LENGTHS:
        drawn = [random.Random(text.id).sample(others, 60) for text in texts]
        found = [lengthened(text.text, some, words) for text, some in zip(texts, drawn, strict=True)]
        scores = np.array([each.score for each in checker.check_texts(found)])
        shares = [f"{(scores[labels == label] > checker.threshold).mean():.1%}" for label in (1, 0)]
        median = int(np.median([len(text.split()) for text in found]))
        lines.append(_row([str(median), *shares, f"{auc(scores, labels):.3f}"]))
    return lines


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!])\s+", text.strip())


def _head(names: Sequence[str]) -> list[str]:
    return [_row(names), _row(["---", *["---:"] * (len(names) - 1)])]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def tables(work: Path, odds: Mapping[str, Floats], *, data_dir: Path | None = None) -> str:
    """Return all tables."""
    recipe = load_recipe("solvable")
    assert isinstance(recipe, SolvableRecipe)
    files = set_files(work / "texts", recipe.data).validation
    sets = {name: list(read_texts(path)) for name, path in files.items()}
    every = [text for texts in sets.values() for text in texts]
    models = {name: shown for name, shown in MODELS.items() if f"{name}|{TEST}" in odds}
    form = {name: np.array([form_score(text.text) for text in texts]) for name, texts in sets.items()}
    scores = {FORM: form} | {shown: {key: odds[f"{name}|{key}"] for key in sets} for name, shown in models.items()}
    joined = {shown: np.concatenate([found[name] for name in sets]) for shown, found in scores.items()}
    test = hand_written("solvable_test", data_dir)
    answers = {FORM: np.array([form_score(text.text) for text in test]) - 2.5}  # all three conditions must hold
    for name, shown in models.items():
        scale, offset = fit_platt(joined[shown], labels_of(every).astype(np.float32))
        answers[shown] = scale * odds[f"{name}|{TEST}"] + offset
    checker = SolvableChecker.load()
    answers["package"] = np.array([each.score for each in checker.check_texts([text.text for text in test])]) - 0.5
    return "\n".join(
        [
            "## AUC by family of faults, all validation sets",
            *family_table(every, joined, recipe.data.held_out_families),
            "\n## AUC by validation set",
            *set_table(sets, scores),
            f"\n## {len(test)} hand-written test questions",
            *figures_on_test(test, answers),
            f"\n{checker.signature}",
        ]
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, nargs="?")
    parser.add_argument("odds", type=Path, nargs="?")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--long", action="store_true", help="print the table about long texts")
    given = parser.parse_args()
    if given.long:
        print("\n".join(long_table(given.data_dir)))
        return
    if given.work is None or given.odds is None:
        parser.error("WORK and ODDS.npz are needed")
    with np.load(given.odds) as odds:
        print(tables(given.work, dict(odds), data_dir=given.data_dir))


if __name__ == "__main__":
    main()

"""Print the tables on the models that tell whether a question is solvable.

    python bench/solvable_tables.py WORK [--model FOLDER] [--measured FILE] [--data-dir DATA]

The validation texts are made in the folder ``WORK``, unless ``paraqd lab train --recipe solvable --work WORK`` has made
them. Without ``--model``, the small model and the large one are measured. ``--measured`` adds the answers of a model
that was trained without the held-out families; training writes them to ``measured.npz`` in the work folder (the large
model to ``solvable-large/measured.npz``).

``python bench/solvable_tables.py --long`` prints another table, about long texts: sentences of other problems are put
in front of the last sentence of each test question.

The baseline looks only at the form of a text: does it end with a question mark, does it contain a question word, and
does it have at least two numbers? Its score is the number of conditions that hold.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paraqd import SolvableChecker, read
from paraqd.evaluation.metrics import evaluate
from paraqd.lab.corpora.question_texts import FAMILIES, KINDS, QuestionText, read_texts, written_questions
from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.lab.operators.sentences.decoration import listed_phrases
from paraqd.lab.training.recipes import load_recipe
from paraqd.lab.training.recipes.solvable import SolvableRecipe
from paraqd.lab.training.solvable_corpus import make_question_texts
from paraqd.scoring.solvable import SIZES

MEASURED, FORM = "without the two families", "form only"
_MEETS_ALL = 2.5  # the baseline accepts a text if all three conditions hold
# sentences that no operator writes
_IN_FRONT = ("My cousin sent me this one.", "This is from last year's paper.", "The bus was late again today.")
Floats = NDArray[np.float64]
Change = Callable[[QuestionText], str | None]
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


def model_scores(checker: SolvableChecker, texts: Sequence[QuestionText]) -> Floats:
    """Return a model's scores of texts, relative to its threshold: it accepts a text if the score is above 0."""
    found = checker.check_texts([text.text for text in texts])
    return np.array([each.score for each in found]) - checker.threshold


def family_table(
    texts: Sequence[QuestionText], scores: Mapping[str, Floats], held_out: Sequence[str], harmless: Sequence[str]
) -> list[str]:
    """Return a table with the AUC of each family of faults against all solvable texts.

    Broken texts that the ``harmless`` operators have changed have their own columns.
    """
    labels, families = labels_of(texts), np.array([text.family for text in texts])
    changed = np.isin([text.source for text in texts], harmless)
    lines = _head(["family", "broken texts", *scores, "after a harmless change", *scores])
    for family in (*FAMILIES, "all"):
        broken = (labels == 0) & ((families == family) | (family == "all"))
        cells = [f"{family} (held out)" if family in held_out else family]
        for some in (broken & ~changed, broken & changed):
            rows = some | (labels == 1)
            shown = [f"{auc(found[rows], labels[rows]):.3f}" if some.any() else "–" for found in scores.values()]
            cells += [f"{some.sum():,}", *shown]
        if broken.any():
            lines.append(_row(cells))
    return lines


def set_table(sets: Mapping[str, Sequence[QuestionText]], scores: Mapping[str, Mapping[str, Floats]]) -> list[str]:
    """Return a table with the AUC on each validation set."""
    lines = _head(["set", "solvable", "broken", *scores])
    for name, texts in sets.items():
        labels = labels_of(texts)
        cells = [f"{auc(found[name], labels):.3f}" for found in scores.values()]
        lines.append(_row([name, f"{labels.sum():,}", f"{(labels == 0).sum():,}", *cells]))
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


def harmless_changes(operators: Sequence[str]) -> dict[str, Change]:
    """Return changes that leave a question as solvable or as broken as it is: operators, and sentences in front."""
    resources = Resources()

    def applied(name: str) -> Change:
        operator = get(name)
        return lambda text: operator.apply(read(text.text), derive_rng(0, text.text, name), resources)

    def remark(text: QuestionText) -> str:
        return f"{random.Random(text.text).choice(listed_phrases('before'))} {text.text}"

    def sentence(text: QuestionText) -> str:
        return f"{random.Random(text.text).choice(_IN_FRONT)} {text.text}"

    found: dict[str, Change] = {name: applied(name) for name in operators}
    return {**found, "remark in front, as Decoration writes it": remark, "other sentence in front": sentence}


def change_table(
    texts: Sequence[QuestionText], changes: Mapping[str, Change], scores_of: Callable[[Sequence[QuestionText]], Floats]
) -> list[str]:
    """Return a table with the shares of accepted texts before and after each harmless change."""
    lines = _head(["change", "broken texts", "accepted before", "after", "solvable texts", "accepted before", "after"])
    accepted = scores_of(texts) > 0
    for name, change in changes.items():
        made = [(n, new) for n, text in enumerate(texts) if (new := change(text)) is not None]
        after = scores_of([QuestionText(texts[n].id, new, texts[n].label) for n, new in made]) > 0
        before, labels = accepted[[n for n, _ in made]], labels_of([texts[n] for n, _ in made])
        cells = []
        for label in (0, 1):
            rows = labels == label
            shares = [f"{each[rows].mean():.1%}" if rows.any() else "–" for each in (before, after)]
            cells += [str(rows.sum()), *shares]
        lines.append(_row([name, *cells]))
    return lines


def checkers_of(model: str | None) -> dict[str, SolvableChecker]:
    """Return the models to measure: the model in a folder, or by default the small model and the large one."""
    if model is not None:
        return {"model": SolvableChecker.load(model)}
    return {f"{size} model": SolvableChecker.load(judge=size) for size in SIZES}


def tables(
    work: Path, *, model: str | None = None, measured: Path | None = None, data_dir: str | Path | None = None
) -> str:
    """Return all tables."""
    recipe = load_recipe("solvable")
    assert isinstance(recipe, SolvableRecipe)
    files = make_question_texts(work / "texts", recipe.data, data_dir=data_dir, parts=["validation"])
    sets = {name: list(read_texts(path)) for name, path in files.validation.items()}
    every = [text for texts in sets.values() for text in texts]
    test = written_questions("solvable_test", data_dir)
    checkers = checkers_of(model)
    form = {name: np.array([form_score(text.text) for text in texts]) - _MEETS_ALL for name, texts in sets.items()}
    scores = {FORM: form}
    answers = {FORM: np.array([form_score(text.text) for text in test]) - _MEETS_ALL}
    for name, checker in checkers.items():
        scores[name] = {each: model_scores(checker, texts) for each, texts in sets.items()}
        answers[name] = model_scores(checker, test)
    if measured:
        with np.load(measured, allow_pickle=False) as stored:
            scores[MEASURED] = {name: stored[name].astype(np.float64) for name in sets}
    joined = {shown: np.concatenate([found[name] for name in sets]) for shown, found in scores.items()}
    held_out = recipe.data.held_out_families if measured else ()
    changes = harmless_changes(recipe.data.harmless_operators)
    return "\n".join(
        [
            f"## AUC by family of faults, {len(every):,} texts of all validation sets",
            *family_table(every, joined, held_out, recipe.data.harmless_operators),
            "\n## AUC by validation set",
            *set_table(sets, scores),
            f"\n## {len(test)} test questions that a language model wrote one by one",
            *figures_on_test(test, answers),
            *(
                line
                for name, checker in checkers.items()
                for line in (
                    f"\n## The test questions after a harmless change, {name}",
                    *change_table(test, changes, partial(model_scores, checker)),
                )
            ),
            *(f"\n{name}: {checker.signature}" for name, checker in checkers.items()),
        ]
    )


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


def long_table(checker: SolvableChecker, data_dir: Path | None = None) -> list[str]:
    """Return a table about test questions that sentences of other problems make longer."""
    parts = sorted({_sentences(each.text)[0] for each in written_questions("solvable", data_dir)})
    others = [part for part in parts if part.endswith(".") and part[0].isupper() and len(part) > 40]
    texts = [text for text in written_questions("solvable_test", data_dir) if len(_sentences(text.text)) > 1]
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


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, nargs="?")
    parser.add_argument("--model")
    parser.add_argument("--measured", type=Path)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--long", action="store_true", help="print the table about long texts")
    given = parser.parse_args()
    if given.long:
        for name, checker in checkers_of(given.model).items():
            print("\n".join([f"## {name}", *long_table(checker, given.data_dir)]))
    elif given.work is None:
        parser.error("pass WORK or --long")
    else:
        print(tables(given.work, model=given.model, measured=given.measured, data_dir=given.data_dir))


if __name__ == "__main__":
    main()

"""Analyse the outputs of the paper's public code, to explain why our results differ from the paper's.

    PARAQD_DATA_DIR=data python bench/reference_operators.py [MODEL...] [--pairs validation-paper.jsonl.gz]

This script prints four Markdown tables:

- counts of the edits in the public code's published outputs, and in what the recipe ``public-code`` makes of the same
  questions, by operator;
- the kinds of edit in the public code's outputs for its validation questions, by operator;
- our own outputs, if ``--pairs`` is a file that ``paraqd lab augment`` wrote, by operator;
- the invalid pairs in the test sets, by kind of edit.

The last three tables show how many of the pairs each model accepts, which means that the score is above 0.5.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from paraqd.evaluation.edits import EDIT_KINDS, REPLACED, edit_kind, find_edits
from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.reading import read
from paraqd.reading.entities import SpacyEntities, load_spacy
from paraqd.scoring.cosine import cosine_scores
from paraqd.scoring.torch_encoder import Encoder, load_encoder
from paraqd.tables.datasets import load_pairs, load_questions
from paraqd.tables.table import open_table

PUBLISHED = ("published_validation", "published_training")
# the operators of the recipe public-code that fall back to replacing words; f9's model is not needed for the fallback
FALLBACKS = {
    "f7": "EntitiesOrTopWords",
    "f8": "NumbersOrTopWords",
    "f9": "TopWordReplacement",
    "f10": "UnitsOrTopWords",
}


def counts(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the cells of a row of the table of counts.

    The cells contain the share of the pairs in which only lower-case words and numbers are replaced; among these, the
    mean number of replaced tokens and the share in which a replaced word still stands elsewhere; and the mean number of
    changed tokens of all other pairs that differ.
    """
    replaced: list[list[bool]] = []
    others: list[int] = []
    for question, paraphrase in pairs:
        edits = find_edits(question, paraphrase)
        before = [word for edit in edits for word in edit.before]
        if edits and edit_kind(question, paraphrase) == REPLACED and all(word == word.lower() for word in before):
            replaced.append([word in paraphrase for word in before])
        elif edits:
            others.append(sum(max(len(edit.before), len(edit.after)) for edit in edits))
    yield f"{100 * len(replaced) / len(pairs):.0f} %"
    yield f"{np.mean([len(words) for words in replaced]):.2f}" if replaced else "–"
    yield f"{100 * np.mean([any(words) for words in replaced]):.0f} %" if replaced else "–"
    yield f"{np.mean(others):.2f}" if others else "–"


def compare_counts() -> None:
    """Print the table of counts."""
    found = [pair for name in PUBLISHED for pair in load_pairs(name)]
    questions = {pair.question: pair.id for pair in found}
    vocabulary = Vocabulary.of(row["question"] for row in load_questions("questions"))
    resources = Resources({"entities": lambda: SpacyEntities(load_spacy())}, vocabulary=vocabulary)
    problems = [read(question, entities=resources.get("entities")) for question in questions]
    rows = []
    for paper_id, name in FALLBACKS.items():
        theirs = [(p.question, p.paraphrase) for p in found if p.operator == f"published {paper_id}"]
        rngs = [derive_rng(3407, number, name) for number in questions.values()]
        outputs = get(name).apply_batch(problems, rngs, resources)
        ours = [(p.text, output) for p, output in zip(problems, outputs, strict=True) if output is not None]
        for who, pairs in (("published", theirs), (name, ours)):
            rows.append([paper_id, who, len(pairs), *counts(pairs)])
    head = [
        "operator",
        "outputs of",
        "outputs",
        "only words replaced",
        "tokens",
        "word stands elsewhere",
        "tokens of others",
    ]
    table(head, rows)


def no_entity(question: str, paraphrase: str) -> bool:
    """Return True if all edited words of the question are in lower case."""
    edits = find_edits(question, paraphrase)
    return all(word.islower() and word.isalpha() for edit in edits for word in edit.before)


def accepted(encoders: Sequence[Encoder], pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield, for each model, a cell with the mean score and the percentage of accepted pairs."""
    for encoder in encoders:
        scores = np.asarray(cosine_scores(encoder, pairs))
        yield f"{scores.mean():.2f}, {100 * (scores > 0.5).mean():.0f} %"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print("|", " | ".join(head), "|\n|", " | ".join(["---"] * len(head)), "|")
    for row in rows:
        print("|", " | ".join(map(str, row)), "|")
    print()


def reference(encoders: Sequence[Encoder], heads: Sequence[str]) -> None:
    """Print the table of the public code's outputs for its validation questions."""
    outputs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in load_pairs(PUBLISHED[0]):
        outputs[pair.operator].append((pair.question, pair.paraphrase))
    rows = []
    for name, pairs in outputs.items():
        counted = Counter(edit_kind(*pair) for pair in pairs)
        plain = sum(edit_kind(*pair) == REPLACED and no_entity(*pair) for pair in pairs)
        rows.append([name, len(pairs), *(counted[kind] for kind in EDIT_KINDS), plain, *accepted(encoders, pairs)])
    table(["public code's", "outputs", *EDIT_KINDS, "of these only lower-case words", *heads], rows)


def own(path: str, encoders: Sequence[Encoder], heads: Sequence[str]) -> None:
    """Print the table of our operators' outputs."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in open_table(path).rows(["question", "paraphrase", "paper_id"]):
        found[str(row["paper_id"])].append((str(row["question"]), str(row["paraphrase"])))
    names = sorted(found, key=lambda name: int(name[1:]))
    table(["ours", "outputs", *heads], [[n, len(found[n]), *accepted(encoders, found[n])] for n in names])


def tests(encoders: Sequence[Encoder], heads: Sequence[str]) -> None:
    """Print the table of the invalid pairs in the test sets, by kind of edit."""
    rows = []
    for name in ("aquarat", "sawp"):
        pairs = [(pair.question, pair.paraphrase) for pair in load_pairs(name) if pair.label == 0]
        for kind in EDIT_KINDS[1:]:
            some = [pair for pair in pairs if edit_kind(*pair) == kind]
            rows.append([name, kind, len(some), *accepted(encoders, some)])
    table(["invalid pairs of", "edit", "pairs", *heads], rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--pairs", help="our own outputs")
    options = parser.parse_args()
    encoders = [load_encoder(model) for model in options.models]
    heads = [f"{Path(model).name}: mean, accepted" for model in options.models]
    compare_counts()
    reference(encoders, heads)
    if options.pairs:
        own(options.pairs, encoders, heads)
    tests(encoders, heads)


if __name__ == "__main__":
    main()

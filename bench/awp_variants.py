"""Measure baselines on the open benchmark ``awp-variants``, or build the benchmark's file.

    python bench/awp_variants.py --data-dir data [--scores "paraqd, fused=scored.jsonl"] [--card docs/awp-variants.md]
    python bench/awp_variants.py --data-dir data --build src/paraqd/tables/files/awp_variants.jsonl.gz

The data folder must contain ``written_pairs.jsonl.gz``, whose training part is used to train the candidate-only
baseline. ``--scores`` adds another scorer from a file with the benchmark's ids and a column ``score``, such as the
output of ``paraqd score`` or ``paraqd evaluate --scores-out``. ``--card`` writes the tables between the two markers in
the given file.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from paraqd.evaluation.intervals import Estimate, bootstrap
from paraqd.evaluation.metrics import evaluate
from paraqd.lab.corpora.awp_variants import build_variants, write_variants
from paraqd.reading import read, same_quantities
from paraqd.scoring.cosine import cosine_scores
from paraqd.scoring.torch_encoder import load_encoder
from paraqd.tables.datasets import find, written_split
from paraqd.tables.table import Row, open_table

ALWAYS, FUSED = "always valid", "paraqd, fused"
BEGIN, END = "<!-- made by bench/awp_variants.py: begin -->", "<!-- made by bench/awp_variants.py: end -->"
TO_COME = "to come"

Scores = Sequence[float]


def always_valid(rows: Sequence[Row]) -> Scores:
    """Accept every pair."""
    return [1.0] * len(rows)


def cosine(rows: Sequence[Row]) -> Scores:
    """Score each pair by the cosine of its embeddings from the pretrained all-MiniLM-L6-v2."""
    scores: list[float] = cosine_scores(load_encoder(), [(r["question"], r["paraphrase"]) for r in rows]).tolist()
    return scores


def quantities(rows: Sequence[Row]) -> Scores:
    """Accept a pair if both texts have the same quantities, in any form."""
    found = {text: read(text).quantities for row in rows for text in (row["question"], row["paraphrase"])}
    return [float(same_quantities(found[row["question"]], found[row["paraphrase"]])) for row in rows]


def candidate_only(rows: Sequence[Row], written: Sequence[Row]) -> Scores:
    """Score each paraphrase without its question, which shows how much the wording reveals about the label."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    training = [row for row in written if written_split(row["id"]) == "train"]
    sorts = ("heavy_valid", "moderate_valid", "heavy_invalid", "moderate_invalid")
    texts = [row[sort] for row in training for sort in sorts]
    labels = [int(sort.endswith("_valid")) for _ in training for sort in sorts]
    # unlike the default pattern, this pattern includes one-letter words, single digits and punctuation
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, token_pattern=r"(?u)\w+|[^\w\s]", sublinear_tf=True)
    model = make_pipeline(words, LogisticRegression(max_iter=2000))
    model.fit(texts, labels)
    scores: list[float] = model.predict_proba([row["paraphrase"] for row in rows])[:, 1].tolist()
    return scores


def from_file(path: str, rows: Sequence[Row]) -> Scores:
    """Read another scorer's scores, and return them in the order of the benchmark's rows."""
    given = {str(row["id"]): row for row in open_table(path).rows()}
    for row in rows:
        other = given.get(row["id"])
        if other is None or (other["question"], other["paraphrase"]) != (row["question"], row["paraphrase"]):
            raise SystemExit(f"{path} does not contain the benchmark's pair {row['id']}")
    return [float(given[row["id"]]["score"]) for row in rows]


def overall(rows: Sequence[Row], methods: dict[str, Scores | None]) -> str:
    """Return a table of metrics on all pairs, with 95 % bootstrap intervals over problems."""
    labels, groups = [row["label"] for row in rows], [row["problem"] for row in rows]
    lines = [
        "| method | AUC | macro F1 at 0.5 | valid accepted | invalid rejected |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, scores in methods.items():
        if scores is None:
            lines.append(f"| {name} | {TO_COME} | {TO_COME} | {TO_COME} | {TO_COME} |")
            continue
        found = bootstrap(labels, scores, groups=groups).estimates
        ((rejected, wrong), (lost, accepted)) = evaluate(labels, scores).confusion
        shares = f"{accepted / (accepted + lost):.1%} | {rejected / (rejected + wrong):.1%}"
        lines.append(f"| {name} | {_shown(found['auc'])} | {_shown(found['macro_f1'])} | {shares} |")
    return "\n".join(lines)


def by(column: str, rows: Sequence[Row], methods: dict[str, Scores | None]) -> str:
    """Return a table of AUCs, one row for each value of a column.

    Each AUC compares the invalid pairs that have the value with all valid pairs.
    """
    counts = Counter(row[column] for row in rows if row["label"] == 0)
    lines = [f"| {column} | invalid pairs | {' | '.join(methods)} |", "| --- | ---: |" + " --- |" * len(methods)]
    for value, count in counts.most_common():
        chosen = [i for i, row in enumerate(rows) if row["label"] == 1 or row[column] == value]
        cells = [TO_COME if scores is None else f"{_auc(rows, scores, chosen):.2f}" for scores in methods.values()]
        lines.append(f"| {value} | {count} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _auc(rows: Sequence[Row], scores: Scores, chosen: Sequence[int]) -> float:
    return evaluate([rows[i]["label"] for i in chosen], [scores[i] for i in chosen]).auc


def _shown(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def tables(rows: Sequence[Row], methods: dict[str, Scores | None]) -> str:
    """Return all tables as Markdown."""
    parts = [overall(rows, methods)]
    methods = {name: scores for name, scores in methods.items() if name != ALWAYS}  # 0.50 everywhere
    parts += ["AUC by fault, the invalid pairs of that fault against all valid pairs:", by("fault", rows, methods)]
    parts += ["AUC by form (how far question and paraphrase were reworded), likewise:", by("form", rows, methods)]
    return "\n\n".join(parts)


def into_card(card: Path, made: str) -> None:
    """Write the tables between the two markers in a file."""
    text = card.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{card} does not contain the markers {BEGIN} and {END}")
    card.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Print the tables, or build the benchmark's file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", help="the folder with written_pairs.jsonl.gz (default: PARAQD_DATA_DIR)")
    parser.add_argument("--scores", action="append", default=[], metavar="NAME=FILE", help="another scorer's scores")
    parser.add_argument("--card", type=Path, help="also write the tables to this file")
    parser.add_argument("--build", type=Path, metavar="OUT", help="only build the benchmark's file")
    args = parser.parse_args()
    written = list(open_table(find("written_pairs", args.data_dir)).rows())
    if args.build is not None:
        variants = build_variants(written)
        print(write_variants(variants, args.build), variants.to_dict())
        return
    rows = list(open_table(find("awp-variants")).rows())
    baselines: dict[str, Callable[[], Any]] = {
        ALWAYS: lambda: always_valid(rows),
        "pretrained cosine": lambda: cosine(rows),
        "same quantities": lambda: quantities(rows),
        "candidate only": lambda: candidate_only(rows, written),
    }
    methods: dict[str, Scores | None] = {name: make() for name, make in baselines.items()}
    methods[FUSED] = None
    for given in args.scores:
        name, _, path = given.partition("=")
        methods[name] = from_file(path, rows)
    made = tables(rows, methods)
    print(made)
    if args.card is not None:
        into_card(args.card, made)


if __name__ == "__main__":
    main()

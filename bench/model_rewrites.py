"""Measure the scorers on rewrites by a small language model, which readers have labelled.

    python bench/model_rewrites.py --data-dir DATA

The rewrites and labels are in `datasets/model_rewrites`. Their questions belong to the question corpus, so the corpus
must be in the data folder. Most of the rewrites were chosen because the scorer had accepted them, so the figures are
lower than on rewrites drawn at random.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from paraqd import Scorer
from paraqd.evaluation.metrics import evaluate
from paraqd.tables.datasets import load_questions

FILE = Path(__file__).parents[1] / "datasets/model_rewrites/smollm2.jsonl"
JUDGES = ("small", "cascade", "large")
HEAD = (
    "| judge | pairs | valid | macro F1 | AUC | invalid ones accepted | valid ones accepted | accepted ones valid |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def read_rewrites(path: Path, data_dir: Path | None = None, *, certain: bool = False) -> list[dict[str, Any]]:
    """Return the labelled rewrites with their questions. ``certain`` leaves out borderline cases."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    questions = {str(row["id"]): str(row["question"]) for row in load_questions("questions", data_dir=data_dir)}
    return [{**row, "question": questions[row["id"]]} for row in rows if row["certain"] or not certain]


def figures(labels: Sequence[int], scores: Sequence[float], valid: Sequence[bool]) -> dict[str, float]:
    """Return the figures of a scorer."""
    found = evaluate(labels, scores)
    verdicts = list(zip(labels, valid, strict=True))
    return {
        "valid": mean(labels),
        "macro_f1": found.macro_f1,
        "auc": found.auc,
        "wrongly_accepted": mean(accepted for label, accepted in verdicts if not label),
        "rightly_accepted": mean(accepted for label, accepted in verdicts if label),
        "precision": mean(label for label, accepted in verdicts if accepted) if any(valid) else 0.0,
    }


def by_kind(rows: Sequence[Mapping[str, Any]], valid: Sequence[bool]) -> dict[str, tuple[int, float]]:
    """Return, for each kind of fault, the number of pairs and the share that a scorer accepted."""
    found: dict[str, list[bool]] = defaultdict(list)
    for row, accepted in zip(rows, valid, strict=True):
        if not row["label"]:
            found[row["kind"] or "not named"].append(accepted)
    return {kind: (len(each), mean(each)) for kind, each in sorted(found.items())}


def main() -> None:
    """Score the rewrites with each judge, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--certain", action="store_true", help="leave out borderline cases")
    given = parser.parse_args()
    rows = read_rewrites(FILE, given.data_dir, certain=given.certain)
    kinds: dict[str, tuple[int, float]] = {}
    print(HEAD)
    for judge in JUDGES:
        verdicts = Scorer.load(judge=judge).score_pairs([(row["question"], row["paraphrase"]) for row in rows])
        valid = [verdict.valid for verdict in verdicts]
        found = figures([row["label"] for row in rows], [verdict.score for verdict in verdicts], valid)
        shares = " | ".join(f"{found[name]:.1%}" for name in ("wrongly_accepted", "rightly_accepted", "precision"))
        quality = f"{found['valid']:.1%} | {found['macro_f1']:.3f} | {found['auc']:.3f}"
        print(f"| {judge} | {len(rows)} | {quality} | {shares} |")
        if judge == "cascade":
            kinds = by_kind(rows, valid)
    print("\n| fault | pairs | accepted by the cascade |\n| --- | ---: | ---: |")
    for kind, (count, share) in kinds.items():
        print(f"| {kind} | {count} | {share:.1%} |")


if __name__ == "__main__":
    main()

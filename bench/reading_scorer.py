"""Fit and measure the model ``reading``, which has no judge.

    PARAQD_DATA_DIR=data python bench/reading_scorer.py [--write]

The weights are fitted to the training part of the written pairs. They are measured on the validation part and, if
available, on AquaRAT and SAWP. ``--write`` stores the weights in ``src/paraqd/models/reading/paraqd.json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraqd.evaluation.metrics import evaluate
from paraqd.lab.corpora.faulty_pairs import FaultyPair, written_faults
from paraqd.lab.training.fusion_fitting import fit_fusion
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.pair_preparation import prepare_pair
from paraqd.tables.datasets import DatasetError, find, load_pairs, written_split
from paraqd.tables.table import open_table

READING = Path(__file__).parents[1] / "src" / "paraqd" / "models" / "reading" / "paraqd.json"


def features(question: str, paraphrase: str) -> list[str]:
    """Return the features of a pair's findings."""
    pair = prepare_pair(question, paraphrase)
    return [finding.feature for finding in READER.findings(pair.question, pair.paraphrase, pair.matching)]


def rewrites(rows: Sequence[Mapping[str, Any]], part: str) -> list[FaultyPair]:
    """Return the pairs of a question and a rewrite from one part of the written pairs."""
    mine = [row for row in rows if written_split(str(row["id"])) == part]
    return [pair for pair in written_faults(mine) if pair.source.startswith("written")]


def main() -> None:
    """Fit and measure the weights, and store them if requested."""
    rows = list(open_table(find("written_pairs")).rows())
    train = rewrites(rows, "train")
    fusion = fit_fusion([features(p.question, p.paraphrase) for p in train], [p.label for p in train])
    sets: dict[str, list[Any]] = {"validation": list(rewrites(rows, "validation"))}
    for name in ("aquarat", "sawp"):
        try:
            sets[name] = list(load_pairs(name))
        except DatasetError as error:
            print(error)
    for name, pairs in sets.items():
        scores = [fusion.score(features(pair.question, pair.paraphrase)) for pair in pairs]
        found = evaluate([int(pair.label) for pair in pairs], scores)
        print(f"{name}: macro F1 {found.macro_f1:.3f}, AUC {found.auc:.3f}, separation {found.separation:.3f}")
    weights = {name: round(weight, 4) for name, weight in fusion.weights.items()}
    facts = {"bias": round(fusion.bias, 4), "weights": weights, "model_weight": 0.0}
    print(json.dumps(facts))
    if "--write" in sys.argv[1:]:
        whole = {"format": 1, "name": "reading", "kind": "reading", "threshold": 0.5, "fusion": facts}
        READING.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Compare the scorer in both modes with the paper, a pretrained cosine, a simple rule and ablations.

    PARAQD_DATA_DIR=data python bench/scorer_tables.py OUT [--encoder FOLDER] [--other "name=FOLDER"]...

The output, ``OUT/README.md``, has a table for awp-variants and, if the data folder contains them, for AquaRAT, SAWP,
PAWP and the reporting half of the styles validation. The language-model judge is measured if its package is installed.
``--encoder`` is an exported bi-encoder that was trained with the paper's recipe and is used in mode ``encoder``.
``--other`` is a fused model that was trained in another way, such as without the written pairs. The intervals are 95 %
bootstrap intervals over questions.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from paraqd import Scorer
from paraqd.evaluation.intervals import Estimate
from paraqd.evaluation.report import Scored, build_report
from paraqd.lab.training.judge_corpus import choosing_half
from paraqd.scoring.cosine import cosine_scores
from paraqd.scoring.fused import FusedMethod
from paraqd.scoring.judge.installed import installed_judge
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, load_encoder
from paraqd.tables.datasets import DatasetError, load_pairs
from paraqd.tables.pairs import Pair

SETS = {
    "aquarat": "AquaRAT",
    "sawp": "SAWP",
    "pawp": "PAWP",
    "awp-variants": "awp-variants",
    "styles_validation": "Styles (reporting half)",
}
# scikit-learn's macro F1 computed from the published precision and recall; separation as published
PAPER = {"aquarat": "0.623 | 0.687 | 0.78 | –", "sawp": "0.581 | 0.640 | 0.59 | –"}
INTRODUCTION = (
    "`bench/scorer_tables.py` made these tables. F1 is at threshold 0.5. Brackets hold 95 % bootstrap intervals over "
    'questions. "Paper\'s" macro F1 is the definition that the paper uses. Separation is the mean score of valid pairs '
    "minus that of invalid pairs. The judges and the fusion were chosen on other data."
)
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


def rule(pairs: Sequence[Pair], cosines: Sequence[float]) -> list[float]:
    """Return 1 for each pair with equal digits, no lost question mark and a cosine above 0.9, otherwise -1."""
    found = []
    for pair, cosine in zip(pairs, cosines, strict=True):
        same = set(_DIGITS.findall(pair.question)) == set(_DIGITS.findall(pair.paraphrase))
        asks = "?" in pair.paraphrase or "?" not in pair.question
        found.append(1.0 if same and asks and cosine > 0.9 else -1.0)
    return found


def scorers(encoder: str | None, others: Sequence[str]) -> dict[str, Callable[[Sequence[Pair]], list[float]]]:
    """Return the scoring functions, keyed by name."""
    pretrained = load_encoder(DEFAULT_ENCODER)
    kept: dict[str, list[float]] = {}

    def cosine(pairs: Sequence[Pair]) -> list[float]:
        key = f"{len(pairs)} {pairs[0].question}"
        if key not in kept:
            kept[key] = cosine_scores(pretrained, [(p.question, p.paraphrase) for p in pairs]).tolist()
        return kept[key]

    def by(scorer: Scorer) -> Callable[[Sequence[Pair]], list[float]]:
        return lambda pairs: [v.score for v in scorer.score_pairs([(p.question, p.paraphrase) for p in pairs])]

    fused = Scorer.load(judge="small")
    method: FusedMethod = fused.method  # type: ignore[assignment]
    model_only = Scorer(name="model", digest="", method=FusedMethod(replace(method.fusion, weights={}), method.judge))
    found = {
        "pretrained cosine (all-MiniLM-L6-v2)": cosine,
        "simple rule (same digits, question mark, cosine > 0.9)": lambda pairs: rule(pairs, cosine(pairs)),
    }
    if encoder:
        found["paraqd, mode encoder (the paper's recipe, with stand-ins for f1 and f9)"] = by(
            Scorer.load(encoder, mode="encoder")
        )
    found["rules only (model `reading`)"] = by(Scorer.load("reading"))
    found["judge only, without rules"] = by(model_only)
    for other in others:
        name, _, folder = other.partition("=")
        found[name] = by(Scorer.load(folder))
    found["**paraqd, small judge**"] = by(fused)
    if installed_judge() is not None:
        found["paraqd, both judges on every pair (`--judge large`)"] = by(Scorer.load(judge="large"))
        found["**paraqd, cascade (the default with both judges)**"] = by(Scorer.load(judge="cascade"))
    return found


def reported(name: str, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that no choice was made on."""
    if name != "styles_validation":
        return list(pairs)
    chosen = {pair.id for pair in choosing_half(pairs)}
    return [pair for pair in pairs if pair.id not in chosen]


def row(name: str, pairs: Sequence[Pair], scores: Sequence[float]) -> str:
    """Return a scorer's row of the table."""
    labels = [int(pair.label or 0) for pair in pairs]
    groups = [str(pair.group or pair.question) for pair in pairs]
    report = build_report(Scored(name, "", labels, list(scores), groups))
    cells = [estimated(report.estimate(metric)) for metric in ("macro_f1", "macro_f1_paper", "separation", "auc")]
    return f"| {name} | {' | '.join(cells)} |"


def estimated(found: Estimate | float) -> str:
    """Format a metric, followed by its interval if it has an interval."""
    if isinstance(found, Estimate):
        return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
    return f"{found:.3f}"


def passing(name: str, pairs: Sequence[Pair], scores: Sequence[float]) -> list[str]:
    """Return a table of the share of wrong verdicts, by fault and, if the set tells it, by the style of valid pairs."""
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for pair, score in zip(pairs, scores, strict=True):
        kind = (pair.operator or "").partition(":")[0]
        fault = f"valid, {kind}" if pair.label and kind else "valid" if pair.label else kind or "invalid"
        counts[fault] += 1
        wrong[fault] += (score > 0.5) != bool(pair.label)
    lines = [f"| {fault} | {counts[fault]} | {wrong[fault] / counts[fault]:.1%} |" for fault in sorted(counts)]
    return [
        "",
        f"Wrong verdicts of the last scorer on {name}:",
        "",
        "| kind | pairs | wrong |",
        "| --- | ---: | ---: |",
        *lines,
    ]


def main() -> None:
    """Measure all scorers, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--encoder")
    parser.add_argument("--other", action="append", default=[], metavar="NAME=FOLDER")
    given = parser.parse_args()
    measured = scorers(given.encoder, given.other)
    lines = ["# Accuracy of the scorer", "", INTRODUCTION, "", f"Signature: `{Scorer.load().signature}`"]
    for name, shown in SETS.items():
        try:
            pairs = reported(name, list(load_pairs(name)))
        except DatasetError as error:
            print(error)
            continue
        lines += [
            "",
            f"## {shown}",
            "",
            "| scorer | macro F1 | macro F1 (paper's) | separation | AUC |",
            "| --- " * 5 + "|",
        ]
        if name in PAPER:
            lines.append(f"| ParaQD as published | {PAPER[name]} |")
        for scorer, score in measured.items():
            scores = score(pairs)
            lines.append(row(scorer, pairs, scores))
            print(lines[-1], flush=True)
        lines += passing(shown, pairs, scores)
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Measure a scorer on edits of questions whose effect on the verdict is known, and print Markdown tables.

    PARAQD_DATA_DIR=data python bench/metamorphic.py [--questions 200] [--show 5] [--model FOLDER] [--json]

The questions are the 2,000 corpus questions that no training uses. Each edit makes a text that is known to be valid or
invalid. The share of accepted (valid) verdicts is compared with a goal. The edits share no code with the operators that
make the training pairs, nor with the reader. The last table counts the verdicts that change if both texts of a pair get
the same prefix or change places. These pairs come from valid edits and from the training part of the written pairs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from metamorphiclib.edits import SEED, Edit, all_edits, apply
from metamorphiclib.fresh_texts import REMARKS
from metamorphiclib.invariance import GOAL, PREFIXES, Flips, Pairs, exchanged, flips, make_pairs, prefixed
from metamorphiclib.report import Outcome, Results, as_json, markdown

from paraqd import Scorer
from paraqd.cli.progress import Bar
from paraqd.errors import ParaqdError
from paraqd.lab.corpora.reserved_questions import RESERVED, reserved_questions
from paraqd.progress import Progress, silent
from paraqd.tables.datasets import find, load_questions
from paraqd.tables.table import open_table

PAIRS = 500
_PREFIXES = (*PREFIXES, *REMARKS)
_NOTHING_DONE = 2
Rows = Sequence[Mapping[str, Any]]


def measure(
    rows: Rows,
    written: Rows,
    scorer: Scorer | None,
    *,
    edits: Sequence[Edit],
    pairs: int = PAIRS,
    seed: int = SEED,
    progress: Progress = silent,
) -> Results:
    """Edit the questions, and score the outputs unless there is no scorer."""
    outcomes = []
    for number, edit in enumerate(edits):
        outcomes.append(Outcome(edit, tuple(apply(edit, rows, seed))))
        progress("editing", number + 1, len(edits))
    sound = [each for outcome in outcomes if _in_pairs(outcome.edit) for each in outcome.edited]
    held = make_pairs(written, sound, pairs, seed) if pairs and scorer else None
    skeletons = len({row["skeleton"] for row in rows})
    if scorer is None:
        return Results(None, seed, len(rows), skeletons, tuple(outcomes))
    outcomes, base, changes = _score(scorer, outcomes, held, progress)
    return Results(scorer.signature, seed, len(rows), skeletons, tuple(outcomes), held, base, changes)


def _in_pairs(edit: Edit) -> bool:
    """Return True for valid edits that change more than white space. The others would make the pairs too easy."""
    return edit.group == "valid" or edit.name in {"unit-space", "quotes", "comma-no-space", "operator-spaces"}


def _on_one_line(text: str) -> str:
    """Return a text as Markdown can show it in a table."""
    return " ".join(text.replace("*", "").split())


def _score(
    scorer: Scorer, outcomes: Sequence[Outcome], held: Pairs | None, progress: Progress
) -> tuple[list[Outcome], tuple[bool, ...], tuple[Flips, ...]]:
    """Score everything in one call, so that one bar shows the whole run."""
    sets = [[(each.question, each.text) for each in outcome.edited] for outcome in outcomes]
    if held is not None:
        sets += [held.all, *(prefixed(held.all, prefix) for prefix in _PREFIXES), exchanged(held.all)]
    verdicts = iter(scorer.score_pairs([pair for each in sets for pair in each], progress=progress))
    found = [[next(verdicts) for _ in each] for each in sets]
    scored = [
        Outcome(old.edit, old.edited, tuple(v.score for v in mine), tuple(v.valid for v in mine))
        for old, mine in zip(outcomes, found, strict=False)  # the other sets are the pairs
    ]
    if held is None:
        return scored, (), ()
    base, *changed, swapped = ([verdict.valid for verdict in each] for each in found[len(outcomes) :])
    changes = [
        flips(f"*{' '.join(prefix.replace('*', '').split())}* before both", held, base, mine, GOAL)
        for prefix, mine in zip(_PREFIXES, changed, strict=True)
    ]
    return scored, tuple(base), (*changes, flips("the texts change places", held, base, swapped))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, metavar="N", help="use only the first N questions, for a quick look")
    parser.add_argument("--edits", metavar="NAMES", help="apply only these edits, separated by commas")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="valid and invalid pairs each for the last table")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="also print N random examples of each edit")
    parser.add_argument("--no-scores", action="store_true", help="only apply the edits, to look at them")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")
    scoring = parser.add_argument_group("scorer")
    scoring.add_argument("--model", help="a model folder or the name of a shipped model (default: the default model)")
    scoring.add_argument("--judge", help="small, cascade or large (default: cascade if its package is installed)")
    scoring.add_argument("--mode", default="fused", help="fused or encoder")
    scoring.add_argument("--threshold", type=float, help="the score above which a pair is valid")
    scoring.add_argument("--threads", type=int, help="the number of threads for the model")
    scoring.add_argument("--no-skip", action="store_true", help="ask the judge about every pair")
    given = parser.parse_args()
    try:
        results = _run(given)
    except ParaqdError as error:
        print(error, file=sys.stderr)
        sys.exit(_NOTHING_DONE)
    print(json.dumps(as_json(results, given.show), indent=2) if given.json else markdown(results, given.show))


def _run(given: argparse.Namespace) -> Results:
    written = list(open_table(find("written_pairs")).rows())
    rewritten = {str(row["id"]) for row in written}
    reserved = reserved_questions(load_questions("questions"), rewritten, count=RESERVED)
    edits = all_edits([str(row["question"]) for row in reserved])
    if given.edits:
        wanted = [name.strip() for name in given.edits.split(",")]
        if unknown := set(wanted) - {edit.name for edit in edits}:
            names = ", ".join(edit.name for edit in edits)
            raise ParaqdError(f"there is no edit {', '.join(sorted(unknown))}; choose from {names}")
        edits = tuple(edit for edit in edits if edit.name in wanted)
    scorer = None
    if not given.no_scores:
        scorer = Scorer.load(
            given.model,
            mode=given.mode,
            threshold=given.threshold,
            threads=given.threads,
            skip=not given.no_skip,
            judge=given.judge,
        )
    with Bar(shown=not given.quiet and sys.stderr.isatty()) as bar:
        return measure(
            reserved[: given.questions],
            written,
            scorer,
            edits=edits,
            pairs=given.pairs,
            seed=given.seed,
            progress=bar.update,
        )


if __name__ == "__main__":
    main()

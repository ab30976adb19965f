"""Test the search for slow texts: every module is timed, and the fuzzer's pairs are scored."""

import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import slowest_texts  # noqa: E402
from hostilelib.corpora import corpus_files, corpus_pairs, corpus_texts, fragments  # noqa: E402
from hostilelib.fuzz import check_verdicts, damaged  # noqa: E402
from hostilelib.shapes import SHAPES  # noqa: E402
from hostilelib.steps import STEPS  # noqa: E402

from paraqd import Scorer, Verdict  # noqa: E402

# modules that hold only tables, types or the interface of another library
NOT_TIMED = {
    *("reading.currencies", "reading.entities", "reading.name_lists", "reading.signs", "reading.types"),
    *("reading.quantity_draft", "reading.shared_units"),  # they are parts of reading.quantities
    "evidence.comparisons",
}


def test_every_module_is_timed():
    rooms = {"reading": "reading", "evidence": "scoring/evidence"}
    modules = {
        f"{room}.{path.stem}"
        for room, folder in rooms.items()
        for path in (ROOT / "src" / "paraqd" / folder).glob("[a-z]*.py")
    }
    timed = {name.split(" ")[0] for name in STEPS}
    assert modules - timed == NOT_TIMED


def test_a_search():
    pieces = ["Ann buys 5 pens", "50% of", "How many?", "the ratio of 2 : 3"]
    found = slowest_texts.candidates(pieces, random.Random(1), shapes=len(SHAPES))
    assert {each.shape for each in found} == set(SHAPES) and len(found) == len(pieces) * len(SHAPES)
    for each in found:
        assert all(len(text) <= 300 for text in each.build(300)) and each.build(300) == each.build(300)
    best = slowest_texts.search(found, ["reading.tokens", "evidence.quantities"], tried=200, wanted=400, longest=800)
    for candidate, wanted, longest in best.values():
        assert candidate in found and wanted > 0 and longest > 0


def test_fragments_come_from_every_corpus():
    files = corpus_files(None)
    assert {path.parent.name for path in files} >= {"samples", "styles", "synthetic", "solvable", "model_rewrites"}
    texts = corpus_texts(files[:3])
    drawn = fragments(texts, 50, random.Random(1))
    assert len(set(drawn)) == 50 and drawn == fragments(texts, 50, random.Random(1))
    assert corpus_pairs([ROOT / "samples" / "pairs.csv"])


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_pairs_are_scored(seed):
    rng = random.Random(seed)
    pairs = corpus_pairs([ROOT / "samples" / "pairs.csv"])
    made = [damaged(rng.choice(pairs), rng, pairs) for _ in range(150)]
    assert sum(pair not in pairs for pair in made) > 100
    check_verdicts(made, Scorer.load(judge="small").score_pairs(made))


def test_an_unsound_verdict_is_found():
    with pytest.raises(AssertionError, match="a pair"):
        check_verdicts([("a pair", "b")], [Verdict(float("nan"), False, (), "")])

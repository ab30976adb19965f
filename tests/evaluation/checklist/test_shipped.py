"""The cases that come with paraqd are well-formed."""

from collections import Counter
from importlib.resources import files

import pytest

from paraqd.evaluation.checklist import load_cases
from paraqd.scoring.verdict import EvidenceKind

SHIPPED = sorted(file.name for file in files("paraqd.evaluation.checklist").iterdir() if file.name.endswith(".jsonl"))
ONE_LABEL = {"identical_text": {1}, "unrelated_text": {0}}

pytestmark = pytest.mark.skipif(not SHIPPED, reason="this copy of paraqd comes without the checklist's cases")


@pytest.fixture(scope="module")
def cases():
    return load_cases()  # refuses words in 'where' that do not stand in their text exactly once


def test_there_are_enough(cases):
    sizes = Counter(case.capability for case in cases)
    assert len(sizes) >= 24
    assert {name: size for name, size in sizes.items() if size < 20} == {}


def test_every_fault_is_named_and_placed(cases):
    assert [(case.capability, case.line) for case in cases if case.label == 0 and not 1 <= len(case.kinds) <= 2] == []


def test_every_capability_has_pairs_of_both_labels(cases):
    labels = {}
    for case in cases:
        labels.setdefault(case.capability, set()).add(case.label)
    assert {name: found for name, found in labels.items() if found != ONE_LABEL.get(name, {0, 1})} == {}


def test_no_pair_stands_there_twice(cases):
    pairs = Counter((" ".join(case.question.split()), " ".join(case.paraphrase.split())) for case in cases)
    assert [pair for pair, times in pairs.items() if times > 1] == []
    questions = Counter((case.capability, " ".join(case.question.split())) for case in cases)
    assert [question for question, times in questions.items() if times > 1] == []


def test_only_identical_texts_are_identical(cases):
    same = {(case.capability, case.line) for case in cases if case.question == case.paraphrase}
    assert same == {(case.capability, case.line) for case in cases if case.capability == "identical_text"}


def test_every_kind_of_evidence_is_asked_for(cases):
    assert {kind for case in cases for kind in case.kinds[:1]} == set(EvidenceKind)

"""Test the corpora of the baselines UDA and SSMBA, from questions to triplets."""

import json

import pytest

from paraqd.lab.corpora.augment import augment
from paraqd.lab.corpora.triplets import IN_BATCH, read_triplets
from paraqd.lab.generators import train_generator
from paraqd.lab.operators.plan import AugmentError, make_plan
from paraqd.tables.table import open_table

QUESTIONS = [
    "Tom has 5 red pens and the shop has 7 of them. How many pens are there in all?",
    "A train runs 120 km in 2 hours. What is the speed of the train in kmph?",
    "The farmer has 12 hens and 3 of them are red. How many of the hens are not red?",
    "Asha paid Rs. 40 for 8 pens in the shop. How much does one of the pens cost?",
]


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps({"question": text}) for text in QUESTIONS), encoding="utf-8")
    return path


def operators_of(path):
    found = {}
    for row in open_table(path).rows():
        assert row["label"] == 1
        found.setdefault(row["operator"], []).append(row)
    return found


def test_uda(questions, tmp_path):
    out = tmp_path / "uda.jsonl"
    report = augment(questions, out, recipe="uda", stand_ins=True)
    found = operators_of(out)
    assert [operator.name for operator in report.operators] == ["Backtranslation", "LowTfidfReplacement"]
    assert all(row["source_model"] == "RewriteKeepingVoice" for row in found["Backtranslation"])
    assert len(found["LowTfidfReplacement"]) == len(QUESTIONS)
    assert not any(row["stand_in"] for row in found["LowTfidfReplacement"])
    made = read_triplets(out, in_batch=True)
    assert len(made) == report.written
    assert (made.triplets[:, 2] == IN_BATCH).all()


def test_ssmba(questions, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pairs = [("", text) for text in QUESTIONS * 3]
    model = train_generator("ssmba", None, tmp_path / "ssmba", scale="smoke", seed=1, device="cpu", pairs=pairs)
    outs = [tmp_path / f"{n}.jsonl" for n in range(2)]
    for out in outs:
        augment(questions, out, recipe="ssmba", generators={"ssmba": str(model)}, device="cpu")
    assert outs[0].read_bytes() == outs[1].read_bytes()
    found = operators_of(outs[0])
    assert list(found) == ["MaskedReconstruction", *(f"MaskedReconstruction#{n}" for n in (2, 3, 4))]
    assert all(row["stand_in"] and "ssmba@" in row["source_model"] for rows in found.values() for row in rows)
    texts = {row["paraphrase"] for rows in found.values() for row in rows}
    assert len(texts) > len(QUESTIONS) * 2
    assert not texts & set(QUESTIONS)


def test_ssmba_says_what_it_lacks():
    with pytest.raises(AugmentError, match="paraqd lab generator train ssmba --out DIR"):
        make_plan("ssmba", stand_ins=True)
    plan = make_plan("ssmba")
    assert plan.generators == {"ssmba": None}
    assert {step.models for step in plan.steps} == {("generator.ssmba",)}


def test_another_number_of_reconstructions():
    plan = make_plan("ssmba", operators=["MaskedReconstruction", "MaskedReconstruction#2"])
    assert [step.name for step in plan.steps] == ["MaskedReconstruction", "MaskedReconstruction#2"]
    assert len(make_plan("ssmba", skip=["MaskedReconstruction#4"]).steps) == 3


def test_a_further_draw_has_the_stand_in_of_the_first():
    plan = make_plan("uda", operators=["f1", "f1#2"], stand_ins=True)
    assert [(step.name, step.runs) for step in plan.steps] == [
        ("Backtranslation", "RewriteKeepingVoice"),
        ("Backtranslation#2", "RewriteKeepingVoice#2"),
    ]

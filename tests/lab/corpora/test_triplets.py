"""Triplets: each invalid output once, a valid one drawn at random, in-batch negatives for the baselines."""

import gzip
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paraqd
from paraqd.lab.corpora.triplets import IN_BATCH, choose_questions, draw_triplets, make_triplets, read_triplets, subset
from paraqd.lab.operators import UnknownOperatorError
from paraqd.tables.table import TableError, default_id

PENS = "Tom has 5 pens. How many pens has he?"


def row(paraphrase, label, operator, *, question=PENS, name="q1"):
    return {"id": name, "question": question, "paraphrase": paraphrase, "label": label, "operator": operator}


TWO_AND_THREE = [
    row(PENS, 1, "SameSentence"),
    row("Tom has five pens. How many pens has he?", 1, "NumToWords"),
    row("Tom has pens. How many pens has he?", 0, "NumberDeletion"),
    row("Tom has 5 pens.", 0, "LastSentenceDeletion"),
    row("Ann has 5 pens. How many pens has he?", 0, "EntityReplacement"),
]


def spelt(made):
    """Return the triplets as texts; None for an in-batch negative."""
    return [tuple(None if i == IN_BATCH else made.texts[i] for i in triplet) for triplet in made.triplets.tolist()]


def same(a, b):
    return (
        a.texts == b.texts
        and a.operators == b.operators
        and a.skipped == b.skipped
        and np.array_equal(a.triplets, b.triplets)
        and np.array_equal(a.questions, b.questions)
    )


@st.composite
def corpora(draw, labels=(0, 1)):
    """Draw the rows of a few questions, mixed."""
    rows = []
    for number in range(draw(st.integers(0, 5))):
        question = f"question {number}"
        outputs = draw(
            st.lists(
                st.tuples(st.sampled_from("ABCDE"), st.sampled_from("uvwxyz"), st.sampled_from(labels)), max_size=8
            )
        )
        rows += [
            row(f"{question} {text}", label, operator, question=question, name=f"q{number}")
            for operator, text, label in outputs
        ]
    return draw(st.permutations(rows))


def outputs_of(rows, label):
    """Count the distinct outputs of a label whose text is not also an output of the other label."""
    other = {(r["id"], r["paraphrase"]) for r in rows if r["label"] != label}
    return Counter(
        {(r["question"], r["operator"], r["paraphrase"]): 1 for r in rows if (r["id"], r["paraphrase"]) not in other}
    )


def test_each_invalid_output_once_with_a_valid_one():
    made = make_triplets(TWO_AND_THREE)
    assert len(made) == 3
    assert made.triplets.dtype == made.questions.dtype == np.int32
    assert {anchor for anchor, _, _ in spelt(made)} == {PENS}
    assert [invalid for _, invalid in made.operators] == ["EntityReplacement", "LastSentenceDeletion", "NumberDeletion"]
    assert {valid for valid, _ in made.operators} <= {"SameSentence", "NumToWords"}
    assert made.questions.tolist() == [0, 0, 0]
    assert made.skipped == {}


def test_the_valid_one_is_drawn_at_random():
    drawn = Counter(valid for seed in range(200) for valid, _ in make_triplets(TWO_AND_THREE, seed=seed).operators)
    assert set(drawn) == {"SameSentence", "NumToWords"}
    assert min(drawn.values()) > 200


def test_a_question_without_either_gives_none_and_is_counted():
    rows = [
        row("first, reworded", 1, "Rewrite", question="first", name="1"),
        row("second, broken", 0, "NumberChange", question="second", name="2"),
        row("third, reworded", 1, "Rewrite", question="third", name="3"),
        row("third, broken", 0, "NumberChange", question="third", name="3"),
    ]
    made = make_triplets(rows)
    assert spelt(made) == [("third", "third, reworded", "third, broken")]
    assert made.texts == ("third", "third, reworded", "third, broken")
    assert made.questions.tolist() == [0]
    assert made.n_questions == 1
    assert made.skipped == {"no invalid output": 1, "no valid output": 1}


def test_no_rows():
    made = make_triplets([])
    assert (made.texts, made.triplets.shape, made.questions.shape, made.n_questions) == ((), (0, 3), (0,), 0)
    assert same(subset(made, 0.2, 0), made)


def test_order_of_the_questions_is_that_of_their_first_rows():
    rows = [row(f"{n} {label}", label, "X", question=n, name=n) for label in (1, 0) for n in ("b", "a", "c")]
    assert [anchor for anchor, _, _ in spelt(make_triplets(rows))] == ["b", "a", "c"]


def test_an_invalid_output_that_is_the_question_is_no_negative():
    made = make_triplets([*TWO_AND_THREE[1:], row(PENS, 0, "UnitReplacement")])
    assert PENS not in {invalid for _, _, invalid in spelt(made)}
    assert made.skipped == {"an invalid output is the question itself": 1}


def test_an_output_that_is_both_valid_and_invalid_is_no_negative():
    text = TWO_AND_THREE[1]["paraphrase"]
    made = make_triplets([*TWO_AND_THREE, row(text, 0, "Rewrite")])
    assert len(made) == 3
    assert made.skipped == {"an output is both valid and invalid": 1}


@settings(deadline=None)
@given(rows=corpora(), seed=st.integers(0, 3))
def test_every_invalid_output_exactly_once(rows, seed):
    made = make_triplets(rows, seed=seed)
    with_valid = {r["question"] for r in rows if r["label"] == 1}
    expected = {key: n for key, n in outputs_of(rows, 0).items() if key[0] in with_valid}
    found = Counter(
        (anchor, operator, invalid)
        for (anchor, _, invalid), (_, operator) in zip(spelt(made), made.operators, strict=True)
    )
    assert found == expected


@settings(deadline=None)
@given(rows=corpora(), in_batch=st.booleans())
def test_indices_fit_and_texts_belong_together(rows, in_batch):
    made = make_triplets(rows, in_batch=in_batch)
    n = len(made)
    assert made.triplets.shape == (n, 3)
    assert len(made.questions) == len(made.operators) == n
    assert len(set(made.texts)) == len(made.texts)
    used = set(made.triplets.ravel().tolist()) - {IN_BATCH}
    assert used == set(range(len(made.texts)))
    assert sorted(set(made.questions.tolist())) == list(range(made.n_questions))
    assert (np.diff(made.questions) >= 0).all()
    labels = {(r["question"], r["operator"], r["paraphrase"], r["label"]) for r in rows}
    for (anchor, valid, invalid), (good, bad) in zip(spelt(made), made.operators, strict=True):
        assert anchor != invalid
        assert valid != invalid
        assert (anchor, good, valid, 1) in labels or (in_batch and good == "" and valid == anchor)
        assert (anchor, bad, invalid, 0) in labels or (in_batch and bad == "" and invalid is None)


@settings(deadline=None)
@given(rows=corpora(), in_batch=st.booleans(), seed=st.integers(0, 2**32))
def test_the_order_of_a_questions_rows_does_not_matter(rows, in_batch, seed):
    first = make_triplets(rows, seed=seed, in_batch=in_batch)
    order = list(dict.fromkeys(r["id"] for r in rows))
    shuffled = random.Random(seed).sample(rows, len(rows))
    together = sorted(shuffled, key=lambda r: order.index(r["id"]))
    assert same(make_triplets(iter(together), seed=seed, in_batch=in_batch), first)
    assert same(make_triplets([*rows, *rows], seed=seed, in_batch=in_batch), first), "rows that stand twice count once"


@settings(deadline=None)
@given(rows=corpora(labels=(1,)))
def test_baselines_have_every_valid_output_against_the_batch(rows):
    made = make_triplets(rows, in_batch=True)
    found = Counter(
        (anchor, good, valid) for (anchor, valid, _), (good, _) in zip(spelt(made), made.operators, strict=True)
    )
    assert found == outputs_of(rows, 1)
    assert (made.triplets[:, 2] == IN_BATCH).all()
    assert made.skipped == {}


@settings(deadline=None)
@given(rows=corpora())
def test_pseudo_labels_use_every_output(rows):
    made = make_triplets(rows, in_batch=True)
    invalid, valid = Counter(), set()
    for (anchor, good, bad), (first, second) in zip(spelt(made), made.operators, strict=True):
        if bad is not None:
            invalid[anchor, second, bad] += 1
        if first:
            valid.add((anchor, first, good))
    assert invalid == outputs_of(rows, 0)
    assert valid == {(r["question"], r["operator"], r["paraphrase"]) for r in rows if r["label"] == 1}


def test_pseudo_labels():
    both = [row("near", 1, "A"), row("nearer", 1, "B"), row("far", 0, "C")]
    made = make_triplets(both, in_batch=True)
    (anchor, drawn, far), (_, left, nothing) = spelt(made)
    assert (anchor, far, nothing) == (PENS, "far", None)
    assert {drawn, left} == {"near", "nearer"}
    only_far = make_triplets([row("far", 0, "C"), row("farther", 0, "D")], in_batch=True)
    assert spelt(only_far) == [(PENS, PENS, "far"), (PENS, PENS, "farther")]
    assert only_far.operators == (("", "C"), ("", "D"))


@pytest.mark.parametrize("name", ["NumberDeletion", "f8"])
def test_operators_are_dropped_by_name_or_paper_id(name):
    made = make_triplets(TWO_AND_THREE, drop_operators=(name,))
    assert [invalid for _, invalid in made.operators] == ["EntityReplacement", "LastSentenceDeletion"]


def test_a_composed_operator_is_dropped_by_its_full_name():
    rows = [*TWO_AND_THREE, row("Tom owns 6 pens.", 0, "Rewrite+NumberChange")]
    assert len(make_triplets(rows, drop_operators=("NumberChange",))) == 4
    assert len(make_triplets(rows, drop_operators=("Rewrite+NumberChange",))) == 3


def test_a_text_that_one_operator_drew_twice_counts_once():
    rows = [row(text, 1, name) for text, name in (("x", "A"), ("x", "A#2"), ("y", "A#3"), ("x", "B"))]
    made = make_triplets(rows, in_batch=True)
    assert [valid for valid, _ in made.operators] == ["A", "A#3", "B"]


def test_a_further_draw_is_dropped_by_its_own_name():
    rows = [row("x", 1, "MaskedReconstruction"), row("y", 1, "MaskedReconstruction#2")]
    made = make_triplets(rows, in_batch=True, drop_operators=("MaskedReconstruction#2", "MaskedReconstruction#3"))
    assert made.operators == (("MaskedReconstruction", ""),)


def test_all_operators_dropped():
    made = make_triplets(TWO_AND_THREE[:1], drop_operators=("f2",))
    assert (len(made), made.skipped) == (0, {"every operator dropped": 1})


def test_a_slip_in_a_dropped_name_is_said():
    with pytest.raises(UnknownOperatorError, match="did you mean NumberDeletion"):
        make_triplets(TWO_AND_THREE, drop_operators=("NumberDeletoin",))
    own = [row("x", 1, "MyOwn"), *TWO_AND_THREE]
    assert same(make_triplets(own, drop_operators=("MyOwn",)), make_triplets(TWO_AND_THREE))


def test_an_absent_id_is_the_questions():
    rows = [{key: value for key, value in r.items() if key != "id"} for r in TWO_AND_THREE]
    named = [{**r, "id": default_id(PENS)} for r in TWO_AND_THREE]
    assert same(make_triplets(rows), make_triplets(named))


@pytest.mark.parametrize("label", ["1", "0", 1.0, "0.0", True, "false"])
def test_labels_as_files_have_them(label):
    assert make_triplets([row("x", label, "A")], in_batch=True).n_questions == 1


@pytest.mark.parametrize("label", [2, -1, None, "", "yes", float("nan"), "0.5"])
def test_other_labels_are_refused(label):
    with pytest.raises(TableError, match=r"row 2: the label is .*; it must be 1 \(valid\) or 0 \(invalid\)"):
        make_triplets([row("x", 1, "A"), row("y", label, "B")])


@pytest.mark.parametrize(("column", "value"), [("question", " "), ("question", None), ("paraphrase", float("nan"))])
def test_blank_texts_are_refused(column, value):
    with pytest.raises(TableError, match=f"row 1: (blank {column}|{column} is not text)"):
        make_triplets([{**row("x", 1, "A"), column: value}])


def test_one_id_for_two_questions_is_refused():
    with pytest.raises(TableError, match="row 2: the id 'q1' already belongs to another question"):
        make_triplets([row("x", 1, "A"), row("y", 0, "B", question="another")])


MANY = [
    row(f"{n} {label} {i}", label, operator, question=f"question {n}", name=str(n))
    for n in range(50)
    for label, operator in ((1, "A"), (0, "B"))
    for i in range(3)
]


def test_a_subset_takes_whole_questions():
    whole = make_triplets(MANY)
    part = subset(whole, 0.2, 7)
    assert (part.n_questions, len(part)) == (10, 30)
    kept = {anchor for anchor, _, _ in spelt(part)}
    assert spelt(part) == [triplet for triplet in spelt(whole) if triplet[0] in kept]
    assert set(part.triplets.ravel().tolist()) == set(range(len(part.texts)))
    assert part.questions.tolist() == [n for n in range(10) for _ in range(3)]
    assert same(part, subset(whole, 0.2, 7))
    assert {anchor for anchor, _, _ in spelt(subset(whole, 0.2, 8))} != kept
    assert same(subset(whole, 1.0, 7), whole)


def test_a_subset_keeps_in_batch_negatives():
    part = subset(make_triplets([r for r in MANY if r["label"]], in_batch=True), 0.5, 1)
    assert (part.triplets[:, 2] == IN_BATCH).all()
    assert part.triplets[:, :2].min() == 0


def test_chosen_questions_do_not_depend_on_what_is_dropped():
    """Rows of an ablation are trained on the same questions, whatever each operator applies to."""
    rows = [made for made in MANY if int(made["id"]) % 3 or made["operator"] != "B"]  # B applies to two in three
    rows += [row(f"other {n}", 0, "LastSentenceDeletion", question=f"question {n}", name=str(n)) for n in range(50)]
    chosen = choose_questions([str(n) for n in range(50)], 20, seed=3407)
    whole = make_triplets(rows, questions=chosen)
    without = make_triplets(rows, questions=chosen, drop_operators=["LastSentenceDeletion"])
    anchors = {anchor for anchor, _, _ in spelt(whole)}
    assert anchors == {f"question {name}" for name in chosen}
    assert {anchor for anchor, _, _ in spelt(without)} == {f"question {n}" for n in chosen if int(n) % 3}


def test_fewer_chosen_questions_are_among_more():
    names = [str(n) for n in range(50)]
    few, more = (choose_questions(names, count, seed=1) for count in (5, 20))
    assert few < more
    assert choose_questions(reversed(names), 20, seed=1) == more
    assert choose_questions(names, 20, seed=2) != more
    assert choose_questions(names, 99, seed=1) == frozenset(names)


def test_drawn_triplets_are_so_many_and_keep_their_order():
    whole = make_triplets(MANY)
    part = draw_triplets(whole, 40, seed=1)
    assert len(part) == 40
    places = [spelt(whole).index(triplet) for triplet in spelt(part)]
    assert places == sorted(set(places))
    assert set(part.triplets.ravel().tolist()) == set(range(len(part.texts)))
    assert same(draw_triplets(whole, 1000, seed=1), whole)


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan")])
def test_a_share_that_is_none(share):
    with pytest.raises(ValueError, match="share of the questions"):
        subset(make_triplets(MANY), share, 0)


def write(path, rows):
    text = "\n".join(json.dumps(r) for r in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_from_a_file(tmp_path):
    made = read_triplets(write(tmp_path / "pairs.jsonl.gz", MANY), drop_operators=(), seed=1)
    assert same(made, make_triplets(MANY, seed=1))


def test_files_that_give_none_say_why(tmp_path):
    path = write(tmp_path / "pairs.jsonl", TWO_AND_THREE[:2])
    with pytest.raises(TableError, match=r"no triplets can be made \(questions with no invalid output: 1\)"):
        read_triplets(path)
    assert len(read_triplets(path, in_batch=True)) == 2
    with pytest.raises(TableError, match=r"pairs\.jsonl, row 1: the label is 7"):
        read_triplets(write(path, [row("x", 7, "A")]))
    with pytest.raises(TableError, match="has no column 'label'"):
        read_triplets(write(path, [{"question": "x", "paraphrase": "y"}]))


def test_numpy_is_all_it_needs(tmp_path):
    """A machine that only trains may have neither pyarrow nor rapidfuzz."""
    path = write(tmp_path / "pairs.jsonl.gz", MANY)
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['pyarrow', 'rapidfuzz', 'typer', 'torch', 'spacy'])); "
        "from paraqd.lab.corpora.triplets import read_triplets; print(len(read_triplets(sys.argv[1])))"
    )
    environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]))
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("150\n", "")


def test_one_question_under_two_ids_is_one_question():
    """Else it could stand in a batch as its own negative."""
    rows = [
        {"id": number, "question": "5 pens?", "paraphrase": text, "label": 1, "operator": "Rewrite"}
        for number, text in (("1", "five pens?"), ("2", "How about 5 pens?"))
    ]
    made = make_triplets(rows, in_batch=True)
    assert made.questions.tolist() == [0, 0]

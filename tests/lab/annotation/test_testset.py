"""Test sets: one valid and one invalid output for each question, drawn the same way always."""

import gzip
import json
from collections import Counter

import pytest

from paraqd.lab.annotation.testset import SCHEMA, draw_order, make_testset
from paraqd.lab.operators import EVERYTHING, VARIES, Operator, Recipe
from paraqd.lab.operators.plan import AugmentError
from paraqd.tables.table import TableError, open_table

# what can be made without a model or a parser
RULES = Recipe(
    name="rules",
    description="",
    operators=("NumToWords", "UnitExpansion", "RandomDeletion", "TfidfReplacement", "NumberDeletion"),
    valid=("NumToWords", "UnitExpansion"),
)


def question(i):
    return f"Asha walks {i + 2} km with {i % 7 + 2} friends. She buys {i % 5 + 3} stamps. How far did she walk?"


def write_questions(path, count):
    rows = [{"id": f"q{i}", "question": question(i)} for i in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(path):
    return list(open_table(path).rows())


def operator(name, polarity, make):
    def apply(self, problem, rng, resources):
        return make(problem.text, rng)

    fault = None if polarity == "valid" else VARIES
    declared = {"name": name, "polarity": polarity, "fault": fault, "changes": EVERYTHING}
    return type(name, (Operator,), {**declared, "apply": apply, "__doc__": name})


def recipe(valid, invalid):
    return Recipe(name="mine", description="", operators=(*valid, *invalid), valid=tuple(valid))


def test_one_valid_and_one_invalid_row_for_each_question(tmp_path):
    source = write_questions(tmp_path / "q.jsonl", 60)
    report = make_testset(source, tmp_path / "pairs.jsonl", recipe=RULES)
    rows = rows_of(tmp_path / "pairs.jsonl")
    assert list(rows[0]) == list(SCHEMA)
    assert list(SCHEMA)[-1] == "intended"
    assert [row["id"] for row in rows] == [f"q{i // 2}" for i in range(120)]
    assert [row["intended"] for row in rows] == [1, 0] * 60
    assert {row["label"] for row in rows} == {None}
    drawn = Counter(row["operator"] for row in rows)
    assert set(drawn) == set(RULES.operators)
    assert all(count > 5 for count in drawn.values()), drawn
    assert report.written == 120
    assert report.lacking == {"valid": (), "invalid": ()}
    assert not (tmp_path / "pairs.jsonl.parts").exists()


def test_the_name_of_a_data_set_in_place_of_a_file(tmp_path, monkeypatch):
    source = write_questions(tmp_path / "questions.jsonl", 4)
    (tmp_path / "em_questions.jsonl.gz").write_bytes(gzip.compress(source.read_bytes()))
    monkeypatch.setenv("PARAQD_DATA_DIR", str(tmp_path))
    assert make_testset("em_questions", tmp_path / "named.jsonl", recipe=RULES).written == 8
    make_testset(source, tmp_path / "file.jsonl", recipe=RULES)
    assert rows_of(tmp_path / "named.jsonl") == rows_of(tmp_path / "file.jsonl")


def test_the_outputs_are_the_operators_own(tmp_path):
    from paraqd.lab.corpora.augment import augment

    source = write_questions(tmp_path / "q.jsonl", 20)
    make_testset(source, tmp_path / "pairs.jsonl", recipe=RULES)
    augment(source, tmp_path / "all.jsonl", recipe=RULES)
    everything = {(row["id"], row["operator"]): row for row in rows_of(tmp_path / "all.jsonl")}
    for row in rows_of(tmp_path / "pairs.jsonl"):
        made = everything[row["id"], row["operator"]]
        assert row == {**made, "label": None, "intended": made["label"]}


def test_the_same_bytes_always_and_another_seed_other_pairs(tmp_path):
    source = write_questions(tmp_path / "q.jsonl", 40)
    for name in ("a.csv", "b.csv"):
        make_testset(source, tmp_path / name, recipe=RULES)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    make_testset(source, tmp_path / "c.csv", recipe=RULES, seed=1)
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "c.csv").read_bytes()
    # a question's pairs do not depend on its neighbours (words of the vocabulary apart)
    fewer = write_questions(tmp_path / "fewer.jsonl", 11)
    make_testset(fewer, tmp_path / "d.csv", recipe=RULES, skip=["TfidfReplacement"])
    make_testset(source, tmp_path / "e.csv", recipe=RULES, skip=["TfidfReplacement"])
    assert (tmp_path / "e.csv").read_bytes().startswith((tmp_path / "d.csv").read_bytes())


def test_leaving_an_operator_out_changes_only_the_questions_that_drew_it(tmp_path):
    source = write_questions(tmp_path / "q.jsonl", 40)
    make_testset(source, tmp_path / "all.jsonl", recipe=RULES)
    make_testset(source, tmp_path / "less.jsonl", recipe=RULES, skip=["RandomDeletion"])
    for before, after in zip(rows_of(tmp_path / "all.jsonl"), rows_of(tmp_path / "less.jsonl"), strict=True):
        assert after["operator"] != "RandomDeletion"
        assert before == after or before["operator"] == "RandomDeletion"


def test_where_the_drawn_operator_gives_nothing_the_next_is_tried(tmp_path, plug):
    never = operator("Never", "valid", lambda text, rng: None)
    loud = operator("Loud", "valid", lambda text, rng: text.upper())
    picky = operator("Picky", "invalid", lambda text, rng: "cut" if " 7 km" in text else None)
    plug(never, loud, picky)
    source = write_questions(tmp_path / "q.jsonl", 10)
    report = make_testset(source, tmp_path / "pairs.jsonl", recipe=recipe(["Never", "Loud"], ["Picky"]))
    rows = rows_of(tmp_path / "pairs.jsonl")
    assert Counter(row["operator"] for row in rows) == {"Loud": 10, "Picky": 1}
    assert report.lacking["valid"] == ()
    assert report.lacking["invalid"] == tuple(f"q{i}" for i in range(10) if i != 5)
    tried = {op.name: op.questions for op in report.operators}
    assert tried["Loud"] == 10 and 0 < tried["Never"] < 10


def test_the_two_sides_are_never_the_same_pair(tmp_path, plug):
    same = operator("Same", "valid", lambda text, rng: "the same  text")
    copy = operator("Copy", "invalid", lambda text, rng: "the same text")
    other = operator("Other", "invalid", lambda text, rng: "another text")
    plug(same, copy, other)
    source = write_questions(tmp_path / "q.jsonl", 8)
    make_testset(source, tmp_path / "pairs.jsonl", recipe=recipe(["Same"], ["Copy", "Other"]))
    assert Counter(row["operator"] for row in rows_of(tmp_path / "pairs.jsonl")) == {"Same": 8, "Other": 8}


def test_an_operator_that_raises_is_counted_and_the_next_is_tried(tmp_path, plug):
    def broken(text, rng):
        raise KeyError("seven")

    plug(
        operator("Loud", "valid", lambda text, rng: text.upper()),
        operator("Broken", "invalid", broken),
        operator("Cut", "invalid", lambda text, rng: text[:9]),
    )
    source = write_questions(tmp_path / "q.jsonl", 10)
    report = make_testset(source, tmp_path / "pairs.jsonl", recipe=recipe(["Loud"], ["Broken", "Cut"]))
    assert Counter(row["operator"] for row in rows_of(tmp_path / "pairs.jsonl")) == {"Loud": 10, "Cut": 10}
    assert report.failed > 0


def test_repeated_questions_and_ids_are_skipped_and_named(tmp_path):
    rows = ["1," + question(0), "2," + question(1), "3,  " + question(0), "1," + question(2), "4,", "5," + question(3)]
    (tmp_path / "q.csv").write_text("id,question\n" + "\n".join(rows) + "\n")
    report = make_testset(tmp_path / "q.csv", tmp_path / "pairs.csv", recipe=RULES)
    assert report.skipped_rows == (
        (4, "the same question as row 2"),
        (5, "the same id as row 2"),
        (6, "blank question"),
    )
    assert [row["id"] for row in rows_of(tmp_path / "pairs.csv")] == ["1", "1", "2", "2", "5", "5"]


def test_a_run_that_was_broken_off_goes_on_and_ends_with_the_same_bytes(tmp_path):
    source = write_questions(tmp_path / "q.jsonl", 600)
    make_testset(source, tmp_path / "whole.csv", recipe=RULES)

    def stop(stage, done, total):
        if stage == "making pairs" and done >= 256:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_testset(source, tmp_path / "pairs.csv", recipe=RULES, progress=stop)
    assert not (tmp_path / "pairs.csv").exists()
    with pytest.raises(TableError, match="another seed"):
        make_testset(source, tmp_path / "pairs.csv", recipe=RULES, seed=1)
    from paraqd.lab.corpora.augment import augment

    with pytest.raises(TableError, match="another command"):  # the parts are not those of an augmentation
        augment(source, tmp_path / "pairs.csv", recipe=RULES)
    report = make_testset(source, tmp_path / "pairs.csv", recipe=RULES)
    assert report.resumed == 256
    assert (tmp_path / "pairs.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not (tmp_path / "pairs.csv.parts").exists()


def test_operators_without_their_model_are_left_out(tmp_path, plug):
    class Modelled(Operator):
        """Needs a model that nobody gave."""

        name, polarity, needs = "Modelled", "invalid", ("generator.fe",)
        fault, changes = "", frozenset({"wording"})

        def apply(self, problem, rng, resources):
            raise AssertionError

    plug(Modelled)
    source = write_questions(tmp_path / "q.jsonl", 6)
    mixed = recipe(["NumToWords"], ["RandomDeletion", "Modelled"])
    report = make_testset(
        source, tmp_path / "pairs.csv", recipe=mixed, generators={"fe": str(tmp_path / "none")}, skip=[]
    )
    assert list(report.left_out) == ["Modelled"]
    assert Counter(row["operator"] for row in rows_of(tmp_path / "pairs.csv")) == {"NumToWords": 6, "RandomDeletion": 6}
    assert "Modelled" in json.loads((tmp_path / "pairs.csv.meta.json").read_text())["left_out"]
    with pytest.raises(AugmentError, match=r"no invalid operator can run \(Modelled: "):
        make_testset(
            source,
            tmp_path / "other.csv",
            recipe=recipe(["NumToWords"], ["Modelled"]),
            generators={"fe": str(tmp_path / "none")},
        )
    assert not (tmp_path / "other.csv").exists() and not (tmp_path / "other.csv.parts").exists()


def test_operators_with_a_model_take_part_in_batches(tmp_path, monkeypatch):
    from paraqd.lab.operators import resources

    class Generator:
        name, stand_in, by_sentence = "tiny-t5", True, False

        def __init__(self):
            self.batches = []

        def generate(self, texts, **options):
            self.batches.append(len(texts))
            return [["What is it?"] for _ in texts]

    tiny = Generator()
    monkeypatch.setattr(resources, "load_paper_generator", lambda key, model, device: tiny)
    source = write_questions(tmp_path / "q.jsonl", 30)
    mixed = recipe(["NumToWords"], ["RandomDeletion", "T5Paraphrase"])
    report = make_testset(source, tmp_path / "pairs.jsonl", recipe=mixed, generators={"fe": "tiny"})
    modelled = [row for row in rows_of(tmp_path / "pairs.jsonl") if row["operator"] == "T5Paraphrase"]
    assert 5 < len(modelled) < 25
    assert {(row["paraphrase"], row["source_model"], row["stand_in"], row["paper_id"]) for row in modelled} == {
        ("What is it?", "tiny-t5", True, "fe")
    }
    assert len(tiny.batches) == 1  # all questions that drew it at once
    assert report.lacking["invalid"] == ()


def test_a_package_that_is_not_installed_leaves_its_operators_out(tmp_path, monkeypatch):
    from paraqd.lab.annotation import testset

    real = testset.get

    def get(name):
        if name == "UnitExpansion":
            raise ModuleNotFoundError("No module named 'spacy'", name="spacy")
        return real(name)

    monkeypatch.setattr(testset, "get", get)
    report = make_testset(write_questions(tmp_path / "q.jsonl", 6), tmp_path / "pairs.csv", recipe=RULES)
    assert report.left_out == {"UnitExpansion": "spacy is not installed: pip install 'paraqd[augment]'"}
    assert Counter(row["operator"] for row in rows_of(tmp_path / "pairs.csv"))["NumToWords"] == 6


def test_without_a_parser_its_operators_are_left_out(tmp_path, monkeypatch):
    from paraqd.lab.operators import resources
    from paraqd.reading.entities import PipelineUnavailableError

    def absent():
        raise PipelineUnavailableError("spaCy is not installed: pip install 'paraqd[augment]'")

    monkeypatch.setattr(resources, "load_spacy", absent)
    source = write_questions(tmp_path / "q.jsonl", 6)
    report = make_testset(
        source, tmp_path / "pairs.csv", recipe=recipe(["ActivePassive", "NumToWords"], ["RandomDeletion"])
    )
    assert report.left_out == {"ActivePassive": "spaCy is not installed: pip install 'paraqd[augment]'"}
    with pytest.raises(AugmentError, match=r"no valid operator can run \(ActivePassive: spaCy is not installed"):
        make_testset(source, tmp_path / "x.csv", recipe=recipe(["ActivePassive"], ["RandomDeletion"]))


def test_the_order_of_trying_is_a_fair_shuffle():
    orders = Counter(tuple(draw_order(["a", "b", "c"], seed=1, row_id=f"q{i}", side="invalid")) for i in range(600))
    assert len(orders) == 6
    assert all(60 < count < 140 for count in orders.values())
    assert draw_order(["c", "a", "b"], seed=1, row_id="q1", side="valid") == draw_order(
        ["a", "b", "c"], seed=1, row_id="q1", side="valid"
    )


def test_what_is_refused(tmp_path):
    source = write_questions(tmp_path / "q.jsonl", 3)
    (tmp_path / "there.csv").write_text("precious")
    with pytest.raises(TableError, match="overwrite=True"):
        make_testset(source, tmp_path / "there.csv", recipe=RULES)
    with pytest.raises(TableError, match="the input itself"):
        make_testset(source, source, recipe=RULES, overwrite=True)
    with pytest.raises(AugmentError, match="no valid operator can run"):
        make_testset(source, tmp_path / "x.csv", recipe=RULES, skip=["NumToWords", "UnitExpansion"])
    with pytest.raises(AugmentError, match="--skip Rewrite"):
        make_testset(source, tmp_path / "x.csv", recipe=RULES, skip=["Rewrite"])
    (tmp_path / "none.csv").write_text("id,question\n")
    with pytest.raises(TableError, match="has no rows"):
        make_testset(tmp_path / "none.csv", tmp_path / "x.csv", recipe=RULES)

"""Test the output and the report of an augmentation."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import paraqd
from paraqd.errors import ParaqdError
from paraqd.lab.corpora.augment import SCHEMA, AugmentError, augment, models_of
from paraqd.lab.corpora.augment_report_page import report_html
from paraqd.lab.operators import Noted, Operator, derive_rng, get, resources
from paraqd.lab.operators.plan import make_plan
from paraqd.reading import read
from paraqd.tables.table import Columns, default_id
from tests.runs.conftest import RULES, question, rows_of, write_questions


class Loud(Operator):
    """An operator that writes short texts in capitals."""

    name, polarity, changes = "Loud", "valid", frozenset({"punctuation"})

    def apply(self, problem, rng, resources):
        if len(problem.text) > 60:
            resources.dropped(self.name, "too long to shout")
            return None
        return Noted(problem.text.upper(), note="loud")


class Fragile(Operator):
    """An operator that fails on texts with a 7."""

    name, polarity, fault, changes = "Fragile", "invalid", "number_lost", frozenset({"numbers"})

    def apply(self, problem, rng, resources):
        if "7" in problem.text:
            raise KeyError("seven")
        return f"{rng.random()} {problem.text}"


# --- what is written


def test_columns_order_and_the_operators_own_outputs(tmp_path):
    source = write_questions(tmp_path / "q.jsonl", 3)
    report = augment(source, tmp_path / "out.jsonl", operators=RULES)
    rows = rows_of(tmp_path / "out.jsonl")
    columns = ["id", "question", "paraphrase", "label", "operator", "paper_id", "source_model", "stand_in", "note"]
    assert list(rows[0]) == columns == list(SCHEMA)
    assert report.written == len(rows)
    expected = []
    for i in range(3):
        for name in RULES:
            operator = get(name)
            text = operator.apply(read(question(i)), derive_rng(3407, f"q{i}", name), resources.Resources())
            if text is not None:
                expected.append((f"q{i}", question(i), str(text), int(operator.polarity == "valid"), name))
    assert [tuple(row.values())[:5] for row in rows] == expected
    assert {row["paper_id"] for row in rows} <= {"f2", "f3", "f6", "f8", "f10"}
    assert not Path(tmp_path / "out.jsonl.parts").exists()


def test_the_name_of_a_data_set_in_place_of_a_file(tmp_path, monkeypatch):
    plain = write_questions(tmp_path / "questions.jsonl", 3)
    (tmp_path / "em_questions.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    monkeypatch.setenv("PARAQD_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert augment("em_questions", tmp_path / "named.jsonl", operators=RULES).questions == 3
    augment(plain, tmp_path / "file.jsonl", operators=RULES)
    assert rows_of(tmp_path / "named.jsonl") == rows_of(tmp_path / "file.jsonl") != []


@pytest.mark.parametrize("name", ["out.csv", "out.tsv.gz", "out.jsonl.gz", "out.parquet"])
def test_every_format_holds_the_same_rows_and_says_how_it_was_made(tmp_path, corpus, name):
    augment(corpus, tmp_path / "plain.jsonl", operators=RULES[:3])
    augment(corpus, tmp_path / name, operators=RULES[:3])
    kept = ("id", "question", "paraphrase", "operator")
    plain = [[row[key] for key in kept] for row in rows_of(tmp_path / "plain.jsonl")]
    assert [[row[key] for key in kept] for row in rows_of(tmp_path / name)] == plain
    if name.endswith("parquet"):
        metadata = json.loads(pq.read_schema(tmp_path / name).metadata[b"paraqd"])
    else:
        metadata = json.loads((tmp_path / f"{name}.meta.json").read_text())
    assert metadata["operators"] == RULES[:3]
    assert metadata["seed"] == 3407 and metadata["complete"] is True
    assert set(metadata) >= {"recipe", "version", "left_out", "stand_ins"}


def test_a_csv_follows_the_one_it_came_from(tmp_path):
    (tmp_path / "excel.csv").write_bytes(f"\ufeffid;question\r\n1;{question(0)}\r\n".encode())
    augment(tmp_path / "excel.csv", tmp_path / "out.csv", operators=["SameSentence"])
    assert (tmp_path / "out.csv").read_bytes().startswith(b"\xef\xbb\xbfid;question;paraphrase;")


def test_other_columns_absent_ids_and_repeated_rows(tmp_path):
    (tmp_path / "q.csv").write_text(f"Problem,nr\n{question(1)},\n{question(1)},\n{question(2)},x\n{question(3)},x\n")
    columns = Columns(question="Problem", id="nr")
    augment(tmp_path / "q.csv", tmp_path / "out.jsonl", operators=["NumberDeletion"], columns=columns)
    rows = rows_of(tmp_path / "out.jsonl")
    assert [row["id"] for row in rows] == [default_id(question(1))] * 2 + ["x", "x"]
    assert rows[0] == rows[1]
    assert rows[2]["question"] != rows[3]["question"]


def test_rows_without_a_question_are_skipped_and_named(tmp_path):
    lines = [
        {"id": 7, "question": question(0)},
        {"id": "b", "question": "  "},
        {"id": "c", "question": 12},
        {"id": "d"},
        {"id": "e", "question": "half a pair \ud800?"},
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    report = augment(tmp_path / "q.jsonl", tmp_path / "out.parquet", operators=["SameSentence"])
    assert report.skipped_rows == (
        (2, "blank question"),
        (3, "question is not text"),
        (4, "blank question"),
        (5, "question is not valid Unicode"),
    )
    assert (report.rows, report.questions, report.skipped, report.written) == (5, 1, 4, 1)
    assert rows_of(tmp_path / "out.parquet")[0]["id"] == "7"


def test_notes_drops_and_failures_are_counted(tmp_path, plug):
    plug(Loud, Fragile)
    texts = ["Tom has 7 apples. How many?", "Tom has 8 apples. How many?", question(1) * 2]
    (tmp_path / "q.jsonl").write_text("\n".join(json.dumps({"question": text}) for text in texts))
    report = augment(tmp_path / "q.jsonl", tmp_path / "out.jsonl", operators=["Loud", "Fragile"])
    loud, fragile = report.operators
    assert (loud.questions, loud.applied, loud.dropped, loud.notes) == (3, 2, {"too long to shout": 1}, {"loud": 2})
    assert fragile.failed == {"KeyError: 'seven'": 1}
    assert report.failed == 1
    assert [row["note"] for row in rows_of(tmp_path / "out.jsonl")] == ["loud", "loud", "", ""]


def test_the_report_has_numbers_and_examples(tmp_path, corpus):
    report = augment(corpus, tmp_path / "out.jsonl", operators=RULES)
    same, words = report.operators[:2]
    assert (same.edit_distance, same.edit_characters, same.applied_percent) == (0.0, 0.0, 100.0)
    assert 0 < words.edit_distance < 1 and sum(words.histogram) == words.applied
    assert all(len(operator.examples) == 3 for operator in report.operators)
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["operators"][1]["examples"][0]["paraphrase"] == words.examples[0].paraphrase
    assert [operator["name"] for operator in plain["operators"]] == RULES


def test_the_page_stands_alone_and_escapes(tmp_path, plug):
    plug(Loud)
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "Is 5 <b>&</b> 6 $x < 7?"}))
    page = report_html(augment(tmp_path / "q.jsonl", tmp_path / "out.jsonl", operators=["Loud"]))
    assert "&gt;&amp;&lt;/" in page and "<b>&</b>" not in page
    assert "prefers-color-scheme: dark" in page and page.count("<svg") == 2
    assert not any(word in page for word in ("<script", "http://", "https://", "src=", "@import", "url("))


# --- the same bytes


@pytest.mark.parametrize("name", ["out.parquet", "out.csv.gz"])
def test_the_same_bytes_for_any_number_of_workers(tmp_path, name):
    source = write_questions(tmp_path / "q.jsonl", 1000)
    contents = []
    for workers in (1, 2, 3):
        out = tmp_path / str(workers) / name
        out.parent.mkdir()
        augment(source, out, operators=[*RULES, "NumToWords+NumberDeletion"], workers=workers)
        contents.append(out.read_bytes())
    assert contents[0] == contents[1] == contents[2]


def test_another_seed_gives_other_bytes(tmp_path, corpus):
    augment(corpus, tmp_path / "a.parquet", operators=["NumberDeletion"])
    augment(corpus, tmp_path / "b.parquet", operators=["NumberDeletion"], seed=1)
    assert (tmp_path / "a.parquet").read_bytes() != (tmp_path / "b.parquet").read_bytes()


def test_the_vocabulary_comes_from_the_corpus(tmp_path, corpus):
    for workers in (1, 2):
        augment(corpus, tmp_path / f"{workers}.parquet", operators=["TfidfReplacement"], workers=workers)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    known = {word.strip(".?").lower() for i in range(600) for word in question(i).split()}
    made = rows_of(tmp_path / "1.parquet")[0]["paraphrase"]
    assert {word.strip(".?").lower() for word in made.split()} <= known
    assert made != question(0)


# --- memory


def peak_memory(source, out):
    code = (
        "import resource, sys; from paraqd.lab.corpora.augment import augment; "
        f"augment({str(source)!r}, {str(out)!r}, operators={RULES[:3]!r}); "
        "sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024))"
    )
    environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]))
    return int(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted differently elsewhere")
@pytest.mark.parametrize(("name", "megabytes"), [("out.csv", 10), ("out.parquet", 60)])
def test_memory_does_not_grow_with_the_corpus(tmp_path, name, megabytes):
    peaks = []
    for count in (2_000, 20_000):
        source = write_questions(tmp_path / f"{count}.jsonl", count)
        peaks.append(peak_memory(source, tmp_path / f"{count}-{name}"))
    assert peaks[1] - peaks[0] <= megabytes, peaks


# --- stand-ins and models


class FakeGenerator:
    by_sentence = False

    def __init__(self, name, *, stand_in):
        self.name, self.stand_in = name, stand_in

    def generate(self, texts, *, seed, decoding=None):
        return [[f"In other words: {text[:40]}"] for text in texts]


@pytest.fixture
def fake_models(monkeypatch):
    loaded = []

    def load(key, model=None, *, device=None):
        loaded.append((key, model))
        return FakeGenerator(f"fake-{key}", stand_in=model == "small")

    monkeypatch.setattr(resources, "load_paper_generator", load)
    return loaded


def test_stand_ins_are_marked_and_what_has_none_is_left_out(tmp_path):
    source = write_questions(tmp_path / "q.jsonl", 40)
    operators = ["Backtranslation", "SameSentence", "LossyParaphrase"]
    report = augment(source, tmp_path / "out.parquet", recipe="paper", operators=operators, stand_ins=True)
    assert list(report.left_out) == ["LossyParaphrase"]
    assert "paraqd lab generator train f9" in report.left_out["LossyParaphrase"]
    rows = rows_of(tmp_path / "out.parquet")
    by_operator = {row["operator"]: row for row in rows}
    assert by_operator["SameSentence"]["stand_in"] is False
    metadata = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"paraqd"])
    assert metadata["left_out"] == dict(report.left_out)
    assert metadata["stand_ins"] == {"Backtranslation": "RewriteKeepingVoice"}
    row = by_operator["Backtranslation"]
    assert (row["paper_id"], row["label"], row["stand_in"]) == ("f1", 1, True)
    assert row["source_model"] == "RewriteKeepingVoice"


def test_models_given_are_used_and_their_nature_recorded(tmp_path, fake_models):
    source = write_questions(tmp_path / "q.jsonl", 300)
    augment(
        source,
        tmp_path / "out.parquet",
        operators=["LossyParaphrase", "SameSentence", "T5Paraphrase"],
        stand_ins=True,
        generators={"f9": "small", "fe": "the-real-one"},
    )
    assert fake_models == [("f9", "small"), ("fe", "the-real-one")]  # loaded once
    rows = rows_of(tmp_path / "out.parquet")
    assert [row["operator"] for row in rows[:3]] == ["LossyParaphrase", "SameSentence", "T5Paraphrase"]
    assert [row["stand_in"] for row in rows[:3]] == [True, False, False]
    assert [row["source_model"] for row in rows[:3]] == ["fake-f9", "", "fake-fe"]
    assert rows[0]["paraphrase"].startswith("In other words")


def test_a_language_model_is_loaded_before_the_work_and_chooses_synonyms(tmp_path, monkeypatch):
    class Model:
        def log_probabilities(self, texts):
            return [-9.0 * ("obtain" in text) for text in texts]

    asked = []
    monkeypatch.setattr(
        resources, "load_language_model", lambda model, *, device: asked.append((model, device)) or Model()
    )
    source = tmp_path / "q.jsonl"
    source.write_text("".join(f'{{"question": "Tom gets {n} songs from me."}}\n' for n in range(10, 40)))
    assert augment(source, tmp_path / "none.jsonl", operators=["Synonyms"]).written == 0
    assert not asked
    augment(source, tmp_path / "out.jsonl", operators=["Synonyms"], language_model="small", device="cpu")
    assert asked == [("small", "cpu")]
    words = {row["paraphrase"].split()[1] for row in rows_of(tmp_path / "out.jsonl")}
    assert words == {"receives", "acquires"}


def test_a_missing_language_model_is_an_error(tmp_path, corpus):
    with pytest.raises(ParaqdError, match=r"the language model needs the folder '\./none'"):
        augment(corpus, tmp_path / "out.jsonl", operators=["Synonyms"], language_model="./none", device="cpu")


def test_the_language_model_is_a_setting_of_the_run():
    spec = resources.ResourceSpec(language_model="small")
    assert models_of(spec)["language_model"] == "small" and "language_model" not in models_of(resources.ResourceSpec())


def test_without_stand_ins_the_papers_model_is_asked_for(tmp_path, fake_models):
    source = write_questions(tmp_path / "q.jsonl", 5)
    augment(source, tmp_path / "out.jsonl", operators=["LossyParaphrase"])
    assert fake_models == [("f9", None)]
    assert rows_of(tmp_path / "out.jsonl")[0]["stand_in"] is False


def test_plans():
    plan = make_plan("paper", stand_ins=True, skip=["f5"])
    assert [step.name for step in plan.steps] == [
        name for name in get_names("paper") if name not in ("LossyParaphrase", "ImportantPhraseDeletion")
    ]
    assert make_plan("extended").steps[-1].label == 0
    assert [step.name for step in make_plan("paper", operators=["f3", "NumToWords"]).steps] == ["NumToWords"]
    for wrong, said in [
        ({"skip": ["Rewrite"]}, "not among the operators"),
        ({"generators": {"f7": "x"}}, "unknown generator"),
        ({"generators": {"f1": "x"}}, "--generator f1.forward=MODEL and --generator f1.backward=MODEL"),
        ({"operators": ["f9"], "stand_ins": True}, "no operator is left"),
        ({"operators": ["NumberDeletion+NumToWords"]}, "the first operator of a composition must be valid"),
        ({"operators": ["f8+f3"]}, "the first operator of a composition must be valid"),
    ]:
        with pytest.raises(AugmentError, match=said):
            make_plan("paper", **wrong)


def get_names(recipe):
    from paraqd.lab.operators import load_recipe

    return load_recipe(recipe).operators


def test_wrong_settings(tmp_path, corpus):
    for wrong, said in [({"workers": 0}, "at least one"), ({"entities": "magic"}, "light, spacy")]:
        with pytest.raises(ParaqdError, match=said):
            augment(corpus, tmp_path / "out.csv", operators=["SameSentence"], **wrong)

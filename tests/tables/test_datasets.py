"""Data sets are found by name in their places, fetched once, and each is read with its own columns."""

import gzip
import hashlib
import json
import os
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from paraqd.lab.corpora import download
from paraqd.lab.corpora.download import get
from paraqd.lab.corpora.public_corpora import load_corpus
from paraqd.tables.datasets import (
    DATASETS,
    DataFile,
    DatasetError,
    cache_dir,
    dataset,
    dataset_names,
    find,
    load_pairs,
    load_questions,
    questions_file,
    state,
    written_split,
)
from paraqd.tables.formats import TableError
from paraqd.tables.pairs import both_classes
from paraqd.tables.table import Columns

QUESTION = "Tom has 5 apples and buys 3 more. How many has he now?"
VALID = "Tom buys 3 apples; he had 5 before. How many are there now?"
INVALID = "Tom has 5 apples and buys 4 more. How many has he now?"
needs_data = pytest.mark.skipif(
    not os.environ.get("PARAQD_DATA_DIR"), reason="PARAQD_DATA_DIR is not set: it names a folder with the data sets"
)
DATA_DIR = os.environ.get("PARAQD_DATA_DIR")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A data folder and a cache, both empty; nothing of the machine's own is seen."""
    monkeypatch.delenv("PARAQD_DATA_DIR", raising=False)
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    (tmp_path / "cache" / "data").mkdir(parents=True)
    return tmp_path


def pairs_csv(path, header, *rows):
    path.write_text("\n".join([header, *(f'"{a}","{b}",{label}' for a, b, label in rows)]) + "\n", encoding="utf-8")
    return path


def jsonl_gz(path, *rows):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


# --- the registry -------------------------------------------------------------------------------


def test_every_record_says_what_a_person_needs():
    wanted = {
        "aquarat",
        "aquarat_train_operators",
        "sawp",
        "pawp",
        "em_math",
        "em_questions",
        "aqua_rat",
        "mathqa",
        "gsm8k",
    }
    assert wanted | {"questions", "written_pairs", "general_paraphrases"} <= set(dataset_names())
    for record in DATASETS.values():
        assert record.description and record.licence and record.use and record.files
        assert record.public != bool(record.obtain), "a set without an address says how to get it"
        assert all(file.url is None or file.url.startswith("https://") for file in record.files)
        assert all(file.sha256 is None or len(file.sha256) == 64 for file in record.files)
        assert record.reader in ("table", "written_pairs", "published_outputs", "aqua_rat", "mathqa", "gsm8k")
    names = [file.name for record in DATASETS.values() for file in record.files]
    assert len(names) == len(set(names)), "two sets would overwrite each other in one folder"
    with pytest.raises(FrozenInstanceError):
        DATASETS["sawp"].use = "tuning"


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(DatasetError, match="there is no data set 'aquarrat'; did you mean aquarat"):
        dataset("aquarrat")


# --- where things lie ---------------------------------------------------------------------------


def test_the_data_folder_comes_before_the_cache(folders, monkeypatch):
    in_cache = pairs_csv(folders / "cache" / "data" / "sawp_test.csv", "question,augmented,final_label")
    assert find("sawp") == in_cache and state("sawp").where == "cache"
    in_data = pairs_csv(folders / "data" / "sawp_test.csv", "question,augmented,final_label")
    assert find("sawp", folders / "data") == in_data
    monkeypatch.setenv("PARAQD_DATA_DIR", str(folders / "data"))
    assert find("sawp") == in_data and state("sawp").where == "local"
    (folders / "other").mkdir()
    assert find("sawp", folders / "other") == in_cache, "an argument takes the variable's place"


def test_what_is_not_here_says_what_to_fetch_and_where_to_put_it(folders):
    with pytest.raises(DatasetError) as error:
        find("pawp", folders / "data")
    line = str(error.value)
    assert (
        "paraqd lab data get pawp" in line
        and "PAWP_test.csv" in line
        and str(folders / "data" / "pawp_test.csv") in line
    )
    with pytest.raises(DatasetError, match="PARAQD_DATA_DIR"):
        find("pawp")
    with pytest.raises(DatasetError, match=r"Build it: paraqd lab data build questions"):
        find("questions")
    with pytest.raises(DatasetError, match="there is no folder nowhere"):
        find("pawp", "nowhere")


def test_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("PARAQD_CACHE_DIR", raising=False)
    if sys.platform == "linux":
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        assert cache_dir() == tmp_path / ".cache" / "paraqd"
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
        assert cache_dir() == tmp_path / "x" / "paraqd"
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path / "y"))
    assert cache_dir() == tmp_path / "y"


def test_a_file_with_other_bytes_is_seen(folders):
    path = pairs_csv(folders / "data" / "sawp_test.csv", "question,augmented,final_label", (QUESTION, VALID, 1))
    assert state("sawp", folders / "data").sound is False
    with pytest.raises(DatasetError, match="is not the known file of sawp"):
        get("sawp", folders / "data")
    assert path.exists(), "a file of the user's own is never removed"
    assert state("questions", folders / "data").sound is None


# --- get ----------------------------------------------------------------------------------------


def test_get_downloads_once_and_checks_what_is_there(folders, monkeypatch):
    content = b"question,paraphrase,label\n"
    fetched = []

    def fake(file, path, *, progress=None):
        fetched.append(file.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    monkeypatch.setattr(download, "download", fake)
    sha = hashlib.sha256(content).hexdigest()
    files = (DataFile("a/one.csv", "https://x/1", sha), DataFile("a/two.csv", "https://x/2", sha))
    monkeypatch.setitem(DATASETS, "pawp", replace(DATASETS["pawp"], files=files))
    assert get("pawp") == folders / "cache" / "data" / "a" / "one.csv" == find("pawp")
    assert get("pawp") and fetched == ["a/one.csv", "a/two.csv"]
    (folders / "cache" / "data" / "a" / "two.csv").write_bytes(b"damaged")
    with pytest.raises(DatasetError, match=r"two\.csv has changed since it was downloaded"):
        get("pawp")


def test_get_takes_what_the_data_folder_holds(folders, monkeypatch):
    monkeypatch.setattr(download, "download", lambda *a, **k: pytest.fail("nothing to download"))
    path = jsonl_gz(folders / "data" / "questions.jsonl.gz", {"id": "a", "question": QUESTION})
    assert get("questions", folders / "data") == path


def test_em_math_is_brought_by_the_user(folders):
    with pytest.raises(DatasetError, match=r"em_math_test\.csv.*not public.*--paraphrase-column"):
        get("em_math", folders / "data")
    pairs_csv(folders / "data" / "em_math_test.csv", "question,paraphrase,label", (QUESTION, VALID, 1))
    assert load_pairs("em_math", data_dir=folders / "data")[0].label == 1


def test_em_questions_are_brought_by_the_user(folders):
    assert not DATASETS["em_questions"].public, "without a licence, paraqd does not download them"
    with pytest.raises(DatasetError, match=r"put it at .*em_questions\.jsonl\.gz.*rg089/SCANING.*code/data"):
        get("em_questions", folders / "data")
    rows = [{"id": "em-1", "question": QUESTION, "part": "train"}, {"id": "em-2", "question": "Find 2 + 3."}]
    path = jsonl_gz(folders / "data" / "em_questions.jsonl.gz", *rows)
    assert get("em_questions", folders / "data") == path
    assert state("em_questions", folders / "data").where == "local"
    assert load_questions("em_questions", data_dir=folders / "data") == rows
    jsonl_gz(path, {"question": QUESTION})
    [row] = load_questions("em_questions", data_dir=folders / "data")
    assert row["question"] == QUESTION and row["id"], "a question without an id gets one"


def test_questions_file_accepts_a_name_or_a_file(folders, monkeypatch):
    monkeypatch.setenv("PARAQD_DATA_DIR", str(folders / "data"))
    path = jsonl_gz(folders / "data" / "em_questions.jsonl.gz", {"question": QUESTION})
    assert questions_file("em_questions") == path
    for other in ("own.csv", "-", "s3://bucket/questions/", "no_such_name"):
        assert questions_file(other) == other
    with pytest.raises(DatasetError, match="sawp is a data set of pairs, not questions"):
        questions_file("sawp")
    with pytest.raises(DatasetError, match=r"paraqd lab data build questions -o gsm8k\.jsonl\.gz --corpus gsm8k"):
        questions_file("gsm8k")
    with pytest.raises(DatasetError, match="Build it: paraqd lab data build questions"):
        questions_file("questions")
    monkeypatch.chdir(folders)
    Path("questions").mkdir()
    assert questions_file("questions") == "questions", "a folder takes precedence over a name"


# --- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file", "header"),
    [
        ("aquarat", "aquarat_test.csv", "question,augmented,final_label"),
        ("sawp", "sawp_test.csv", "question,augmented,final_label"),
        ("aquarat_train_operators", "aquarat_test_train_operators.csv", "question,augmented,label"),
        ("pawp", "pawp_test.csv", "question,paraphrase,label"),
    ],
)
def test_each_test_set_is_read_with_its_own_columns(folders, name, file, header):
    pairs_csv(folders / "data" / file, header, (QUESTION, VALID, 1), (QUESTION, INVALID, 0))
    pairs = load_pairs(name, data_dir=folders / "data")
    assert [(pair.question, pair.paraphrase, pair.label) for pair in pairs] == [
        (QUESTION, VALID, 1),
        (QUESTION, INVALID, 0),
    ]


def test_a_published_set_that_contradicts_itself_is_kept_as_it_is(folders):
    rows = ((QUESTION, QUESTION, 1), (QUESTION, QUESTION, 0))
    pairs_csv(folders / "data" / "aquarat_test_train_operators.csv", "question,augmented,label", *rows)
    assert len(load_pairs("aquarat_train_operators", data_dir=folders / "data")) == 2
    with pytest.raises(TableError, match="the same pair with the labels 1 and 0"):
        load_pairs(
            folders / "data" / "aquarat_test_train_operators.csv",
            columns=Columns(paraphrase="augmented"),
        )


def test_a_file_in_place_of_a_name(folders):
    path = pairs_csv(folders / "own.csv", "text,rewrite,ok", (QUESTION, VALID, 1))
    columns = Columns(question="text", paraphrase="rewrite", label="ok")
    assert load_pairs(path, columns=columns) == load_pairs(str(path), columns=columns)
    with pytest.raises(TableError, match=r"there is no file none\.csv"):
        load_pairs("none.csv")
    with pytest.raises(DatasetError, match="there is no data set 'swap'; did you mean sawp"):
        load_pairs("swap")
    with pytest.raises(DatasetError, match="sawp is a data set of pairs, not questions"):
        load_questions("sawp")


def test_written_pairs_are_four_for_each_question(folders):
    row = {
        "id": "aqua-1",
        "question": QUESTION,
        "heavy_valid": VALID,
        "moderate_valid": "v",
        "heavy_invalid": INVALID,
        "heavy_fault": "number_changed",
        "moderate_invalid": "w",
        "moderate_fault": "question_lost",
    }
    path = jsonl_gz(folders / "data" / "written_pairs.jsonl.gz", row)
    pairs = load_pairs("written_pairs", data_dir=folders / "data")
    assert [(pair.paraphrase, pair.label, pair.operator) for pair in pairs] == [
        (VALID, 1, "heavy_valid"),
        ("v", 1, "moderate_valid"),
        (INVALID, 0, "heavy_number_changed"),
        ("w", 0, "moderate_question_lost"),
    ]
    assert {(pair.id, pair.row) for pair in pairs} == {("aqua-1", 1)}
    jsonl_gz(path, {"id": "a", "question": QUESTION})
    with pytest.raises(TableError, match="not a file of written pairs"):
        load_pairs("written_pairs", data_dir=folders / "data")


def test_a_tenth_of_the_written_questions_is_benchmark_and_a_tenth_validation():
    parts = [written_split(f"aqua-{number:05d}") for number in range(2000)]
    assert 150 < parts.count("benchmark") < 250 and 150 < parts.count("validation") < 250
    assert parts.count("train") == 2000 - parts.count("benchmark") - parts.count("validation")


def test_general_paraphrases(folders):
    jsonl_gz(folders / "data" / "general_paraphrases.jsonl.gz", {"a": "x", "b": "y", "label": 1, "source": "paws"})
    (pair,) = load_pairs("general_paraphrases", data_dir=folders / "data")
    assert (pair.question, pair.paraphrase, pair.label) == ("x", "y", 1)


def test_questions_keep_what_their_file_has(folders):
    rows = [{"id": "aqua-00000", "question": QUESTION, "source": "aqua", "split": "train", "skeleton": 0}]
    jsonl_gz(folders / "data" / "questions.jsonl.gz", *rows)
    assert load_questions("questions", data_dir=folders / "data") == rows


def test_flaws_of_a_file_of_questions(folders):
    path = folders / "q.csv"
    path.write_text("id,question\n1,How many?\n1,How much?\n")
    with pytest.raises(TableError, match="the id '1' belongs to two different questions, in rows 2 and 3"):
        load_questions(path)
    path.write_text("id,question\n1,How many?\n2, \n")
    with pytest.raises(TableError, match="row 3: blank question"):
        load_questions(path)
    path.write_text("id,question\n")
    with pytest.raises(TableError, match="has no rows"):
        load_questions(path)
    path.write_text("id,problem\n1,How many?\n")
    with pytest.raises(TableError, match="did you mean question='problem'"):
        load_questions(path)
    assert load_questions(path, columns=Columns(question="problem"))[0]["question"] == "How many?"


# --- the data themselves ------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize(("name", "rows"), [("aquarat", 440), ("sawp", 400), ("aquarat_train_operators", 440)])
def test_the_real_test_sets(name, rows):
    found = state(name, DATA_DIR)
    if found.where != "local":
        pytest.skip(f"PARAQD_DATA_DIR has no {DATASETS[name].files[0].name}")
    assert found.sound is True
    pairs = load_pairs(name, data_dir=DATA_DIR)
    assert len(pairs) == rows
    both_classes(pairs, name)


@needs_data
def test_the_real_questions():
    if not (Path(DATA_DIR) / "questions.jsonl.gz").exists():
        pytest.skip("PARAQD_DATA_DIR has no questions.jsonl.gz")
    rows = load_questions("questions", data_dir=DATA_DIR)
    assert len(rows) == 47_005
    assert {row["source"] for row in rows} == {"aqua", "mathqa", "gsm8k"}


@needs_data
def test_the_real_em_questions():
    if not (Path(DATA_DIR) / "em_questions.jsonl.gz").exists():
        pytest.skip("PARAQD_DATA_DIR has no em_questions.jsonl.gz")
    rows = load_questions("em_questions", data_dir=DATA_DIR)
    assert len(rows) == len({row["question"] for row in rows}) == 7_420


def test_a_corpus_by_its_name(folders):
    (folders / "data" / "gsm8k").mkdir()
    (folders / "data" / "gsm8k" / "train.jsonl").write_text(json.dumps({"question": QUESTION, "answer": "8"}))
    (folders / "data" / "mathqa").mkdir()
    (folders / "data" / "mathqa" / "train.json").write_text(json.dumps([{"Problem": "what is 2 + 2 ?"}]))
    assert load_corpus("gsm8k", data_dir=folders / "data") == [
        {"id": "gsm8k-00000", "question": QUESTION, "source": "gsm8k", "cased": True}
    ]
    assert load_corpus("mathqa", data_dir=folders / "data")[0]["question"] == "what is 2 + 2?"
    with pytest.raises(DatasetError, match="gsm8k has a format of its own; convert it to a table with paraqd lab data"):
        load_questions("gsm8k", data_dir=folders / "data")


def test_the_public_codes_outputs_are_pairs_with_operators(folders, monkeypatch):
    columns = [*(f"positive{n}" for n in range(1, 5)), *(f"neg_{n}" for n in range(1, 7))]
    path = folders / "data" / "aquarat_validation_reference.csv"
    path.write_text(
        ",".join(["question", *columns]) + "\n" + ",".join([QUESTION, *(f"text {c}" for c in columns)]) + "\n"
    )
    pairs = load_pairs("published_validation", data_dir=folders / "data")
    assert [(pair.operator, pair.label) for pair in pairs] == [
        (f"published f{number}", int(number < 5)) for number in range(1, 11)
    ]
    assert pairs[8].paraphrase == "text neg_5"
    path.write_text(path.read_text().replace("neg_5", "other", 1))
    with pytest.raises(TableError, match="no column 'neg_5', so it is not a file of the public code's outputs"):
        load_pairs("published_validation", data_dir=folders / "data")

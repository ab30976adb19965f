"""The open benchmark: pairs of our own texts only, told apart by fault, and the committed file holds what is said."""

import gzip
import json
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from paraqd.lab.corpora.awp_variants import EVIDENCE_KINDS, SCHEMA, build_variants, is_near, write_variants
from paraqd.lab.corpora.download import get
from paraqd.scoring.verdict import EvidenceKind
from paraqd.tables import datasets
from paraqd.tables.datasets import DATASETS, DatasetError, find, load_pairs, state, written_split
from paraqd.tables.formats import TableError
from paraqd.tables.table import open_table

CARD = Path(__file__).parents[3] / "docs" / "awp-variants.md"
DATA_DIR = os.environ.get("PARAQD_DATA_DIR")


def ids(source, split, count):
    """The first ids of a source that belong to a split."""
    keys = (f"{source}-{number:05d}" for number in range(1000))
    return [key for key in keys if written_split(key) == split][:count]


def written(key, **changes):
    return {
        "id": key,
        "question": "Tom has 5 apples and buys 3 more at the market. How many apples has he now?",
        "heavy_valid": "After getting three at the market, how many apples does Tom own if he started with 5?",
        "moderate_valid": "Tom owns 5 apples. At the market he buys 3 others. How many apples does he own?",
        "heavy_invalid": "After getting five at the market, how many apples does Tom own if he started with 3?",
        "heavy_fault": "number_swapped",
        "moderate_invalid": "Tom owns 5 apples. At the market he buys 3 others.",
        "moderate_fault": "question_lost",
        **changes,
    }


@pytest.fixture(scope="module")
def committed():
    return list(open_table(find("awp-variants")).rows())


# --- the builder --------------------------------------------------------------------------------


def test_six_pairs_of_a_problem():
    (key,) = ids("gsm8k", "benchmark", 1)
    row = written(key)
    variants = build_variants([row])
    heavy, moderate = row["heavy_valid"], row["moderate_valid"]
    told = [(pair["question"], pair["paraphrase"], pair["label"], pair["fault"]) for pair in variants.rows]
    assert told == [
        (heavy, moderate, 1, None),
        (moderate, heavy, 1, None),
        (heavy, row["heavy_invalid"], 0, "number_swapped"),
        (moderate, row["moderate_invalid"], 0, "question_lost"),
        (heavy, row["moderate_invalid"], 0, "question_lost"),
        (moderate, row["heavy_invalid"], 0, "number_swapped"),
    ]
    assert [pair["id"] for pair in variants.rows] == [f"awp-0001-{letter}" for letter in "abcdef"]
    assert [pair["form"] for pair in variants.rows] == [
        "heavy-moderate",
        "moderate-heavy",
        "heavy-heavy",
        "moderate-moderate",
        "heavy-moderate",
        "moderate-heavy",
    ]
    kinds = [pair["evidence_kind"] for pair in variants.rows]
    assert kinds == [None, None, "number_changed", "question_lost", "question_lost", "number_changed"]
    assert all(pair["source"] == "gsm8k" and list(pair) == list(SCHEMA) for pair in variants.rows)
    assert row["question"] not in json.dumps(variants.rows), "what is not ours goes into no pair"
    assert variants.to_dict() == {"rows": 6, "problems": 1, "dropped": 0, "near": {}, "same": 0}


def test_only_the_tenth_that_is_kept_for_it():
    keys = [*ids("aqua", "train", 2), *ids("aqua", "benchmark", 2), *ids("aqua", "validation", 2)]
    variants = build_variants(map(written, keys))
    assert variants.problems == 2
    assert {pair["problem"] for pair in variants.rows} == {"awp-0001", "awp-0002"}
    with pytest.raises(DatasetError, match="there is nothing to build"):
        build_variants(map(written, ids("aqua", "train", 2)))


def test_a_text_too_near_to_the_original_goes_with_its_pairs():
    (key,) = ids("mathqa", "benchmark", 1)
    copy = written(key)["question"].lower().replace("3 more", "4 more")
    variants = build_variants([written(key, moderate_invalid=copy, moderate_fault="number_changed")])
    assert [pair["id"][-1] for pair in variants.rows] == ["a", "b", "c", "f"], "the letters of the others stay"
    assert (variants.dropped, variants.near) == (2, {"moderate_invalid": 1})


def test_two_texts_that_do_not_differ_are_no_pair():
    (key,) = ids("mathqa", "benchmark", 1)
    variants = build_variants([written(key, moderate_valid=written(key)["heavy_valid"])])
    assert [pair["id"][-1] for pair in variants.rows] == ["c", "d", "e", "f"]
    assert (variants.dropped, variants.same) == (2, 2)


@pytest.mark.parametrize(
    ("changes", "flaw"),
    [
        ({"heavy_fault": "wrong"}, "'heavy_fault' is 'wrong'; it must be one of number_changed"),
        ({"moderate_valid": " "}, "blank moderate_valid"),
        ({"heavy_invalid": None}, "blank heavy_invalid"),
    ],
)
def test_flaws_of_the_written_pairs(changes, flaw):
    (key,) = ids("aqua", "benchmark", 1)
    with pytest.raises((DatasetError, TableError), match=flaw):
        build_variants([written(key, **changes)])


def test_an_unknown_source():
    (key,) = ids("svamp", "benchmark", 1)
    with pytest.raises(DatasetError, match="must begin with one of aqua, mathqa, gsm8k"):
        build_variants([written(key)])


def test_every_fault_has_a_kind_of_evidence_that_scorers_know():
    assert set(EVIDENCE_KINDS.values()) <= {kind.value for kind in EvidenceKind}


def test_the_same_rows_are_the_same_bytes(tmp_path):
    variants = build_variants(map(written, ids("aqua", "benchmark", 3)))
    one = write_variants(variants, tmp_path / "one.jsonl.gz")
    two = write_variants(variants, tmp_path / "two.jsonl.gz")
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes()[4:8] == bytes(4), "no time stands in the header"
    with gzip.open(one, "rt", encoding="utf-8") as file:
        assert [json.loads(line) for line in file] == list(variants.rows)


# --- the registry -------------------------------------------------------------------------------


def test_it_is_here_without_a_data_folder_or_a_download(tmp_path, monkeypatch):
    monkeypatch.delenv("PARAQD_DATA_DIR", raising=False)
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path))
    found = state("awp-variants")
    assert (found.where, found.sound) == ("bundled", True)
    assert get("awp-variants") == find("awp-variants") == found.path
    (tmp_path / "awp_variants.jsonl.gz").write_bytes(b"another")
    assert find("awp-variants", tmp_path) == found.path, "what comes with the package is not replaced by a folder's"


def test_an_installation_without_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "_BUNDLED", tmp_path)
    with pytest.raises(DatasetError, match="awp-variants was not found: it comes with paraqd: install paraqd again"):
        load_pairs("awp-variants")
    with pytest.raises(DatasetError, match="install paraqd again"):
        get("awp-variants")
    (tmp_path / "awp_variants.jsonl.gz").write_bytes(b"another")
    with pytest.raises(DatasetError, match=r"has changed since paraqd was installed; install paraqd again"):
        get("awp-variants")


def test_pairs_carry_their_fault_and_their_problem():
    pairs = load_pairs("awp-variants")
    assert Counter(pair.label for pair in pairs) == {1: 874, 0: 1741}
    assert all((pair.operator == "") == (pair.label == 1) for pair in pairs)
    assert {pair.operator for pair in pairs} - {""} == set(EVIDENCE_KINDS)
    assert len({pair.group for pair in pairs}) == 438
    assert pairs[0].group == "awp-0001" and pairs[0].id == "awp-0001-a"


def test_other_sets_have_their_operators_and_no_groups(tmp_path, monkeypatch):
    path = tmp_path / "own.csv"
    path.write_text("question,paraphrase,label,operator,fault,problem\nHow many?,How much?,0,f8,unit,p1\n")
    monkeypatch.setitem(DATASETS, "em_math", replace(DATASETS["em_math"], files=(datasets.DataFile("own.csv"),)))
    for pairs in (load_pairs(path), load_pairs("em_math", data_dir=tmp_path)):
        assert [(pair.operator, pair.group) for pair in pairs] == [("f8", "")]


# --- the committed file -------------------------------------------------------------------------


def test_the_file_keeps_its_own_rules(committed):
    assert len(committed) == 2615
    assert len({row["id"] for row in committed}) == len(committed)
    assert len({(row["question"], row["paraphrase"]) for row in committed}) == len(committed)
    for row in committed:
        assert list(row) == list(SCHEMA)
        assert row["id"].startswith(row["problem"] + "-")
        assert row["question"].strip() and row["paraphrase"].strip() and row["question"] != row["paraphrase"]
        assert (row["fault"] is None) == (row["evidence_kind"] is None) == (row["label"] == 1)
        if row["fault"] is not None:
            assert row["evidence_kind"] == EVIDENCE_KINDS[row["fault"]]


def card_table(first, columns):
    """The rows of the card's table with this first column: a number for each name in it."""
    text = CARD.read_text(encoding="utf-8")
    body = text.split(f"\n| {first} | ", 1)[1].split("\n\n", 1)[0]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in body.splitlines()[2:]]
    return {row[0]: [int(cell) for cell in row[-columns:]] for row in rows}


def test_the_card_counts_what_the_file_holds(committed):
    faults = Counter(row["fault"] for row in committed if row["fault"])
    assert card_table("fault | description", 1) == {fault: [count] for fault, count in faults.items()}
    sources = {}
    for row in committed:
        problems, counts = sources.setdefault(row["source"], (set(), Counter()))
        problems.add(row["problem"])
        counts[row["label"]] += 1
    held = {source: [len(problems), counts[1], counts[0]] for source, (problems, counts) in sources.items()}
    assert card_table("source | problems", 3) == held
    forms = Counter((str(row["label"]), row["form"]) for row in committed)
    text = CARD.read_text(encoding="utf-8")
    shown = re.findall(r"^\| (?:heavy|moderate), valid \| \S+ (?:in)?valid \| (\d) \| (\S+) \| (\d+) \|$", text, re.M)
    assert {(label, form): int(count) for label, form, count in shown} == forms
    problems = {row["problem"] for row in committed}
    assert f"{len(committed):,} pairs of texts from {len(problems)} word problems" in text
    assert "874 valid and 1,741 invalid pairs" in text
    assert DATASETS["awp-variants"].files[0].sha256 in text


def test_a_valid_text_of_a_problem_is_nowhere_an_invalid_one(committed):
    texts = {label: {row["paraphrase"] for row in committed if row["label"] == label} for label in (0, 1)}
    assert texts[1].isdisjoint(texts[0])
    assert {row["question"] for row in committed}.isdisjoint(texts[0])


@pytest.mark.skipif(not DATA_DIR, reason="PARAQD_DATA_DIR is not set: it names a folder with the data sets")
def test_the_file_is_what_the_builder_makes(committed):
    if state("written_pairs", DATA_DIR).where != "local":
        pytest.skip("PARAQD_DATA_DIR has no written_pairs.jsonl.gz")
    rows = list(open_table(find("written_pairs", DATA_DIR)).rows())
    assert list(build_variants(rows).rows) == committed
    originals = {" ".join(row["question"].casefold().split()) for row in rows}
    texts = {row[name] for row in committed for name in ("question", "paraphrase")}
    assert originals.isdisjoint(" ".join(text.casefold().split()) for text in texts)


def test_near_is_a_matter_of_wording_not_of_case_or_white_space():
    assert is_near("TOM HAS 5  PENS.", "Tom has 5 pens .")
    assert not is_near("Tom has 5 pens.", "Five pens are Tom's.")

"""Pairs are read whole, and each flaw of a file of pairs is one line that names the row."""

import json

import pytest

from paraqd.tables.pairs import Pair, both_classes, read_pairs
from paraqd.tables.table import Columns, TableError, default_id, open_writer

QUESTION = "Tom has 5 apples and buys 3 more. How many has he now?"
VALID = "Tom buys 3 apples; he had 5 before. How many are there now?"
INVALID = "Tom has 5 apples and buys 4 more. How many has he now?"


def written(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def row(**changes):
    return {"question": QUESTION, "paraphrase": VALID, "label": 1, **changes}


@pytest.fixture
def flaw(tmp_path):
    """Return the one line that a file of these rows is refused with, without the folder."""

    def refused(*rows, **options):
        path = written(tmp_path / "p.jsonl", rows)
        with pytest.raises(TableError) as error:
            read_pairs(path, **options)
        assert "\n" not in str(error.value)
        return str(error.value).replace(str(path), "p.jsonl")

    return refused


def test_a_pair_is_read_with_what_is_known_of_it(tmp_path):
    rows = [
        row(id="q1", operator="NumToWords", score=0.75),
        row(id="q1", paraphrase=INVALID, label=0, operator=None, score="-1"),
    ]
    assert read_pairs(written(tmp_path / "p.jsonl", rows)) == [
        Pair(id="q1", question=QUESTION, paraphrase=VALID, label=1, operator="NumToWords", score=0.75, row=1),
        Pair(id="q1", question=QUESTION, paraphrase=INVALID, label=0, operator="", score=-1.0, row=2),
    ]


def test_an_absent_id_is_made_from_the_question(tmp_path):
    pairs = read_pairs(written(tmp_path / "p.jsonl", [row(), row(id="", paraphrase=INVALID, label=0)]))
    assert [pair.id for pair in pairs] == [default_id(QUESTION)] * 2


def test_other_column_names_and_another_encoding(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes("text;augmented;final_label;p\nIt’s £5. How much for 2?;£5 each; 1.0 ;0.5\n".encode("cp1252"))
    columns = Columns(question="text", paraphrase="augmented", label="final_label")
    (pair,) = read_pairs(path, columns=columns, encoding="cp1252", score_column="p")
    assert (pair.question, pair.paraphrase, pair.label, pair.score) == ("It’s £5. How much for 2?", "£5 each", 1, 0.5)


@pytest.mark.parametrize("name", ["p.csv", "p.tsv.gz", "p.jsonl", "p.parquet"])
def test_every_format(tmp_path, name):
    with open_writer(tmp_path / name, {"question": str, "paraphrase": str, "label": int, "score": float}) as writer:
        writer.write([row(score=0.25), row(paraphrase=INVALID, label=0, score=-0.5)])
    pairs = read_pairs(tmp_path / name)
    assert [(pair.paraphrase, pair.label, pair.score) for pair in pairs] == [(VALID, 1, 0.25), (INVALID, 0, -0.5)]


@pytest.mark.parametrize(
    ("given", "label"),
    [(0, 0), (1, 1), ("0", 0), (" 1 ", 1), (0.0, 0), (1.0, 1), ("1.0", 1), (True, 1), ("FALSE", 0), ("True", 1)],
)
def test_labels_as_programs_write_them(tmp_path, given, label):
    (pair,) = read_pairs(written(tmp_path / "p.jsonl", [row(label=given)]))
    assert pair.label == label and type(pair.label) is int


@pytest.mark.parametrize("given", [2, -1, "yes", "01", 0.5, "nan", [1]])
def test_a_label_that_is_not_0_or_1(flaw, given):
    line = flaw(row(), row(label=given))
    read = "a label must be 1 (valid) or 0 (invalid); true, false, 1.0 and 0.0 also work"
    assert line == f"p.jsonl, row 2: 'label' is {given!r}; {read}"


@pytest.mark.parametrize("given", [None, "", "  "])
def test_a_blank_label_is_refused_only_where_labels_are_needed(tmp_path, flaw, given):
    assert (
        flaw(row(label=given))
        == "p.jsonl, row 1: 'label' is blank; fill in 1 (valid) or 0 (invalid), or remove the row"
    )
    assert read_pairs(tmp_path / "p.jsonl", labelled=False)[0].label is None


def test_a_wrong_label_is_refused_even_where_labels_are_not_needed(flaw):
    assert "'label' is 7" in flaw(row(label=7), labelled=False)


def test_a_file_without_labels(tmp_path, flaw):
    unlabelled = {"question": QUESTION, "paraphrase": VALID}
    assert flaw(unlabelled).startswith("p.jsonl has no column 'label'")
    assert read_pairs(tmp_path / "p.jsonl", labelled=False) == [
        Pair(default_id(QUESTION), QUESTION, VALID, None, row=1)
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (float("nan"), "nan; a score must be a finite number"),
        ("NaN", "'NaN'; a score must be a finite number"),
        (float("-inf"), "-inf; a score must be a finite number"),
        ("1e999", "'1e999'; a score must be a finite number"),
        ("high", "'high', which is not a number"),
        ("0,8373", "'0,8373', which is not a number; write it with a decimal point: 0.8373"),
        ("-,5", "'-,5', which is not a number; write it with a decimal point: -.5"),
        ("1,2,3", "'1,2,3', which is not a number"),
        (True, "True, which is not a number"),
        (None, "blank; fill in the score, or remove the row"),
        ("", "blank; fill in the score, or remove the row"),
    ],
)
def test_a_score_that_is_no_finite_number(flaw, given, says):
    assert flaw(row(score=0.5), row(score=given)) == f"p.jsonl, row 2: 'score' is {says}"


def test_a_column_of_scores_that_must_be_there(tmp_path, flaw):
    line = flaw(row(scores=0.5), scored=True)
    assert line.startswith("p.jsonl has no column 'score'") and line.endswith("did you mean score='scores'?")
    assert flaw(row(score=0.5), scored=True, score_column="scroe").endswith("did you mean score='score'?")
    assert read_pairs(tmp_path / "p.jsonl", scored=True)[0].score == 0.5


def test_a_blank_question_and_what_is_not_text(flaw):
    assert flaw(row(question="  ")) == "p.jsonl, row 1: blank question; correct or remove the row"
    assert flaw(row(), row(question=None)) == "p.jsonl, row 2: blank question; correct or remove the row"
    assert flaw(row(question=5)) == "p.jsonl, row 1: question is not text; correct or remove the row"
    assert flaw(row(paraphrase=["a"])) == "p.jsonl, row 1: paraphrase is not text; correct or remove the row"
    assert (
        flaw(row(paraphrase="\ud800")) == "p.jsonl, row 1: paraphrase is not valid Unicode; correct or remove the row"
    )
    assert (
        flaw(row(paraphrase="#NAME?"))
        == "p.jsonl, row 1: paraphrase is a spreadsheet error (#NAME?), not text; correct or remove the row"
    )


def test_a_blank_paraphrase_is_a_paraphrase(tmp_path):
    (pair,) = read_pairs(written(tmp_path / "p.jsonl", [row(paraphrase=None, label=0)]))
    assert pair.paraphrase == ""


def test_an_id_that_stands_for_two_questions(flaw):
    line = flaw(row(id=7), row(id=8), row(id=7, question="How many pens are 2 and 2?"))
    assert line.startswith("p.jsonl: the id '7' belongs to two different questions, in rows 1 and 3;")


def test_a_pair_given_twice(tmp_path, flaw):
    line = flaw(row(), row(paraphrase=INVALID, label=0), row(label=0))
    assert line == "p.jsonl: rows 1 and 3 have the same pair with the labels 1 and 0; remove the wrong row"
    assert len(read_pairs(tmp_path / "p.jsonl", contradictions=True)) == 3
    assert len(read_pairs(written(tmp_path / "p.jsonl", [row(), row()]))) == 2


def test_an_empty_file(tmp_path):
    (tmp_path / "nothing.csv").write_text("")
    with pytest.raises(TableError, match=r"nothing\.csv is empty"):
        read_pairs(tmp_path / "nothing.csv")
    (tmp_path / "header.csv").write_text("question,paraphrase,label\n")
    with pytest.raises(TableError, match=r"header\.csv has no rows"):
        read_pairs(tmp_path / "header.csv")


def test_both_classes():
    pair = Pair("a", QUESTION, VALID, 1)
    wrong, unknown = Pair("a", QUESTION, INVALID, 0), Pair("a", QUESTION, VALID, None)
    both_classes([pair, wrong], "p.csv")
    with pytest.raises(TableError, match=r"p\.csv has only valid pairs; both labels"):
        both_classes([pair, unknown], "p.csv")
    with pytest.raises(TableError, match=r"p\.csv has only invalid pairs"):
        both_classes([wrong], "p.csv")
    with pytest.raises(TableError, match=r"p\.csv has no labelled pairs"):
        both_classes([unknown], "p.csv")

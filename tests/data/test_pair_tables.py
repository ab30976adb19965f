"""Pairs are read from tables with one or several paraphrases in each row."""

from __future__ import annotations

import pytest

from paraqd.data.pair_tables import match_columns, read_pair_rows
from paraqd.data.tables import TableError

COLUMNS = ("Nr", "Question", "V1", "V2", "V1_score", "V1_decision", "V1_why", "a,b", "c*")


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        (["V1"], ("V1",)),
        (["v2", "V1"], ("V2", "V1")),
        (["V1,V2"], ("V1", "V2")),
        (["V1, v2,"], ("V1", "V2")),
        (["V*"], ("V1", "V2")),
        (["V1", "V*"], ("V1", "V2")),
        (["a,b"], ("a,b",)),
        (["c*"], ("c*",)),
        (["*2"], ("V2",)),
        (["V3"], ()),
        (["V1,V3"], ()),
        (["v*"], ()),
    ],
)
def test_names_lists_and_patterns(patterns, found):
    assert match_columns(patterns, COLUMNS) == found


def test_a_star_does_not_stand_for_columns_with_another_role():
    assert match_columns(["*"], ("id", "q", "a", "b"), taken=("id", "q")) == ("a", "b")


def bank(tmp_path, text, name="bank.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def test_each_filled_cell_is_a_pair(tmp_path):
    file = bank(tmp_path, 'Nr,Question,V1,V2,Topic\n\nQ-1,"How\nmany?",How much?,,sums\nQ-2,Why?,a,b,x\n')
    empty = []
    pairs = list(read_pair_rows(file, "question", ["V*"], id_column="nr", on_empty=lambda *place: empty.append(place)))
    assert [(p.number, p.id, p.question, p.paraphrase, p.paraphrase_column) for p in pairs] == [
        (3, "Q-1", "How\nmany?", "How much?", "V1"),
        (4, "Q-2", "Why?", "a", "V1"),
        (4, "Q-2", "Why?", "b", "V2"),
    ]
    assert empty == [(3, "V2")]
    assert pairs[0].others == {"Nr": "Q-1", "Topic": "sums"} and not any(pair.problem for pair in pairs)


def test_rows_that_cannot_be_scored_are_kept_with_the_reason(tmp_path):
    file = bank(tmp_path, "question,paraphrase\n,b\nWhy?\nWhy?,\n")
    assert [(pair.number, pair.problem) for pair in read_pair_rows(file)] == [
        (2, "blank question"),
        (3, "the row ends before the column 'paraphrase'"),
        (4, ""),
    ]


def test_columns_of_later_json_lines_are_found(tmp_path):
    file = bank(tmp_path, '{"question": "a", "V1": "b"}\n\n{"question": "a", "V2": 5}\n', "bank.jsonl")
    pairs = list(read_pair_rows(file, paraphrase_columns=["V*"]))
    assert [(p.number, p.paraphrase_column, p.problem) for p in pairs] == [
        (1, "V1", ""),
        (3, "V2", "paraphrase is not text"),
    ]


@pytest.mark.parametrize(
    ("question", "paraphrases", "told"),
    [
        ("Frage", ["V1"], "has no column 'Frage'"),
        ("Question", ["W*"], r"has no column for paraphrase='W\*' \(it has: Nr, Question, V1, V2\)"),
        ("Question", ["V1", "V3"], "has no column 'V3'"),
        ("Question", ["V1,Question"], "cannot both be the column 'Question'"),
        ("Question", ["Question"], "cannot both be the column 'Question'"),
    ],
)
def test_columns_that_are_missing_or_used_twice(tmp_path, question, paraphrases, told):
    file = bank(tmp_path, "Nr,Question,V1,V2\nQ-1,a,b,c\n")
    with pytest.raises(TableError, match=told):
        read_pair_rows(file, question, paraphrases, id_column="Nr")


def test_hints_never_name_a_column_that_has_another_role(tmp_path):
    file = bank(tmp_path, "problem_text,problem_id\na,b\n")
    with pytest.raises(TableError, match=r"name the column with paraphrase='NAME'"):
        read_pair_rows(file, "problem_text", ["problem_tex"], id_column="problem_id")

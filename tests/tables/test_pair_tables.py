"""Pairs are found in tables with one or several paraphrases in each row."""

from __future__ import annotations

import pytest

from paraqd.tables.pair_tables import match_columns, pair_columns
from paraqd.tables.rows import numbered
from paraqd.tables.table import Columns, TableError, open_table

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
        (["v*"], ("V1", "V2")),
    ],
)
def test_names_lists_and_patterns(patterns, found):
    assert match_columns(patterns, COLUMNS) == found


def test_a_star_does_not_stand_for_columns_with_another_role():
    assert match_columns(["*"], ("id", "q", "a", "b"), taken=("id", "q")) == ("a", "b")


def bank(tmp_path, text, name="bank.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def pairs_in(file, question="question", paraphrases=("paraphrase",), own_id="id"):
    """Return the row number, the row's id, the column, the paraphrase and the problem of each pair."""
    table = open_table(file)
    names = pair_columns(table, Columns(question=question, id=own_id), paraphrases)
    return [
        (number, names.id_of(row), column, row.get(column), names.problem(row, column))
        for number, row in numbered(table.rows())
        for column in names.filled(row)
    ]


def test_each_filled_cell_is_a_pair(tmp_path):
    file = bank(tmp_path, 'Nr,Question,V1,V2,Topic\n\nQ-1,"How\nmany?",How much?,,sums\nQ-2,Why?,a,b,x\n')
    assert pairs_in(file, "question", ["V*"], "nr") == [
        (3, "Q-1", "V1", "How much?", ""),
        (4, "Q-2", "V1", "a", ""),
        (4, "Q-2", "V2", "b", ""),
    ]


def test_rows_that_cannot_be_scored_are_kept_with_the_reason(tmp_path):
    file = bank(tmp_path, "question,paraphrase\n,b\nWhy?\nWhy?,\n")
    assert [(number, problem) for number, *_, problem in pairs_in(file)] == [
        (2, "blank question"),
        (3, "the row ends before the column 'paraphrase'"),
        (4, ""),
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
        pairs_in(file, question, paraphrases, "Nr")


def test_hints_never_name_a_column_that_has_another_role(tmp_path):
    file = bank(tmp_path, "problem_text,problem_id\na,b\n")
    with pytest.raises(TableError, match=r"name the column with paraphrase='NAME'"):
        pairs_in(file, "problem_text", ["problem_tex"], "problem_id")

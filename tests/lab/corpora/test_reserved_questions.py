"""Test which questions are reserved for tests."""

from __future__ import annotations

from paraqd.lab.corpora.reserved_questions import RESERVED, reserved_questions


def rows(count):
    return [{"id": f"q{n}", "skeleton": f"s{n // 2}"} for n in range(count)]


def test_a_tenth_of_a_small_data_set_is_reserved():
    made = rows(200)
    found = reserved_questions(made, {"q0"})
    assert len(found) == 20  # 198 questions are free, and questions with the same skeleton stay together
    assert all(row["skeleton"] != "s0" for row in found)
    assert reserved_questions(rows(6), set()) == []


def test_no_more_than_2000_questions_of_a_large_data_set_are_reserved():
    assert len(reserved_questions(rows(30_000), set())) == RESERVED
    assert len(reserved_questions(rows(30_000), set(), count=10)) == 10

"""Cut and paste text, and keep spaces, commas and capitals correct."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraqd.reading import read
from paraqd.rewriting.text import delete, match_case, splice

CHECK = settings(deadline=None, derandomize=True)


def without(text, *parts):
    """Delete the first occurrence of each part."""
    return delete(read(text), [(text.index(part), text.index(part) + len(part)) for part in parts])


def test_splice_replaces_spans_in_any_order():
    assert splice("5 km in 2 hours", [(8, 9, "two"), (0, 1, "five")]) == "five km in two hours"


def test_splice_can_insert_and_delete():
    assert splice("abc", [(1, 1, "-"), (2, 3, "")]) == "a-b"


@CHECK
@given(st.text())
def test_splice_without_edits_changes_nothing(text):
    assert splice(text, []) == text


@CHECK
@given(st.text(), st.data())
def test_splice_with_the_old_text_changes_nothing(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert splice(text, [(start, end, text[start:end])]) == text


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("Tom has 5 red apples, Ann 6.", "red", "Tom has 5 apples, Ann 6."),
        ("The answer is 5.", "5", "The answer is."),
        ("Five men left.", "Five", "Men left."),
        ("She paid 5 (five) rupees", "five", "She paid 5 () rupees"),
        ("How old is Ann?", "Ann", "How old is?"),
    ],
)
def test_delete_corrects_the_spaces_around_the_gap(text, part, expected):
    assert without(text, part) == expected


def test_delete_takes_several_spans():
    assert without("Tom has 5 red and 6 blue pens.", "red", "blue") == "Tom has 5 and 6 pens."


def test_delete_corrects_the_commas_around_the_gap():
    assert without("Add 12, 7, 19 and 3.", "7") == "Add 12, 19 and 3."


def test_delete_leaves_the_rest_of_the_text_alone():
    assert without("He  ran , 5 red km .", "red") == "He  ran , 5 km ."


@CHECK
@given(st.text(alphabet="ab 5.?"), st.data())
def test_delete_loses_nothing_but_the_span_and_spaces(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    rest = text[:start] + text[end:]
    assert delete(read(text), [(start, end)]).replace(" ", "") == rest.replace(" ", "")


def test_is_cased():
    assert read("tom has 5 pens. He sold 2.").cased
    assert not read("tom has 5 pens.").cased
    assert not read("5 + 7").cased


def test_starts_sentence():
    problem = read("Tom left. 5 men came.")
    assert [i for i in range(len(problem.text)) if i in problem.sentence_starts] == [0, 10]


def test_match_case_capitalises_at_a_sentence_start_only():
    problem = read("Tom left. 5 men and 6 boys came.")
    assert match_case("five", problem, problem.text.index("5")) == "Five"
    assert match_case("six", problem, problem.text.index("6")) == "six"


def test_match_case_follows_a_text_without_capitals():
    problem = read("tom left. 5 men came.")
    assert match_case("five", problem, problem.text.index("5")) == "five"

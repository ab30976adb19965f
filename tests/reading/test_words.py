"""Words are compared without marks and letter case."""

from paraqd.reading.words import overlap, words


def test_numbers_and_possessives_are_single_words():
    assert words("Tom’s 1,250.5 kg (in 3/4 h)!") == ["tom’s", "1,250.5", "kg", "in", "3/4", "h"]


def test_the_overlap_ignores_marks_case_and_order():
    assert overlap("Tom has 5 pens.", "5 PENS has (Tom)!") == 1
    assert overlap("a b", "c d") == 0
    assert overlap("", "") == 1
    assert overlap("", "a") == 0

"""Distances see both the words and their order."""

from paraqd.paraphrasing.distance import distance, order_distance, overlap


def test_overlap_ignores_case_and_punctuation_but_not_numbers():
    assert overlap("Tom has 5 pens.", "tom HAS 5 pens!") == 1
    assert overlap("Tom has 2.5 kg.", "Tom has 25 kg.") < 1


def test_a_change_of_order_alone_is_a_distance():
    one, two = "In May, Tom ran 5 km.", "Tom ran 5 km in May."
    assert overlap(one, two) == 1
    assert order_distance(one, two) > 0
    assert 0 < distance(one, two) < 1


def test_blank_texts_are_the_same():
    assert overlap("", "") == 1
    assert distance("", "") == 0

"""Differences between texts: no part of either text is lost."""

from counted_calls import calls
from hypothesis import given
from hypothesis import strategies as st

from paraqd.reading.word_difference import Segment, differences

WORDS = st.lists(st.sampled_from(["5", "km", "Tom", " ", "\n", ".", "has", "é"]), max_size=12).map("".join)


@given(WORDS, WORDS)
def test_the_segments_spell_both_texts(before, after):
    segments = differences(before, after)
    assert "".join(text for sign, text in segments if sign != "+") == before
    assert "".join(text for sign, text in segments if sign != "-") == after


def test_neighbouring_changes_are_one():
    assert differences("He ran 5 km today.", "He ran five kilometres today.") == [
        Segment("=", "He ran "),
        Segment("-", "5 km"),
        Segment("+", "five kilometres"),
        Segment("=", " today."),
    ]


def test_very_long_texts_are_not_compared():
    assert [sign for sign, _ in differences("a " * 5000, "b " * 5000)] == ["-", "+"]


def test_texts_that_repeat_a_few_words_are_compared_only_up_to_a_limit():
    """Comparing these took 158 million steps."""
    before, after = "5 " * 749, "6 5 " * 374
    assert calls(differences, before, after, most=12_000_000)
    segments = differences(before, after)
    assert "".join(text for sign, text in segments if sign != "+") == before
    assert "".join(text for sign, text in segments if sign != "-") == after
    assert any(sign == "=" for sign, _ in segments)

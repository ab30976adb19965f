"""Delete random tokens (fd)."""

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators.wording.random_deletion import RandomDeletion
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text, seed=0, **parameters):
    return RandomDeletion(**parameters).apply(read(text), derive_rng(seed, "q", "RandomDeletion"), Resources())


def outputs(text, seeds=150, **parameters):
    return [apply(text, seed, **parameters) for seed in range(seeds)]


def words(text):
    return [token.text for token in read(text).tokens]


def test_the_papers_example():
    for result in outputs(EXAMPLE):
        assert result != EXAMPLE
        left = iter(words(EXAMPLE.lower()))
        assert all(word in left for word in words(result.lower())), "what is left keeps its order"


def test_about_a_fifth_goes():
    lost = sum(len(words(EXAMPLE)) - len(words(text)) for text in outputs(EXAMPLE)) / 150 / len(words(EXAMPLE))
    assert 0.15 < lost < 0.25


def test_the_rate_is_a_parameter():
    assert RandomDeletion(rate=0.5).rate == 0.5
    assert len("".join(outputs(EXAMPLE, rate=0.7))) < len("".join(outputs(EXAMPLE, rate=0.3)))


def test_at_least_one_token_goes_and_never_all():
    assert all(len(words(text)) == len(words(EXAMPLE)) - 1 for text in outputs(EXAMPLE, rate=0.0))
    assert all(len(words(text)) == 1 for text in outputs("He has 5 pens", rate=1.0))


def test_no_space_stays_before_a_mark():
    assert all(" ." not in text and " ?" not in text and "  " not in text for text in outputs(EXAMPLE))


def test_a_lost_mark_alone_is_not_enough():
    """A question without its full stop is the same question, so the label would be wrong."""
    text = "How many pens has Tom?"
    for result in outputs(text):
        assert re.findall(r"\w+", result) != re.findall(r"\w+", text)


@pytest.mark.parametrize("text", ["", "  ", "word", "?"])
def test_none_with_fewer_than_two_tokens(text):
    assert apply(text) is None

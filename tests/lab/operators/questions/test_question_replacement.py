"""Ask another question about the same facts."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text, seed=0):
    return get("QuestionReplacement").apply(read(text), derive_rng(seed, "q", "QuestionReplacement"), Resources())


def outputs(text, seeds=80):
    return {apply(text, seed) for seed in range(seeds)}


def test_the_papers_example():
    results = outputs(EXAMPLE)
    facts = "Alex travelled 100 km from New York at a constant speed of 20 kmph. "
    assert facts + "How many minutes did it take him in total?" in results
    assert all(result.startswith(facts + "How many ") for result in results)


def test_one_trip_has_no_average():
    """For one trip, the average and the total are the same, so the label would be wrong."""
    assert all("on average" not in result for result in outputs(EXAMPLE))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He ran 5 km in 2 hours. Find his speed.", {"distance", "time taken"}),
        ("A square has sides of 5 cm. Find its perimeter.", {"area"}),
        ("Its sides are 3 and 4. Find the largest angle.", {"smallest"}),
        ("Its sides are 3 and 4. Find the median.", {"mean"}),
    ],
)
def test_another_target(text, expected):
    facts = text.partition(". ")[0]
    results = outputs(text)
    assert all(result.startswith(facts) and result != text for result in results)
    assert any(target in result for result in results for target in expected)


def test_another_person():
    text = "Tom has 5 pens and Ann has 6 pens. How many pens does Ann have?"
    assert outputs(text) == {"Tom has 5 pens and Ann has 6 pens. How many pens does Tom have?"}


def test_another_thing():
    text = "A box holds 5 apples and 6 pears. How many apples does it hold?"
    assert outputs(text) == {"A box holds 5 apples and 6 pears. How many pears does it hold?"}


def test_capitals_at_sentence_starts():
    results = outputs("He runs for 2 hours. How far does he run?")
    assert results == {"He runs for 2 hours. How fast does he run?"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Tom has 5 pens.",
        "Tom has 5 pens. What does he do?",
        "What is the least common multiple of 4 and 6?",
    ],
)
def test_none_if_nothing_else_can_be_asked(text):
    assert apply(text) is None


def test_the_facts_are_left_alone():
    text = "The area of a field is 50 sq. m and its speed is 5 m/s. Find its length."
    assert all(
        result.startswith("The area of a field is 50 sq. m and its speed is 5 m/s. ") for result in outputs(text)
    )


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("Tom has 5 pens. How many more pens does Ann need?", "How many in total"),
        ("Tom has 5 pens. How much more money does he need?", "How much in total"),
        ("He ran for 25 s. Calculate the distance covered by him.", "taken covered"),
        ("She got 78 and 85. What must she score to have an average of 86?", "an total"),
    ],
)
def test_the_new_question_is_good_english(text, never):
    assert all(never not in (result or "") for result in outputs(text))

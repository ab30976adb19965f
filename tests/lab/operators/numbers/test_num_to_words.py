"""Write numbers in words (f3)."""

import re

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read, same_quantities

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text):
    return get("NumToWords").apply(read(text), derive_rng(0, "q", "NumToWords"), Resources())


def test_the_papers_example():
    assert apply(EXAMPLE) == (
        "Alex travelled one hundred km from New York at a constant speed of twenty kmph. "
        "How many hours did it take him in total?"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # plain numbers
        ("There are 10,576 books.", "There are ten thousand five hundred and seventy-six books."),
        ("He has 1,20,000 rupees.", "He has one lakh twenty thousand rupees."),
        ("He has 0 pens.", "He has zero pens."),
        ("About 3.5 million voted.", "About three point five million voted."),
        ("About 2 lakh voted.", "About two lakh voted."),
        # decimals and fractions
        ("He drank 0.6 litres.", "He drank zero point six litres."),
        ("He ran 2.50 km.", "He ran two point five zero km."),
        ("Add 3/4 of it.", "Add three quarters of it."),
        ("Add 1 1/2 cups.", "Add one and a half cups."),
        ("Add ½ of it.", "Add one half of it."),
        ("Take 5 ⅓ cups.", "Take five and one third cups."),
        ("She read 2/3rd of the book.", "She read two thirds of the book."),
        # money
        ("It costs $5.", "It costs five dollars."),
        ("It costs $1.", "It costs one dollar."),
        ("It costs $1.30.", "It costs one dollar and thirty cents."),
        ("It costs $0.05.", "It costs five cents."),
        ("It costs £1.01.", "It costs one pound and one penny."),
        ("A pen costs Rs.40,000 here.", "A pen costs forty thousand rupees here."),
        ("It is worth Rs. 500/-.", "It is worth five hundred rupees."),
        ("He pays ₹14 per pen.", "He pays fourteen rupees per pen."),
        ("Take 58 cents.", "Take fifty-eight cents."),
        ("She gave a $50 bill.", "She gave a fifty-dollar bill."),
        ("He used a $20-off coupon.", "He used a twenty-dollar-off coupon."),
        # percent, ratios, degrees
        ("He lost 20% of it.", "He lost twenty percent of it."),
        ("He lost 20 percent of it.", "He lost twenty percent of it."),
        ("The ratio is 2:3.", "The ratio is two to three."),
        ("The ratio is 2 : 3 : 5.", "The ratio is two to three to five."),
        ("Draw an angle of 45°.", "Draw an angle of forty-five degrees."),
        ("It was -5°C.", "It was negative five degrees Celsius."),
        # ordinals and times
        ("She came 2nd.", "She came second."),
        ("The 21st child left.", "The twenty-first child left."),
        ("The 6 th child left.", "The sixth child left."),
        ("He left at 10 a.m. sharp.", "He left at ten a.m. sharp."),
        ("The clock shows 3:30.", "The clock shows half past three."),
        # units
        ("Cut a 7-inch pipe.", "Cut a seven-inch pipe."),
        ("The towns are between 3 and 5 km apart.", "The towns are between three and five km apart."),
    ],
)
def test_every_form_that_has_words(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the public code wrote 9zerozero, zero.six, onekm and twond, lost the full stop and split 10,576
        ("A ticket costs 900 rupees.", "A ticket costs nine hundred rupees."),
        ("The sum is 0.6 here.", "The sum is zero point six here."),
        ("It is 1km away.", "It is one km away."),
        ("He ran at 20kmph.", "He ran at twenty kmph."),
        ("He is 2nd.", "He is second."),
        ("The answer is 5. Find x.", "The answer is five. Find x."),
        ("They sold 10,576.", "They sold ten thousand five hundred and seventy-six."),
        ("A class of 15 has 5 boys.", "A class of fifteen has five boys."),
    ],
)
def test_errors_of_the_public_reference(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom left. 12 men came.", "Tom left. Twelve men came."),
        ("20% of the class know Ann.", "Twenty percent of the class know Ann."),
        ("Rs. 40 was paid by Tom.", "Forty rupees was paid by Tom."),
        ("tom left. 12 men came.", "tom left. twelve men came."),
    ],
)
def test_capitals_at_sentence_starts(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No number here.",
        "He has five pens.",
        "This one is red.",
        "Room 007 is empty.",
        "There are 1,000,000,000,000,000,000 atoms.",
        "Find A1 and x1.",
    ],
)
def test_none_if_nothing_can_be_written_out(text):
    assert apply(text) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [("If x^2 = 9 and 3 of the roots are 5, find y.", "x^2"), ("Solve 2y+4=8 if there are 3 roots.", "2y+4=8")],
)
def test_expressions_stay_in_digits(text, kept):
    assert kept in apply(text)


@pytest.mark.parametrize("text", ["Solve 2x + 5 = 17 for x.", "A ride costs 3 + 2.40m dollars.", "Use F = 9/5 C + 32."])
def test_an_expression_is_not_written_partly_in_words(text):
    result = apply(text)
    assert result is None or not re.search(r"[a-z]{3,} [+=] |[+=] [a-z]{3,}", result)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She has only ₹2 coins.", "She has only two-rupee coins."),
        ("He paid with three $50 bills.", "He paid with three fifty-dollar bills."),
    ],
)
def test_money_before_a_noun_is_singular(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Luis earns $13.50 an hour.",
        "Petrol costs £1.45 a litre.",
        "Priya puts £2,000 into an account.",
        "A cheetah runs 500 m in 20 s. How much is that in m/s?",
        "A pen is worth $10k now.",
        "He waited 10-20 minutes.",
    ],
)
def test_applies_wherever_there_is_something_to_write_out(text):
    result = apply(text)
    assert result is not None
    assert not re.search(r"\d", result)
    assert same_quantities(read(text).quantities, read(result).quantities)


def test_a_list_is_written_out_as_a_whole():
    assert apply("Use the digits 1, 2, 3 and 4.") == "Use the digits one, two, three and four."

"""Write abbreviated units in full (f4)."""

import pytest

from paraqd.lab.operators import Resources, derive_rng, get
from paraqd.reading import read

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"


def apply(text):
    return get("UnitExpansion").apply(read(text), derive_rng(0, "q", "UnitExpansion"), Resources())


def test_the_papers_example():
    assert apply(EXAMPLE) == (
        "Alex travelled 100 kilometres from New York at a constant speed of 20 kilometres per hour. "
        "How many hours did it take him in total?"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 5km away.", "It is 5 kilometres away."),
        ("He drank 250 ml of it.", "He drank 250 millilitres of it."),
        ("He drank 5 L of it.", "He drank 5 litres of it."),
        ("It takes 6 hrs.", "It takes 6 hours."),
        ("It weighs 5 lbs. and is red.", "It weighs 5 pounds and is red."),
        ("He bought 5 kg. Then he left.", "He bought 5 kilograms. Then he left."),
        ("He drove at 60 mph.", "He drove at 60 miles per hour."),
        ("He drove at 60 km/h.", "He drove at 60 kilometres per hour."),
        ("Its area is 5 sq. m here.", "Its area is 5 square metres here."),
        ("Its area is 5 cm^2 here.", "Its area is 5 square centimetres here."),
        ("Its volume is 5 cc.", "Its volume is 5 cubic centimetres."),
        ("She is 5 ft 6 in tall.", "She is 5 feet 6 inches tall."),
        ("A pen costs Rs. 40.", "A pen costs 40 rupees."),
        ("A pen costs Rs. 500/- here.", "A pen costs 500 rupees here."),
        ("Tea costs Rs. 180 per kg.", "Tea costs 180 rupees per kilogram."),
        # units without a number
        ("How many km did he go?", "How many kilometres did he go?"),
        ("Find it in cm.", "Find it in centimetres."),
        ("Find the speed in m/s.", "Find the speed in metres per second."),
    ],
)
def test_units_are_written_in_full(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He ran 1 km.", "He ran 1 kilometre."),
        ("He ran 5 km.", "He ran 5 kilometres."),
        ("It is less than 5 km.", "It is less than 5 kilometres."),
        ("He ran 0.5 km.", "He ran 0.5 kilometres."),
        ("He ran 1.1 km.", "He ran 1.1 kilometres."),
        ("He ran 1/2 km.", "He ran 1/2 kilometre."),
        ("He ran ¾ km.", "He ran ¾ kilometre."),
        ("He ran 1½ km.", "He ran 1½ kilometres."),
        ("He ran one km.", "He ran one kilometre."),
        ("He ran five km.", "He ran five kilometres."),
        ("It is a 10-km race.", "It is a 10-kilometre race."),
        ("It costs $2 per km.", "It costs $2 per kilometre."),
        ("It is 1 sq. km.", "It is 1 square kilometre."),
        ("He paid Rs 1.", "He paid 1 rupee."),
        ("It runs at 1 km/h.", "It runs at 1 kilometre per hour."),
    ],
)
def test_agreement(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He ran 5 meters and then 3 km.", "He ran 5 meters and then 3 kilometers."),
        ("He ran 5 metres and then 3 km.", "He ran 5 metres and then 3 kilometres."),
        ("He ran 3 km.", "He ran 3 kilometres."),
        # "perimeter" is not a sign of American spelling
        ("Its perimeter is 20 m and its diameter 3 m.", "Its perimeter is 20 metres and its diameter 3 metres."),
    ],
)
def test_the_spelling_follows_the_text(text, expected):
    assert apply(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "He has 5 pens.",
        "He ran 5 kilometres in 2 hours.",
        "He ran 5 meters.",
        "It costs $5.",
        # the public code read the variables m and g as units
        "Solve 2m + 3 = 7 for m.",
        "If 3g = 12 and 5m = 20, find m + g.",
        "Let m be a number. What is 5m?",
        "Come in 5 groups.",
    ],
)
def test_none_if_no_unit_is_abbreviated(text):
    assert apply(text) is None


def test_more_than_spaces_change():
    """In 81 of 127 outputs of the public code, only spaces had changed."""
    result = apply("It is 5km and 3 kg.")
    assert result.replace(" ", "") != "Itis5kmand3kg."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea costs Rs. 9/kg here.", "Tea costs 9 rupees per kilogram here."),
        (
            "A cheetah runs 500 m in 20 s. How fast is it, in m/s?",
            "A cheetah runs 500 metres in 20 seconds. How fast is it, in metres per second?",
        ),
    ],
)
def test_rates_are_expanded_as_a_whole(text, expected):
    assert apply(text) == expected

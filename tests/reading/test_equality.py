"""Exact equality across forms and units; multisets of quantities."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from paraqd.reading import Kind, Quantity, equal, read, same_quantities
from paraqd.reading.equality import multiset, signature


def q(text: str) -> Quantity:
    """Return the one quantity of a text."""
    (quantity,) = read(text).quantities
    return quantity


EQUAL = [
    ("60 minutes", "takes an hour"),
    ("60 minutes", "1 hour"),
    ("half an hour", "30 minutes"),
    ("an hour and a half", "90 min"),
    ("two and a half hours", "2.5 hrs"),
    ("a quarter of an hour", "15 minutes"),
    ("48 hours", "2 days"),
    ("a fortnight", "14 days"),
    ("two weeks", "1 fortnight"),
    ("a decade", "10 years"),
    ("2 years", "24 months"),
    ("25 %", "a quarter"),
    ("25%", "0.25"),
    ("25 percent", "1/4"),
    ("50%", "half"),
    ("33 1/3%", "a third"),
    ("100%", "1"),
    ("12", "a dozen"),
    ("24", "two dozen"),
    ("6", "half a dozen"),
    ("a couple of pens", "2"),
    ("a hundred", "100"),
    ("1,20,000", "120,000"),
    ("2 lakh", "200,000"),
    ("3.5 million", "3,500,000"),
    ("twenty-five", "25"),
    ("½", "0.5"),
    ("1 1/2", "1.5"),
    ("three and a half", "3½"),
    ("1 km", "1000 m"),
    ("1 km", "one thousand metres"),
    ("5 kilometers", "5 kilometres"),
    ("1 m", "100 cm"),
    ("3 feet", "1 yard"),
    ("1 foot", "12 inches"),
    ("1 inch", "2.54 cm"),
    ("1 mile", "1760 yards"),
    ("2 kg", "2000 g"),
    ("1 tonne", "1000 kg"),
    ("1 lb", "16 ounces"),
    ("1 litre", "1000 ml"),
    ("1 litre", "1000 cc"),
    ("1 m³", "1000 litres"),
    ("1 m²", "10,000 sq. cm"),
    ("1 hectare", "10000 square metres"),
    ("36 km/h", "10 m/s"),
    ("36 kmph", "36 kilometres per hour"),
    ("60 miles an hour", "1 mile per minute"),
    ("$0.58", "58 cents"),
    ("Rs. 2", "200 paise"),
    ("Rs.40,000", "₹40,000"),
    ("£1.30", "130 pence"),
    ("$1.5 billion", "1,500,000,000 dollars"),
    ("Rs. 9/kg", "Rs. 9 per kilogram"),
    ("$5 an hour", "$5 per hour"),
    ("Rs. 1 per gram", "Rs. 1000 per kg"),
    ("5% per annum", "5% p.a."),
    ("twice", "2 times"),
    ("twice", "2"),
    ("double", "twofold"),
    ("thrice", "three times"),
    ("2:3", "2/3"),
    ("2:3", "4:6"),
    ("2:3", "in the ratio of 2 to 3"),
    ("2:3:5", "4:6:10"),
    ("2:3:5", "1/5:3/10:1/2"),
    ("the third day", "the 3rd day"),
    ("the twenty-first day", "the 21st day"),
    ("at 3:30", "at half past three"),
    ("at noon", "at 12 p.m."),
    ("at 10:30 pm", "at 22:30"),
    ("45°", "45 degrees"),
    ("30 °C", "30 degrees Celsius"),
    ("-5", "negative 5"),
    ("−5 °C", "-5 degrees Celsius"),
]

DIFFERENT = [
    ("60 minutes", "60 hours"),
    ("60 minutes", "60"),
    ("5 km", "5 miles"),
    ("5 km", "5 kg"),
    ("5 m", "5 square metres"),
    ("5 m²", "5 m³"),
    ("$5", "5"),
    ("$5", "£5"),
    ("$5", "₹5"),
    ("$5", "€5"),
    ("€5", "£5"),
    ("58 cents", "58 pence"),
    ("58 cents", "58 paise"),
    ("100 yen", "100 yuan"),
    ("The ham weighs 5 pounds", "£5"),
    ("30 days", "1 month"),
    ("365 days", "1 year"),
    ("52 weeks", "a year and a half"),
    ("the third day", "3"),
    ("the third day", "a third"),
    ("the third day", "3 days"),
    ("at 3:30", "3.5"),
    ("at 3:30", "3.5 hours"),
    ("at 3:30 am", "at 3:30 pm"),
    ("at 5 o'clock", "5"),
    ("point A1", "1"),
    ("point A1", "point A2"),
    ("2:3", "3:2"),
    ("2:3:5", "2:3"),
    ("2:3:5", "2:5:3"),
    ("2:3:5", "2/3"),
    ("5%", "5"),
    ("5% per annum", "5%"),
    ("5% per annum", "5% per month"),
    ("$5 per hour", "$5"),
    ("$5 per hour", "$5 per day"),
    ("30 °C", "30 °F"),
    ("30 °C", "30°"),
    ("0.333", "a third"),
    ("33%", "a third"),
    ("5", "-5"),
    ("12 km/h", "12 km"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal(one: str, other: str):
    assert equal(q(one), q(other))
    assert equal(q(other), q(one))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: str, other: str):
    assert not equal(q(one), q(other))
    assert not equal(q(other), q(one))


POOL = [q(text) for text in dict.fromkeys(text for pair in (*EQUAL, *DIFFERENT) for text in pair)]


def test_reflexive():
    assert len(POOL) > 130
    assert all(equal(a, a) for a in POOL)


def test_symmetric():
    assert all(equal(a, b) == equal(b, a) for a, b in product(POOL, POOL))


def test_transitive():
    alike = [[b for b in POOL if equal(a, b)] for a in POOL]
    for a, neighbours in zip(POOL, alike, strict=True):
        for b in neighbours:
            for c in alike[POOL.index(b)]:
                assert equal(a, c), (a.surface, b.surface, c.surface)


def test_signatures_are_the_same_exactly_for_equal_quantities():
    for a, b in product(POOL, POOL):
        assert (signature(a) == signature(b)) is equal(a, b)
        if equal(a, b):
            assert hash(signature(a)) == hash(signature(b))


def test_currencies_are_never_equal_across():
    money = [a for a in POOL if a.kind is Kind.MONEY]
    families = {"dollar": "$", "cent": "$", "rupee": "₹", "paisa": "₹", "pound sterling": "£", "penny": "£"}
    for a, b in product(money, money):
        one, other = ((x.unit or "").partition("/")[0] for x in (a, b))
        if families.get(one, one) != families.get(other, other):
            assert not equal(a, b), (a.surface, b.surface)


@pytest.mark.parametrize("kind", [Kind.ORDINAL, Kind.TIME_OF_DAY, Kind.LABEL])
def test_kinds_that_equal_only_themselves(kind: Kind):
    for a, b in product(POOL, POOL):
        if a.kind is kind and b.kind is not kind:
            assert not equal(a, b), (a.surface, b.surface)


def test_ordinal_never_equals_a_number_of_the_same_value():
    ordinal = q("the third day")
    assert ordinal.value == 3
    assert not any(equal(ordinal, q(text)) for text in ("3", "three", "3 times", "thrice", "300%", "6:2", "3 km"))


SAME = [
    ("It takes 2 hours 30 minutes.", "It takes two and a half hours."),
    ("It takes 2 hours and 30 minutes.", "It takes 150 minutes."),
    ("He is 5 feet 6 inches tall.", "He is 66 inches tall."),
    ("He is 5 ft. 6 in. tall.", "He is 5 feet 6 inches tall."),
    ("It weighs 3 kg 250 g.", "It weighs 3.25 kg."),
    ("It costs 5 dollars and 25 cents.", "It costs $5.25."),
    ("It costs 6 rupees 50 paise.", "It costs Rs. 6.50."),
    ("1 day 2 hours 30 minutes", "26.5 hours"),
    ("2 years 6 months", "30 months"),
    ("5 pens and 6 books", "6 books and 5 pens"),
    ("A dozen boxes take an hour.", "In 60 minutes 12 boxes are packed."),
    ("3, 4 and 12 days", "12 days, 3 days and 4 days"),
    ("The rate is 25% on $400.", "The rate is 1/4 on 400 dollars."),
    ("", "no number here"),
]

NOT_SAME = [
    ("5 pens and 5 books", "5 pens"),
    ("5 pens", "5 pens and 5 books"),
    ("2 hours 30 minutes", "2 hours and 20 minutes"),
    ("2 hours 30 minutes", "30 hours 2 minutes"),
    ("$5 and 25 cents", "£5.25"),
    ("3 km and 4 hours", "4 km and 3 hours"),
    ("5 km at 3 m/s", "5 m at 3 km/s"),
    ("5 pens", "the fifth pen"),
    ("5", ""),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same_quantities(one: str, other: str):
    a, b = read(one).quantities, read(other).quantities
    assert same_quantities(a, b)
    assert same_quantities(b, a)
    assert multiset(a) == multiset(b)


@pytest.mark.parametrize(("one", "other"), NOT_SAME)
def test_not_same_quantities(one: str, other: str):
    a, b = read(one).quantities, read(other).quantities
    assert not same_quantities(a, b)
    assert not same_quantities(b, a)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("5 feet and then 6 feet", 2),
        ("He swam 5 km and ran 600 m", 2),
        ("The board is 2 m by 40 cm", 2),
        ("The board is 2 m x 40 cm", 2),
        ("The width fell from 2 m to 40 cm", 2),
        ("He takes 1 hour or 40 minutes", 2),
        ("1 hour 90 minutes", 2),
        ("It rose from 5 km/h to 6 m/s", 2),
        ("2 hours 30 minutes", 1),
        ("1 day 2 hours 30 minutes", 1),
    ],
)
def test_what_is_added_up_to_one(text: str, size: int):
    assert multiset(read(text).quantities).total() == size


def test_any_iterable_will_do():
    quantities = read("5 pens and 6 books").quantities
    assert same_quantities(iter(quantities), list(quantities))


def test_equality_is_exact():
    tiny = Fraction(1, 10**30)
    a = q("5 km")
    b = Quantity(a.value + tiny, a.unit, a.kind, a.start, a.end, a.surface, a.number_span)
    assert not equal(a, b)

"""The spans, the exact values and other facts about the records of quantities."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from paraqd.reading import Kind, Problem, Quantity, read


def only(text: str) -> Quantity:
    """Return the one quantity of a text."""
    (quantity,) = read(text).quantities
    return quantity


def test_a_shared_unit_has_no_span_of_its_own():
    three, four, twelve = read("in 3, 4 and 12 days").quantities
    assert three.unit_span is None
    assert four.unit_span is None
    assert (three.surface, four.surface, twelve.surface) == ("3", "4", "12 days")
    assert twelve.unit_span == (15, 19)


@pytest.mark.parametrize(
    ("text", "surface", "number", "unit"),
    [
        ("He paid Rs. 40,000 today.", "Rs. 40,000", "40,000", "Rs."),
        ("He ran 5 km today.", "5 km", "5", "km"),
        ("He ran 5km today.", "5km", "5", "km"),
        ("He paid $5 today.", "$5", "5", "$"),
        ("He saved 20% today.", "20%", "20", "%"),
        ("He read for 2½ hours today.", "2½ hours", "2½", "hours"),
        ("He has twenty-five pens.", "twenty-five", "twenty-five", None),
        ("He has 25 pens.", "25", "25", None),
        ("He came 2nd today.", "2nd", "2nd", None),
        ("They mix 2 : 3 today.", "2 : 3", "2 : 3", None),
        ("It is −5 today.", "−5", "−5", None),
        ("It moves at 60 miles per hour today.", "60 miles per hour", "60", "miles per hour"),
    ],
)
def test_spans(text: str, surface: str, number: str, unit: str | None):
    q = only(text)
    assert q.surface == surface
    assert text[slice(*q.number_span)] == number
    assert (text[slice(*q.unit_span)] if q.unit_span else None) == unit


MANY_FORMS = """In 1990, 1,200 boys paid Rs. 40,000/- or $5.50 an hour, 20% p.a., 2:3:5, half a dozen, 5 feet 6 inches,
x^2 + 3y = 7, a third of 2½ km², from 10 a.m. to 3:30, 3, 4 and 12 days, -5 °C, $1.5 billion, the 21st, twice, A1,
an hour and a half, ½, one hundred and five metres, 5 lbs. at £1.30/kg, half past three, two point five."""


@pytest.fixture(scope="module")
def many_forms() -> Problem:
    return read(MANY_FORMS)


def test_surface_is_the_text_of_the_span(many_forms: Problem):
    assert len(many_forms.quantities) > 30
    for q in many_forms.quantities:
        assert many_forms.text[q.start : q.end] == q.surface
        assert q.span == (q.start, q.end)


def test_inner_spans_lie_inside(many_forms: Problem):
    for q in many_forms.quantities:
        for inner in (q.number_span, q.unit_span):
            if inner is not None:
                assert q.start <= inner[0] < inner[1] <= q.end, q


def test_number_and_unit_do_not_overlap(many_forms: Problem):
    for q in many_forms.quantities:
        if q.unit_span is not None:
            assert q.unit_span[1] <= q.number_span[0] or q.number_span[1] <= q.unit_span[0], q


def test_in_order_without_overlap(many_forms: Problem):
    spans = [q.span for q in many_forms.quantities]
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@pytest.mark.parametrize(
    ("text", "is_worded"),
    [("twenty-five", True), ("half an hour", True), ("twice", True), ("25", False), ("5 km", False), ("½", False)],
)
def test_worded(text: str, is_worded: bool):
    assert only(text).worded is is_worded


def test_values_are_exact():
    assert only("0.1").value == Fraction(1, 10)
    assert only("3.14159265358979323846").value == Fraction("3.14159265358979323846")
    assert only("123456789012345678901234567890").value == 123456789012345678901234567890


def test_records_are_frozen():
    q = only("5 km")
    with pytest.raises(AttributeError):
        q.value = Fraction(6)  # type: ignore[misc]
    assert hash(q) == hash(only("5 km"))
    assert q.kind is Kind.MEASURE

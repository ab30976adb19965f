"""Matching the quantities of a question and a paraphrase."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.derived import follows
from paraqd.scoring.evidence.matching import amounts_of
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.evidence.roles import swapped_numbers


def matched(question, paraphrase):
    q, p = read(question), read(paraphrase)
    found = match_quantities(q, p)
    return {
        "lost": [item.surface(q.text) for item in found.lost],
        "added": [item.surface(p.text) for item in found.added],
        "unit": [(a.surface(q.text), b.surface(p.text)) for a, b in found.other_unit],
        "value": [(a.surface(q.text), b.surface(p.text)) for a, b in found.other_value],
        "derived": [item.surface(p.text) for item in found.derived],
        "in_place": [(a.surface(q.text), b.surface(p.text)) for a, b in found.in_place],
    }


NOTHING = {"lost": [], "added": [], "unit": [], "value": [], "derived": [], "in_place": []}


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("It takes 60 minutes.", "It takes an hour."),
        ("⅞ of the cake is left.", "7/8 of the cake is left."),
        ("25% of the 80 boys swim.", "A quarter of the eighty boys swim."),
        ("Tiles cost Rs. 900 per sq. metre.", "Each square metre of tiles costs Rs. 900."),
        ("A 7 - mile hike with an 11 - cup canteen.", "A hike of 7 miles with a canteen of 11 cups."),
        (
            "Mike and Ted planted 50 seeds. How many did they plant?",
            "The two, Mike and Ted, planted 50 seeds. How many?",
        ),
        ("It took 2 hours 30 minutes.", "It took two and a half hours."),
        ("They are 50 km apart after 3 and 6 hours.", "After 3 hours they are 50 km apart, after 6 hours again 50 km."),
        ("For 2/3 as many juniors as seniors", "For every 3 seniors there are 2 juniors"),
        ("He walks for a week.", "He walks for one week."),
        ("It weighs 10 pounds and costs a lot.", "It costs a lot and weighs 10 lbs."),
        ("The points (6, - 8) and (2, 4)", "The points (2, 4) and (6, -8)"),
        ("x/4 is 20.", "A quarter of x is 20."),
        ("The seventh part of 28 is sold.", "1/7 of 28 is sold."),
        ("The digits 0, 1, 2, 3, 4, 5 and 6 are used.", "The digits 0 through 6 are used."),
        ("Nine out of ten of the 250 seeds sprout.", "90 % of the 250 seeds sprout."),
        ("Buses to cars are in the ratio of 1 to 10.", "For each bus there are 10 cars."),
        ("Ann is twice as old as Bob.", "Bob is half as old as Ann."),
        ("The ratio of boys to girls is 2 : 5.", "Girls and boys are in the ratio 5 : 2."),
        ("On the plan 1 cm stands for 4 km.", "Each centimetre of the plan stands for 4 km."),
        ("It has 1,250,000 people.", "It has 1 250 000 people."),
        ("A cup costs $4.50.", "A cup costs $ 4,50."),
    ],
)
def test_what_is_equal_is_no_finding(question, paraphrase):
    assert matched(question, paraphrase) == NOTHING


@pytest.mark.parametrize(
    ("question", "paraphrase", "found"),
    [
        ("It weighs 7 pounds and 4 ounces.", "It weighs 7 pounds and ounces.", {"lost": ["4 ounces"]}),
        ("Ann has 15 pens.", "Ann has 50 pens.", {"in_place": [("15", "50")]}),
        ("Ann has 15 pens.", "There are 50 pens in the box.", {"value": [("15", "50")]}),
        ("Ann ran 200 km.", "Ann ran 200 cm.", {"unit": [("200 km", "200 cm")]}),
        ("A pen costs $5.", "A pen costs €5.", {"unit": [("$5", "€5")]}),
        ("The sum is -5.", "The sum is 5.", {"value": [("-5", "5")]}),
        (
            "A third of the 90 boys swim.",
            "Two thirds of the 90 boys do not swim.",
            {"lost": ["A third"], "derived": ["Two thirds"]},
        ),
        ("Ann has 12 red pens.", "Ann has 12 red pens and 9 caps.", {"added": ["9"]}),
        ("Ann is twice as old as Bob.", "Ann is half as old as Bob.", {"value": [("twice", "half")]}),
        ("The ratio of boys to girls is 2 : 5.", "Boys to girls are as 5 : 2.", {"value": [("2 : 5", "5 : 2")]}),
        ("Ann has 12 red and 30 blue pens.", "Of Ann's 42 pens 12 are red and 30 blue.", {"derived": ["42"]}),
    ],
)
def test_what_became_of_a_number(question, paraphrase, found):
    assert matched(question, paraphrase) == {**NOTHING, **found}


def test_numbers_that_change_places_are_found_and_a_change_of_order_is_not():
    question = read("There are 7 boys and 9 girls in the room.")
    swapped = read("There are 9 boys and 7 girls in the room.")
    (_, a, b, *_), *_ = swapped_numbers(match_quantities(question, swapped), question, swapped)
    assert {a.surface(question.text), b.surface(question.text)} == {"7", "9"}
    turned = read("In the room there are 9 girls and 7 boys.")
    assert not swapped_numbers(match_quantities(question, turned), question, turned)


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("What is 35% of 80?", "What is 0.35 × 80?"),
        ("It rings at 1 p.m.", "It rings at one o'clock."),
        ("It beats 72 times in 24 hours.", "It beats 72 times in one full day."),
        ("It beats every 60 seconds.", "It beats every minute."),
        ("Two boys run.", "A pair of boys runs."),
        ("It costs €12.50.", "It costs 12 euros and 50 cents."),
        ("It costs 1.80 euros per litre.", "It costs one euro and eighty cents per litre."),
    ],
)
def test_more_ways_to_say_the_same(question, paraphrase):
    found = match_quantities(read(question), read(paraphrase))
    assert not (found.lost or found.added or found.other_value or found.other_unit)


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("What is 35% of 80?", "What is 0.53 × 80?"),
        ("It rings at 1 a.m.", "It rings at 1 p.m."),
        ("It beats 72 times in 23 hours.", "It beats 72 times in one full day."),
    ],
)
def test_ways_to_say_something_else(question, paraphrase):
    found = match_quantities(read(question), read(paraphrase))
    assert found.lost or found.added or found.other_value or found.other_unit or found.derived


def test_a_number_that_follows_is_told_apart_from_one_that_does_not():
    question = read("A pond has a radius of 7 m, and 40% more frogs than fish.")
    for text, step in (("14 m", True), ("1.4 times", True), ("60 fish", True), ("15 m", False), ("0.5 m", False)):
        (item,) = amounts_of(read(f"It has {text}."))
        assert follows(item, question) is step, text


@pytest.mark.parametrize(
    ("question", "paraphrase", "found"),
    [
        ("Of 60 people Tom is 13th.", "Tom is thirtieth of sixty people.", ["only_number_changed"]),
        ("Of 60 people Tom is 13th.", "Tom is thirteenth of sixty people.", []),
        ("It loses 25% of its value in 2 years.", "In 2 years a fifth of its value is lost.", ["only_number_changed"]),
        ("It loses 25% of its value in 2 years.", "In 2 years a quarter of its value is lost.", []),
    ],
)
def test_places_and_shares_that_take_the_place_of_others(question, paraphrase, found):
    from paraqd.scoring.evidence.rules import READER

    assert [each.feature for each in READER.findings(read(question), read(paraphrase))] == found


def test_a_share_may_be_told_by_what_is_left():
    from paraqd.scoring.evidence.rules import READER

    found = READER.findings(
        read("It loses 25% of its value in 2 years."), read("In 2 years three quarters of its value remain.")
    )
    assert "only_number_changed" not in [each.feature for each in found]

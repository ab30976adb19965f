"""Small edits: harmless ones (Shortening, LightSynonyms) and one that looks alike and is not (SmallWordChange)."""

from __future__ import annotations

import pytest

from paraqd.operators import Resources, derive_rng
from paraqd.operators.relations.small_word_change import ENTRIES as CHANGES
from paraqd.operators.relations.small_word_change import SmallWordChange
from paraqd.operators.wording.light_synonyms import ENTRIES as SYNONYMS
from paraqd.operators.wording.light_synonyms import LightSynonyms
from paraqd.operators.wording.shortening import Shortening
from paraqd.reading import read, same_quantities

FARM = (
    "A certain farm has 12 hens that lay 3 eggs each. The farmer also buys 20 eggs at a price of $2 each, and then he "
    "sells half of the eggs to a local bakery. If a box holds 6 eggs, how many boxes are there in all?"
)


def outputs(operator, text, times=40):
    made = [operator.apply(read(text), derive_rng(n, "a", operator.name), Resources()) for n in range(times)]
    assert text not in made
    return {each for each in made if each is not None}


@pytest.mark.parametrize("operator", [Shortening(), LightSynonyms()])
def test_a_harmless_edit_keeps_the_quantities_and_varies(operator):
    made = outputs(operator, FARM.replace("buys 20", "purchased 20").replace("has 12", "contains 12"))
    assert len(made) > 4
    for each in made:
        assert same_quantities(read(FARM).quantities, read(each).quantities)


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("Ana has 3 pens and Ben has 4. How many pens do they have in all?", "How many pens do they have?"),
        ("A train runs at a speed of 50 km/h for 2 hours.", "A train runs at 50 km/h for 2 hours."),
        ("If 3 x = 12, what is the value of x?", "what is x?"),
        ("There are 9 cats. 4 of them are white.", "There are 9 cats. 4 are white."),
        ("Ana drove 3 km. Then she walked 2 km.", "Ana drove 3 km. She walked 2 km."),
        ("A certain elevator carries 8 people.", "An elevator carries 8 people."),
        ("Ana, who loves old songs, sold 5 cakes.", "Ana sold 5 cakes."),
        ("Ana walked to a beautiful island with 5 trees.", "Ana walked to an island with 5 trees."),
    ],
)
def test_words_that_do_not_matter_are_left_out(text, shorter):
    assert any(shorter in made for made in outputs(Shortening(), text))


@pytest.mark.parametrize(
    ("text", "longer"),
    [
        ("Ana bakes 3 cakes a day for 4 days. How many cakes does she bake?", {"bake in all?", "bake altogether?"}),
        ("A car goes at 50 km/h. How far is it after 2 hours?", {"at a speed of 50 km/h", "at the speed of 50 km/h"}),
        ("If a pen costs $2, what do 5 pens cost?", {"If a pen costs $2, then what do"}),
        ("All the 30 children sing.", None),
        ("She spent half the money on 3 hats.", {"half of the money"}),
    ],
)
def test_such_words_are_put_in(text, longer):
    made = outputs(Shortening(), text)
    assert made == set() if longer is None else all(any(part in each for each in made) for part in longer)


@pytest.mark.parametrize(
    "text",
    [
        "Ana has 9 pens and gives away 4. 2 more are left to give. How many does she give away in all?",
        "Ana buys a new bike for $90 and sells the old bike for $30. What did she pay?",
        "Ana and Ben weigh 50 kg and 60 kg respectively. What is the sum of both?",
        "How many pens did each child buy?",
        "A car travels 50 km more than a bus.",
    ],
)
def test_words_that_matter_stay(text):
    assert not outputs(Shortening(), text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Ana buys 3 pens.", "Ana purchases 3 pens."),
        ("Ana is 9 years old.", "Ana is 9 years of age."),
        ("She earns $9 per hour.", "She earns $9 an hour."),
        ("Find the area of the field.", "Work out the area of the field."),
        ("He wants to eat an additional 3 figs.", "He wants to eat an extra 3 figs."),
        ("A large box weighs 3 kg.", "A big box weighs 3 kg."),
        ("Ana drives an enormous car for 3 hours.", "Ana drives a huge car for 3 hours."),
        ("3 children and 2 dogs. The children eat.", "3 kids and 2 dogs. The kids eat."),
    ],
)
def test_a_word_gives_way_to_its_synonym_everywhere(text, other):
    assert other in outputs(LightSynonyms(), text)


@pytest.mark.parametrize(
    "text",
    [
        "3 large boxes and 2 big boxes weigh 9 kg.",  # two kinds
        "The children's room has 2 beds.",
        "The round trip takes 3 hours.",
        "Ana can store 5 litres and 3 liters.",
        "He will find the 3 keys.",
        "The 3 cross roads are 2 km from here.",
    ],
)
def test_a_word_of_another_sense_stays(text):
    assert not outputs(LightSynonyms(), text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Ana buys 3 pens for $2 each.", "Ana buys 3 pens for $2 in total."),
        ("She eats 1/3 of the remaining 12 figs.", "She eats 1/3 of the original 12 figs."),
        ("The price is increased by 20%.", "The price is increased to 20%."),
        ("The price fell to $20.", "The price fell by $20."),
        ("At least 3 of 5 coins show heads.", "At most 3 of 5 coins show heads."),
        ("Ana has 5 more pens than Ben.", "Ana has 5 times as many pens as Ben."),
        ("Ana has 5 times as many pens as Ben.", "Ana has 5 more pens than Ben."),
        ("12 pupils play both chess and golf.", "12 pupils play either chess or golf."),
        ("Find numbers below 90 divisible by 3 and 5.", "Find numbers below 90 divisible by 3 or 5."),
        ("Two of 9 cards are drawn without replacement.", "Two of 9 cards are drawn with replacement."),
        ("A path 2 m wide runs inside the park.", "A path 2 m wide runs outside the park."),
        ("Ana sold all her 9 cakes.", "Ana sold some of her 9 cakes."),
        ("She eats 2 figs every day. How many in 6 days?", "She eats 2 figs every other day. How many in 6 days?"),
        ("How many of the 9 figs are left?", "How many of the 9 figs are gone?"),
        ("Ana has twice as many as Ben.", "Ana has half as many as Ben."),
        ("A and B together can do it in 6 days.", "A and B each can do it in 6 days."),
        ("12% did not vote.", "12% did vote."),
        ("Two cars 90 km apart drive towards each other.", "Two cars 90 km apart drive away from each other."),
        ("She took 3 figs from the basket.", "She took 3 figs to the basket."),
    ],
)
def test_a_small_word_changes_the_problem(text, other):
    assert other in outputs(SmallWordChange(), text)


@pytest.mark.parametrize(
    "text",
    [
        "The price is reduced by 50%.",  # reduced to 50% is the same
        "The price is reduced to 1/2 of it.",
        "The 3 teams play each other.",
        "He pays $40 per day and $2 for a wash. What did he pay on Monday?",
        "Ana gets up early every day. She has 3 cats.",
        "Not only 3 but 4 came.",
        "The least common multiple of 12 and 18 is 36.",
        "She did not like it. He ate 3 figs.",
    ],
)
def test_an_idle_small_word_stays(text):
    assert not outputs(SmallWordChange(), text)


def test_the_tables_are_long_enough():
    assert len(SYNONYMS) >= 150
    assert len(CHANGES) >= 30
    assert (Shortening.polarity, LightSynonyms.polarity, SmallWordChange.polarity) == ("valid", "valid", "invalid")

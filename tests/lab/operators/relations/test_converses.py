"""State relations from the other side, completely (ConverseRelation) or by half (BrokenConverse)."""

from __future__ import annotations

import random

import pytest

from paraqd.lab.operators import Resources
from paraqd.lab.operators.relations.broken_converse import BrokenConverse
from paraqd.reading import read
from paraqd.rewriting.converse_relation import ConverseRelation


def outputs(operator, text, times=60):
    made = [operator.apply(read(text), random.Random(n), Resources()) for n in range(times)]
    return {each for each in made if each is not None}


def right(text):
    return outputs(ConverseRelation(), text)


def broken(text):
    return outputs(BrokenConverse(), text)


# a clause, the clause from the other side, and two ways to break it
TURNS = [
    (
        "Nora has 5 more pens than Felix",
        "Felix has 5 fewer pens than Nora",
        {"Nora has 5 fewer pens than Felix", "Felix has 5 more pens than Nora"},
    ),
    (
        "Nora is 5 years older than Felix",
        "Felix is 5 years younger than Nora",
        {"Nora is 5 years younger than Felix", "Felix is 5 years older than Nora"},
    ),
    (
        "Nora is 4 cm taller than Felix",
        "Felix is 4 cm shorter than Nora",
        {"Nora is 4 cm shorter than Felix", "Felix is 4 cm taller than Nora"},
    ),
    (
        "Nora ran 3 miles more than Felix",
        "Felix ran 3 miles less than Nora",
        {"Nora ran 3 miles less than Felix", "Felix ran 3 miles more than Nora"},
    ),
    (
        "Nora has twice as many pens as Felix",
        "Felix has half as many pens as Nora",
        {"Nora has half as many pens as Felix", "Felix has twice as many pens as Nora"},
    ),
    (
        "Nora is 3 times as old as Felix",
        "Felix is one third as old as Nora",
        {"Nora is one third as old as Felix", "Felix is 3 times as old as Nora"},
    ),
    (
        "Nora is 2/5 as old as Felix",
        "Felix is 5/2 times as old as Nora",
        {"Nora is 5/2 times as old as Felix", "Felix is 2/5 as old as Nora"},
    ),
    (
        "Nora left 2 hours before Felix",
        "Felix left 2 hours after Nora",
        {"Nora left 2 hours after Felix", "Felix left 2 hours before Nora"},
    ),
    (
        "Nora gave Felix 5 pens",
        "Felix was given 5 pens by Nora",
        {"Nora was given 5 pens by Felix", "Felix gave 5 pens to Nora"},
    ),
    (
        "Nora bought a bike from Felix for $80",
        "Felix sold a bike to Nora for $80",
        {"Nora sold a bike to Felix for $80", "Felix bought a bike from Nora for $80"},
    ),
    (
        "Nora lends 40 dollars to Felix",
        "Felix borrows 40 dollars from Nora",
        {"Nora borrows 40 dollars from Felix", "Felix lends 40 dollars to Nora"},
    ),
    (
        "The ratio of Nora to Felix is 3 : 4",
        "The ratio of Felix to Nora is 4 : 3",
        {"The ratio of Nora to Felix is 4 : 3", "The ratio of Felix to Nora is 3 : 4"},
    ),
]
REST = ". Felix has 12 dollars. How many does Nora have?"


@pytest.mark.parametrize(("clause", "turned", "bad"), TURNS)
def test_a_relation_is_reversed_with_both_its_sides(clause, turned, bad):
    found = right(clause + REST)
    assert turned + REST in found
    assert not found & {each + REST for each in bad}
    assert clause + REST not in found


@pytest.mark.parametrize(("clause", "turned", "bad"), TURNS)
def test_the_broken_form_reverses_one_half_only(clause, turned, bad):
    found = broken(clause + REST)
    assert {each + REST for each in bad} <= found
    assert turned + REST not in found
    assert clause + REST not in found


def test_a_relation_has_many_wordings():
    found = right("Nora has 5 more pens than Felix" + REST)
    assert "Compared with Nora, Felix has 5 fewer pens" + REST in found
    assert len(found) >= 10


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        (
            "The length of a field is 6 m more than its width. The width is 9 m. Find the area.",
            "The width of a field is 6 m less than its length. The width is 9 m. Find the area.",
        ),
        (
            "A lamp costs $7 more than a vase. A vase costs $5. What do both cost?",
            "A vase costs $7 less than a lamp. A vase costs $5. What do both cost?",
        ),
        (
            "Ivo is 6 years younger than Tess, who is 20. How old is Ivo?",
            "Tess, who is 20, is 6 years older than Ivo. How old is Ivo?",
        ),
        (
            "Otto is 9 years older than his sister. Otto is 30. How old is his sister?",
            "Otto's sister is 9 years younger than Otto. Otto is 30. How old is his sister?",
        ),
        (
            "There are 8 more ducks than swans in the park. How many ducks are there if there are 20 birds?",
            "There are 8 fewer swans than ducks in the park. How many ducks are there if there are 20 birds?",
        ),
        (
            "The ratio of red to green beads is 3 to 5. There are 40 green beads. How many are red?",
            "The ratio of green to red beads is 5 to 3. There are 40 green beads. How many are red?",
        ),
    ],
)
def test_other_structures(text, turned):
    assert turned in right(text)
    assert turned not in broken(text)


def test_a_question_is_reversed():
    text = "Nora has 9 pens and Felix has 4 pens. How many more pens does Nora have than Felix?"
    assert right(text) == {text.replace("more pens does Nora have than Felix", "fewer pens does Felix have than Nora")}
    assert text.replace("more pens does Nora have than Felix", "more pens does Felix have than Nora") in broken(text)


def test_a_name_of_two_words_stays_together():
    text = "Nora Berg is 170 cm tall and Felix is 150 cm tall. How much taller is Nora Berg than Felix?"
    assert right(text) == {text.replace("taller is Nora Berg than Felix", "shorter is Felix than Nora Berg")}


def test_one_and_the_other_need_the_word_only_and_cannot_be_broken():
    text = "one number is 8 more than the other. their sum is 30. find both."
    assert right(text) == {text.replace("more", "less")}
    assert not broken(text)


@pytest.mark.parametrize(
    "text",
    [
        "Nora has 20% more pens than Felix. Felix has 10 pens. How many pens does Nora have?",
        "Nora has 20 percent more pens than Felix. Felix has 10 pens. How many does Nora have?",
        "Nora has 3 times more pens than Felix. Felix has 10 pens. How many does Nora have?",
        "Nora has 5 more than twice as many pens as Felix. Felix has 10. How many does Nora have?",
        "Nora has 5 more pens than Felix and Greta. Felix has 10. How many does Nora have?",
        "Nora has 5 more pens than Felix and Greta have together. Felix has 10. How many does Nora have?",
        "Nora has 5 more pens than Felix but only half as many as Greta. How many has Felix?",
        "Nora and Greta bought 5 more pens than Felix. Felix bought 10. How many did Nora buy?",
        "The sum of the weights of the small and the big box is 5 kg more than the limit. The limit is 9 kg. How much?",
        "Mrs. Lee has 5 more pens than Felix. Felix has 10. How many has she?",
        "Nora left 2 hours before the end of the show. The show took 5 hours. How long did Nora stay?",
        "Nora scored twice as much as the lowest score. The lowest score is 8. What did Nora score?",
        "Nora sold 6 boxes less than n. If n is 9, how many boxes did Nora sell?",
        "Nora gave the rest of her money to Felix. Felix has $9 now. How much had Nora?",
        "Six loaves and 2 pies cost $9. How much does a pie cost?",
    ],
)
def test_an_uncertain_relation_stays(text):
    assert not right(text)
    assert not broken(text)


def test_a_pronoun_keeps_its_antecedent():
    assert not right("Ben is 5 years older than Felix. He is 12. How old is Felix?")
    assert right("Nora is 5 years older than Felix. She is 12. How old is Felix?")


def test_a_ratio_that_a_later_one_relies_on_stays():
    text = "The ratio of milk to water is 3 : 4. After 5 litres of water are added the ratio is 3 : 5. Find the milk."
    assert not right(text)
    assert not right("The ratio of p to v in tea x is 4 to 1, in y it is 1 to 5. How much of p is there in 8 kg of x?")
    assert not right("The ratio of sand to lime is 3 : 3. How much sand is there in 8 kg?")


def test_the_other_piece_stays_the_other_piece():
    assert not right("one rod is 5 m longer than the other. both are 20 m. how long is the other rod?")


def test_nothing_is_broken_if_only_the_names_differ():
    assert not broken("Nora is 5 years older than Felix. The sum of the ages of Nora and Felix is 25. Find both ages.")


def test_a_ratio_that_is_asked_for_can_only_be_broken():
    text = "There are 6 cats and 9 dogs. What is the ratio of cats to dogs?"
    assert not right(text)
    assert broken(text) == {text.replace("cats to dogs", "dogs to cats")}


def test_the_same_seed_gives_the_same_output():
    problem = read("Nora has 5 more pens than Felix" + REST)
    for operator in (ConverseRelation(), BrokenConverse()):
        made = {operator.apply(problem, random.Random(3), Resources()) for _ in range(5)}
        assert len(made) == 1


def test_polarities():
    assert (ConverseRelation.polarity, BrokenConverse.polarity) == ("valid", "invalid")


@pytest.mark.parametrize("times", ["1/0 times", "0 times"])
def test_a_number_that_has_no_inverse_is_left_alone(times):
    text = f"Ann has {times} as many pens as Bob. Bob has 4 pens. How many has Ann?"
    assert ConverseRelation().apply(read(text), random.Random(1), Resources()) is None

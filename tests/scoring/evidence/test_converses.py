"""The same relation seen from the other side gives no finding; a reversed one gives one."""

from __future__ import annotations

import pytest

from paraqd.lab.training.fusion_fitting import fit_fusion
from paraqd.reading import read
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.markup import remove_markup
from paraqd.scoring.normalise_quantities import normalise_quantities


def found(question, paraphrase):
    return [
        finding.feature
        for finding in READER.findings(*(read(remove_markup(text).text) for text in (question, paraphrase)))
    ]


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("Spend 30%, 25% and 15% of it.", "Spend 30%, one quarter and 15% of it."),
        ("Add 2/5, 0.35 and 15%.", "Add 0.4, 35 % and 3/20."),
        ("He works until a quarter to five. When?", "He works until 16:45. When?"),
        (
            "It leaves at 8 : 45 am. When is it there?",
            "It leaves at a quarter to nine in the morning. When is it there?",
        ),
        (r"If $x + 1 = 3\frac{1}{4}$, find $x$.", "If x + 1 = 3.25, find x."),
        (r"Rent takes $\frac38$ of it. What is left?", "Rent takes 3/8 of it. What is left?"),
        ("It costs 2.75 dollars. How much is that?", "It costs two dollars seventy-five. How much is that?"),
        ("A ride costs 0.15 euros a minute. What do 9 cost?", "A ride costs 15 cents a minute. What do 9 cost?"),
        ("It warms by 15°C a minute. How long?", "It warms by 15 degrees a minute. How long?"),
        ("A board is 9 cm and 12 cm. Find its area.", "A board is $9$ cm and $12$ cm. Find its area."),
        ("A rack holds 8 pairs of boots. How many boots?", "A rack holds 16 boots. How many boots?"),
        ("It turns by a quarter of a turn. How many degrees?", "It turns by 90°. How many degrees?"),
        (
            "On Monday he ran 5 km, on Tuesday 7 km. How far?",
            "On Monday he ran 5 km, on Tuesday 7 km. How far on these two days?",
        ),
        (
            "Bill has 1 less than twice as many spots as Phil. How many has Bill if Phil has 30?",
            "Doubling Phil's number and taking 1 away gives Bill's. How many has Bill if Phil has 30?",
        ),
        ("A city of 1,250,000 grows by 4%. To what?", "A city, 1 250 000, grows by 4%. To what?"),
        ("Compute 3/4 · 1/2.", r"Compute $\frac34\frac12$."),
        ("A road is 1,500 m long. How far is half of it?", "A road is $1,500$ m long. How far is half of it?"),
        (
            "A shed is 5 m wide. It turns left once. How far is it?",
            "A shed is 5 m wide. It turns right once. How far is it?",
        ),
        ("How many pens do Tom's friends need if Ann has 5?", "How many pens do they need if Ann has 5?"),
        ("Find the total cost of 5 pens.", "Could you please provide the total cost of 5 pens?"),
        (
            "She has 5 pens and Ann 3 more. How many has Ann?",
            "She has 5 pens and Ann has 3 additional pens. How many has Ann?",
        ),
        (
            "Milk and water are as 2 : 1. Add water to make it 1 : 2. How much?",
            "Milk to water is 2 : 1. How much must be added so that milk to water is 1 : 2?",
        ),
        ("How many push-ups did he do in total?", "Find the number of push-ups he did."),
        ("Ann has 5, Bob 7. How many more has Bob?", "Ann has 5, Bob 7. By how many does his number exceed hers?"),
        ("How many of them are even?", "Among all of them, count those that are even."),
        ("How many has she to begin with?", "How many does she have to begin with and no more?"),
        ("Every day a shop sells 3 pens for $5. What do 12 cost?", "Every $5 buys 3 pens. What do 12 cost?"),
    ],
)
def test_the_same_in_other_words(question, paraphrase):
    assert found(question, paraphrase) == []


@pytest.mark.parametrize(
    ("question", "paraphrase", "feature"),
    [
        ("Bob gave 5 to Ann. How many does Ann have?", "Bob gave 5 to Ann. How many does Bob have?", "asked_other"),
        (
            "Ann and Bob save 5 a week. When will Ann have 60?",
            "Ann and Bob save 5 a week. When will they have 60?",
            "asked_other",
        ),
        (
            "Yusuf is 5 years younger than Elif, who is 3 years older than Ana. Ana is 12. How old is Yusuf?",
            "Ana is 5 years younger than Elif, who is 3 years older than Ana. Ana is 12. How old is Ana?",
            "asked_other",
        ),
        (
            "It goes 5 m, turns right, goes 9 m, turns right and goes 2 m. How far is it?",
            "It goes 5 m, turns right, goes 9 m, turns left and goes 2 m. How far is it?",
            "relation_opposed",
        ),
        (
            "Share 60 among three as 2 : 3 : 5. How much?",
            "Share 60 among three in the ratio 2 : 5. How much?",
            "ratio_cut",
        ),
        (
            "Rice is Rs. 46 per kg. What do 9 kg cost?",
            "What do 9 kg of rice at Rs. 48 a kg cost?",
            "only_number_changed",
        ),
        ("How many laps more has Tom run than Eva?", "How many laps has Tom run than Eva?", "word_missing"),
        ("How many laps has Tom run by then?", "By then, has Tom run?", "question_cut"),
    ],
)
def test_what_is_another_problem(question, paraphrase, feature):
    assert feature in found(question, paraphrase)


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("How many more does Ann have than Bob?", "How many fewer does Bob have than Ann?"),
        ("How many do Ann and Bob have together?", "How many do they have together?"),
        ("By how many metres does Ann beat Bob?", "By how many metres does Bob lose to Ann?"),
    ],
)
def test_a_comparison_asked_from_the_other_side_is_the_same(question, paraphrase):
    told = "Ann has 5 and Bob has 3. "
    assert "asked_other" not in found(told + question, told + paraphrase)


def test_numbers_of_a_comparison_may_stand_with_the_other():
    question = "Ottilie's tower is 8 blocks higher than Piet's. Piet's tower is 3 blocks lower than Quinn's. Who?"
    paraphrase = "Piet's tower is 8 blocks lower than Ottilie's, and Quinn's is 3 blocks higher than Piet's. Who?"
    assert "numbers_exchanged" not in found(question, paraphrase)


def test_a_ratio_told_in_two_is_not_cut():
    assert "ratio_cut" not in found("A : B : C is 1 : 2 : 3. Find A.", "A : B is 1 : 2 and A : C is 1 : 3. Find A.")


def test_he_for_a_name_makes_an_opposite_unsure():
    question = "Agnes starts 1 day after Simon. When is she there?"
    assert "relation_opposed" not in found(question, "He starts 1 day before her. When is Agnes there?")
    assert "relation_opposed" in found(question, "Agnes starts 1 day before Simon. When is she there?")


def test_pairs_are_written_as_the_question_writes_them():
    question, paraphrase = read("It holds 8 pairs of shoes."), read("It holds 16 single shoes.")
    made = normalise_quantities(question, paraphrase, match_quantities(question, paraphrase))
    assert made.text == "It holds 8 pairs of shoes."
    back = normalise_quantities(paraphrase, question, match_quantities(paraphrase, question))
    assert back.text == "It holds 16 shoes."


@pytest.mark.parametrize(
    ("question", "paraphrase"),
    [
        ("A rack holds 8 pairs of boots. How many boots?", "A rack holds 16 pairs of boots. How many boots?"),
        ("A rack holds 8 pairs of boots. How many?", "A rack holds 16 coats. How many?"),
        ("It makes 2 turns a second. How many in 9 s?", "It makes 720 degree turns a second. How many in 9 s?"),
        ("The rate fell from 0.8 to 0.2% in May. By how much?", "The rate fell from 80% to 0.2% in May. By how much?"),
        ("Between 0.5 and 2% fail. How many of 900?", "Between 50% and 2% fail. How many of 900?"),
        (r"Compute $\frac34\frac12$.", "Compute 3/41/2."),
        ("It costs 15 cents a minute. How much?", "It costs 0.15 euros an hour. How much?"),
        ("It warms by 15 degrees Celsius a minute. When?", "It warms by 15 degrees an hour. When?"),
        ("A meal costs 500 yen. How much are 9?", "A meal costs 500 yuan. How much are 9?"),
        ("It is 20 degrees in Rome and 30°C in Cairo. Where?", "It is 20°F in Rome and 30°C in Cairo. Where?"),
        (
            "He has 9 crates with 4 pens each. How many pens?",
            "He has 9 crates with 4 pens each, and those 50 are full. How many pens?",
        ),
        (
            "They have 60 sweets and decide to share them. How many does each get?",
            "They have 60 sweets and decide to share them.",
        ),
        ("They see 30 birds. How many fly off?", "They go to the park and count 30 birds."),
        ("Monday 5, Tuesday 6. How many hours in all?", "Hours required: Monday 5, Tuesday 6."),
        (
            "Of the 40 sold on Monday, 9 were red. How many were not?",
            "Of the 40 bought on Monday, 9 were red. How many were not?",
        ),
        ("How long will it be before they meet?", "How long will it be after they meet?"),
        (
            "Tom Brown has 5 pens, Ann 9. How many has Tom Brown?",
            "Tom Brown has 5 pens, Ann 9. How many has Jim Brown?",
        ),
        ("For 10 dollars five are sold. How many for 30?", "For $10.05 they are sold. How many for 30?"),
        (
            "Cats to dogs are as 2 : 3, cows to pigs as 3 : 2. How many?",
            "Cats to dogs are as 3 : 2, cows to pigs as 3 : 2. How many?",
        ),
    ],
)
def test_what_looks_the_same_and_is_not(question, paraphrase):
    assert found(question, paraphrase)


def test_long_texts_take_no_longer_than_their_length():
    """Time is not measured; where it grew with the square of the length this would not end."""
    than, many = "he ran than Bob " * 60_000, " ".join(f"and {n} pens" for n in range(3, 30_000))
    assert found("Ann has 5 pens. How many?", f"{than}. How many?").count("word_missing") == 40  # nobody reads more
    assert found("Ann has 5 pens. How many?", f"Ann has 5 pens {many}. How many?")


def test_a_sure_finding_weighs_though_no_pair_has_it():
    pytest.importorskip("scipy")
    fusion = fit_fusion([[], ["number_lost"]] * 4, [1, 0] * 4, model=[2.0, -2.0] * 4)
    assert fusion.weights["ratio_cut"] == pytest.approx(-4, abs=0.1)
    assert fusion.score(["ratio_cut"], 0.5) < 0.5 < fusion.score([], 0.5)

"""Questions: the clause that asks, and its target."""

from __future__ import annotations

import pytest

from paraqd.reading import Question, read

# a text before the bar, then the clause that asks; the target
ASKED = [
    # how …
    ("Ravi has 12 marbles and gives 5 away. |How many marbles are left?", "marbles"),
    ("A pen costs $2. |How many pens can she buy with $10?", "pens"),
    ("She had $20 and bought a hat. |How much money did she have then?", "money"),
    ("|How many hours will the trip take?", "hours"),
    ("|How many pens can be bought for $40 if a pen costs $5?", "pens"),
    ("If a pen costs $5, |how many pens can be bought for $40?", "pens"),
    ("If a pen costs $5, then |how many pens can be bought for $40?", "pens"),
    ("A and B dig a pit in 5 days. |In how many days can A dig it alone?", "days"),
    ("If A digs a pit in 5 days, |in how many days can B dig it?", "days"),
    ("Tom has 5 pens. |How many more pens does he need to have 9?", "more pens"),
    # what …
    ("|What is the sum of 5 and 7?", "the sum of 5 and 7"),
    ("She drove 120 km in 2 hours. |What is her average speed?", "her average speed"),
    ("|What was the price of the hat before the sale?", None),
    ("If 3x = 12, |what is x?", "x"),
    ("If 3x = 12, |what is the value of x?", "the value of x"),
    ("|What would be the total bill?", "the total bill"),
    ("|What are the two numbers?", "the two numbers"),
    ("Tom saves 30 % of it. |The income is to be calculated.", "The income"),
    ("A tank leaks. |The capacity in litres is asked .", "The capacity in litres"),
    ("It is divisible by 7. |Search the number.", "the number"),
    # imperatives
    ("The legs are 3 cm and 4 cm. |Find the hypotenuse.", "the hypotenuse"),
    ("The legs are 3 cm and 4 cm. |Find the length of the hypotenuse.", "the length of the hypotenuse"),
    ("A field is 20 m by 30 m. |Calculate its area.", "its area"),
    ("Let 5x = 20. |Determine the value of x.", "the value of x"),
    ("If 3x = 12, |find x.", "x"),
    ("If the radius is 7 cm, then |find the area of the circle.", "the area of the circle"),
    ("Given that x + y = 10 and x - y = 2, |find the value of xy.", "the value of xy"),
    ("He runs 5 km; |find the time taken.", "the time taken"),
    ("|Compute 5 + 7.", "5 + 7"),
    ("|Evaluate 3(2 + 5).", "3(2 + 5)"),
    ("|Find the speed of the boat if the stream flows at 2 km/h.", "the speed of the boat"),
    ("The man who sold the car made 20%. |Find his cost price.", "his cost price"),
    # the answer is left out
    ("A train covers 60 km in an hour. |The speed of the train is?", "The speed of the train"),
    ("A train covers 60 km in an hour. |The speed of the train is", "The speed of the train"),
    ("A train covers 60 km in an hour. |The speed of the train is:", "The speed of the train"),
    ("A train covers 60 km in an hour. |The speed of the train is ____", "The speed of the train"),
    ("A train covers 60 km in an hour. |The speed of the train is ...", "The speed of the train"),
    ("He is 30 and she is 20. |The ratio of their ages will be", "The ratio of their ages"),
    ("If a pen costs $5, |the cost of 8 pens is", "the cost of 8 pens"),
    ("If a pen costs $5, then |the cost of 8 pens is?", "the cost of 8 pens"),
    # lower-case texts
    ("tom has 5 pens and ann has 6. |how many pens do they have?", "pens"),
    ("tom has 5 pens and ann has 6. |how many pens do they have", "pens"),
    ("|find the cost of 5 pens", "the cost of 5 pens"),
    ("ravi walks 5 km in an hour. |what is his speed", "his speed"),
    ("if 3x = 12, |what is x", "x"),
    # other questions
    ("|Which is larger: 3/4 or 2/3?", None),
    ("Tom ran 5 km and Ann ran 6 km. |Who ran further?", None),
    ("|Is 91 a prime number?", None),
    ("|Can he finish the work in 5 days?", None),
    ('Ann asked, "|How many pens do you have?"', "pens"),
    ("A shop sells pens at $5 each, so |what will 12 pens cost?", None),
    ("Tom left at 5 p.m. |When will he arrive?", None),
    ("The price rose by 20%. |By how much must its use fall?", None),
]


def last_question(text: str) -> Question:
    question = read(text).question
    assert question is not None
    return question


@pytest.mark.parametrize(("marked", "target"), ASKED)
def test_asked(marked: str, target: str | None):
    before, clause = marked.split("|")
    question = last_question(before + clause)
    assert question.text == clause
    assert question.start == len(before)
    assert question.end == len(before + clause)
    if target is not None:
        assert question.target == target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("At what speed should he drive back?", "speed"),
        ("In what time will he finish the work?", "time"),
        ("At what rate of interest will Rs. 500 become Rs. 600?", "rate of interest"),
        ("By what percent did the price rise?", "percent"),
        ("Find how many pens he has.", "pens"),
        ("Find out the number of pens.", "the number of pens"),
        ("Work out the total.", "the total"),
        ("Write down the next number.", "the next number"),
        ("Tell me the price.", "the price"),
    ],
)
def test_target_is_the_thing_asked_for(text: str, target: str):
    assert last_question(text).target == target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("A train is 200 m long. How long does it take to pass a pole?", "How long does it take to pass a pole"),
        ("How far did Tom go?", "How far did Tom go"),
        ("How many pens does Tom have?", "pens"),
    ],
)
def test_target_of_how_long_is_the_whole_phrase(text: str, target: str):
    """It was once shown as "does it take to pass a pole"."""
    assert last_question(text).target == target


@pytest.mark.parametrize(
    "text",
    [
        "How long does it take to fill the tank?",
        "How long will it take to pass a pole?",
        "How far did she have to walk?",
        "How long did it remain open?",
    ],
)
def test_target_is_not_cut_behind_a_pronoun(text: str):
    assert last_question(text).target.split()[-1] not in {"it", "she"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Tom has 5 pens. How many pens has Ann? How many have they together?",
            ["How many pens has Ann?", "How many have they together?"],
        ),
        ("Find x. What is y?", ["Find x.", "What is y?"]),
        ("How old is Ann? Tom is 5. How old is Raj?", ["How old is Ann?", "How old is Raj?"]),
        ("Find the area. Then find the perimeter.", ["Find the area.", "find the perimeter."]),
    ],
)
def test_two_questions(text: str, expected: list[str]):
    assert [question.text for question in read(text).questions] == expected


@pytest.mark.parametrize(
    "text", ["How many boys are there and how many girls are there?", "What is x and what is y?", "Find x and find y."]
)
def test_two_questions_in_one_sentence_are_covered_from_the_first(text: str):
    assert read(text).questions[0].start == 0


@pytest.mark.parametrize(
    "text",
    [
        "Tom has 5 pens. Ann has 6 pens.",
        "The tank is full.",
        "Tom knows what he wants. He buys 5 pens.",
        "The man who sold the car lost $5.",
        "When it rains, the tank fills in 5 hours.",
        "The number which he chose was 7.",
        "He showed his sister the 5 pens.",
        "The state has 5 rivers. Their names are long.",
        "He wanted to find 5 pens.",
        "This is how Tom spent his $5.",
    ],
)
def test_statements_ask_nothing(text: str):
    assert read(text).questions == ()
    assert read(text).question is None


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_blank_text_asks_nothing(text: str):
    assert read(text).question is None


@pytest.mark.parametrize(
    "text",
    [
        "The tank which holds 50 litres is full. How much is left in it?",
        "When the bell rang, 5 boys left. How many stayed?",
        "Tom, who is 5, has a sister who is 9. What is the sum of their ages?",
        "Find the number of pens that Tom, who has $5, can buy.",
    ],
)
def test_relative_clauses_do_not_ask(text: str):
    (question,) = read(text).questions
    assert question.text[:3] in {"How", "Wha", "Fin"}
    assert question.end == len(text)


@pytest.mark.parametrize("text", [marked.replace("|", "") for marked, _ in ASKED])
def test_spans_and_targets_lie_in_the_text(text: str):
    problem = read(text)
    for question in problem.questions:
        assert text[question.start : question.end] == question.text
        assert question.target
        assert question.target in " ".join(question.text.split())
        assert any(s.start <= question.start and question.end <= s.end for s in problem.sentences)
    assert problem.question == problem.questions[-1]


def test_enough_texts():
    assert len(ASKED) >= 40

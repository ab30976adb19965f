"""Sentences: abbreviations, decimals, missing spaces, line breaks, quotations."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.reading.sentences import split_sentences


def sentences(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


# a bar marks where a sentence ends; the text is read without the bars
MARKED = [
    # plain
    "It rained.| It stopped.| How long did it rain?",
    "It rained!| Did it stop?| No.",
    "Only one sentence",
    "He has 5.| She has 6.",
    # abbreviations
    "He paid Rs. 500 for it.| She paid Rs. 300.",
    "He paid Rs.500 for it.| She paid Rs.300.",
    "He paid Re. 1 only.",
    "Mr. Rao met Mrs. Sen and Dr. Bose.| They talked.",
    "Prof. Iyer and Ms. Ali left.",
    "St. Mary's school has 500 pupils.",
    "Use fruit, e.g. apples, or i.e. a healthy snack.",
    "Tom vs. Jerry was close.",
    "Pens, books etc. were sold.",
    "Look at Fig. 3 and Eq. 4.",
    "Take approx. 5 kg.",
    "House No. 7 is red.| No. 8 is blue.",
    "She said no.| Then she left.",
    "He lives in the U.S. with his aunt.",
    "The U.S. team won 5 medals.",
    "A U.K. firm sold it.",
    # times
    "The bus left at 10 a.m. and came at 3 p.m. today.",
    "The bus left at 10 a.m.| The train left later.",
    "The bus left at 10:30 p.m. on Monday.",
    "A train starts at 7 a.m. from P.| Another starts at 8 a.m. from Q.",
    # numbers
    "It weighs 3.5 kg.| It costs $2.75.",
    "It is .5 metres long.",
    "It grew by 5%.| It then fell by 10%.",
    "He walks 5 km.| She walks 6 km.",
    "He walks 5 km. in an hour.",
    "It took 5 min. to boil.",
    "The plot has 50 sq. m. of grass.",
    "He ran in 1990.| She ran in 1991.",
    # missing space
    "He has 5 pens.|She has 6.",
    "What is the total.|How many are left?",
    "He bought 7 pens for Rs. 70.|She bought 5.",
    "Tom ran 12 km.|Ann ran 15 km.|Who ran further?",
    # initials
    "J. K. Sharma bought it.",
    "Pipes A and B fill it.| Pipe C empties it.",
    "A is older than B.| How old is A?",
    "Let the side be x.| Find x.",
    # quotations
    'He said, "I have 5 pens."| She had 6.',
    '"How many?" he asked.',
    "“I am 12,” said Ravi.| “You are 9.”",
    "She asked, “How old are you?” and left.",
    # brackets
    "The tank is full (it holds 50 l).| It leaks.",
    "The tank is full.| (It holds 50 l.)| It leaks.",
    # ellipsis
    "The numbers 1, 2, 3, ... are added.",
    "The numbers 1, 2, 3, …, 10 are added.",
    "He waited... and waited.",
    "He waited...| Then he left.",
    "The answer is ...",
    # several marks
    "What?!| He left.",
    "How many are left??",
    "It rained .| It stopped .",
    # lower-case texts
    "he has 5 pens.| she has 6 pens.| how many do they have?",
    "a train is 150 m long.| it runs at 60 kmph.| find the time",
    "he paid rs. 500 and mr. rao paid rs. 300.",
    "the shop opens at 10 a.m. and closes at 5 p.m. daily.",
]


@pytest.mark.parametrize("marked", MARKED)
def test_split(marked: str):
    expected = [piece.strip() for piece in marked.split("|") if piece.strip()]
    assert sentences(marked.replace("|", "")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A train is\n150 m long.", ["A train is\n150 m long."]),
        ("Tom has 5 pens and\nhis sister has 6.", ["Tom has 5 pens and\nhis sister has 6."]),
        ("Tom has 5 pens.\nAnn has 6.", ["Tom has 5 pens.", "Ann has 6."]),
        ("Tom has 5 pens\n\nAnn has 6", ["Tom has 5 pens", "Ann has 6"]),
        ("Tom has 5 pens\nHow many are left", ["Tom has 5 pens", "How many are left"]),
        ("Tom has 5 pens.\r\nAnn has 6.", ["Tom has 5 pens.", "Ann has 6."]),
        ("\n\nTom has 5 pens.\n\n", ["Tom has 5 pens."]),
        ("It costs\n$5 today.", ["It costs\n$5 today."]),
        ("Tom paid\n\n\n5 dollars", ["Tom paid", "5 dollars"]),
    ],
)
def test_line_breaks(text: str, expected: list[str]):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The shop is in\nNew Delhi and sells 5 pens.",
        "The pens of Tom and\nAnn cost $5.",
        "The pens of Tom,\nAnn and Raj cost $5.",
    ],
)
def test_a_wrapped_line_may_go_on_with_a_name(text: str):
    assert len(sentences(text)) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Items sold:\n- 5 pens\n- 6 books", 3),
        ("Items sold:\n• 5 pens\n• 6 books", 3),
        ("Read this:\n1. Add 5 and 3.\n2. Add 6 and 2.", 3),
    ],
)
def test_list_items_stand_by_themselves(text: str, count: int):
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    "text",
    [
        "1. Tom has 5 pens. 2. Ann has 6 pens.",
        "(a) Tom has 5 pens. (b) Ann has 6 pens.",
        "Q. Tom has 5 pens.",
        "Find:\n(i) 5 + 3\n(ii) 6 + 2",
    ],
)
def test_list_marks_do_not_lose_anything(text: str):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["", " ", "\n", "\t \n\r\n ", "\u00a0\u2003"])
def test_blank_text_has_no_sentence(text: str):
    assert split_sentences(text) == ()


@pytest.mark.parametrize("text", [".", "?", "...", "?!", ". . .", "()", "\n.\n.\n", '"', "…"])
def test_marks_alone(text: str):
    found = split_sentences(text)
    assert "".join("".join(s.text for s in found).split()) == "".join(text.split())


COVERED = [
    *(marked.replace("|", "") for marked in MARKED),
    "  leading and trailing.  Twice as much space.   ",
    "No end. . . Stray marks! ! ) And on",
    "मीरा के पास 5 सेब हैं। 他有5个苹果。她有几个？",
    "Ends with abbreviation Rs.",
    "a.b.c.d.e.f",
    "x.\u00a0Y.\u2028Z.\u0085W",
]


@pytest.mark.parametrize("text", COVERED)
def test_cover(text: str):
    found = read(text).sentences
    position = 0
    for sentence in found:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""
        assert position <= sentence.start < sentence.end
        assert not text[position : sentence.start].strip(), "something between two sentences"
        position = sentence.end
    assert not text[position:].strip(), "something behind the last sentence"
    for place in range(-1, len(text) + 1):
        inside = [sentence for sentence in found if sentence.start <= place < sentence.end]
        assert read(text).sentence_at(place) == (inside[0] if inside else None)

"""Messages name the fault in plain English, the original first and the paraphrase second."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.rules import READER

MESSAGES = [
    ("Tom has 5 pens. How many?", "Tom has 6 pens. How many?", 'A number changed: "5" became "6".'),
    ("He walks 3 km. How far?", "He walks 3 m. How far?", 'A unit changed: "3 km" became "3 m".'),
    ("At 3 p.m. he eats. When?", "At 4 p.m. he eats. When?", 'A time changed: "3 p.m." became "4 p.m."'),
    (
        "Tom has 15 pens and 7 cups. How many things?",
        "Tom has 15 pens and cups. How many things?",
        'The number "7" is missing; the original says "… has 15 pens and 7 cups".',
    ),
    ("Tom has pens. How many?", "Tom has 75 pens. How many?", 'The number "75" is not in the original.'),
    (
        "He pays $35 for a bag and $24 for a cap. How much?",
        "He pays $35 for a bag and $24 for a cap, $59 in all. How much?",
        'The number "$59" is not in the original and may give away part of the solution.',
    ),
    (
        "He has 5 red and 7 blue pens. How many?",
        "He has 7 red and 5 blue pens. How many?",
        'The numbers "5" and "7" changed places: the original says "He has 5 red and 7 blue …"; the paraphrase says '
        '"He has 7 red and 5 blue …".',
    ),
    ("Ann runs 5 km. How far?", "Ann runs 5 km with Rekha.", 'The name "Rekha" is not in the original.'),
    (
        "Ann has 5 pens. How many has she?",
        "Ann has 5 pens.",
        'The question is missing; the original says "How many has she?"',
    ),
    (
        "Ann has 3 more pens than Bob. How many has Ann?",
        "Ann has 3 fewer pens than Bob. How many has Ann?",
        'The meaning changed: "more" became "fewer".',
    ),
    (
        "Ann and Bob run. How far does Ann run?",
        "Ann and Bob run. How far does Bob run?",
        'The question is about somebody else: "Ann" became "Bob".',
    ),
    (
        "What is the area of a 3 m by 4 m room?",
        "What is the perimeter of a 3 m by 4 m room?",
        'The question asks for something else: "area" became "perimeter".',
    ),
    (
        "Ann ate a quarter of the pie. How much is left?",
        "Ann ate half of the pie. How much is left?",
        'A number changed: "a quarter" became "half".',
    ),
    ("A cap costs $5. How much?", "A cap costs €5. How much?", 'A currency changed: "$5" became "€5".'),
    (
        "Ann gives Bob 5 pens. How many are left?",
        "Bob gives Ann 5 pens. How many are left?",
        'Two people or things changed places: the original says "Ann gives Bob 5 pens"; the paraphrase says '
        '"Bob gives Ann 5 pens".',
    ),
    (
        "The ratio of boys to girls is 2 : 3.",
        "The ratio of girls to boys is 2 : 3.",
        'The two sides of a ratio changed places: the original says "The ratio of boys to girls is 2 : 3"; '
        'the paraphrase says "The ratio of girls to boys is 2 : 3".',
    ),
    (
        "Tom has 5 pens. How many has he?",
        "Tom has 5 pens. How many of the",
        'The question is cut off; the paraphrase says "How many of the".',
    ),
    ("Tom has 5 pens. He sells 2.", "Sarah has 5 pens. He sells 2.", 'The pronoun "He" does not fit the name "Sarah".'),
]


@pytest.mark.parametrize(("question", "paraphrase", "message"), MESSAGES)
def test_messages(question, paraphrase, message):
    assert message in [finding.message for finding in READER.findings(read(question), read(paraphrase))]

"""Messages name the fault in plain English, the original first and the paraphrase second."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.rules import READER

MESSAGES = [
    ("Tom has 5 pens. How many?", "Tom has 6 pens. How many?", "The number 5 became 6."),
    ("He walks 3 km. How far?", "He walks 3 m. How far?", "3 km became 3 m."),
    ("At 3 p.m. he eats. When?", "At 4 p.m. he eats. When?", "The time 3 p.m. became 4 p.m."),
    (
        "Tom has 15 pens and 7 cups. How many things?",
        "Tom has 15 pens and cups. How many things?",
        'The number 7 is missing: original "has 15 pens and 7 cups".',
    ),
    ("Tom has pens. How many?", "Tom has 75 pens. How many?", "75 is not in the original."),
    (
        "He pays $35 for a bag and $24 for a cap. How much?",
        "He pays $35 for a bag and $24 for a cap, $59 in all. How much?",
        "$59 is not in the original; it may give away part of the solution.",
    ),
    (
        "He has 5 red and 7 blue pens. How many?",
        "He has 7 red and 5 blue pens. How many?",
        'The numbers 5 and 7 changed places: original "He has 5 red and 7 blue", paraphrase "He has 7 red and 5 blue".',
    ),
    ("Ann runs 5 km. How far?", "Ann runs 5 km with Rekha.", '"Rekha" is not in the original.'),
    ("Ann has 5 pens. How many has she?", "Ann has 5 pens.", 'The question is missing: original "How many has she?".'),
    (
        "Ann has 3 more pens than Bob. How many has Ann?",
        "Ann has 3 fewer pens than Bob. How many has Ann?",
        '"more" became "fewer": the relation is reversed.',
    ),
    (
        "Ann and Bob run. How far does Ann run?",
        "Ann and Bob run. How far does Bob run?",
        'The question is about somebody else: original "Ann", paraphrase "Bob".',
    ),
    (
        "What is the area of a 3 m by 4 m room?",
        "What is the perimeter of a 3 m by 4 m room?",
        'The question asks for something else: original "area", paraphrase "perimeter".',
    ),
]


@pytest.mark.parametrize(("question", "paraphrase", "message"), MESSAGES)
def test_messages(question, paraphrase, message):
    assert message in [finding.message for finding in READER.findings(read(question), read(paraphrase))]

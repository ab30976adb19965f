"""Two small words that never follow each other."""

from __future__ import annotations

import pytest

from paraqd.reading import read
from paraqd.scoring.evidence.missing_words import gap_findings


def found(text):
    return [text[a:b] for finding in gap_findings(read("Nothing."), read(text)) for a, b in finding.paraphrase_spans]


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("He sails from at 9.", "from at"),
        ("The of them is 5.", "The of"),
        ("the sum of and 5", "of and"),
        ("How many does she in 4 weeks?", "does she in 4"),
    ],
)
def test_a_missing_word(text, gap):
    assert found(text) == [gap]


@pytest.mark.parametrize(
    "text",
    [
        "The town Ann comes from is 30 km away.",
        "What bread is made of is flour.",
        "It is the output of the AND gate.",
        "It consists of at least 5 parts.",
        "They got rid of from 5 to 7 boxes.",
        "How many painters could do it in 4 days?",
        "How much did Ann in total pay?",
    ],
)
def test_what_is_whole(text):
    assert not found(text)

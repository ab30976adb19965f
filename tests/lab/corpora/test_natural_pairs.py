"""Questions of a corpus that ask the same in other words."""

from __future__ import annotations

from paraqd.lab.corpora.natural_pairs import natural_pairs
from paraqd.reading import read
from paraqd.reading.equality import multiset

ONE = "A train 120 m long passes a pole in 6 seconds. What is its speed?"
OTHER = "What is the speed of a train 120 m long that passes a pole in 6 seconds?"
STRANGER = "After a rest of 6 seconds some snail climbs 120 m up that old hill behind our mill, says Olga. Why?"


def test_the_stranger_has_the_same_numbers():
    assert multiset(read(ONE).quantities) == multiset(read(STRANGER).quantities)


def row(name, question, answer):
    return {"id": name, "question": question, "answer": answer}


def test_same_numbers_same_answer_like_words():
    found = list(natural_pairs([row("a", ONE, 20.0), row("b", OTHER, "20"), row("c", STRANGER, 20.0)]))
    assert [(pair.question, pair.paraphrase, pair.label) for pair in found] == [(ONE, OTHER, 1)]


def test_another_answer_or_none_makes_no_pair():
    assert not list(natural_pairs([row("a", ONE, 20.0), row("b", OTHER, 21.0)]))
    assert not list(natural_pairs([row("a", ONE, None), row("b", OTHER, "x")]))

"""Test how a judge's answer becomes a finding."""

from __future__ import annotations

from typing import NamedTuple

from counted_calls import calls

from paraqd import EvidenceKind
from paraqd.scoring.judge.base import Place
from paraqd.scoring.judge.finding import judge_finding, merged_spans
from paraqd.scoring.pair_preparation import prepare_pair

QUESTION = "Ann and Ben share 40 pens. How many does Ben get?"
PARAPHRASE = "Ann and Ben lampoon 40 pens. How many does Ben get?"


class Answer(NamedTuple):
    question_places: tuple[Place, ...]
    paraphrase_places: tuple[Place, ...]
    kind: EvidenceKind = EvidenceKind.INCOHERENT
    log_odds: float = -2.0


def place(text, words, fault=1.0):
    start = text.index(words)
    return Place(start, start + len(words), fault)


def found(here, there):
    answer = Answer(tuple(place(QUESTION, *each) for each in here), tuple(place(PARAPHRASE, *each) for each in there))
    finding = judge_finding(prepare_pair(QUESTION, PARAPHRASE), answer)
    marked = [QUESTION[slice(*span)] for span in finding.question_spans]
    return marked, [PARAPHRASE[slice(*span)] for span in finding.paraphrase_spans], finding.message


def test_the_spaces_around_a_token_are_not_marked():
    question, paraphrase, message = found([(" share",)], [(" lampoon",), (" 40",)])
    assert question == ["share"] and paraphrase == ["lampoon 40"]
    assert message.endswith('the original says "share"; the paraphrase says "lampoon 40".')


def test_a_part_of_a_word_marks_the_whole_word():
    assert found([("hare",)], [(" lamp",)])[:2] == (["share"], ["lampoon"])


def test_spaces_and_full_stops_alone_are_not_marked():
    assert found([(" ",), (". ",)], [(" lampoon",)])[:2] == ([], ["lampoon"])


def test_without_a_likely_place_the_worst_one_is_marked():
    assert found([(" share", -3.0)], [(" lampoon", -1.0), (" pens", -2.0)])[:2] == ([], ["lampoon"])


def test_a_long_word_is_looked_at_once():
    """For every token, all of the word was looked at: a Chinese text of 20,000 characters took half a minute."""
    texts = ["字" * size for size in (500, 2000)]
    every = [[Place(start, start + 1, 1.0 + start) for start in range(len(text))] for text in texts]
    assert merged_spans(texts[0], every[0]) == ((0, 500),)
    assert calls(merged_spans, texts[1], every[1]) < 5 * calls(merged_spans, texts[0], every[0])

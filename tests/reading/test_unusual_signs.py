"""Unusual hyphens and zero-width characters are read as a person sees them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paraqd import Scorer, read


@pytest.mark.parametrize("sign", ["\u2010", "\u2011"])
def test_a_hyphen_is_read_as_a_hyphen(sign):
    text = f"A 5{sign}day trip for twenty{sign}five boys. How many in all?"
    problem = read(text)
    assert [(q.value, q.unit) for q in problem.quantities] == [(5, "day"), (25, None)]
    assert problem.quantities[0].surface == f"5{sign}day" == text[slice(*problem.quantities[0].span)]
    assert problem.text == text


@pytest.mark.parametrize("sign", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad"])
def test_a_character_without_width_is_not_read(sign):
    text = f"{sign}Tom has 4{sign}5 k{sign}m to{sign} go. How many ho{sign}urs is that?{sign}"
    problem = read(text)
    (quantity,) = problem.quantities
    assert (quantity.value, quantity.unit) == (Fraction(45), "kilometre")
    assert quantity.surface == f"4{sign}5 k{sign}m" == text[quantity.start : quantity.end]
    assert text[slice(*quantity.number_span)] == f"4{sign}5"
    assert text[slice(*quantity.unit_span)] == f"k{sign}m"
    assert [text[e.start : e.end] for e in problem.entities] == ["Tom"]
    assert problem.question.target == "hours"
    for part in (*problem.sentences, *problem.entities, *problem.questions):
        assert part.text == text[part.start : part.end]
    assert [token.text for token in problem.tokens[:5]] == ["Tom", "has", "45", "km", "to"]
    assert text[problem.tokens[2].start : problem.tokens[2].end] == f"4{sign}5"


def test_scores_do_not_depend_on_them():
    scorer = Scorer.load()
    question = "A 12-day trip costs 45 dollars. How much are two trips?"
    plain = scorer.score(question, "A trip of 12-days costs 54 dollars. How much are two trips?")
    paraphrase = "A trip of 12\u2010days costs 5\u200b4 dollars\u200b. How much are two trips?"
    verdict = scorer.score(question, paraphrase)
    assert verdict.score == plain.score and not verdict.valid
    assert paraphrase[slice(*verdict.evidence[0].paraphrase_spans[0])].startswith("5\u200b4")
    assert scorer.score(question, question.replace("-", "\u2010").replace("trip", "tr\u00adip")).score == 1.0

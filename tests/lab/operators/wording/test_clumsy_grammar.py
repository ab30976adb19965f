"""Break the grammar."""

from __future__ import annotations

from paraqd.lab.operators import Resources, derive_rng
from paraqd.lab.operators import get as get_operator
from paraqd.reading import read, same_quantities


def outputs(name, text, times=20):
    operator = get_operator(name)
    made = [operator.apply(read(text), derive_rng(n, "a", name), Resources()) for n in range(times)]
    return {text for text in made if text is not None}


def test_clumsy_grammar_keeps_the_numbers_and_the_question():
    text = "A train travels 120 km in the first 2 hours, and then it stops. How many kilometres does it travel an hour?"
    made = outputs("ClumsyGrammar", text, times=40)
    assert len(made) > 10
    for each in made:
        assert each != text
        assert same_quantities(read(text).quantities, read(each).quantities)
        assert read(each).question is not None

"""Annotated formulas are computed, and whatever cannot be is left alone."""

import pytest

from paraqd.lab.corpora.mathqa_formula import compute


@pytest.mark.parametrize(
    ("annotated", "formula", "answer"),
    [
        ("add(2, 3)", "2 + 3", "5"),
        ("subtract(10, add(2, 3))", "10 - ( 2 + 3 )", "5"),
        ("subtract(subtract(10, 2), 3)", "10 - 2 - 3", "5"),
        ("divide(12, multiply(2, 3))", "12 / ( 2 * 3 )", "2"),
        ("multiply(add(1, 2), divide(10, const_100))", "( 1 + 2 ) * 10 / 100", "0.3"),
        ("power(add(1, 2), const_2)", "( 1 + 2 ) ^ 2", "9"),
        ("power(power(2, 3), 2)", "( 2 ^ 3 ) ^ 2", "64"),
        ("multiply(2, -3.5)", "2 * -3.5", "-7"),
        ("sqrt(add(9, 16))", "sqrt(9 + 16)", "5"),
        ("multiply(circle_area(1), 1)", "circle_area(1) * 1", "3.14"),
        ("speed(120, const_0_5)", "120 / 0.5", "240"),
        ("divide(factorial(5), gcd(12, 8))", "factorial(5) / gcd(12, 8)", "30"),
        ("divide(1, 0.127)", "1 / 0.127", "7.87"),
    ],
)
def test_computed(annotated, formula, answer):
    assert compute(annotated) == (formula, answer)


@pytest.mark.parametrize(
    "annotated",
    [
        "",
        "5",
        "const_100",
        "add(2, 3",
        "add(2, 3))",
        "add(2)",
        "add(2, 3) 4",
        "add(, 3)",
        "add(n0, 3)",
        "divide(2, 0)",
        "sqrt(-4)",
        "factorial(1000000)",
        "factorial(2.5)",
        "choose(2, 1000000000)",
        "power(10, 400)",
        "power(10, 99)",
        "power(-8, 0.5)",
        "no_such_operation(2, 3)",
        "__import__(os)",
        "add(2; 3)",
        "add(" * 5000 + "1, 2" + ")" * 5000,
    ],
)
def test_what_cannot_be_computed(annotated):
    assert compute(annotated) is None


@pytest.mark.parametrize(
    "annotated", ["subtract(9, subtract(5, 2))", "divide(8, divide(4, 2))", "add(1, multiply(2, 3))"]
)
def test_the_notation_means_what_was_computed(annotated):
    formula, answer = compute(annotated)
    assert eval(formula) == float(answer)

"""Evaluate MathQA's annotated formulas, which are nested function calls, without using ``eval``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

_TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|(-?\d+(?:\.\d+)?)|([(),]))")
_DEPTH = 40
_LARGEST = 1e15  # a larger value indicates an error in the annotation
_CONSTANTS = {"const_pi": math.pi, "const_deg_to_rad": math.pi / 180}
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


class _Value(NamedTuple):
    number: float
    text: str
    binding: int = _ATOM


class _Flaw(Exception):
    pass


_INFIX: Mapping[str, tuple[str, int, Callable[[float, float], float]]] = {
    "add": ("+", _SUM, lambda a, b: a + b),
    "subtract": ("-", _SUM, lambda a, b: a - b),
    "multiply": ("*", _PRODUCT, lambda a, b: a * b),
    "divide": ("/", _PRODUCT, lambda a, b: a / b),
    "speed": ("/", _PRODUCT, lambda a, b: a / b),
    "power": ("^", _POWER, math.pow),
}
_ONE: Mapping[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "negate": lambda a: -a,
    "inverse": lambda a: 1 / a,
    "floor": math.floor,
    "factorial": lambda a: math.factorial(_whole(a, most=17)),
    "square_area": lambda a: a * a,
    "square_perimeter": lambda a: 4 * a,
    "circle_area": lambda a: math.pi * a * a,
    "circumface": lambda a: 2 * math.pi * a,
    "volume_cube": lambda a: a**3,
}
_TWO: Mapping[str, Callable[[float, float], float]] = {
    "max": max,
    "min": min,
    "gcd": lambda a, b: math.gcd(_whole(a), _whole(b)),
    "lcm": lambda a, b: math.lcm(_whole(a), _whole(b)),
    "reminder": math.fmod,  # the corpus uses this spelling for the remainder
    "choose": lambda a, b: math.comb(_whole(a, most=1000), _whole(b, most=1000)),
    "permutation": lambda a, b: math.perm(_whole(a, most=1000), _whole(b, most=1000)),
    "rectangle_area": lambda a, b: a * b,
    "rectangle_perimeter": lambda a, b: 2 * (a + b),
    "triangle_area": lambda a, b: a * b / 2,
}


def compute(annotated: str) -> tuple[str, str] | None:
    """Return an annotated formula in the usual notation and its value, or None if the formula cannot be evaluated.

    The value is rounded to two decimal places. Some formulas in the corpus are wrong, and so are their values.

    >>> compute("divide(subtract(50, const_2), add(n0, 4))") is None  # n0 has no value
    True
    >>> compute("divide(subtract(50, const_2), add(4, const_0_25))")
    ('( 50 - 2 ) / ( 4 + 0.25 )', '11.29')
    >>> compute("choose(5, 2)")
    ('choose(5, 2)', '10')
    """
    try:
        tokens = _tokens(annotated)
        value = _expression(tokens, 0)
        if tokens or (value.binding == _ATOM and "(" not in value.text):
            return None  # there is text after the formula, or the formula is only a number
        return value.text, _shown(value.number)
    except (_Flaw, ArithmeticError, ValueError):
        return None


def _tokens(text: str) -> list[str]:
    """Return the tokens of a formula in reverse order so that they can be popped from the end of the list."""
    tokens, position = [], 0
    text = text.strip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise _Flaw
        tokens.append(found.group().strip())
        position = found.end()
    return tokens[::-1]


def _take(tokens: list[str], expected: str | None = None) -> str:
    if not tokens or (expected is not None and tokens[-1] != expected):
        raise _Flaw
    return tokens.pop()


def _expression(tokens: list[str], depth: int) -> _Value:
    if depth > _DEPTH:
        raise _Flaw
    token = _take(tokens)
    if not (token[0].isalpha() or token[0] == "_"):
        number = float(token)  # raises a ValueError for a bracket or a comma
        return _Value(number, token)
    if not tokens or tokens[-1] != "(":
        return _constant(token)
    _take(tokens, "(")
    arguments = [_expression(tokens, depth + 1)]
    while tokens and tokens[-1] == ",":
        _take(tokens)
        arguments.append(_expression(tokens, depth + 1))
    _take(tokens, ")")
    value = _call(token.lower(), arguments)
    if not math.isfinite(value.number) or abs(value.number) > _LARGEST:
        raise _Flaw
    return value


def _constant(name: str) -> _Value:
    """Return the value of one of the corpus's constants, such as const_100, const_0_25 (0.25) or const_pi."""
    if name in _CONSTANTS:
        return _Value(_CONSTANTS[name], name.removeprefix("const_"))
    if not name.startswith("const_"):
        raise _Flaw
    text = name.removeprefix("const_").replace("_", ".", 1)
    return _Value(float(text), text)


def _call(name: str, arguments: list[_Value]) -> _Value:
    numbers = [argument.number for argument in arguments]
    if name in _INFIX and len(arguments) == 2:
        sign, binding, function = _INFIX[name]
        left, right = arguments
        # a - (b + c) and a / (b * c) need brackets, but a + b + c does not; compound operands of a power need brackets
        left_text = _bracketed(left, binding + (binding == _POWER))
        right_text = _bracketed(right, binding + (sign in "-/^"))
        return _Value(function(*numbers), f"{left_text} {sign} {right_text}", binding)
    text = f"{name}({', '.join(argument.text for argument in arguments)})"
    if name in _ONE and len(arguments) == 1:
        return _Value(_ONE[name](numbers[0]), text)
    if name in _TWO and len(arguments) == 2:
        return _Value(_TWO[name](numbers[0], numbers[1]), text)
    raise _Flaw


def _bracketed(value: _Value, least: int) -> str:
    return value.text if value.binding >= least else f"( {value.text} )"


def _whole(number: float, *, most: int = 10**12) -> int:
    if number != int(number) or not 0 <= number <= most:
        raise _Flaw
    return int(number)


def _shown(number: float) -> str:
    rounded = round(number, 2)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)

"""Check paraphrases in promptfoo with a Python assertion.

Write a file ``paraphrase.py`` beside ``promptfooconfig.yaml`` with one line::

    from paraqd.integrations.promptfoo_assertion import get_assert

and name it in the configuration::

    prompts: ["Rewrite this word problem in other words: {{question}}"]
    tests:
      - vars: {question: "Ann has 5 pens and buys 3 more. How many pens has she now?"}
        assert:
          - type: python
            value: file://paraphrase.py
            config: {threshold: 0.5}

``config`` may contain ``question_var``, the variable with the question (default: ``question``), and ``model``,
``mode``, ``threshold``, ``skip`` and ``judge``, which are passed to `paraqd.Scorer.load`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paraqd.errors import ArgumentError
from paraqd.integrations.scorer_handle import cached_handle, reason_of
from paraqd.runs.score import Model
from paraqd.scoring.verdict import Verdict, probability_of

# the options with their types
_OPTIONS: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "model": ("a text", (str,)),
    "mode": ("a text", (str,)),
    "threshold": ("a number without quotes", (int, float)),
    "skip": ("true or false", (bool,)),
    "judge": ("a text", (str,)),
}


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return promptfoo's grading of an output: ``pass``, ``score`` and ``reason``.

    ``score`` is the probability that the paraphrase is valid. In the mode ``encoder``, it is the
    cosine, but not below 0.

    >>> question = "Ann has 5 pens. How many?"
    >>> context = {"vars": {"question": question}, "config": {"model": "reading"}}
    >>> graded = get_assert("Ann has 6 pens. How many?", context)
    >>> graded["pass"], graded["reason"]
    (False, 'A number changed: "5" became "6".')
    """
    config = dict(context.get("config") or {})
    variable = config.pop("question_var", "question")
    variables = context.get("vars") or {}
    if variable not in variables:
        names = ", ".join(variables) or "none"
        raise ArgumentError(f"the test has no variable {variable!r} (its variables: {names}): set config.question_var")
    for name, value in config.items():
        if name not in _OPTIONS:
            raise ArgumentError(f"config has an unknown key {name!r}: choose question_var, {', '.join(_OPTIONS)}")
        what, types = _OPTIONS[name]
        if value is not None and (not isinstance(value, types) or (isinstance(value, bool) and bool not in types)):
            raise ArgumentError(f"config.{name} is {value!r}: write {what}")
    handle = cached_handle(Model(**{name: value for name, value in config.items() if value is not None}))
    (verdict,) = handle.verdicts([variables[variable]], [output])
    reason = reason_of(verdict, handle.scorer.threshold)
    if not isinstance(verdict, Verdict):
        return {"pass": False, "score": 0.0, "reason": reason}
    score = probability_of(verdict.score) if handle.model.mode == "fused" else max(0.0, verdict.score)
    return {"pass": verdict.valid, "score": score, "reason": reason}

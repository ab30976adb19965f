"""Name the styles in which a paraphrasing generator writes, and put a style into its input."""

from __future__ import annotations

STYLES = ("close", "plain", "short", "engaging", "ornate", "exam")
NO_STYLE = "close"  # the style if none is wanted: small models make the fewest mistakes close to the question


def styled(question: str, style: str) -> str:
    r"""Return the input of a paraphrasing generator: the style, followed by the question.

    >>> styled("Tom has 5 pens.", "plain")
    'plain\nProblem: Tom has 5 pens.'
    """
    return f"{style}\nProblem: {question}"

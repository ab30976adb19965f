"""Name the styles in which a paraphrasing generator writes, and put a style into its input."""

from __future__ import annotations

STYLES = ("close", "plain", "short", "engaging", "ornate", "exam")
# The styles if none is wanted. Small models make the fewest mistakes in them, because they learn them from rules.
FAITHFUL = ("close", "exam")


def styled(question: str, style: str) -> str:
    r"""Return the input of a paraphrasing generator: the style, followed by the question.

    >>> styled("Tom has 5 pens.", "plain")
    'plain\nProblem: Tom has 5 pens.'
    """
    return f"{style}\nProblem: {question}"

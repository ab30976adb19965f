"""Say what an endpoint is asked to do."""

from __future__ import annotations

TASK = (
    "You rewrite math word problems. A rewrite must ask the same problem with the same answer: keep every number, "
    "unit, name, condition and the question itself. Change the wording and the order of words as much as you can. "
    "Answer with a JSON array of strings and nothing else."
)
# what a style means; other styles are passed on as they are
_STYLES = {
    "plain": "plain, short sentences with common words",
    "engaging": "lively and engaging, as a story for children, without new numbers",
    "exam": "formal, as in an examination paper",
    "formal": "formal and precise",
    "casual": "casual, as one would say it to a friend",
}


def request(question: str, style: str, count: int) -> str:
    r"""Return the request for a question.

    >>> request("How many?", "exam", 2)
    'Write 2 different rewrites of this problem. Style: formal, as in an examination paper.\n\nHow many?'
    """
    manner = f" Style: {_STYLES.get(style, style)}." if style else ""
    return f"Write {count} different rewrites of this problem.{manner}\n\n{question}"

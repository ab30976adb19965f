"""Delete numbers as in the published outputs of f8."""

from __future__ import annotations

from paraqd.lab.operators.numbers.number_deletion import NumberDeletion


class NumberRemoval(NumberDeletion):
    """Delete one or two numbers without replacing them.

    According to the paper, f8 either deletes a number or replaces it with a vague word. In the published outputs of the
    paper's code, however, f8 always deletes the number.
    """

    name = "NumberRemoval"
    paper_id = None
    vague = ("",)

"""Delete numbers as the published outputs of f8 do."""

from __future__ import annotations

from paraqd.operators.numbers.number_deletion import NumberDeletion


class NumberRemoval(NumberDeletion):
    """Delete one or two numbers without putting a vague word in their place.

    In the paper, f8 replaces a number with "some" or "many", or deletes it. In the published outputs of the paper's
    code, every affected number is deleted.
    """

    name = "NumberRemoval"
    paper_id = None
    vague = ("",)

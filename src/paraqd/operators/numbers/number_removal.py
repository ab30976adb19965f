"""Delete numbers, as the published outputs of f8 do."""

from __future__ import annotations

from paraqd.operators.numbers.number_deletion import NumberDeletion


class NumberRemoval(NumberDeletion):
    """Deletes one or two numbers and never puts a vague word in their place.

    The paper lets f8 replace a number by "some" or "many" or delete it. In the published outputs of its code every
    number is deleted.
    """

    name = "NumberRemoval"
    paper_id = None
    vague = ("",)

"""Pairs written by hand: the format, and the files that come with the package."""

from __future__ import annotations

import pytest

from paraqd.data.synthetic import block_pairs, hand_blocks, read_blocks

TEXT = """
Q: Ann has 5 pens and Bob has 3. How many more has Ann?
V: Bob has 3 pens, Ann 5. How many more are hers?
V: How many more pens has Ann than Bob, if he has three and she has five?
X number_changed: Bob has 5 pens, Ann 3. How many more are hers? | 5 ; 3 | 5 ; 3
X question_lost: Bob has 3 pens, Ann 5. | How many more has Ann? |
"""


def test_a_block_makes_pairs_with_the_problem_and_among_its_paraphrases():
    pairs = list(block_pairs(read_blocks(TEXT, "t")))
    assert sum(pair.label for pair in pairs) == 4  # each with the problem, and both ways with each other
    assert sum(not pair.label for pair in pairs) == 6  # each fault beside three valid texts
    changed = next(pair for pair in pairs if pair.kind == "number_changed" and pair.source == "hand")
    assert [changed.question[a:b] for a, b in changed.question_spans] == ["5", "3"]
    assert [changed.paraphrase[a:b] for a, b in changed.paraphrase_spans] == ["5", "3"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("V: no problem stands here.", "not with Q:"),
        ("Q: A.\nX number_gone: B. | A | B", "cannot read"),
        ("Q: A.\nW: B.", "cannot read"),
    ],
)
def test_what_cannot_be_read_is_named(text, told):
    with pytest.raises(ValueError, match=told):
        list(read_blocks(text, "t"))


def test_every_block_of_the_package_is_whole():
    blocks = hand_blocks()
    assert len({block.id for block in blocks}) == len(blocks) > 1000
    for block in blocks:
        texts = [block.question, *block.valid, *(each.text for each in block.invalid)]
        assert block.valid, block.id
        assert len(set(texts)) == len(texts), block.id
        for each in block.invalid:
            assert each.spans or each.question_spans, (block.id, each.text)

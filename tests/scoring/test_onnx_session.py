"""Rows that go through a model together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paraqd.scoring.onnx_session import batches_of, usable_cores


@given(st.lists(st.integers(1, 320), max_size=60), st.integers(1, 2000))
def test_every_row_is_in_one_batch_of_rows_of_its_length(lengths, tokens):
    batches = list(batches_of(lengths, tokens))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[number] for number in batch}) == 1
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= tokens


def test_there_is_a_core():
    assert 1 <= usable_cores() <= 16

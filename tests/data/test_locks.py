"""One writer at a time."""

import pytest

from paraqd.data.locks import locked


def test_a_file_is_held_until_it_is_closed(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "lock"
    with open(path, "wb") as first:
        assert locked(first)
        with open(path, "wb") as second:
            assert not locked(second)
    with open(path, "wb") as third:
        assert locked(third)

"""One process at a time holds a lock."""

import subprocess
import sys

import pytest

from paraqd.tables.locks import HeldError, exclusive, try_lock


def test_a_file_is_held_until_it_is_closed(tmp_path):
    path = tmp_path / "lock"
    with open(path, "wb") as first:
        assert try_lock(first)
        with open(path, "wb") as second:
            assert not try_lock(second)
    with open(path, "wb") as third:
        assert try_lock(third)


def test_another_process_waits_for_its_turn(tmp_path):
    path, log = tmp_path / "new folder" / "lock", tmp_path / "log"
    code = f"from pathlib import Path; from paraqd.tables.locks import exclusive\nwith exclusive(Path({str(path)!r})): "
    code += f"Path({str(log)!r}).write_text('done')"
    with exclusive(path):
        other = subprocess.Popen([sys.executable, "-c", code])
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(1)
        assert not log.exists()
        with pytest.raises(HeldError, match="another process holds"), exclusive(path, wait=False):
            pass
    assert other.wait(30) == 0 and log.read_text() == "done"

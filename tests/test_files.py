"""Test the functions for files that all rooms share."""

import hashlib
import os
import stat
import sys

import pytest

from paraqd.files import atomic_write, sha256_of
from paraqd.tables.formats import CannotWriteError, DamagedError, TableError, clear_errors
from paraqd.tables.writers import replacing


def test_the_hash_of_a_file(tmp_path):
    (tmp_path / "a").write_bytes(b"five")
    assert sha256_of(tmp_path / "a") == hashlib.sha256(b"five").hexdigest()


def test_a_file_is_replaced_only_if_the_block_succeeds(tmp_path):
    path, temporary = tmp_path / "a", tmp_path / ".a.writing"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_write(path, temporary):
        temporary.write_text("new")
        raise ZeroDivisionError
    assert path.read_text() == "old" and not temporary.exists()
    with atomic_write(path, temporary):
        temporary.write_text("new")
    assert path.read_text() == "new" and not temporary.exists()


def test_the_target_of_a_symbolic_link_is_replaced(tmp_path):
    target, link = tmp_path / "disk" / "real.csv", tmp_path / "out.csv"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link, beside=tmp_path) as temporary:
        assert temporary.parent == target.parent, "a file on another disk could not be renamed"
        temporary.write_text("new")
    assert link.is_symlink() and target.read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["real.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other pipes")
def test_only_a_regular_file_is_replaced(tmp_path):
    pipe, link, temporary = tmp_path / "pipe", tmp_path / "link", tmp_path / ".writing"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(FileExistsError, match="a pipe or a device"), atomic_write(path, temporary):
            temporary.write_text("new")
    with pytest.raises(CannotWriteError, match="it is a pipe or a device; choose another name"), replacing(link):
        pass
    assert stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink() and not temporary.exists()


@pytest.mark.parametrize(
    ("error", "verb", "kind", "line"),
    [
        (FileNotFoundError(2, "No such file"), "read", TableError, "there is no file in.csv"),
        (FileNotFoundError(2, "No such file"), "write", CannotWriteError, "cannot write in.csv: No such file"),
        (EOFError(), "read", DamagedError, "in.csv is cut off"),
        (EOFError(), "write", EOFError, ""),
        (PermissionError(13, "Permission denied"), "read", TableError, "cannot read in.csv: Permission denied"),
    ],
)
def test_errors_become_one_line(error, verb, kind, line):
    with pytest.raises(kind) as caught, clear_errors("in.csv", verb):
        raise error
    assert type(caught.value) is kind and str(caught.value).startswith(line)

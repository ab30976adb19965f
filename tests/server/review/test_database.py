import os
import sqlite3
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from paraqd.server.review.database import open_database
from paraqd.server.review.errors import StorageError
from paraqd.server.review.tables import metadata


def test_migrations_make_the_described_tables(database):
    with database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_a_database_is_opened_again(database, address, make):
    make(1)
    again = open_database(address)
    with again.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM pairs")).scalar_one() == 1
    again.close()


def test_a_reader_sees_one_state_of_the_database(database, make):
    make(1)
    count = text("SELECT count(*) FROM pairs")
    with database.reading() as connection:
        assert connection.execute(count).scalar_one() == 1
        make(2)
        assert connection.execute(count).scalar_one() == 1
    with database.reading() as connection:
        assert connection.execute(count).scalar_one() == 3


def test_a_database_of_a_newer_version_is_refused(database, address):
    set_version(database, "9999")
    try:
        with pytest.raises(StorageError, match=r"newer version of paraqd .*upgrade paraqd"):
            open_database(address)
    finally:
        set_version(database, "0001")


def set_version(database, version):
    statement = text("UPDATE alembic_version SET version_num = :version")
    database.write(lambda connection: connection.execute(statement, {"version": version}))


def test_sqlite_is_set_up_for_several_readers_and_safe_commits(tmp_path):
    database = open_database(tmp_path / "new" / "review.sqlite")
    with database.reading() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 20_000}
    database.close()


def test_processes_that_start_together_make_the_tables_once(tmp_path):
    path = tmp_path / "review.sqlite"
    program = f"from paraqd.server.review.database import open_database; open_database({str(path)!r}).close()"
    started = [subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate(timeout=60)[1] for process in started] == [b""] * 4
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("mysql://localhost/review", "cannot be read|use the path of an SQLite file"),
        ("nonsense://x", "use the path of an SQLite file"),
        ("sqlite:///:memory:", "would lose all decisions"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "cannot use the database .*nobody:\\*\\*\\*@"),
    ],
)
def test_an_unusable_url_gives_one_line_without_the_password(given, message):
    with pytest.raises(StorageError, match=message) as caught:
        open_database(given)
    assert "\n" not in str(caught.value) and "secret" not in str(caught.value)


def test_a_file_that_is_no_database_gives_one_line(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, not a database. " * 100)
    with pytest.raises(StorageError, match="file is not a database"):
        open_database(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match="unable to open"):
        open_database(tmp_path / "folder")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_gives_one_line(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match=r"cannot create the folder|unable to open"):
        open_database(tmp_path / "new" / "review.sqlite")

"""Open the database, upgrade its tables, and run transactions."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError, SQLAlchemyError

from paraqd.server.review.errors import StorageError

_Result = TypeVar("_Result")

MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_SECONDS = 20
_TRIES = 8
_MIGRATION_LOCK = 0x70617261  # the number of the advisory lock in PostgreSQL
# SQLSTATE codes of PostgreSQL after which a transaction can be repeated: serialization failure and deadlock
_REPEATABLE = ("40001", "40P01")


@dataclass(frozen=True)
class Database:
    """A database whose tables have the current version.

    Attributes
    ----------
    url : str
        The URL without a password, for messages.

    """

    url: str
    engine: Engine

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that only reads. It sees one state of the database."""
        with self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":  # its default shows every statement another state
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def write(self, work: Callable[[Connection], _Result]) -> _Result:
        """Run a function in a transaction, and commit it. Repeat it if the database was busy.

        When this method returns, the changes are on disk.
        """
        for attempt in range(_TRIES):
            try:
                with self.engine.connect().execution_options(paraqd_write=True) as connection, connection.begin():
                    return work(connection)
            except DBAPIError as error:
                if attempt == _TRIES - 1 or not _can_repeat(error):
                    raise
            time.sleep(random.uniform(0.01, 0.05) * (attempt + 1))
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def insert_into(connection: Connection, table: Any) -> Any:
    """Return an INSERT statement of the connection's dialect, which offers ``on_conflict_do_update``."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


def default_database() -> str:
    """Return the URL of the SQLite file in the user's data folder."""
    from platformdirs import user_data_path

    return sqlite_url(user_data_path("paraqd") / "review.sqlite")


def sqlite_url(path: str | Path) -> str:
    """Return the URL of an SQLite file.

    >>> sqlite_url("/srv/review.sqlite")
    'sqlite:////srv/review.sqlite'
    """
    return f"sqlite:///{Path(path)}"


def database_url(given: str | Path | None) -> str:
    """Return the URL of a database that a user names by a file, by a URL or not at all.

    >>> database_url("postgresql://localhost/review"), database_url("/srv/review.sqlite")
    ('postgresql+psycopg://localhost/review', 'sqlite:////srv/review.sqlite')
    """
    if not given:
        return default_database()
    text_ = str(given)
    if "://" not in text_:
        return sqlite_url(text_)
    scheme, rest = text_.split("://", 1)
    return f"postgresql+psycopg://{rest}" if scheme in ("postgresql", "postgres") else text_


def open_database(given: str | Path | None = None) -> Database:
    """Open a database, and create or upgrade its tables.

    Parameters
    ----------
    given : str or Path, optional
        A URL of PostgreSQL or SQLite, or the path of an SQLite file (default: a file in the user's data folder).

    Raises
    ------
    StorageError
        If the database cannot be reached, or if a newer version of paraqd made it.

    """
    address = database_url(given)
    try:
        url = make_url(address)
        shown = url.render_as_string(hide_password=True)
        if url.get_backend_name() not in ("sqlite", "postgresql"):
            raise StorageError(f"{shown}: use the path of an SQLite file or a URL like postgresql://user@host/name")
        if url.get_backend_name() == "sqlite":
            engine = _sqlite_engine(address, url.database)
        else:
            engine = create_engine(url, pool_size=10, max_overflow=30, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError):
        raise StorageError(
            "the database's URL cannot be read: use the path of an SQLite file or a URL like postgresql://user@host/name"
        ) from None
    except ModuleNotFoundError as error:
        raise StorageError(
            f"{error.name} is not installed (needed for PostgreSQL): pip install 'psycopg[binary]'"
        ) from None
    database = Database(shown, engine)
    try:
        database.write(_upgrade)
    except StorageError:
        engine.dispose()
        raise
    except (SQLAlchemyError, sqlite3.Error) as error:
        engine.dispose()
        cause = getattr(error, "orig", None) or error
        raise StorageError(f"cannot open the database {shown}: {' '.join(str(cause).split())}") from None
    return database


def _sqlite_engine(address: str, path: str | None) -> Engine:
    if not path or path == ":memory:":
        raise StorageError("an SQLite database in memory would lose all decisions: name a file")
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot create the folder of the database {path}: {error.strerror}") from None
    engine = create_engine(
        address, pool_size=10, max_overflow=30, connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False}
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Set up a new connection: readers do not wait for writers, and a commit is on disk when it returns."""
    connection.isolation_level = None  # otherwise, Python's module would begin transactions by itself
    for attempt in range(_TRIES):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError:  # another process is creating the file
            if attempt == _TRIES - 1:
                raise
            time.sleep(0.05 * (attempt + 1))
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA mmap_size=268435456")  # searching reads the whole table
    connection.execute("PRAGMA case_sensitive_like=ON")  # as in PostgreSQL; the searched texts are in lower case


def _begin_sqlite(connection: Connection) -> None:
    # a transaction that will write asks for the lock at once; it could not get it later without starting again
    write = connection.get_execution_options().get("paraqd_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _can_repeat(error: DBAPIError) -> bool:
    if isinstance(error, OperationalError) and "locked" in str(error.orig):
        return True
    return getattr(error.orig, "sqlstate", None) in _REPEATABLE


def _upgrade(connection: Connection) -> None:
    """Bring the tables to the current version. Other processes wait until this is done."""
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MIGRATION_LOCK})
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = set(MigrationContext.configure(connection).get_current_heads())
    if found - known:
        raise StorageError(
            f"a newer version of paraqd made the database {connection.engine.url.render_as_string()}: upgrade paraqd, "
            "or choose another database"
        )
    command.upgrade(config, "head")

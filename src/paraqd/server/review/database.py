"""Open the database, upgrade its tables, and run transactions."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy import exc as sql_errors
from sqlalchemy.dialects import postgresql, sqlite

from paraqd.server.review.errors import StorageError

_Result = TypeVar("_Result")

MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_SECONDS = 20  # how long a transaction waits for others
_TRIES = 8
_CONNECT_SECONDS = 10  # how long PostgreSQL may take to accept a connection
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
    on_failure : callable
        Told, in the thread where it happens, that the database cannot be used.

    """

    url: str
    engine: Engine
    on_failure: Callable[[StorageError], None] = lambda error: None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that only reads. It sees one state of the database.

        Raises
        ------
        StorageError
            If the database cannot be used now. All methods raise it.

        """
        with self._clear_errors(), self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":  # its default shows every statement another state
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def write(self, work: Callable[[Connection], _Result]) -> _Result:
        """Run a function in a transaction, and commit it. Repeat it if the database was busy.

        When this method returns, the changes are on disk.
        """
        end = monotonic() + _BUSY_SECONDS
        with self._clear_errors():
            for attempt in range(_TRIES):
                try:
                    with self.engine.connect().execution_options(paraqd_write=True) as connection, connection.begin():
                        return work(connection)
                except sql_errors.DBAPIError as error:
                    if attempt == _TRIES - 1 or monotonic() > end or not _can_repeat(error):
                        raise
                time.sleep(random.uniform(0.01, 0.05) * (attempt + 1))
        raise AssertionError("unreachable")

    def check(self, *, thorough: bool = False) -> None:
        """Raise a StorageError if nothing can be stored now. If ``thorough`` is True, store something and remove it."""

        def work(connection: Connection) -> None:
            connection.execute(text("SELECT version_num FROM alembic_version")).all()
            if thorough:
                connection.execute(text("INSERT INTO alembic_version VALUES ('check')"))
                connection.execute(text("DELETE FROM alembic_version WHERE version_num = 'check'"))

        self.write(work)

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn an error that is no fault of the statement into a StorageError, and report it."""
        try:
            yield
        except sql_errors.SQLAlchemyError as error:
            if not _is_outage(error):
                raise
            failure = StorageError(f"cannot use the database {self.url}: {cause_of(error)}")
            self.on_failure(failure)
            raise failure from None

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
            engine = _sqlite_engine(url)
        else:
            engine = _postgresql_engine(url)
    except (sql_errors.ArgumentError, sql_errors.NoSuchModuleError):
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
    except sql_errors.SQLAlchemyError as error:
        engine.dispose()
        raise StorageError(f"cannot use the database {shown}: {cause_of(error)}") from None
    return database


def _postgresql_engine(url: URL) -> Engine:
    """Return an engine that waits neither for a server that is gone nor for a lock that nobody gives back."""
    patience = {
        "connect_timeout": _CONNECT_SECONDS,
        "tcp_user_timeout": 1000 * _BUSY_SECONDS,
        "keepalives_idle": _CONNECT_SECONDS,
        "keepalives_interval": _CONNECT_SECONDS // 2,
        "keepalives_count": 2,
    }
    arguments = {name: value for name, value in patience.items() if name not in url.query}
    engine = create_engine(url, pool_size=10, max_overflow=30, pool_pre_ping=True, connect_args=arguments)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.execute(f"SET lock_timeout = '{_BUSY_SECONDS}s'")
        connection.commit()

    return engine


def _sqlite_engine(url: URL) -> Engine:
    path = url.database
    if not path or path == ":memory:":
        raise StorageError("an SQLite database in memory would lose all decisions: name a file")
    file = Path(path).absolute()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.touch()
    except OSError as error:
        raise StorageError(f"cannot create the database {path}: {error.strerror}") from None

    def connect() -> sqlite3.Connection:  # never to a new file, because the decisions are in the old one
        uri = f"{file.as_uri()}?mode=rw"
        return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False)

    engine = create_engine(url, creator=connect, pool_size=10, max_overflow=30)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)

    @event.listens_for(engine, "connect")
    def remember(_: Any, record: Any) -> None:
        record.info["file"] = _identity(file)

    @event.listens_for(engine, "checkout")
    def compare(_: Any, record: Any, __: Any) -> None:
        """Open the file again if there is another one in its place: what is written to the old one would be lost."""
        if record.info["file"] != _identity(file):
            raise sql_errors.DisconnectionError

    return engine


def _identity(file: Path) -> tuple[int, int] | None:
    """Return the disk and the number of a file, or None if there is none."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino


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


def _is_outage(error: sql_errors.SQLAlchemyError) -> bool:
    """Return True if the database is away, locked, full, damaged or read-only."""
    # an exact DatabaseError of SQLite is a damaged file; the classes that derive from it have other reasons
    return type(error) is sql_errors.DatabaseError or isinstance(
        error,
        sql_errors.OperationalError | sql_errors.InterfaceError | sql_errors.InternalError | sql_errors.TimeoutError,
    )


def cause_of(error: Exception) -> str:
    """Return the reason of an error on one line, without the statement."""
    return " ".join(str(getattr(error, "orig", None) or next(iter(error.args), type(error).__name__)).split())


def _can_repeat(error: sql_errors.DBAPIError) -> bool:
    if isinstance(error, sql_errors.OperationalError) and "locked" in str(error.orig):
        return True
    return getattr(error.orig, "sqlstate", None) in _REPEATABLE


def _upgrade(connection: Connection) -> None:
    """Bring the tables to the current version. Other processes wait until this is done."""
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL lock_timeout = 0"))
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

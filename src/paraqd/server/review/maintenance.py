"""Back up a database, and list and delete its projects, without a running server."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from paraqd.errors import OutputExistsError
from paraqd.files import atomic_write
from paraqd.server.review import projects
from paraqd.server.review.database import Database, database_url, open_database
from paraqd.server.review.errors import NotFound, StorageError


def back_up(database: str | Path | None, out: Path, *, overwrite: bool = False) -> Path:
    """Copy an SQLite database to a file while the server may go on working.

    Parameters
    ----------
    database : str or Path, optional
        The database, as in `paraqd.server.review.database.open_database`.
    out : Path
        The copy. It is complete, or it does not exist.
    overwrite : bool
        Replace the file if it exists.

    Raises
    ------
    StorageError
        If there is no such database, or if it is not an SQLite database.

    """
    source = _sqlite_file(database)
    if out.exists() and not overwrite:
        raise OutputExistsError(f"{out} already exists: pass --overwrite to replace it, or choose another name")
    if not out.parent.is_dir():
        raise StorageError(f"cannot write {out}: there is no folder {out.parent}; create it first")
    temporary = out.with_name(f".{out.name}.{os.getpid()}.writing")
    try:
        with (
            atomic_write(out, temporary),
            closing(sqlite3.connect(source)) as given,
            closing(sqlite3.connect(temporary)) as copy,
        ):
            given.backup(copy)
            (result,) = copy.execute("PRAGMA integrity_check").fetchone()
            if result != "ok":
                raise StorageError(f"the copy of {source} is damaged ({result}); check the disk")
            copy.execute("PRAGMA journal_mode=DELETE")  # the copy is one file
    except sqlite3.Error as error:
        raise StorageError(f"cannot back up {source}: {error}") from None
    except OSError as error:
        raise StorageError(f"cannot write {out}: {error.strerror}") from None
    return out


def read_projects(database: str | Path | None) -> list[dict[str, Any]]:
    """Return all projects of a database, newest first."""
    with _opened(database) as found:
        return projects.list_projects(found)


def remove_project(database: str | Path | None, project: str) -> str:
    """Delete a project by its id or, if it is unique, by its name; return its name.

    Raises
    ------
    StorageError
        If there is no such project, or if several have this name.

    """
    with _opened(database) as found:
        listed = projects.list_projects(found)
        matching = [each for each in listed if each["id"] == project] or [
            each for each in listed if each["name"] == project
        ]
        if not matching:
            raise StorageError(f"there is no project {project!r}: paraqd serve projects lists them")
        if len(matching) > 1:
            ids = ", ".join(each["id"] for each in matching)
            raise StorageError(f"{len(matching)} projects have the name {project!r}: pass an id ({ids})")
        try:
            projects.delete_project(found, matching[0]["id"])
        except NotFound:
            raise StorageError(f"there is no project {project!r}: it has just been deleted") from None
        return str(matching[0]["name"])


@contextmanager
def _opened(database: str | Path | None) -> Iterator[Database]:
    """Open a database that exists."""
    if database_url(database).startswith("sqlite"):
        _sqlite_file(database)
    found = open_database(database)
    try:
        yield found
    finally:
        found.close()


def _sqlite_file(database: str | Path | None) -> Path:
    """Return the file of an SQLite database; raise a StorageError if there is none."""
    address = database_url(database)
    if not address.startswith("sqlite"):
        raise StorageError("only SQLite databases are copied to a file: use pg_dump for PostgreSQL")
    path = Path(address.partition(":///")[2])
    if not path.is_file():
        raise StorageError(f"there is no database {path}: name it with --database")
    return path

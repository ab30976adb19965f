"""What a run of ``paraqd score`` has finished, kept beside the output until that is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from paraqd.data.formats import CannotWriteError, TableError, reason
from paraqd.data.locks import locked
from paraqd.runs.score_rows import Judged
from paraqd.scoring.signature import difference

Settings = Mapping[str, Any]
_CALLED = {"columns": "choice of columns"}


def journal_path(out: str | Path) -> Path:
    """Return where the journal of an output lies.

    >>> journal_path("scored.csv").name
    'scored.csv.unfinished'
    """
    return Path(out).with_name(f"{Path(out).name}.unfinished")


class Journal:
    """One line for each finished chunk, behind a line that says what the run depends on; ``rows`` are finished.

    A TableError says that rows are there which another run has finished, unless they may be thrown away (``restart``):
    ``thrown_away`` tells of that then.
    """

    def __init__(self, path: Path, file: IO[bytes], settings: Settings, *, restart: bool = False) -> None:
        self.path = path
        self._file = file
        self.rows, end = _finished(file, settings)
        rows, other = _of_another(file, settings) if not end else (0, "")
        self.thrown_away = f"{rows:,} rows of a run with another {other} are thrown away" if rows else ""
        if rows and not restart:
            raise TableError(
                f"{path} keeps {rows:,} rows of a run with another {other}: do as that run did to go on with it, or "
                "give --restart to begin anew"
            )
        file.truncate(end)  # also a last line that a power cut left half written
        file.seek(end)
        if not end:
            self._write(settings)

    def add(self, judged: Sequence[Judged]) -> None:
        """Keep a finished chunk: after this returns it survives the end of the process."""
        self._write({"row": self.rows, "judged": judged})
        self.rows += len(judged)

    def forget(self) -> None:
        """Keep nothing: what is finished does not go with the input any more."""
        self.rows = 0

    def judged(self) -> Iterator[Judged]:
        """Yield what is found about each row, from the first on; nothing may be added meanwhile."""
        self._file.seek(0)
        next(self._file)
        for line in self._file:
            for fields in json.loads(line)["judged"]:
                yield Judged(*fields)

    def _write(self, data: Any) -> None:
        try:
            self._file.write(json.dumps(data).encode("ascii") + b"\n")
            self._file.flush()
        except OSError as error:
            raise CannotWriteError(f"cannot write {self.path}: {reason(error)}") from None


@contextmanager
def hold_journal(out: str | Path, settings: Settings, *, restart: bool = False) -> Iterator[Journal]:
    """Open the journal of an output, or go on with one of the same settings, held by this process alone.

    One of other settings is refused, or with ``restart`` begun anew. It is left where rows are finished, also when the
    process is killed; the caller removes it once the output is whole.
    """
    path = journal_path(out)
    try:
        path.touch()
        file = open(path, "r+b")  # noqa: SIM115  # closed below
    except OSError as error:
        raise TableError(f"cannot write {path}: {reason(error)}") from None
    try:
        if not locked(file):
            raise TableError(f"another run is writing {out} just now; wait for it or stop it")
        journal = Journal(path, file, settings, restart=restart)
        try:
            yield journal
        finally:
            if not journal.rows:
                path.unlink(missing_ok=True)
    finally:
        with suppress(OSError):  # what could not be written has been told
            file.close()


def _of_another(file: IO[bytes], settings: Settings) -> tuple[int, str]:
    """Return how many rows a run with other settings has finished, and in what it was another."""
    file.seek(0)
    try:
        theirs = json.loads(file.readline())
        rows, _ = _finished(file, theirs)
        names = [name for name in {**settings, **theirs} if theirs.get(name) != settings.get(name)]
        signatures = [str(of.get("signature", "")) for of in (theirs, settings)]
    except (ValueError, AttributeError, TypeError):  # nothing that is of use to anybody
        return 0, ""
    told = [_CALLED.get(name, name) for name in names if name != "signature"] + difference(*signatures)
    return rows, " and another ".join(told) or "form"


def _finished(file: IO[bytes], settings: Settings) -> tuple[int, int]:
    """Return how many rows are finished under these settings, and where in the file they end."""
    file.seek(0)
    rows = end = 0
    for number, line in enumerate(file):
        try:
            data = json.loads(line)
            whole = line.endswith(b"\n") and (data == settings if number == 0 else data["row"] == rows)
            more = 0 if number == 0 else len([Judged(*fields) for fields in data["judged"]])
        except (ValueError, KeyError, TypeError):
            break
        if not whole:
            break
        rows += more
        end += len(line)
    return rows, end

"""Write and read the parts of a run.

Every part is written atomically and contains the name of its run. A part is therefore either complete or absent, and
writing it twice does no harm.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from paraqd.runs.locations import Location
from paraqd.tables.formats import TableError, clear_errors
from paraqd.tables.table import Row
from paraqd.tables.writers import COMPRESSION, ParquetRows, Schema, Writer, arrow_schema

_KEY = b"paraqd.part"
Facts = Mapping[str, Any]


def packed(facts: Facts) -> str:
    """Return a part's counts as a short text. They can name a thousand rows."""
    return b64encode(zlib.compress(json.dumps(facts).encode())).decode()


def unpacked(text: str) -> Facts:
    """Return the counts that `packed` has packed."""
    facts: Facts = json.loads(zlib.decompress(b64decode(text)))
    return facts


@dataclass(frozen=True)
class Parts:
    """The parts of a run that does not write an output. The rows are discarded, and only the counts are used."""

    ending: ClassVar[str] = ""

    @contextmanager
    def part(self, index: int) -> Iterator[tuple[Writer, dict[str, Any]]]:
        """Yield a writer for the rows of a part, and a dictionary for its counts."""
        yield _Nothing(), {}

    def name(self, index: int) -> str:
        """Return a part's name."""
        return f"part {index}"

    def facts(self, index: int) -> Facts | None:
        """Return a finished part's counts, or None if the part is missing, incomplete or from another run."""
        return None


NO_PARTS = Parts()


class _Nothing:
    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Discard the rows."""
        for _ in rows:
            pass


@dataclass(frozen=True)
class StoredParts(Parts):
    """The parts in a folder. The object is small, because it is sent to every worker."""

    place: Location
    run: str
    digits: int

    def name(self, index: int) -> str:
        """Return a part's file name. The alphabetical order of the names is the order of the rows.

        >>> JsonParts(Location.at("out"), "", 5).name(7)
        'part-00007.jsonl'
        """
        return f"part-{index:0{self.digits}d}{self.ending}"

    def _head(self, index: int, facts: Facts) -> dict[str, Any]:
        return {"run": self.run, "part": index, "facts": facts}

    def _checked(self, index: int, head: Any) -> Facts | None:
        if not isinstance(head, dict) or (head.get("run"), head.get("part")) != (self.run, index):
            return None
        facts = head.get("facts")
        return facts if isinstance(facts, dict) else None


@dataclass(frozen=True)
class ParquetParts(StoredParts):
    """The parts of a folder output. The footer of each Parquet file contains the part's counts."""

    schema: Schema
    metadata: Mapping[str, Any]
    ending: ClassVar[str] = ".parquet"

    @contextmanager
    def part(self, index: int) -> Iterator[tuple[Writer, dict[str, Any]]]:
        """Yield a writer for the rows and a dictionary for the counts, and store the part when the block ends."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = pa.BufferOutputStream()
        facts: dict[str, Any] = {}
        schema = arrow_schema(self.schema, self.metadata)
        with pq.ParquetWriter(buffer, schema, **COMPRESSION) as file:
            writer = ParquetRows(file, schema)
            yield writer, facts
            writer.flush()
            file.add_key_value_metadata({_KEY: json.dumps(self._head(index, facts)).encode()})
        self.place.put(self.name(index), buffer.getvalue())

    def facts(self, index: int) -> Facts | None:
        """Return the counts in a part's footer, or None if the part is missing, incomplete or from another run."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            source = self.place.open(self.name(index))
            head = json.loads((pq.read_metadata(source).metadata or {}).get(_KEY, b"{}"))
        except (pa.ArrowException, OSError, ValueError):
            return None
        return self._checked(index, head)


@dataclass(frozen=True)
class JsonParts(StoredParts):
    """The parts of a file output.

    The first line of each part contains a SHA-256 hash of the other lines. The second line contains the part's counts,
    and every further line contains one row as a JSON object.
    """

    ending: ClassVar[str] = ".jsonl"

    @contextmanager
    def part(self, index: int) -> Iterator[tuple[Writer, dict[str, Any]]]:
        """Yield a writer for the rows and a dictionary for the counts, and store the part when the block ends."""
        facts: dict[str, Any] = {}
        lines = _Lines()
        yield lines, facts
        content = b"".join([json.dumps(self._head(index, facts)).encode(), b"\n", *lines.lines])
        self.place.put(self.name(index), _hash_line(content) + content)

    def facts(self, index: int) -> Facts | None:
        """Return a part's counts, or None if the part is missing, incomplete, damaged or from another run."""
        try:
            return self._checked(index, json.loads(self._lines(index)[0]))
        except (OSError, ValueError):
            return None

    def rows(self, index: int) -> Iterator[Row]:
        """Yield the rows of a finished part, or raise a TableError if the part was damaged in the meantime."""
        with clear_errors(self.place.shown(self.name(index))):
            lines = self._lines(index)
        for line in lines[1:]:
            yield json.loads(line)

    def _lines(self, index: int) -> list[bytes]:
        """Return the lines of a part after the hash, or raise a TableError if the hash is wrong."""
        first, newline, content = Path(self.place.path(self.name(index))).read_bytes().partition(b"\n")
        if first + newline != _hash_line(content):
            raise TableError(f"{self.place.shown(self.name(index))} is damaged; run the same command again")
        return content.splitlines()


def _hash_line(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"\n"


class _Lines:
    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows as JSON lines."""
        self.lines += [json.dumps(row).encode() + b"\n" for row in rows]

"""Determine a file's format from its name, and open files as bytes with clear error messages."""

from __future__ import annotations

import codecs
import errno
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, cast

from paraqd.errors import ParaqdError
from paraqd.extras import require_extra
from paraqd.parameters import named

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "standard input"


class TableError(ParaqdError, ValueError):
    """Raised when a file cannot be read or written; the one-line message says what to do."""


class CannotWriteError(TableError):
    """Raised when a file cannot be written completely. ``disk_full`` is True if there is too little space."""

    def __init__(self, message: str, *, disk_full: bool = False) -> None:
        super().__init__(message)
        self.disk_full = disk_full


class DamagedError(TableError):
    """Raised when a file is damaged; the rows before the damage can be read.

    If the rows after the damage can be read as well, ``row`` briefly describes what is wrong with the damaged row.
    """

    def __init__(self, message: str, *, row: str = "") -> None:
        super().__init__(message)
        self.row = row


class EmptyError(TableError):
    """Raised when a file is empty."""


class Format(StrEnum):
    """The format of a file; the values are file name extensions."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    XLSX = "xlsx"


class Packing(StrEnum):
    """The compression of a text file; the values are file name extensions."""

    NONE = ""
    GZIP = "gz"
    ZSTD = "zst"


@dataclass(frozen=True)
class Kind:
    """The format and the compression of a file."""

    format: Format
    packing: Packing = Packing.NONE


_ENDINGS = {
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".xlsx": Format.XLSX,
}
_PACKED = {Format.PARQUET: "Parquet", Format.XLSX: "Excel"}  # files in these formats are already compressed
_KNOWN = "use .csv, .tsv, .jsonl, .xlsx or .parquet; the first three can end in .gz or .zst"
UTF8 = ("utf-8", "utf-8-sig")
NOT_UTF8 = "not UTF-8"
SOME_ROWS = "pass a file with at least one row"
_HEAD = 4096
_MAGIC = ((b"\x1f\x8b", Packing.GZIP), (b"\x28\xb5\x2f\xfd", Packing.ZSTD))
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def kind_of(path: str | Path) -> Kind:
    """Return the format and compression that a file name implies; ``-`` (standard input) is JSONL.

    >>> kind_of("questions.csv.gz")
    Kind(format=<Format.CSV: 'csv'>, packing=<Packing.GZIP: 'gz'>)
    """
    if str(path) == STANDARD_INPUT:
        return Kind(Format.JSONL)
    endings = [ending.lower() for ending in Path(path).suffixes[-2:]]
    last = endings[-1].removeprefix(".") if endings else ""
    packing = Packing(last) if last in tuple(Packing) else Packing.NONE
    ending = "".join(endings[:-1][-1:] if packing else endings[-1:])
    if ending in _ENDINGS:
        kind = Kind(_ENDINGS[ending], packing)
        if kind.format in _PACKED and packing:
            raise TableError(
                f"{path}: {_PACKED[kind.format]} files are already compressed; remove .{packing} from the name"
            )
        return kind
    if ending in (".xls", ".xlsm", ".xlsb", ".ods", ".numbers"):
        raise TableError(
            f"{path} is a spreadsheet that paraqd cannot read or write; save it as .xlsx or as CSV (UTF-8)"
        )
    shown = ending or "no extension"
    raise TableError(f"{path}: cannot tell the format from the name ({shown}); {_KNOWN}")


def check_installed(kind: Kind) -> None:
    """Raise a MissingExtraError if the package that files of this kind need is not installed."""
    if kind.format is Format.PARQUET:
        require_extra("parquet", "Parquet files")
    elif kind.format is Format.XLSX:
        require_extra("excel", "Excel files")
    elif kind.packing is Packing.ZSTD:
        require_extra("parquet", ".zst files")


def not_regular(name: str | Path) -> TableError:
    """Return the error for a pipe or a device, which could block forever and can be read only once."""
    return TableError(
        f"{name} is not a regular file but a pipe or a device: save its contents to a file first, or pipe JSON lines "
        "into standard input (-)"
    )


def is_known(path: str | Path) -> bool:
    """Return True if a file name has a known extension.

    >>> is_known("pairs.tsv.gz"), is_known("readme.txt")
    (True, False)
    """
    try:
        kind_of(path)
    except TableError:
        return False
    return True


def reason(error: BaseException) -> str:
    """Return an error's message as a single line, without the path that Python adds."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def check_names(columns: tuple[str, ...], name: str | Path) -> tuple[str, ...]:
    """Return the column names; raise a TableError if two columns have the same name."""
    twice = sorted({column for column in columns if column and columns.count(column) > 1})
    if twice:
        raise TableError(f"{name} has the column {twice[0]!r} twice; rename one of them")
    return columns


@contextmanager
def clear_errors(path: str | Path, verb: str = "read") -> Iterator[None]:
    """Convert an error that occurs while a file is read into a TableError with a one-line message.

    If ``verb`` is not ``read``, convert an OSError into a `CannotWriteError` whose message contains the verb.
    """
    try:
        yield
    except OSError as error:
        raise _clear_error(error, path, verb) from None
    except (EOFError, zlib.error) as error:
        if verb != "read":
            raise
        raise _clear_error(error, path, verb) from None


def _clear_error(error: Exception, path: str | Path, verb: str) -> TableError:
    if verb != "read":
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return CannotWriteError(f"cannot {verb} {path}: {reason(error)}", disk_full=full)
    if isinstance(error, FileNotFoundError):
        return TableError(f"there is no file {path}; check the path")
    if isinstance(error, IsADirectoryError):
        return TableError(f"{path} is a folder; pass a file")
    if isinstance(error, EOFError):
        return DamagedError(f"{path} is cut off: the gzip data ends too early; copy or create it again")
    if isinstance(error, gzip.BadGzipFile | zlib.error):
        return DamagedError(f"{path} is not a valid gzip file ({reason(error)}); copy or create it again")
    return TableError(f"cannot read {path}: {reason(error)}")


@contextmanager
def open_bytes(path: Path, packing: Packing, name: str) -> Iterator[BinaryIO]:
    """Open a file and decompress it if necessary; concatenated compressed files are read as one file."""
    with clear_errors(name), open(path, "rb") as raw:
        if packing is Packing.GZIP:
            with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
                yield cast(BinaryIO, unpacked)
        elif packing is Packing.ZSTD:
            with io.BufferedReader(_ZstdReader(name, raw)) as buffered:
                yield cast(BinaryIO, buffered)
        else:
            yield raw


class _ZstdReader(io.RawIOBase):
    """A stream that decompresses a zstd file with pyarrow, which is also needed for Parquet files."""

    def __init__(self, name: str, raw: BinaryIO) -> None:
        import pyarrow as pa

        self._name = name
        self._stream: Any = pa.CompressedInputStream(raw, Packing.ZSTD.name.lower())

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self._stream.readinto(buffer))
        except OSError as error:
            if error.errno is not None:  # the disk failed; the data may be fine
                raise
            if "runcated" in str(error):
                problem = "is cut off: the zstd data ends too early; copy or create it again"
            else:
                problem = f"is not a valid zstd file ({reason(error)}); copy or create it again"
            raise DamagedError(f"{self._name} {problem}") from None


def text_encoding(path: Path, name: str, kind: Kind, encoding: str | None) -> str:
    """Return the encoding of a text file: ``encoding`` or, by default, the encoding that the first bytes indicate.

    Raise a TableError if the file is empty, has an unexpected compression or format, or is UTF-16 without a byte-order
    mark.
    """
    head = _head(path, kind.packing, name)
    if not head:
        raise EmptyError(f"{name} is empty; {SOME_ROWS}")
    if encoding is not None:
        found = encoding_name(encoding)
        if found not in UTF8:
            return found
    for mark, found in _BOMS:
        if head.startswith(mark):
            return found
    if packing := _packing_in(head):
        how = packing.name.lower()
        if kind.packing:
            raise TableError(f"{name} is compressed twice (with {how} inside); decompress it once")
        raise TableError(f"{name} is compressed with {how}; rename it to {name}.{packing}")
    if head.startswith((b"PAR1", b"PK\x03\x04")):
        what = "a Parquet file" if head.startswith(b"PAR1") else "a spreadsheet or a zip archive"
        raise TableError(f"{name} is {what}, not {kind.format.upper()}; rename or convert the file")
    if b"\x00" * 4 in (head[0:8:2], head[1:8:2]):  # ASCII characters that take two bytes each
        guess = "utf-16-be" if head[0] == 0 else "utf-16-le"
        raise TableError(f"{name} is not UTF-8 (every second byte is zero); try {named('encoding', guess)}")
    return "utf-8"


def encoding_name(encoding: str) -> str:
    """Return the standard name of a text encoding; raise a TableError if Python does not know the encoding.

    >>> encoding_name("Latin-1")
    'iso8859-1'
    """
    try:
        found = codecs.lookup(encoding).name
        "".encode(found)  # rot13 and base64 are codecs, but not text encodings
    except (LookupError, TypeError, ValueError):  # a name with odd characters is a ValueError
        raise TableError(f"unknown encoding {encoding!a}; try utf-8, cp1252, latin-1 or utf-16") from None
    return found


def packing_of(path: Path) -> Packing:
    """Return the compression that the first bytes of a file indicate."""
    return _packing_in(_head(path, Packing.NONE, str(path)))


def _packing_in(head: bytes) -> Packing:
    return next((packing for magic, packing in _MAGIC if head.startswith(magic)), Packing.NONE)


def _head(path: Path, packing: Packing, name: str) -> bytes:
    """Return the first bytes of a file, even if the rest of the file is damaged."""
    head = b""
    try:
        with open_bytes(path, packing, name) as file:
            while len(head) < _HEAD and (more := cast(io.BufferedReader, file).read1(_HEAD - len(head))):
                head += more
    except DamagedError:
        if not head:
            raise
    return head


def undecodable(path: Path, name: str, kind: Kind, encoding: str, error: UnicodeError | None = None) -> TableError:
    """Return the error for bytes that are not valid in the encoding; for UTF-8, the message includes the position."""
    if encoding not in UTF8:
        why = error.reason if isinstance(error, UnicodeDecodeError) else reason(error or UnicodeError())
        return TableError(f"{name} cannot be read as {encoding} ({why}); use another encoding")
    offset = 0
    with open_bytes(path, kind.packing, name) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as here:
                return DamagedError(
                    f"{name} is not UTF-8: line {number}, byte {offset + here.start + 1} of the file is "
                    f"0x{line[here.start]:02x}; if the file comes from Excel on Windows, try "
                    f"{named('encoding', 'cp1252')}",
                    row=NOT_UTF8,
                )
            offset += len(line)
    return TableError(f"{name} is not UTF-8; try {named('encoding', 'cp1252')}")

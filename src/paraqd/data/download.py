"""One file downloaded: complete and of the right hash, or not there at all."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paraqd.data.formats import reason
from paraqd.data.registry import DataFile
from paraqd.data.writers import sync_folder
from paraqd.errors import ParaqdError
from paraqd.version import __version__

TIMEOUT = 30.0  # seconds without a byte
LIMIT = 1 << 30  # bytes of one file; the largest known has about 70 MB
_PIECE = 1 << 16

# called with (stage, bytes done, bytes in all or None)
Progress = Callable[[str, int, int | None], None]


class DatasetError(ParaqdError, ValueError):
    """A data set that cannot be had; the message is one line that says what to fetch and where to put it."""


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file in hex."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {reason(error)}") from None


def record_of(path: Path) -> Path:
    """Return where the hash of a downloaded file is recorded: beside it."""
    return path.with_name(f"{path.name}.download.json")


def expected_sha256(file: DataFile, path: Path) -> str | None:
    """Return the hash a file must have: the known one, else the one recorded at its first download, else None."""
    if file.sha256 is not None:
        return file.sha256
    try:
        found = json.loads(record_of(path).read_text(encoding="utf-8")).get("sha256")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, AttributeError):
        found = None
    if not isinstance(found, str):
        raise DatasetError(f"{record_of(path)} is damaged; remove it and {path.name}, and download it again")
    return found


def download(
    file: DataFile,
    path: Path,
    *,
    progress: Progress | None = None,
    timeout: float = TIMEOUT,
    limit: int = LIMIT,
) -> str:
    """Download a file to ``path`` and return its sha256.

    It is written under a temporary name beside ``path``, which it takes only when it is complete and its hash is
    right. Whatever goes wrong before, Ctrl-C included, leaves nothing behind.
    """
    if file.url is None:
        raise DatasetError(f"no address is known for {file.name}")
    expected = expected_sha256(file, path)
    temporary = _temporary(path)
    try:
        found, size = _fetch(file, file.url, temporary, path, progress=progress, timeout=timeout, limit=limit)
        if expected is not None and found != expected:
            raise DatasetError(_other_file(file, path, found, expected))
        try:
            if file.sha256 is None:
                _record(path, {"url": file.url, "sha256": found, "bytes": size})
            os.replace(temporary, path)
            sync_folder(path.parent)
        except OSError as error:
            raise DatasetError(f"cannot write {path}: {reason(error)}") from None
    finally:
        temporary.unlink(missing_ok=True)
    return found


def _temporary(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise DatasetError(f"cannot write into {path.parent}: {reason(error)}; set PARAQD_CACHE_DIR") from None
    os.close(handle)
    return Path(name)


def _fetch(
    file: DataFile,
    url: str,
    temporary: Path,
    path: Path,
    *,
    progress: Progress | None,
    timeout: float,
    limit: int,
) -> tuple[str, int]:
    """Write what stands at the address to ``temporary``; return its hash and size."""
    by_hand = f"; or fetch it by hand and put it at {path}"
    request = urllib.request.Request(url, headers={"User-Agent": f"paraqd/{__version__}"})
    digest, done = hashlib.sha256(), 0
    stage = f"downloading {file.name}"
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer, open(temporary, "wb") as out:
            total = _length(answer.headers.get("Content-Length"))
            if (total or 0) > limit:
                raise DatasetError(f"{url} has {total:,} bytes, more than the {limit:,} that are allowed{by_hand}")
            if progress is not None:
                progress(stage, 0, total)
            while piece := answer.read(_PIECE):
                done += len(piece)
                if done > limit:
                    raise DatasetError(f"{url} has more than the {limit:,} bytes that are allowed{by_hand}")
                digest.update(piece)
                out.write(piece)
                if progress is not None:
                    progress(stage, done, total)
            out.flush()
            os.fsync(out.fileno())
    except urllib.error.HTTPError as error:
        raise DatasetError(f"cannot download {url}: the server says {error.code} {error.reason}{by_hand}") from None
    except urllib.error.URLError as error:
        why = reason(error.reason) if isinstance(error.reason, BaseException) else str(error.reason)
        raise DatasetError(f"cannot reach {url} ({why}): is there a network? Try again{by_hand}") from None
    except (OSError, http.client.HTTPException) as error:
        raise DatasetError(f"the download of {url} broke off ({reason(error)}); try again{by_hand}") from None
    if total is not None and done != total:
        raise DatasetError(f"the download of {url} broke off at {done:,} of {total:,} bytes; try again{by_hand}")
    return digest.hexdigest(), done


def _length(header: str | None) -> int | None:
    return int(header) if header is not None and header.isdecimal() else None


def _other_file(file: DataFile, path: Path, found: str, expected: str) -> str:
    if file.sha256 is not None:
        return f"what {file.url} gives is not the known file (sha256 {found}, not {expected}); it was removed"
    return (
        f"what {file.url} gives is another file than at the first download (sha256 {found}, not {expected}); it was "
        f"removed. To accept the new one, remove {record_of(path)}"
    )


def _record(path: Path, facts: dict[str, Any]) -> None:
    """Note the hash before the file takes its place: a file without its record would never be checked."""
    record = record_of(path)
    temporary = record.with_name(f".{record.name}.writing")
    try:
        temporary.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        os.replace(temporary, record)
    finally:
        temporary.unlink(missing_ok=True)

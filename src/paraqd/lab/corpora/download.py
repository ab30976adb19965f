"""Download a file and check its hash; a failed download leaves no file behind."""

from __future__ import annotations

import hashlib
import http.client
import os
import tempfile
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

from paraqd.files import atomic_write
from paraqd.progress import Progress, silent
from paraqd.tables.datasets import (
    DatasetError,
    absent,
    data_folder,
    dataset,
    downloads,
    expected_sha256,
    find,
    record_of,
    sound,
    state,
)
from paraqd.tables.formats import reason
from paraqd.tables.registry import DataFile, Dataset
from paraqd.tables.writers import replace_json
from paraqd.version import __version__

TIMEOUT = 30.0  # the maximum number of seconds without receiving data
LIMIT = 1 << 30  # the maximum size of a file in bytes; the largest known file has about 70 MB
_CHUNK = 1 << 16


def download(
    file: DataFile,
    path: Path,
    *,
    progress: Progress = silent,
    timeout: float = TIMEOUT,
    limit: int = LIMIT,
) -> str:
    """Download a file to ``path`` and return its sha256.

    The file is written under a temporary name in the same folder, and is renamed when it is complete and its hash is
    correct. If the download fails or is interrupted, the temporary file is removed.
    """
    if file.url is None:
        raise DatasetError(f"the address of {file.name} is not known; put the file at {path}")
    expected = expected_sha256(file, path)
    temporary = _temporary(path)
    try:
        with atomic_write(path, temporary):
            found, size = _fetch(file, file.url, temporary, path, progress=progress, timeout=timeout, limit=limit)
            if expected is not None and found != expected:
                raise DatasetError(_unexpected(file, path, found, expected))
            if file.sha256 is None:  # written first, because a file without a record would never be checked
                replace_json(record_of(path), {"url": file.url, "sha256": found, "bytes": size})
    except OSError as error:
        raise DatasetError(f"cannot write {path}: {reason(error)}") from None
    return found


def _temporary(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise DatasetError(f"cannot write to {path.parent}: {reason(error)}; set PARAQD_CACHE_DIR") from None
    os.close(handle)
    return Path(name)


def _fetch(
    file: DataFile, url: str, temporary: Path, path: Path, *, progress: Progress, timeout: float, limit: int
) -> tuple[str, int]:
    """Write the server's response to ``temporary``, and return the hash and size of the response."""
    by_hand = f"; or download it in a browser and put it at {path}"
    request = urllib.request.Request(url, headers={"User-Agent": f"paraqd/{__version__}"})
    digest, done = hashlib.sha256(), 0
    stage = f"downloading {file.name}"
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer, open(temporary, "wb") as out:
            total = _length(answer.headers.get("Content-Length"))
            if (total or 0) > limit:
                raise DatasetError(f"{url} has {total:,} bytes, more than the limit of {limit:,}{by_hand}")
            progress(stage, 0, total)
            while chunk := answer.read(_CHUNK):
                done += len(chunk)
                if done > limit:
                    raise DatasetError(f"{url} has more bytes than the limit of {limit:,}{by_hand}")
                digest.update(chunk)
                out.write(chunk)
                progress(stage, done, total)
    except urllib.error.HTTPError as error:
        raise DatasetError(f"cannot download {url}: the server returned {error.code} {error.reason}{by_hand}") from None
    except urllib.error.URLError as error:
        why = reason(error.reason) if isinstance(error.reason, BaseException) else str(error.reason)
        raise DatasetError(f"cannot reach {url} ({why}): check the network and try again{by_hand}") from None
    except (OSError, http.client.HTTPException) as error:
        raise DatasetError(f"the download of {url} was interrupted ({reason(error)}); try again{by_hand}") from None
    if total is not None and done != total:
        raise DatasetError(f"the download of {url} was interrupted at {done:,} of {total:,} bytes; try again{by_hand}")
    return digest.hexdigest(), done


def _length(header: str | None) -> int | None:
    return int(header) if header is not None and header.isdecimal() else None


def _unexpected(file: DataFile, path: Path, found: str, expected: str) -> str:
    if file.sha256 is not None:
        return (
            f"{file.url} is not the known file (sha256 {found}, not {expected}); the download was removed. Put the "
            f"known file at {path}"
        )
    return (
        f"{file.url} is not the file of the first download (sha256 {found}, not {expected}); the new download was "
        f"removed. To accept the new file, remove {record_of(path)}"
    )


def get(name: str, data_dir: str | Path | None = None, *, progress: Progress = silent) -> Path:
    """Download a data set into the cache if necessary, and return its path.

    If a file's sha256 is known, or was recorded when the file was first downloaded, the file is checked. A DatasetError
    is raised if a file has a different hash.
    """
    record = dataset(name)
    found = state(name, data_dir)
    if found.sound is False and record.kept_in == "package":
        raise DatasetError(f"{found.path} has changed since paraqd was installed; install paraqd again")
    if found.sound is False:
        raise DatasetError(
            f"{found.path} is not the known file of {name} (its sha256 differs); remove the file and download it "
            "again, or pass its path instead of the name to use the file as it is"
        )
    if found.path is not None and (found.where != "cache" or not record.public):
        return found.path
    files = _addressed(record)
    if any(file.url is None for file in files):
        raise DatasetError(absent(record, data_folder(data_dir)))
    for file in files:
        path = downloads() / file.name
        if not path.is_file():
            download(file, path, progress=progress)
        elif sound(file, path) is False:
            raise DatasetError(f"{path} has changed since it was downloaded; remove it and run the command again")
    return find(name, data_dir)


def _addressed(record: Dataset) -> tuple[DataFile, ...]:
    """Return a data set's files; if ``PARAQD_DATASETS_URL`` is set, files in the repository get URLs below it."""
    base = os.environ.get("PARAQD_DATASETS_URL", "").rstrip("/")
    if record.kept_in != "repository" or not base:
        return record.files
    return tuple(replace(file, url=f"{base}/{file.name}") for file in record.files)

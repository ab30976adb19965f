"""Data sets by name: where they lie, how they are fetched, and their rows; a file may stand in place of a name."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paraqd.data.download import DatasetError, Progress, download, expected_sha256, sha256_of
from paraqd.data.formats import STANDARD_INPUT, TableError
from paraqd.data.pairs import Pair, read_pairs
from paraqd.data.public_corpora import READERS, CorpusQuestion
from paraqd.data.registry import DATASETS, DataFile, Dataset
from paraqd.data.tables import DEFAULT_COLUMNS, Columns, Row, default_id, open_table, suggest

__all__ = [
    "DATASETS",
    "DataFile",
    "Dataset",
    "DatasetError",
    "State",
    "cache_dir",
    "dataset",
    "dataset_names",
    "find",
    "get",
    "load_pairs",
    "load_questions",
    "state",
    "written_split",
]

Where = Literal["bundled", "local", "cache", "missing"]

_BUNDLED = Path(__file__).parent / "files"  # of the sets that come with the package

# a written rewrite, and the column that names its fault
_WRITTEN = (
    ("heavy_valid", None),
    ("moderate_valid", None),
    ("heavy_invalid", "heavy_fault"),
    ("moderate_invalid", "moderate_fault"),
)


@dataclass(frozen=True)
class State:
    """Where a data set lies; ``sound`` is False where its bytes are not the known ones, None where none are known."""

    dataset: Dataset
    where: Where
    path: Path | None = None
    sound: bool | None = None


def dataset_names() -> list[str]:
    """Return the names of all data sets.

    >>> dataset_names()[:3]
    ['aquarat', 'aquarat_train_operators', 'sawp']
    """
    return list(DATASETS)


def dataset(name: str) -> Dataset:
    """Return the record of a data set; DatasetError with the nearest name where there is none."""
    if name in DATASETS:
        return DATASETS[name]
    nearest = suggest(name, dataset_names())
    remedy = f"did you mean {nearest}?" if nearest else f"known are {', '.join(DATASETS)}"
    raise DatasetError(f"there is no data set {name!r}; {remedy} (paraqd data list shows them)")


def cache_dir() -> Path:
    """Return the folder of downloads: ``PARAQD_CACHE_DIR``, else ``paraqd`` in the user's cache folder."""
    given = os.environ.get("PARAQD_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "paraqd" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "paraqd"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "paraqd"


def find(name: str, data_dir: str | Path | None = None) -> Path:
    """Return where a data set lies: in ``data_dir``, else in ``PARAQD_DATA_DIR``, else in the cache.

    A bundled set lies in the package. For a set of several files it is the first. DatasetError where it is not there:
    one line that says what to fetch and where to put it.
    """
    found = state(name, data_dir, check=False)
    if found.path is None:
        raise DatasetError(_absent(found.dataset, _data_dir(data_dir)))
    return found.path


def state(name: str, data_dir: str | Path | None = None, *, check: bool = True) -> State:
    """Say where a data set lies and, with ``check``, whether its bytes are the known ones."""
    record = dataset(name)
    for where, place in _places(record, data_dir):
        for path in _candidates(record.files[0], place):
            if path.is_file():
                return State(record, where, path, _sound(record.files[0], path) if check else None)
    return State(record, "missing")


def get(name: str, data_dir: str | Path | None = None, *, progress: Progress | None = None) -> Path:
    """Return where a data set lies, after downloading it into the cache if need be.

    A file of a known sha256 (or one recorded at its first download) is checked: one that differs is an error.
    """
    record = dataset(name)
    found = state(name, data_dir)
    if found.sound is False and record.bundled:
        raise DatasetError(f"{found.path} is not the file that came with paraqd; install paraqd again")
    if found.sound is False:
        raise DatasetError(
            f"{found.path} is not the known file of {name} (its sha256 differs); remove it and fetch it again, or "
            "give it by its path to use it as it is"
        )
    if found.where in ("bundled", "local") and found.path is not None:
        return found.path
    if not record.public:
        if found.path is not None:
            return found.path
        raise DatasetError(_absent(record, _data_dir(data_dir)))
    for file in record.files:
        path = _downloads() / file.name
        if not path.is_file():
            download(file, path, progress=progress)
        elif _sound(file, path) is False:
            raise DatasetError(f"{path} has changed since it was downloaded; remove it and run this again")
    return _downloads() / record.files[0].name


def load_pairs(
    name_or_file: str | Path,
    *,
    data_dir: str | Path | None = None,
    columns: Columns | None = None,
    encoding: str | None = None,
    labelled: bool = True,
    score_column: str = "score",
    scored: bool = False,
) -> list[Pair]:
    """Read the pairs of a data set by its name, or of any file.

    ``columns`` is what the columns are called; those of the data set unless given. ``written_pairs`` gives four
    pairs for each question, whose ``operator`` reads ``heavy_valid`` or ``heavy_number_changed``. With ``scored`` the
    column of scores must be there.
    """
    record = _named(name_or_file, "pairs")
    if record is None:
        return read_pairs(
            name_or_file,
            columns=columns or DEFAULT_COLUMNS,
            encoding=encoding,
            labelled=labelled,
            score_column=score_column,
            scored=scored,
        )
    path = find(record.name, data_dir)
    if record.reader == "written_pairs":
        if scored:
            raise TableError(f"{record.name} has no scores, so no column {score_column!r}")
        return list(_written(path))
    return read_pairs(
        path,
        columns=columns or record.columns,
        encoding=encoding,
        labelled=labelled,
        score_column=score_column,
        scored=scored,
        contradictions=record.contradictions,
        operator_column=record.operator_column,
        group_column=record.group_column,
    )


def load_questions(
    name_or_file: str | Path,
    *,
    data_dir: str | Path | None = None,
    columns: Columns | None = None,
    encoding: str | None = None,
) -> list[Row]:
    """Read the questions of a data set by its name, or of any file.

    Every row has ``id`` and ``question``, and whatever else its file has. A row without a question is an error, and so
    is an id that stands for two questions.
    """
    record = _named(name_or_file, "questions")
    path = None if record is None else find(record.name, data_dir)
    if record is not None and path is not None and record.reader in READERS:
        return [_corpus_row(number, question) for number, question in enumerate(READERS[record.reader](path))]
    columns = columns or (DEFAULT_COLUMNS if record is None else record.columns)
    table = open_table(path or name_or_file, encoding=encoding)
    table.require(columns)
    rows: list[Row] = []
    first: dict[str, int] = {}
    for number, row in enumerate(table.rows(), start=1):
        text = row.get(columns.question)
        if not isinstance(text, str) or not text.strip():
            raise TableError(f"{table.name}, row {number}: the question is blank or not text ({columns.question!r})")
        given = row.get(columns.id)
        key = default_id(text) if given is None or not str(given).strip() else str(given).strip()
        before = first.setdefault(key, number)
        if rows and before < number and rows[before - 1]["question"] != text:
            raise TableError(f"{table.name}: the id {key!r} stands for two questions, in rows {before} and {number}")
        rows.append({**row, "id": key, "question": text})
    if not rows:
        raise TableError(f"{table.name} has no rows")
    return rows


def written_split(question_id: str) -> Literal["benchmark", "validation", "train"]:
    """Say to which part of ``written_pairs`` a question belongs: a tenth each is benchmark and validation.

    >>> written_split("aqua-00000")
    'train'
    """
    tenth = int(hashlib.sha256(question_id.encode("utf-8")).hexdigest(), 16) % 10
    return "benchmark" if tenth == 0 else "validation" if tenth == 1 else "train"


def _named(name_or_file: str | Path, kind: str) -> Dataset | None:
    """Return the data set of that name, or None where it is a file."""
    text = str(name_or_file)
    is_name = isinstance(name_or_file, str) and text in DATASETS
    if not is_name and (text == STANDARD_INPUT or Path(text).suffix or Path(text).exists() or "/" in text):
        return None
    record = dataset(text)
    if record.kind != kind:
        raise DatasetError(f"{text} is a data set of {record.kind}, not of {kind}")
    return record


def _data_dir(given: str | Path | None) -> Path | None:
    folder = given or os.environ.get("PARAQD_DATA_DIR")
    if not folder:
        return None
    if not Path(folder).is_dir():
        whence = "the data folder" if given else "PARAQD_DATA_DIR"
        raise DatasetError(f"there is no folder {folder} ({whence})")
    return Path(folder)


def _places(record: Dataset, data_dir: str | Path | None) -> list[tuple[Where, Path]]:
    """Return the folders that a data set may lie in, the first that counts first."""
    if record.bundled:
        return [("bundled", _BUNDLED)]
    folder = _data_dir(data_dir)
    local: list[tuple[Where, Path]] = [] if folder is None else [("local", folder)]
    return [*local, ("cache", _downloads())]


def _downloads() -> Path:
    return cache_dir() / "data"


def _candidates(file: DataFile, folder: Path) -> Iterator[Path]:
    yield folder / file.name
    if file.name.endswith(".zip"):  # the archive as its owner unpacks it
        yield folder / Path(file.name).parent / "train.json"


def _sound(file: DataFile, path: Path) -> bool | None:
    if path.name != Path(file.name).name:  # unpacked by hand: no hash of it is known
        return None
    expected = expected_sha256(file, path)
    return None if expected is None else sha256_of(path) == expected


def _absent(record: Dataset, folder: Path | None) -> str:
    if record.bundled:
        return f"{record.name} is not here: {record.obtain}"
    file = record.files[0]
    place = f"{folder / file.name}" if folder is not None else f"{file.name} in a folder that PARAQD_DATA_DIR names"
    if record.public:
        return (
            f"{record.name} is not here: run paraqd data get {record.name}, or fetch {file.url} and put it at {place}"
        )
    return f"{record.name} is not here; put it at {place}. {_sentence(record.obtain)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _corpus_row(number: int, question: CorpusQuestion) -> Row:
    return {
        "id": f"{question.source}-{number:05d}",
        "question": question.text,
        "source": question.source,
        "cased": question.cased,
    }


def _written(path: Path) -> Iterator[Pair]:
    table = open_table(path)
    missing = [name for name, _ in _WRITTEN if name not in table.columns]
    if missing:
        raise TableError(f"{table.name} has no column {missing[0]!r}: it is not a file of written pairs")
    for number, row in enumerate(table.rows(), start=1):
        question = str(row.get("question") or "")
        if not question.strip():
            raise TableError(f"{table.name}, row {number}: the question is blank")
        for name, fault in _WRITTEN:
            size = name.partition("_")[0]
            yield Pair(
                id=str(row.get("id") or default_id(question)),
                question=question,
                paraphrase=str(row.get(name) or ""),
                label=int(fault is None),
                operator=name if fault is None else f"{size}_{row.get(fault)}",
                row=number,
            )

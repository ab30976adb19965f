"""Find data sets by name, download them, and read their rows.

The functions that read rows also accept the path of a file instead of a name.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paraqd.errors import ParaqdError
from paraqd.files import sha256_of
from paraqd.tables.formats import STANDARD_INPUT, TableError, reason
from paraqd.tables.pairs import Pair, read_pairs
from paraqd.tables.registry import DATASETS, DataFile, Dataset
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row, Table, open_table, row_id, suggest, text_in

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
    "find_files",
    "load_pairs",
    "load_questions",
    "questions_file",
    "state",
    "written_split",
]

Where = Literal["bundled", "local", "clone", "cache", "missing"]

_BUNDLED = Path(__file__).parent / "files"
_CLONE = Path(__file__).parents[3] / "datasets"  # exists only if paraqd runs from a clone of its repository

# in a file of written pairs, the column of each rewrite and the column of its fault
_WRITTEN = (
    ("heavy_valid", None),
    ("moderate_valid", None),
    ("heavy_invalid", "heavy_fault"),
    ("moderate_invalid", "moderate_fault"),
)

# in a file of the public code's outputs, the column of each operator's outputs and the operator's name in the paper
_PUBLISHED = {**{f"positive{n}": f"f{n}" for n in range(1, 5)}, **{f"neg_{n}": f"f{n + 4}" for n in range(1, 7)}}


class DatasetError(ParaqdError, ValueError):
    """Raised when a data set is not available or not usable; the message says what to do."""


@dataclass(frozen=True)
class State:
    """The location of a data set, and whether its files have the expected hashes.

    ``sound`` is False if the hash of a file differs from the expected hash, and None if an expected hash is not known
    or the files were not checked.
    """

    dataset: Dataset
    where: Where
    files: tuple[Path, ...] = ()
    sound: bool | None = None

    @property
    def path(self) -> Path | None:
        """The path of the file, or of the folder if there are several files, or None if the data set is missing."""
        if not self.files:
            return None
        return self.files[0] if len(self.files) == 1 else self.files[0].parent


def dataset_names() -> list[str]:
    """Return the names of all data sets.

    >>> dataset_names()[:2]
    ['aquarat', 'aquarat_train_operators']
    """
    return list(DATASETS)


def dataset(name: str) -> Dataset:
    """Return a data set by its name; raise a DatasetError that suggests a similar name if the name is unknown."""
    if name in DATASETS:
        return DATASETS[name]
    nearest = suggest(name, dataset_names())
    remedy = f"did you mean {nearest}?" if nearest else f"known names: {', '.join(DATASETS)}"
    raise DatasetError(f"there is no data set {name!r}; {remedy} (paraqd lab data list shows all data sets)")


def cache_dir() -> Path:
    """Return the folder for downloads: ``PARAQD_CACHE_DIR``, or ``paraqd`` in the user's cache folder."""
    given = os.environ.get("PARAQD_CACHE_DIR")
    if given:
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("paraqd", appauthor=False)


def find(name: str, data_dir: str | Path | None = None) -> Path:
    """Return the path of a data set's file, or of the folder that contains its files if there are several files.

    The search covers ``data_dir`` (default: ``PARAQD_DATA_DIR``), then a clone of the repository, then the cache. A
    data set that is installed with the package is always read from the package.

    Raises
    ------
    DatasetError
        If the data set is not in any of these places. The message explains how to obtain the data set.

    """
    path = state(name, data_dir, check=False).path
    if path is None:
        raise DatasetError(absent(dataset(name), data_folder(data_dir)))
    return path


def find_files(name: str, data_dir: str | Path | None = None) -> tuple[Path, ...]:
    """Return the paths of all files from which a data set is loaded; see `find`."""
    find(name, data_dir)
    return state(name, data_dir, check=False).files


def state(name: str, data_dir: str | Path | None = None, *, check: bool = True) -> State:
    """Return the location of a data set and, if ``check`` is True, whether its files have the expected hashes."""
    record = dataset(name)
    wanted = record.files if record.whole else record.files[:1]
    for where, folder in _places(record, data_dir):
        found = [path for file in wanted if (path := _file_in(folder, file)) is not None]
        if len(found) == len(wanted):
            checked = [sound(file, path) for file, path in zip(wanted, found, strict=True)] if check else [None]
            return State(record, where, tuple(found), False if False in checked else None if None in checked else True)
    return State(record, "missing")


def columns_of(name_or_file: str | Path) -> Columns:
    """Return the column names of a data set, or the usual column names for a file."""
    record = DATASETS.get(str(name_or_file))
    return DEFAULT_COLUMNS if record is None else record.columns


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
    """Read the pairs in a named data set or a file.

    By default, the data set's own column names are used. The data set ``written_pairs`` has four pairs per question,
    with an ``operator`` such as ``heavy_valid`` or ``heavy_number_changed``. The data sets ``published_…`` have ten
    pairs per question, with an ``operator`` such as ``published f9``. If ``scored`` is True, the score column is
    required.
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
    paths = find_files(record.name, data_dir)
    if record.reader != "table":
        if scored:
            raise TableError(
                f"{record.name} has no scores and therefore no column {score_column!r}; pass a file with scores"
            )
        return list((_written if record.reader == "written_pairs" else _published)(paths[0]))
    return [
        pair
        for path in paths
        for pair in read_pairs(
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
    ]


def load_questions(
    name_or_file: str | Path,
    *,
    data_dir: str | Path | None = None,
    columns: Columns | None = None,
    encoding: str | None = None,
) -> list[Row]:
    """Read the questions in a named data set or a file.

    Every row has the keys ``id`` and ``question`` and all other columns of the file. A TableError is raised if a row
    has no question or an id belongs to two different questions.
    """
    record = _named(name_or_file, "questions")
    path = None if record is None else find(record.name, data_dir)
    if record is not None and record.reader != "table":
        raise DatasetError(_own_format(record.name))
    columns = columns or (DEFAULT_COLUMNS if record is None else record.columns)
    table = open_table(path or name_or_file, encoding=encoding)
    table.require(columns)
    rows: list[Row] = []
    first: dict[str, tuple[int, str]] = {}
    for number, row in numbered(table.rows()):
        text = text_in(row, "question", f"{table.name}, row {number}", column=columns.question)
        key = row_id(row, columns, text)
        before, question = first.setdefault(key, (number, text))
        if question != text:
            raise TableError(
                f"{table.name}: the id {key!r} belongs to two different questions, in rows {before} and {number}; give "
                "each question its own id"
            )
        rows.append({**row, "id": key, "question": text})
    if not rows:
        raise TableError(f"{table.name} has no rows; pass a file with at least one question")
    return rows


def questions_file(name_or_file: str | Path) -> str | Path:
    """Return the path of a named table of questions, or the argument itself if it is not the name of a data set.

    A file or a folder in the working directory takes precedence over a data set with the same name.
    """
    text = str(name_or_file)
    if text not in DATASETS or Path(text).exists():
        return name_or_file
    record = _named(text, "questions")
    if record is not None and record.reader != "table":
        raise DatasetError(_own_format(text))
    return find(text)


def written_split(question_id: str) -> Literal["benchmark", "validation", "train"]:
    """Return the split of ``written_pairs`` to which a question belongs.

    About a tenth of the questions belong to the benchmark, another tenth to validation, and the rest to training.

    >>> written_split("aqua-00000")
    'train'
    """
    tenth = int(hashlib.sha256(question_id.encode("utf-8")).hexdigest(), 16) % 10
    return "benchmark" if tenth == 0 else "validation" if tenth == 1 else "train"


def _named(name_or_file: str | Path, kind: str) -> Dataset | None:
    """Return the data set that the argument names, or None if the argument is the path of a file."""
    text = str(name_or_file)
    is_name = isinstance(name_or_file, str) and text in DATASETS
    if not is_name and (text == STANDARD_INPUT or Path(text).suffix or Path(text).exists() or "/" in text):
        return None
    record = dataset(text)
    if record.kind != kind:
        raise DatasetError(f"{text} is a data set of {record.kind}, not {kind}; pass a data set or a file of {kind}")
    return record


def data_folder(given: str | Path | None) -> Path | None:
    folder = given or os.environ.get("PARAQD_DATA_DIR")
    if not folder:
        return None
    if not Path(folder).is_dir():
        origin = "the data folder" if given else "PARAQD_DATA_DIR"
        raise DatasetError(f"there is no folder {folder} ({origin}); create the folder, or correct the path")
    return Path(folder)


def _places(record: Dataset, data_dir: str | Path | None) -> list[tuple[Where, Path]]:
    """Return the folders that may contain a data set, in the order in which they are searched."""
    if record.kept_in == "package":
        return [("bundled", _BUNDLED)]
    folder = data_folder(data_dir)
    places: list[tuple[Where, Path]] = [] if folder is None else [("local", folder)]
    if record.kept_in == "repository":
        places.append(("clone", _CLONE))
    return [*places, ("cache", downloads())]


def downloads() -> Path:
    return cache_dir() / "data"


def _file_in(folder: Path, file: DataFile) -> Path | None:
    """Return the path of a data file in a folder, or of the file's unpacked copy, or None if neither exists."""
    paths = [folder / file.name]
    if file.name.endswith(".zip"):
        paths.append(folder / Path(file.name).parent / "train.json")
    return next((path for path in paths if path.is_file()), None)


def sound(file: DataFile, path: Path) -> bool | None:
    if path.name != Path(file.name).name:  # the archive was unpacked by hand, and the hash of its contents is not known
        return None
    expected = expected_sha256(file, path)
    try:
        return None if expected is None else sha256_of(path) == expected
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {reason(error)}") from None


def record_of(path: Path) -> Path:
    """Return the path of a file's download record, which is in the same folder."""
    return path.with_name(f"{path.name}.download.json")


def expected_sha256(file: DataFile, path: Path) -> str | None:
    """Return a file's known sha256, or the sha256 recorded when it was first downloaded, or None."""
    if file.sha256 is not None:
        return file.sha256
    try:
        found = json.loads(record_of(path).read_text(encoding="utf-8")).get("sha256")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, AttributeError):
        found = None
    if not isinstance(found, str):
        raise DatasetError(f"{record_of(path)} is damaged; remove it and {path.name}, and download the file again")
    return found


def absent(record: Dataset, folder: Path | None) -> str:
    """Return the error message for a missing data set."""
    if record.kept_in != "elsewhere":
        return f"{record.name} was not found: {record.obtain}"
    file = record.files[0]
    place = f"{folder / file.name}" if folder is not None else f"{file.name} in the folder that PARAQD_DATA_DIR names"
    if record.public:
        return (
            f"{record.name} was not found: run paraqd lab data get {record.name}, or download {file.url} and put it at "
            f"{place}"
        )
    return f"{record.name} was not found; put it at {place}. {record.obtain[:1].upper()}{record.obtain[1:]}"


def _own_format(name: str) -> str:
    return (
        f"{name} has a format of its own; convert it to a table with "
        f"paraqd lab data build questions -o {name}.jsonl.gz --corpus {name}"
    )


def _opened(path: Path, columns: Iterable[str], content: str) -> Table:
    table = open_table(path)
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise TableError(
            f"{table.name} has no column {missing[0]!r}, so it is not a file of {content}; replace it with the right "
            "file"
        )
    return table


def _published(path: Path) -> Iterator[Pair]:
    """Yield the outputs of the public code's operators, which are named ``published f1`` to ``published f10``."""
    table = _opened(path, _PUBLISHED, "the public code's outputs")
    for number, row in enumerate(table.rows(), start=1):
        question = text_in(row, "question", f"{table.name}, row {number}")
        for column, operator in _PUBLISHED.items():
            paraphrase = str(row.get(column) or "")
            if paraphrase.strip():
                yield Pair(
                    id=row_id(row, DEFAULT_COLUMNS, question),
                    question=question,
                    paraphrase=paraphrase,
                    label=int(column.startswith("positive")),
                    operator=f"published {operator}",
                    row=number,
                )


def _written(path: Path) -> Iterator[Pair]:
    table = _opened(path, (name for name, _ in _WRITTEN), "written pairs")
    for number, row in enumerate(table.rows(), start=1):
        question = text_in(row, "question", f"{table.name}, row {number}")
        for name, fault in _WRITTEN:
            form = name.partition("_")[0]
            yield Pair(
                id=row_id(row, DEFAULT_COLUMNS, question),
                question=question,
                paraphrase=str(row.get(name) or ""),
                label=int(fault is None),
                operator=name if fault is None else f"{form}_{row.get(fault)}",
                row=number,
            )

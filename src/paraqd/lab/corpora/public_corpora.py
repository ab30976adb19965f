"""Read the public corpora AQuA-RAT, MathQA and GSM8K in their published formats."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraqd.lab.generators.training_data import detokenized
from paraqd.tables.datasets import dataset, find, load_questions
from paraqd.tables.formats import TableError, clear_errors, reason
from paraqd.tables.table import Row

LIMIT = 1 << 26  # the maximum size of a JSON document in bytes; MathQA's train.json has about 30 MB
_LINE_LIMIT = 1 << 24  # characters
_MEMBER = "train.json"  # the file to read from MathQA's archive
_RIGHT_CORPUS = "check that this is the right corpus"
_FRACTION = re.compile(r"(?<=\d) / (?=\d)")
_POSSESSIVE = re.compile(r"(?<=\w) ' (?=s\b)")


@dataclass(frozen=True)
class CorpusQuestion:
    """A question from a public corpus, with normalised spaces; ``formula`` is MathQA's annotated formula."""

    source: str
    text: str
    cased: bool = True
    formula: str = ""


def read_aqua(path: Path) -> Iterator[CorpusQuestion]:
    """Yield the questions of AQuA-RAT from a JSONL file with the keys question, options, rationale and correct."""
    for where, row in _lines(path):
        yield CorpusQuestion("aqua", _text(row, "question", where))


def read_gsm8k(path: Path) -> Iterator[CorpusQuestion]:
    """Yield the questions of GSM8K from a JSONL file with the keys question and answer."""
    for where, row in _lines(path):
        yield CorpusQuestion("gsm8k", _text(row, "question", where))


def read_mathqa(path: Path) -> Iterator[CorpusQuestion]:
    """Yield the training questions of MathQA from its archive or from the unpacked train.json."""
    rows = _document(path)
    if not isinstance(rows, list):
        raise TableError(f"{path} is not a JSON list of problems; {_RIGHT_CORPUS}")
    for number, row in enumerate(rows, start=1):
        where = f"{path}, problem {number}"
        formula = row.get("annotated_formula") if isinstance(row, dict) else None
        text = untokenized(_text(row, "Problem", where))
        yield CorpusQuestion("mathqa", text, cased=False, formula=formula if isinstance(formula, str) else "")


READERS: Mapping[str, Callable[[Path], Iterator[CorpusQuestion]]] = {
    "aqua_rat": read_aqua,
    "mathqa": read_mathqa,
    "gsm8k": read_gsm8k,
}


def untokenized(text: str) -> str:
    """Remove the spaces that MathQA inserts between tokens.

    >>> untokenized("tom ' s share is 3 / 4 of rs . 500 . what is 5 % of it ?")
    "tom's share is 3/4 of rs. 500. what is 5% of it?"
    """
    return _FRACTION.sub("/", detokenized(_POSSESSIVE.sub("'", text)))


def _text(row: Any, field: str, where: str) -> str:
    text = row.get(field) if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise TableError(f"{where} has no text {field!r}; {_RIGHT_CORPUS}")
    # UTF-8 cannot encode half of a surrogate pair
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    with clear_errors(path), open(path, encoding="utf-8") as file:
        number = 0
        try:
            while line := file.readline(_LINE_LIMIT + 1):
                number += 1
                if len(line) > _LINE_LIMIT:
                    raise TableError(
                        f"{path}, line {number} is longer than {_LINE_LIMIT:,} characters; {_RIGHT_CORPUS}"
                    )
                if not line.isspace():
                    yield f"{path}, line {number}", json.loads(line)
        except (ValueError, RecursionError) as error:  # bytes that are not UTF-8 also raise a ValueError
            if isinstance(error, TableError):
                raise
            raise TableError(
                f"{path} cannot be read at line {max(number, 1)}: {_cause(error)}; {_RIGHT_CORPUS}"
            ) from None


def _document(path: Path) -> Any:
    """Read a JSON document from a file or from a zip archive."""
    with clear_errors(path):
        try:
            if path.suffix.lower() == ".zip":
                with zipfile.ZipFile(path) as archive:
                    members = [name for name in archive.namelist() if name.rpartition("/")[2] == _MEMBER]
                    if not members:
                        raise TableError(f"{path} contains no {_MEMBER}; {_RIGHT_CORPUS}")
                    # use the shortest path, because archives created on a Mac have copies in another folder
                    with archive.open(min(members, key=len)) as file:
                        return json.loads(_limited(file.read(LIMIT + 1), f"{_MEMBER} in {path}"))
            with open(path, "rb") as file:
                return json.loads(_limited(file.read(LIMIT + 1), str(path)))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # unknown compression, or a password
            if isinstance(error, RecursionError):
                raise TableError(f"{path} is not JSON: {_cause(error)}; {_RIGHT_CORPUS}") from None
            raise TableError(f"{path} is not a valid zip archive ({reason(error)}); download it again") from None
        except ValueError as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"{path} is not JSON: {_cause(error)}; {_RIGHT_CORPUS}") from None


def _limited(content: bytes, name: str) -> bytes:
    """Return a file's content; raise a TableError if it is too large, because the archive may be malicious."""
    if len(content) > LIMIT:
        raise TableError(f"{name} has more than {LIMIT:,} bytes; {_RIGHT_CORPUS}")
    return content


def _cause(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return error.msg if isinstance(error, json.JSONDecodeError) else reason(error)


def load_corpus(name: str, data_dir: str | Path | None = None) -> list[Row]:
    """Read the questions of a public corpus in its own format, or of a table of questions."""
    record = dataset(name)
    if record.reader not in READERS:
        return load_questions(name, data_dir=data_dir)
    return [
        _corpus_row(number, question) for number, question in enumerate(READERS[record.reader](find(name, data_dir)))
    ]


def _corpus_row(number: int, question: CorpusQuestion) -> Row:
    return {
        "id": f"{question.source}-{number:05d}",
        "question": question.text,
        "source": question.source,
        "cased": question.cased,
    }

"""Find the columns of an uploaded table, and name the columns of an exported one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paraqd.runs.score_rows import PARAPHRASE_COLUMN
from paraqd.server.review.errors import BadRequest
from paraqd.tables.pair_tables import match_columns

KEY = "paraqd_pair"  # every exported file has this column, with the key of the pair
VERDICT = (PARAPHRASE_COLUMN, "score", "valid", "decision", "why", "status")
FOR_PROGRAMS = ("evidence", "warnings", "error", "signature", KEY)
DECISION_BY, NOTE_BY, TIME_BY = "decision by ", "note by ", "time by "
_OURS = " (paraqd)"  # the ending of an added column whose name the user's table already has
_MOST_SHOWN = 100

# common names, in the order in which they are tried
_QUESTIONS = (
    "question",
    "questions",
    "original question",
    "original",
    "original text",
    "question text",
    "problem",
    "word problem",
    "source",
    "item",
    "stem",
    "prompt",
    "text",
    "body",
    "input",
    "sentence1",
)
_PARAPHRASES = (
    "paraphrase",
    "paraphrases",
    "paraphrased",
    "paraphrased question",
    "rewritten",
    "rewritten question",
    "rewrite",
    "reworded",
    "rewording",
    "variant",
    "variation",
    "version",
    "candidate",
    "augmented",
    "target",
    "output",
    "sentence2",
)
_IDS = (
    *("id", "item id", "question id", "problem id", "qid", "uid", "key", "code", "ref", "reference"),
    *("nr", "no", "number", "item no", "item number", "question no", "question number", "problem no"),
)
_NUMBERED = re.compile(
    r"(?:v|p|var|paraphrase|paraphrased|rewrite|rewritten|reworded|rewording|variant|variation|version|candidate) ?\d+"
)


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table that contain pairs. ``id`` is an empty text if no column contains ids."""

    question: str
    paraphrases: tuple[str, ...]
    id: str


def find_columns(columns: Sequence[str], question: str = "", paraphrases: str = "") -> TableColumns:
    """Return the columns that contain the question, the paraphrases and the id.

    Parameters
    ----------
    columns : sequence of str
        The names of the table's columns.
    question : str
        The column with the question (default: a column with a common name).
    paraphrases : str
        The columns with the paraphrases: a name, a list with commas, or a pattern such as ``V*`` (default: columns with
        common names).

    Raises
    ------
    BadRequest
        If a column cannot be found. The details list the table's columns.

    Examples
    --------
    >>> find_columns(["Nr", "Original", "V1", "V2", "Author"])
    TableColumns(question='Original', paraphrases=('V1', 'V2'), id='Nr')

    """
    plain = {column: _plain(column) for column in columns if column}
    if question:
        found = match_columns([question], columns)
        if len(found) != 1:
            raise _refusal(columns, f"The table has no column {question[:80]!r} for the question.")
        chosen = found[0]
    else:
        chosen = _first(plain, _QUESTIONS)
        if not chosen:
            raise _refusal(columns, "No column has a common name for the question, such as Question or Original.")
    identity = _first(plain, _IDS, taken=(chosen,))
    if paraphrases:
        several = match_columns([paraphrases], columns, taken=(chosen, identity))
        if not several:
            raise _refusal(columns, f"The table has no columns {paraphrases[:80]!r} for the paraphrases.")
    else:
        numbered = tuple(name for name, text in plain.items() if _NUMBERED.fullmatch(text) and name != chosen)
        one = _first(plain, _PARAPHRASES, taken=(chosen, identity))
        several = ((one,) if one else ()) + tuple(name for name in numbered if name != one)
        if not several:
            raise _refusal(columns, "No column has a common name for paraphrases, such as Paraphrase, Rewritten or V1.")
    if chosen in several:
        raise _refusal(columns, f"The question and the paraphrase cannot both be the column {chosen!r}.")
    return TableColumns(chosen, several, "" if identity in several else identity)


def our_columns(columns: Sequence[str]) -> dict[str, str]:
    """Return which columns of an exported file paraqd added, by their plain names; nothing for another file.

    >>> our_columns(["score", "score (paraqd)", "decision by Ann", "paraqd_pair"])
    {'decision by Ann': 'decision by Ann', 'score': 'score (paraqd)', 'paraqd_pair': 'paraqd_pair'}
    """
    if KEY not in columns:
        return {}
    found = {}
    for column in columns:
        plain = column.removesuffix(_OURS)
        if plain.startswith((DECISION_BY, NOTE_BY, TIME_BY)) and (column != plain or plain + _OURS not in columns):
            found[plain] = column
    for name in (*VERDICT, *FOR_PROGRAMS):
        if name + _OURS in columns:
            found[name] = name + _OURS
        elif name in columns:
            found[name] = name
    return found


def added_names(users: Sequence[str], reviewers: Sequence[str]) -> dict[str, str]:
    """Return the names of the columns that an export adds; a name that the user's table already has gets an ending.

    >>> added_names(["score"], [])["score"]
    'score (paraqd)'
    """
    by = [f"{beginning}{name}" for name in reviewers for beginning in (DECISION_BY, NOTE_BY, TIME_BY)]
    taken = set(users)
    return {name: name + _OURS if name in taken else name for name in (*VERDICT, *by, *FOR_PROGRAMS)}


def _plain(column: str) -> str:
    return " ".join(re.sub(r"[_\-.#]+", " ", column).casefold().split())


def _first(plain: Mapping[str, str], names: Sequence[str], taken: Sequence[str] = ()) -> str:
    for name in names:
        for column, text in plain.items():
            if text == name and column not in taken:
                return column
    return ""


def _refusal(columns: Sequence[str], problem: str) -> BadRequest:
    hint = "Name the columns with question_column and paraphrase_columns."
    shown = [column[:200] for column in columns[:_MOST_SHOWN]]
    return BadRequest(f"{problem} {hint}", code="columns", details={"columns": shown, "hint": hint})

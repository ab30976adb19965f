"""Describe and check the bodies and headers of requests."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import Header, Path, Query, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from paraqd.scoring.verdict import EvidenceKind
from paraqd.server.errors import InvalidInput
from paraqd.server.review.errors import BadRequest, NotFound
from paraqd.server.review.filters import DECISIONS, SORTS, STATUSES, Filter
from paraqd.server.review.new_projects import MOST_PAIRS as MOST_NEW_PAIRS

LONGEST_NAME = 200
LONGEST_NOTE = 2000
LONGEST_SEARCH = 500
LONGEST_REVIEWER = 80
MOST_PAIRS = 2**31 - 1
_ID = re.compile("[0-9a-f]+")


def _clean(text: str) -> str:
    """Drop NUL characters, which PostgreSQL cannot store; raise a ValueError for texts that no database can store."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the text is not valid Unicode") from None
    return text.replace("\0", "")


def _project_id(text: str) -> str:
    """Raise a NotFound if a text cannot be the id of a project. A database could refuse it with another error."""
    if not _ID.fullmatch(text):
        raise NotFound("There is no project with this id. It may have been deleted.")
    return text


Clean = Annotated[str, AfterValidator(_clean)]
Score = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
ProjectId = Annotated[str, Path(max_length=64, description="The id of a project."), AfterValidator(_project_id)]
PairNumber = Annotated[int, Path(ge=1, le=MOST_PAIRS, description="The number of a pair.")]
Choice = Literal["accept", "reject", "none"]
RequestKey = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9._-]{1,64}$", description="A new key for each decision. A repeat changes nothing."),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PairBody(_Body):
    """A pair to score."""

    question: Clean
    paraphrase: Clean
    id: Annotated[Clean | None, Field(max_length=1000)] = None


class ProjectBody(_Body):
    """A project to create from pairs."""

    name: Annotated[Clean, Field(max_length=LONGEST_NAME)]
    pairs: Annotated[list[PairBody], Field(max_length=MOST_NEW_PAIRS)]
    threshold: Score | None = None
    review: tuple[Score, Score] | Literal["default"] | None = None
    votes_needed: Literal[1, 2] = 1


class ChangeBody(_Body):
    """The settings of a project to change. Settings that are left out stay as they are."""

    name: Annotated[Clean | None, Field(max_length=LONGEST_NAME)] = None
    threshold: Score | None = None
    review: tuple[Score, Score] | Literal["default"] | None = None
    votes_needed: Literal[1, 2] | None = None


def _words(given: Any) -> Any:
    """Accept a list of words as a list or as a text with commas."""
    if isinstance(given, str):
        return [word.strip() for word in given.split(",") if word.strip()]
    return given or []


Words = Annotated[list[Clean], BeforeValidator(_words)]


class FilterBody(_Body):
    """A filter, with the same names as in the query of the list of pairs."""

    q: Annotated[Clean | None, Field(max_length=LONGEST_SEARCH)] = ""
    decision: Words = []
    fault: Words = []
    status: Words = []
    low: Score | None = None
    high: Score | None = None
    sort: Literal["row", "score", "-score"] | None = "row"

    def to_filter(self) -> Filter:
        """Return the filter."""
        return make_filter(
            self.q or "", self.decision, self.fault, self.status, self.low, self.high, self.sort or "row"
        )


class NextBody(_Body):
    """A request for the next pair."""

    filter: FilterBody = FilterBody()
    after: Annotated[int | None, Field(ge=0, le=MOST_PAIRS)] = None


class DecisionBody(_Body):
    """A decision on one pair."""

    pair: Annotated[int, Field(ge=1, le=MOST_PAIRS)]
    decision: Choice
    note: Annotated[Clean | None, Field(max_length=LONGEST_NOTE)] = None
    request: RequestKey | None = None


class ParaphraseBody(_Body):
    """A paraphrase to add to a project."""

    pair: Annotated[int, Field(ge=1, le=MOST_PAIRS, description="A pair with the question of the paraphrase.")]
    paraphrase: Clean


class BulkBody(_Body):
    """A decision on all pairs that a filter matches."""

    filter: FilterBody = FilterBody()
    decision: Choice
    expected: Annotated[int, Field(ge=0, le=MOST_PAIRS)]
    note: Annotated[Clean | None, Field(max_length=LONGEST_NOTE)] = None
    request: RequestKey | None = None


def make_filter(
    q: str,
    decision: list[str],
    fault: list[str],
    status: list[str],
    low: float | None,
    high: float | None,
    sort: str,
) -> Filter:
    """Return a filter; raise an InvalidInput if a word is unknown."""
    _check_words("decision", decision, DECISIONS)
    _check_words("fault", fault, tuple(EvidenceKind))
    _check_words("status", status, STATUSES)
    _check_words("sort", [sort], SORTS)
    return Filter(_clean(q), tuple(decision), tuple(fault), tuple(status), low, high, sort)


def _check_words(name: str, given: list[str], known: tuple[str, ...]) -> None:
    for word in given:
        if word not in known:
            raise InvalidInput(f"{name} has an unknown word. Choose {', '.join(known[:-1])} or {known[-1]}.")


async def query_filter(
    q: Annotated[str, Query(max_length=LONGEST_SEARCH, description="A text to search for.")] = "",
    decision: Annotated[str, Query(description="Verdicts: valid, invalid, review, error.")] = "",
    fault: Annotated[str, Query(description="Kinds of evidence, such as number_changed.")] = "",
    status: Annotated[str, Query(description="Statuses: open, accepted, rejected, disputed, mine.")] = "",
    low: Annotated[str, Query(description="The lowest score.")] = "",
    high: Annotated[str, Query(description="The highest score.")] = "",
    sort: Annotated[str, Query(description="The order: row, score or -score.")] = "row",
) -> Filter:
    """Return the filter that a query describes."""
    return make_filter(
        q,
        _words(decision),
        _words(fault),
        _words(status),
        _number("low", low),
        _number("high", high),
        sort.strip() or "row",
    )


def _number(name: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not -1 <= number <= 1:
        raise InvalidInput(f"{name} must be a number from -1 to 1.")
    return number


async def reader(request: Request, x_reviewer: Annotated[str | None, Header()] = None) -> str:
    """Return the name of the reviewer who reads, or an empty text if the request names no one."""
    return "" if x_reviewer is None else _reviewer(x_reviewer)


async def writer(request: Request, x_reviewer: Annotated[str | None, Header()] = None) -> str:
    """Return the name of the reviewer who changes something; raise a BadRequest if the request names no one."""
    if x_reviewer is None:
        raise BadRequest("The header X-Reviewer is missing. Send the reviewer's name, percent-encoded.")
    return _reviewer(x_reviewer)


def _reviewer(header: str) -> str:
    try:
        name = unicodedata.normalize("NFC", unquote(header, errors="strict")).strip()
    except UnicodeDecodeError:
        raise BadRequest("The header X-Reviewer is not percent-encoded UTF-8.") from None
    if not 1 <= len(name) <= LONGEST_REVIEWER or not name.isprintable():
        raise BadRequest(f"The reviewer's name must have 1 to {LONGEST_REVIEWER} printable characters.")
    return name

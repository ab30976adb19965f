"""Define the JSON that the service reads and writes, and check texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from paraqd.scoring.pair_errors import PairError
from paraqd.server.errors import InvalidInput, TooLarge
from paraqd.text_check import text_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paraqd.paraphrasing.paraphraser import Paraphrase
    from paraqd.scoring.verdict import Verdict
    from paraqd.server.settings import Settings

_QUESTION = "Tom has 5 red and 3 blue pens. How many pens has he in all?"
_PARAPHRASE = "How many pens does Tom have if 5 are red and 3 are blue?"
LONGEST_PARAPHRASED = 2_000  # characters; no word problem is longer, and rewriting such a text takes long
Span = Annotated[list[int], Field(min_length=2, max_length=2)]


class _Request(BaseModel):
    """A request. Unknown fields are refused, because they are often typing errors."""

    model_config = ConfigDict(extra="forbid")


class ScoreRequest(_Request):
    """A question and its paraphrases."""

    question: StrictStr = Field(description="The original problem. It must not be blank.", examples=[_QUESTION])
    paraphrases: list[StrictStr] = Field(
        description="The paraphrases. A blank paraphrase scores -1.", examples=[[_PARAPHRASE]]
    )


class PairMessage(_Request):
    """A question and one paraphrase."""

    question: StrictStr = Field(examples=[_QUESTION])
    paraphrase: StrictStr = Field(examples=[_PARAPHRASE])
    id: StrictStr | None = Field(default=None, description="Returned with the verdict.", examples=["pens-1"])


class BatchRequest(_Request):
    """Pairs of a question and a paraphrase."""

    pairs: list[PairMessage]


class ParaphraseRequest(_Request):
    """A question to paraphrase."""

    question: StrictStr = Field(description="The problem. It must not be blank.", examples=[_QUESTION])
    n: StrictInt = Field(default=5, ge=1, description="The number of paraphrases.")
    styles: list[Annotated[StrictStr, Field(min_length=1, max_length=200)]] = Field(
        default=[], max_length=20, description="The wanted styles. Rules know plain, exam and engaging.", examples=[[]]
    )
    seed: StrictInt = Field(default=3407, ge=0, lt=2**31, description="Another seed gives other paraphrases.")


class LoginRequest(_Request):
    """The API key, with which the review page logs in."""

    key: StrictStr


class EvidenceMessage(BaseModel):
    """A reason to doubt a paraphrase. Positions are in code points."""

    kind: str
    question_spans: list[Span]
    paraphrase_spans: list[Span]
    message: str
    delta: float


class VerdictMessage(BaseModel):
    """The verdict on one pair, or the error of a pair that could not be scored."""

    score: float | None = Field(ge=-1, le=1, description="Null only if there is an error.")
    valid: bool | None
    evidence: list[EvidenceMessage]
    warnings: list[str]
    error: str | None = Field(default=None, description="Why the pair could not be scored. Usually left out.")


class BatchVerdictMessage(VerdictMessage):
    """The verdict on one pair, with the pair's id."""

    id: str | None


class ScoreAnswer(BaseModel):
    """The verdicts, in the order of the paraphrases."""

    verdicts: list[VerdictMessage]
    signature: str


class BatchAnswer(BaseModel):
    """The verdicts, in the order of the pairs."""

    verdicts: list[BatchVerdictMessage]
    signature: str


class ParaphraseMessage(BaseModel):
    """A paraphrase with its verdict and its origin."""

    text: str
    score: float = Field(ge=-1, le=1)
    valid: bool
    evidence: list[EvidenceMessage]
    source: str = Field(description="What wrote the text: rules, or the name of a model.")
    style: str = Field(description="The style that was asked for, or empty.")
    edits: list[str] = Field(description="The operators and rules that made the text. Empty for a model.")
    repaired: str = Field(description="The kind of the fault that was mended, or empty.")


class ParaphraseAnswer(BaseModel):
    """The paraphrases, the best first."""

    paraphrases: list[ParaphraseMessage]
    reason: str = Field(description="Why there are fewer paraphrases than wanted, or empty.")
    signature: str


class Limits(BaseModel):
    """The limits of a request. A client splits its work accordingly."""

    max_pairs: int
    max_text: int
    max_characters: int
    max_body: int


class ModelAnswer(BaseModel):
    """The model that scores, and the limits of a request."""

    name: str
    mode: str
    threshold: float
    signature: str
    version: str
    limits: Limits
    max_paraphrases: int = Field(description="The most paraphrases in a request. 0: this server writes none.")


class ErrorContent(BaseModel):
    """What went wrong."""

    code: str = Field(description="One word for programs.", examples=["invalid_request"])
    message: str = Field(description="A sentence for people.")
    details: Any = None


class ErrorAnswer(BaseModel):
    """The form of every error."""

    error: ErrorContent


def verdict_message(verdict: Verdict | PairError) -> dict[str, Any]:
    """Return a verdict or an error as JSON. The signature is given once for all verdicts of an answer."""
    if isinstance(verdict, PairError):
        return {"score": None, "valid": None, "evidence": [], "warnings": [], "error": str(verdict)}
    message = verdict.to_dict()
    del message["signature"]
    return message


def paraphrase_message(paraphrase: Paraphrase) -> dict[str, Any]:
    """Return a paraphrase as JSON. The order gives the rank, and the signature is given once for all."""
    message = paraphrase.to_dict()
    for name in ("rank", "signature"):
        del message[name]
    return {"text": message.pop("paraphrase"), **message}


def check_paraphrasing(body: ParaphraseRequest, settings: Settings) -> None:
    """Raise an error if a question cannot be paraphrased or too many paraphrases are wanted."""
    if body.n > settings.max_paraphrases:
        raise TooLarge(
            f"n is {body.n:,}. At most {settings.max_paraphrases:,} paraphrases are allowed: send several requests, "
            "each with another seed.",
            details={"limit": settings.max_paraphrases, "given": body.n},
        )
    _check_text(body.question, "question", longest=min(settings.max_text, LONGEST_PARAPHRASED))


def check_pairs(pairs: Sequence[tuple[str, str]], places: Sequence[tuple[str, str]], settings: Settings) -> None:
    """Raise an error if the pairs are too much work, or if a text cannot be scored. The message names the text.

    Parameters
    ----------
    pairs : sequence of (question, paraphrase)
        The pairs.
    places : sequence of (str, str)
        The names of the texts in the request, such as ``pairs[3].question``.
    settings : Settings
        The limits.

    """
    if len(pairs) > settings.max_pairs:
        raise TooLarge(
            f"The request has {len(pairs):,} pairs. At most {settings.max_pairs:,} are allowed: send several requests.",
            details={"limit": settings.max_pairs, "given": len(pairs)},
        )
    for (question, paraphrase), (here, there) in zip(pairs, places, strict=True):
        _check_text(question, here, longest=settings.max_text)
        _check_text(paraphrase, there, longest=settings.max_text, allow_blank=True)
    work = sum(len(question) + len(paraphrase) for question, paraphrase in pairs)
    if work > settings.max_characters:
        raise TooLarge(
            f"The pairs of the request have {work:,} characters; the question counts in each pair. At most "
            f"{settings.max_characters:,} are allowed: send several requests.",
            details={"limit": settings.max_characters, "given": work},
        )


def _check_text(text: str, place: str, *, longest: int, allow_blank: bool = False) -> None:
    why = text_problem(text, "text", allow_blank=allow_blank, longest=longest, unicode=True)
    if why:
        why = "is blank" if why == "blank text" else why.removeprefix("text ")
        raise InvalidInput(f"{place} {why}.", details=[{"where": place, "problem": why}])

"""Name the columns of a table, and suggest a column if the requested one is missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields

from paraqd.parameters import named

# other common names for each column, which are used only in suggestions and to detect the separator
ALIASES: Mapping[str, tuple[str, ...]] = {
    "question": (
        "question_text",
        "problem",
        "text",
        "body",
        "prompt",
        "source",
        "original",
        "sentence1",
        "input",
    ),
    "paraphrase": ("augmented", "rewrite", "target", "candidate", "sentence2", "output", "variant"),
    "label": ("final_label", "valid", "is_valid", "y", "class", "gold"),
    "id": ("question_id", "qid", "uid", "key", "index"),
    "score": ("scores", "cosine", "similarity", "prediction", "paraqd_score"),
}


@dataclass(frozen=True)
class Columns:
    """The column names in a file.

    Attributes
    ----------
    question, paraphrase : str
        The columns that contain the original problem and its paraphrase.
    label : str
        The column that contains the label: 1 for a valid paraphrase, 0 for an invalid paraphrase.
    id : str
        The column that contains the question's id.

    """

    question: str = "question"
    paraphrase: str = "paraphrase"
    label: str = "label"
    id: str = "id"


DEFAULT_COLUMNS = Columns()
USUAL_NAMES = frozenset(name for field in fields(Columns) for name in (field.name, *ALIASES[field.name]))


def suggest(wanted: str, among: Sequence[str], aliases: Sequence[str] = ()) -> str | None:
    """Return the name in ``among`` that equals ``wanted`` or an alias, or the most similar name, or None."""
    from rapidfuzz import fuzz, process

    lowered = {name.casefold(): name for name in reversed(among)}
    for alias in (wanted, *aliases):
        if alias.casefold() in lowered:
            return lowered[alias.casefold()]
    nearest = process.extractOne(wanted.casefold(), list(lowered), scorer=fuzz.ratio, score_cutoff=60)
    return lowered[nearest[0]] if nearest else None


def missing_column(file: str, columns: Sequence[str], role: str, name: str, used: Collection[str] = ()) -> str:
    """Return the message about a missing column. It suggests a similar column that has no other role.

    ``used`` contains the columns that have another role.

    >>> missing_column("a.csv", ["Frage", "Fragen"], "paraphrase", "Fragx", ["Frage"])
    "a.csv has no column 'Fragx' (it has: Frage, Fragen); did you mean paraphrase='Fragen'?"
    """
    # in a file with scores, the column valid contains verdicts, not labels
    among = [column for column in columns if column != "valid" or "signature" not in columns]
    taken = {each.casefold() for each in used}
    taken |= {each for each in ("question", "paraphrase") if each != role}
    among = [column for column in among if column.strip().casefold() not in taken]
    nearest = suggest(name, among, ALIASES[role] if name == role else ())
    remedy = f"did you mean {named(role, nearest)}?" if nearest else f"name the column with {named(role, 'NAME')}"
    return f"{file} has no column {name!r} (it has: {listed(columns)}); {remedy}"


def listed(columns: Sequence[str]) -> str:
    """Return the first column names of a table as a list for a message."""
    return ", ".join(shorten(column, 40) for column in columns[:20]) + (", …" if len(columns) > 20 else "")


def shorten(text: str, length: int) -> str:
    """Truncate a text to a maximum length for use in a message.

    >>> shorten("how many apples", 8)
    'how man…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"

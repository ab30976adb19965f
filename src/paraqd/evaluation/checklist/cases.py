"""Read the checklist's cases from files named ``CAPABILITY.jsonl``, one for each capability."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from paraqd.evaluation.errors import EvaluationError
from paraqd.scoring.verdict import EvidenceKind, Span
from paraqd.text_check import pair_problem

_ENDING = ".jsonl"
_KEYS = ("question", "paraphrase", "label", "kinds", "where")
_TEXTS = ("question", "paraphrase")


class ChecklistError(EvaluationError):
    """Raised when cases cannot be used or do not match the verdicts; the one-line message says what is wrong."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A pair with the expected verdict.

    Attributes
    ----------
    capability : str
        The capability that the case tests, which is also the file's name without the extension.
    question, paraphrase : str
        The two texts.
    label : int
        1 if the paraphrase is valid, 0 if it is invalid.
    kinds : tuple of EvidenceKind
        The kinds of evidence that are accepted for the fault, with the best kind first. The tuple is empty if the pair
        is valid or no evidence is expected.
    question_spans, paraphrase_spans : tuple of (start, end)
        The spans of the words at fault in each text, in code points.
    line : int
        The line number in the file, counted from 1, or 0 if the case does not come from a file.

    """

    capability: str
    question: str
    paraphrase: str
    label: int
    kinds: tuple[EvidenceKind, ...] = ()
    question_spans: tuple[Span, ...] = ()
    paraphrase_spans: tuple[Span, ...] = ()
    line: int = 0

    @property
    def where(self) -> dict[str, list[str]]:
        """The words at fault in each text, as quoted in the case's file."""
        return {
            "question": [self.question[a:b] for a, b in self.question_spans],
            "paraphrase": [self.paraphrase[a:b] for a, b in self.paraphrase_spans],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the case as a JSON-serialisable dictionary that includes the capability and the line number."""
        found: dict[str, Any] = {
            "capability": self.capability,
            "line": self.line,
            "question": self.question,
            "paraphrase": self.paraphrase,
            "label": self.label,
        }
        if self.kinds:
            found |= {"kinds": [kind.value for kind in self.kinds], "where": self.where}
        return found


def load_cases(folder: str | Path | None = None, *, capabilities: Sequence[str] | None = None) -> tuple[Case, ...]:
    """Return the cases in a folder, sorted by capability.

    Parameters
    ----------
    folder
        A folder with a file ``CAPABILITY.jsonl`` for each capability (default: the cases that come with paraqd).
    capabilities
        The capabilities to read (default: all).

    Raises
    ------
    ChecklistError
        If there are no cases, a capability does not exist, or a line is not a case.
    """
    root = files("paraqd.evaluation.checklist") if folder is None else Path(folder).expanduser()
    here = "paraqd" if folder is None else str(folder)
    found = _files(root, here)
    if capabilities is not None:
        for name in capabilities:
            _check_known(name, found, here)
        found = {name: file for name, file in found.items() if name in capabilities}
    return tuple(case for name, file in found.items() for case in _cases(name, file))


def parse_case(found: object, *, capability: str, line: int = 0) -> Case:
    """Convert a JSON object from a line of a file to a case.

    ``where`` quotes the words at fault. Each quotation must occur exactly once in its text. If an invalid pair has no
    ``kinds`` and no ``where``, only the verdict is tested.

    Raises
    ------
    ChecklistError
        If the object is not a case. The message does not name the file or the line.

    Examples
    --------
    >>> case = parse_case({"question": "Ann is 4.", "paraphrase": "Ann is 5.", "label": 0,
    ...     "kinds": ["number_changed"], "where": {"question": ["4"], "paraphrase": ["5"]}}, capability="numbers")
    >>> case.kinds[0].value, case.question_spans, case.paraphrase_spans
    ('number_changed', ((7, 8),), ((7, 8),))
    """
    if not isinstance(found, Mapping):
        raise ChecklistError("a case must be a JSON object; use the keys " + ", ".join(_KEYS))
    unknown = [str(key) for key in found if key not in _KEYS]
    if unknown:  # a misspelt key would silently weaken the test
        raise ChecklistError(f"unknown key {unknown[0]!r}; use {', '.join(_KEYS)}")
    if problem := pair_problem(*(found.get(name) for name in _TEXTS)):
        raise ChecklistError(problem)
    label = found.get("label")
    if type(label) is not int or label not in (0, 1):  # reject true and "1", so that labels are written uniformly
        raise ChecklistError("'label' must be 1 (valid) or 0 (invalid)")
    kinds = _kinds(found.get("kinds", []))
    spans = _spans(found.get("where", {}), found)
    marked = any(spans.values())
    if label == 1 and (kinds or marked):
        raise ChecklistError("a valid pair has no fault; remove 'kinds' and 'where'")
    if bool(kinds) != marked:
        raise ChecklistError("specify both 'kinds' (the fault) and 'where' (the words at fault), or neither")
    return Case(
        capability=capability,
        question=found["question"],
        paraphrase=found["paraphrase"],
        label=label,
        kinds=kinds,
        question_spans=spans["question"],
        paraphrase_spans=spans["paraphrase"],
        line=line,
    )


def _kinds(given: object) -> tuple[EvidenceKind, ...]:
    if not isinstance(given, list):
        raise ChecklistError("'kinds' must be a list")
    kinds = []
    for name in given:
        if name not in list(EvidenceKind):
            raise ChecklistError(f"unknown kind {name!r}; use {', '.join(EvidenceKind)}")
        kinds.append(EvidenceKind(name))
    return tuple(kinds)


def _spans(where: object, texts: Mapping[str, Any]) -> dict[str, tuple[Span, ...]]:
    """Return the spans of the quoted words in each text."""
    if not isinstance(where, Mapping) or not set(where) <= set(_TEXTS):
        raise ChecklistError("'where' must be an object with the keys 'question' and 'paraphrase'")
    found = {}
    for name in _TEXTS:
        words = where.get(name, [])
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise ChecklistError(f"'where' must list words of the {name}, such as [\"5 pens\"]")
        found[name] = tuple(_span(word, texts[name], name) for word in words)
    return found


def _span(words: str, text: str, name: str) -> Span:
    start = text.find(words)
    if start < 0:
        raise ChecklistError(f"{words!r} is not in the {name}; quote the words exactly as they are written there")
    if text.find(words, start + 1) >= 0:
        raise ChecklistError(f"{words!r} is in the {name} more than once; also quote the words before or after it")
    return start, start + len(words)


def _files(root: Traversable, here: str) -> dict[str, Traversable]:
    if not root.is_dir():
        raise ChecklistError(f"there is no folder {here}; check the path")
    found = sorted((file.name, file) for file in root.iterdir() if file.name.endswith(_ENDING))
    if not found:
        raise ChecklistError(f"{here} has no cases; put the cases in files named CAPABILITY{_ENDING}")
    return {name.removesuffix(_ENDING): file for name, file in found}


def _check_known(name: str, known: Mapping[str, object], here: str) -> None:
    from rapidfuzz import process

    if name in known:
        return
    nearest = process.extractOne(name, list(known), score_cutoff=60)
    remedy = (f"did you mean {nearest[0]}? " if nearest else "") + f"choose from {', '.join(known)}"
    raise ChecklistError(f"{here} has no capability {name!r}; {remedy}")


def _cases(capability: str, file: Traversable) -> Iterator[Case]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ChecklistError(f"cannot read {file.name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ChecklistError(f"{file.name} is not UTF-8; save the file as UTF-8") from None
    found = False
    for number, line in enumerate(text.split("\n"), start=1):  # a JSON string can contain other line breaks
        if not line.strip():
            continue
        try:
            yield parse_case(_json(line), capability=capability, line=number)
        except ChecklistError as error:
            raise ChecklistError(f"{file.name}, line {number}: {error}") from None
        found = True
    if not found:
        raise ChecklistError(f"{file.name} is empty; add a case, or remove the file")


def _json(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise ChecklistError("not valid JSON; write each case as a JSON object on one line") from None

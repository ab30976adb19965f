"""Read word problems: find their sentences, quantities, names and questions."""

from __future__ import annotations

from paraqd.reading.entities import EntityReader, LightEntities
from paraqd.reading.equality import equal, same_quantities
from paraqd.reading.light_entities import find_names
from paraqd.reading.quantities import find_quantities
from paraqd.reading.question import find_questions
from paraqd.reading.sentences import split_sentences
from paraqd.reading.signs import UNUSUAL
from paraqd.reading.token_stream import Stream
from paraqd.reading.tokens import tokenize
from paraqd.reading.types import Entity, Kind, Problem, Quantity, Question, Sentence, Span, Token
from paraqd.reading.unusual_signs import replace_unusual_signs, restore_text


def read(text: str, *, entities: EntityReader | None = None) -> Problem:
    """Read a word problem.

    Parameters
    ----------
    text : str
        The text of the problem. Any string is accepted.
    entities : EntityReader, optional
        The reader that finds names (default: `LightEntities`, which does not need a model).

    Examples
    --------
    >>> problem = read("Meera bought 2.5 kg of rice at Rs. 60 per kg. How much did she pay?")
    >>> [(str(q.value), q.unit, q.kind.value) for q in problem.quantities]
    [('5/2', 'kilogram', 'measure'), ('60', 'rupee/kilogram', 'money')]
    >>> problem.question.text, [e.text for e in problem.entities]
    ('How much did she pay?', ['Meera'])
    """
    if not text.isascii() and UNUSUAL.search(text):
        clean, positions = replace_unusual_signs(text)
        return restore_text(read(clean, entities=entities), text, positions)
    stream = Stream(text)
    sentences = split_sentences(text)
    names = find_names(stream, sentences) if entities is None else entities.find(text, stream.tokens, sentences)
    problem = Problem(
        text=text,
        sentences=sentences,
        quantities=find_quantities(stream),
        entities=names,
        questions=find_questions(text, sentences),
    )
    problem.__dict__["stream"] = stream  # fill the cached property
    return problem


__all__ = [
    "Entity",
    "EntityReader",
    "Kind",
    "LightEntities",
    "Problem",
    "Quantity",
    "Question",
    "Sentence",
    "Span",
    "Token",
    "equal",
    "read",
    "same_quantities",
    "tokenize",
]

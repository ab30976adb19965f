"""Replace or delete names (f7)."""

from __future__ import annotations

import random

from paraqd.reading import Entity, Problem, read
from paraqd.reading.signs import POSSESSIVES
from paraqd.rewriting.operator import Noted, Operator, Resources
from paraqd.rewriting.renaming import every_mention, substitute, titled_gender, words_of
from paraqd.rewriting.text import delete, splice

_MOST = 3
CONSISTENT = "consistent_renaming"


class EntityReplacement(Operator):
    """Replace or delete up to three mentions of names: Tom lives in Rome → Max lives in Paris (f7).

    The paper labels every output invalid. However, an output in which names are replaced consistently is still the same
    problem. Such an output has the note ``consistent_renaming``.
    """

    name = "EntityReplacement"
    paper_id = "f7"
    polarity = "invalid"
    fault = "entity_changed"
    changes = frozenset({"names"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace or delete one to three mentions; return None if the text contains no name."""
        del resources
        if not problem.entities:
            return None
        chosen = rng.sample(problem.entities, rng.randint(1, min(_MOST, len(problem.entities))))
        taken = words_of(problem.text)
        replaced: list[tuple[Entity, str]] = []
        deleted: list[Entity] = []
        new_names: dict[str, str] = {}
        for entity in chosen:
            new = new_names.get(entity.text)
            if rng.random() < 0.5:
                new = new or substitute(entity.text, entity.category, taken, rng, gender=titled_gender(problem, entity))
            else:
                new = None
            if new is None:
                deleted.append(entity)
            else:
                new_names[entity.text] = new
                taken |= words_of(new)
                replaced.append((entity, new))
        text = _edited_text(problem, replaced, deleted)
        if not text or text == problem.text:
            return None
        return Noted(text, CONSISTENT if not deleted and _is_consistent(problem, replaced) else "")


def _edited_text(problem: Problem, replaced: list[tuple[Entity, str]], deleted: list[Entity]) -> str:
    """Return the problem's text with all replacements and deletions applied."""
    text = problem.text
    gone = [(e.start, e.end + (2 if text[e.end : e.end + 2] in POSSESSIVES else 0)) for e in deleted]
    new_text = splice(text, [(e.start, e.end, new) for e, new in replaced])
    shift = [(e.start, len(new) - (e.end - e.start)) for e, new in replaced]
    moved = [
        (start + sum(d for at, d in shift if at < start), end + sum(d for at, d in shift if at < start))
        for start, end in gone
    ]
    return delete(read(new_text), moved).strip() if moved else new_text


def _is_consistent(problem: Problem, replaced: list[tuple[Entity, str]]) -> bool:
    """Return True if all mentions of the replaced names were replaced."""
    for entity, _ in replaced:
        done = {e.start for e, _ in replaced if e.text == entity.text}
        everywhere = {start for start, _ in every_mention(problem, entity.text)}
        everywhere |= {e.start for e in problem.entities if e.text == entity.text}
        if everywhere - done:
            return False
        if any(e.text != entity.text and _shares_word(e.text, entity.text) for e in problem.entities):
            return False
    return True


def _shares_word(a: str, b: str) -> bool:
    return bool(set(a.lower().split()) & set(b.lower().split()))

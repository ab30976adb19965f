"""Names: renamed everywhere is fine, renamed in some places is not."""

from __future__ import annotations

from collections.abc import Iterator

from paraqd.reading import Problem
from paraqd.scoring.finding import Finding
from paraqd.scoring.verdict import EvidenceKind, Span

_ROOT = 5  # letters: Waldos, American


def name_findings(question: Problem, paraphrase: Problem) -> Iterator[Finding]:
    """Find a name that comes new into the paraphrase though none of the question's names made way for it.

    Lower-case texts have no names that could be told from other words, and give no findings.
    """
    if not (question.cased and paraphrase.cased):
        return
    before, after = _names(question), _names(paraphrase)
    lower = question.text.lower()
    new = [name for name in after if name not in before and name[:_ROOT] not in lower]
    gone = [name for name in before if name not in after and name not in paraphrase.text.lower()]
    if not new or not before or len(new) <= len(gone):
        return
    for name in new[len(gone) :]:
        spans = tuple(after[name])
        written = paraphrase.text[slice(*spans[0])]
        message = f"The name {written} is new, and no name of the question made way for it."
        yield Finding("name_mixed", EvidenceKind.ENTITY_CHANGED, (), spans, message)


def _names(problem: Problem) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for entity in problem.entities:
        key = entity.text.lower().removesuffix("'s").removesuffix("’s")
        found.setdefault(key, []).append((entity.start, entity.end))
    return found

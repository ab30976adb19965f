"""Label texts that operators or writers have broken, and vary the form of texts.

An operator that makes a paraphrase invalid does not always make a question unsolvable. Outputs that may still be
solvable are left out.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from paraqd.lab.corpora.faulty_pairs import Span, changed_spans
from paraqd.lab.corpora.question_texts import FAMILIES, QuestionText
from paraqd.lab.corpora.synthetic import InvalidParaphrase
from paraqd.lab.operators.registry import base_name
from paraqd.reading import read

# faults of a paraphrase that leave a complete problem; entity_changed and content_lost may or may not
COMPLETE = frozenset({"number_changed", "unit_changed", "relation_changed", "question_changed"})
_CUT = frozenset({"cuts", "cuts_in_words"})
_NUMBER = frozenset({"lost_numbers", "vague_numbers"})
_RELATION = re.compile(
    r"\b(?:twice|thrice|double[ds]?|tripled?|half|halves|quarter|dozen|times|equal|same|square|cube)\b", re.I
)
_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"\w+|[^\w\s]")
# the harmless operators that may mend the faults of a family
_REPAIRS: Mapping[str, tuple[str, ...]] = {
    "cuts": ("QuestionForm",),
    "cuts_in_words": ("ClumsyGrammar", "QuestionForm"),  # ClumsyGrammar may drop the cut word
    "lost_references": ("PronounUse",),
}
_END = re.compile(r"\s*[?.!]+\s*$")
_FEW = 2  # with fewer quantities, hardly anything can be computed
_PREFIXES = ("Q{}. ", "{}) ", "Question {}: ", "{}. ", "Problem {}: ")


def operator_texts(
    rows: Iterable[Mapping[str, Any]], families: Mapping[str, str], solvable: set[str]
) -> Iterator[QuestionText]:
    """Yield labelled texts for the outputs of operators.

    ``families`` maps each operator that breaks questions to its family; the outputs of other operators are solvable.
    ``solvable`` contains the lower-case solvable texts; an output that is one of them is not broken.
    """
    for row in rows:
        name, start, text = str(row["id"]), str(row["question"]), str(row["paraphrase"]).strip()
        operator = base_name(str(row["operator"]).rpartition("+")[2])
        family = families.get(operator, "")
        name, source = f"{name}|{operator}", operator
        if not family or int(row["label"]):  # some operators without a family change the problem, but keep it complete
            yield QuestionText(name, text, 1, source=source, counterpart=family)
            continue
        if text.lower() in solvable or not _is_broken(start, text, operator, family):
            continue
        spans = _cut_spans(text) if family in _CUT else changed_spans(start, text)[1]
        yield QuestionText(name, text, 0, FAMILIES[family], family, source, spans, bool(spans))


def changed_broken_texts(
    rows: Iterable[Mapping[str, Any]], broken: Mapping[str, QuestionText], counterparts: Mapping[str, str]
) -> Iterator[QuestionText]:
    """Yield the outputs of harmless operators for broken texts, which stay broken.

    ``broken`` has the texts by the ids of the rows. ``counterparts`` maps operators to the family that they resemble.
    """
    for row in rows:
        start, text = broken[str(row["id"])], str(row["paraphrase"]).strip()
        operator = base_name(str(row["operator"]).rpartition("+")[2])
        if operator in _REPAIRS.get(start.family, ()):
            continue
        spans = _cut_spans(text) if start.family in _CUT else moved_spans(start.text, text, start.spans)
        yield replace(
            start,
            id=f"{row['id']}|{operator}",
            text=text,
            source=operator,
            spans=spans,
            placed=bool(spans),
            counterpart=counterparts.get(operator, ""),
        )


def moved_spans(before: str, after: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return where the words in the spans of a text are in a changed text, or nothing if not all are found.

    >>> moved_spans("Tom has some pens.", "Some say hello. Tom has some pens.", [(8, 12)])
    ((24, 28),)
    """
    old, new = list(_TOKEN.finditer(before)), list(_TOKEN.finditer(after))
    matcher = difflib.SequenceMatcher(None, [t[0] for t in old], [t[0] for t in new], autojunk=False)
    blocks = matcher.get_matching_blocks()
    found = []
    for start, end in spans:
        inside = [n for n, token in enumerate(old) if start < token.end() and token.start() < end]
        moved = [b.b - b.a for b in blocks if inside and b.a <= inside[0] and inside[-1] < b.a + b.size]
        if moved:
            found.append((new[inside[0] + moved[0]].start(), new[inside[-1] + moved[0]].end()))
            continue
        again = list(re.finditer(rf"(?<!\w){re.escape(before[start:end])}(?!\w)", after))
        if len(again) != 1:
            return ()
        found.append(again[0].span())
    return tuple(sorted(found))


def written_text(name: str, faulty: InvalidParaphrase, texts: Sequence[str]) -> QuestionText | None:
    """Return the labelled text for a paraphrase that was written with a fault, or None if it may still be solvable.

    ``texts`` are the solvable texts of the same problem.
    """
    text, family = faulty.text.strip(), ""
    if faulty.kind == "number_lost":
        family = "vague_numbers" if faulty.spans else "lost_numbers"  # other words are in the place of the number
    elif faulty.kind == "incoherent":
        family = "misplaced_words"
    elif faulty.kind == "question_lost":
        family = _lost_question(text, texts)
    if not family:
        return None
    spans = _cut_spans(text) if family in _CUT else faulty.spans
    return QuestionText(name, faulty.text, 0, FAMILIES[family], family, f"written-{faulty.kind}", spans, bool(spans))


def vary_form(text: QuestionText, rng: random.Random, share: float) -> QuestionText:
    """Give a share of the texts another ending or a number in front, whatever their label.

    Otherwise, a model could recognise a cut-off text by its missing question mark.
    """
    if rng.random() >= share:
        return text
    way = rng.random()
    if way < 0.4:
        return _with_end(text, "")
    if way < 0.8:
        return _with_end(text, rng.choice("???.!…"))
    prefix = rng.choice(_PREFIXES).format(rng.randint(1, 60))
    spans = tuple((start + len(prefix), end + len(prefix)) for start, end in text.spans)
    return replace(text, text=prefix + text.text, spans=spans)


def _is_broken(start: str, text: str, operator: str, family: str) -> bool:
    """Return True if an operator's output is surely not solvable."""
    if not text:
        return False
    before, after = read(start), read(text)
    if family == "lost_questions":
        return len(before.sentences) > 1 and after.question is None
    if family in _NUMBER:
        lost = {quantity.value for quantity in before.quantities} - {quantity.value for quantity in after.quantities}
        # VagueNumber can make a comparison vague without changing a number
        return bool(lost) or (operator == "VagueNumber" and len(before.quantities) == len(after.quantities))
    if operator == "ConditionDeletion":
        return len(after.quantities) < min(_FEW, len(before.quantities)) and not _RELATION.search(text)
    if operator == "RandomDeletion":
        return _lost_words(start, text) >= 3
    return True


def _lost_words(start: str, text: str) -> int:
    """Return the number of content words that a text has lost."""
    kept = {word.lower() for word in _WORD.findall(text)}
    return sum(len(word) > 3 and word.lower() not in kept for word in set(_WORD.findall(start)))


def _lost_question(text: str, texts: Sequence[str]) -> str:
    """Return the family of a text whose question is lost: without a question, cut off, or cut off inside a word."""
    if read(text).question is None and text[-1:] in tuple(".!\"'”’)"):
        return "lost_questions"
    if text[-1:].isalnum():
        words = {word.lower() for each in texts for word in _WORD.findall(each)}
        return "cuts" if _WORD.findall(text)[-1].lower() in words else "cuts_in_words"
    return "cuts" if text[-1:] in tuple(",-–—…") else "lost_questions"


def _cut_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the span of the last sentence, which is cut off."""
    sentences = read(text).sentences
    return ((sentences[-1].start, sentences[-1].end),) if sentences else ()


def _with_end(text: QuestionText, end: str) -> QuestionText:
    """Replace the final punctuation marks of a text. The spans stay inside the text."""
    new = _END.sub("", text.text) + end
    spans = tuple((a, min(b, len(new))) for a, b in text.spans if a < len(new))
    return replace(text, text=new, spans=spans) if new.strip() else text

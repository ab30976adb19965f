"""Time every module that reads or compares texts apart from the others."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from paraqd import Scorer
from paraqd.reading import Problem, equality, read, word_difference, words
from paraqd.reading.light_entities import find_names
from paraqd.reading.numerals import cardinal, ordinal_value
from paraqd.reading.quantities import find_quantities
from paraqd.reading.question import find_questions
from paraqd.reading.sentences import split_sentences
from paraqd.reading.token_stream import Stream
from paraqd.reading.tokens import tokenize
from paraqd.reading.unit_mentions import find_unit_mentions
from paraqd.reading.unit_parsing import denominator, money_letter, simple_unit
from paraqd.reading.units import category, dimension
from paraqd.reading.unusual_signs import replace_unusual_signs, restore_text
from paraqd.reading.worded_quantities import STARTERS, worded
from paraqd.scoring import chatter, exchanged_names, language, markup, same_text, shared_remarks, text_warnings
from paraqd.scoring.evidence import (
    content_words,
    copies,
    derived,
    equal_quantities,
    figure_labels,
    finding,
    in_place,
    matching,
    missing_words,
    names,
    order,
    owners,
    quantities,
    question,
    ratios,
    relations,
    roles,
    rules,
)
from paraqd.scoring.evidence.comparisons import Comparisons
from paraqd.scoring.judge.base import Place
from paraqd.scoring.judge.finding import merged_spans
from paraqd.scoring.normalise_quantities import normalise_quantities
from paraqd.scoring.pair_preparation import PreparedPair, prepare_pair

RULES = "all rules together"


@dataclass(frozen=True)
class Material:
    """A pair, as it is given and as it is read."""

    question: str
    paraphrase: str
    pair: PreparedPair

    @property
    def fresh(self) -> tuple[Problem, Problem]:
        """The readings of both texts, from which nothing has been derived."""
        return _fresh(self.pair.question), _fresh(self.pair.paraphrase)

    @property
    def texts(self) -> tuple[str, str]:
        """The plain texts."""
        return self.pair.question.text, self.pair.paraphrase.text


def _fresh(problem: Problem) -> Problem:
    copy = replace(problem)
    copy.__dict__["stream"] = problem.stream
    return copy


Step = Callable[[Material], object]


def _both(run: Callable[[str], object]) -> Step:
    return lambda material: [run(text) for text in material.texts]


def _each(run: Callable[[Problem], object]) -> Step:
    return lambda material: [run(problem) for problem in material.fresh]


def _rule(run: Callable[[Problem, Problem], Iterator[finding.Finding]]) -> Step:
    return lambda material: list(run(*material.fresh))


def _at_tokens(run: Callable[[Stream, int], object]) -> Step:
    def step(material: Material) -> None:
        for problem in (material.pair.question, material.pair.paraphrase):
            for place in range(problem.stream.n):
                run(problem.stream, place)

    return step


def _shared_units(problem: Problem) -> object:
    return [(a, b) for a, b in pairwise(problem.quantities) if equality.equal(a, b)]


def _unusual(text: str) -> object:
    clean, positions = replace_unusual_signs(text)
    return restore_text(read(clean), text, positions)


def _sides(material: Material) -> object:
    (here, there), work = material.fresh, Comparisons()
    pairs = zip(matching.amounts_of(here), matching.amounts_of(there), strict=False)
    return [roles.sides_turned(here, a, there, b, work) for a, b in pairs]


def _quotes(problem: Problem) -> object:
    return [finding.quote_context(problem, each.start, each.end) for each in problem.quantities]


def _equal_amounts(material: Material) -> object:
    (here, there), work = material.fresh, Comparisons()
    found = [*equal_quantities.equal_rules(here, there), *equal_quantities.inverse_rules(here, there, work)]
    left, right = matching.amounts_of(here)[:_SIDE], matching.amounts_of(there)[:_SIDE]
    return [rule(a, b) for rule in found for a in left for b in right]


def _ratios(material: Material) -> object:
    here, there = (matching.Amounts(matching.amounts_of(problem)) for problem in material.fresh)
    return list(ratios.match_ratios(here, there, Comparisons()))


def _derived(material: Material) -> object:
    here, there = material.fresh
    return [derived.follows(item, here) for item in matching.amounts_of(there)]


def _judged(text: str) -> object:
    return merged_spans(text, [Place(place, place + 1, 1.0) for place in range(len(text))])


_SCORER = Scorer.load("reading")
_SIDE = 100  # the numbers of each text that are compared with all others, rule by rule

# the steps of each module; what a step needs from other modules is computed before, except what a module derives itself
STEPS: dict[str, Step] = {
    "reading.tokens": _both(tokenize),
    "reading.token_stream": _both(lambda text: (Stream(text).variables, Stream(text).pays_in_pounds)),
    "reading.sentences": _both(split_sentences),
    "reading.light_entities": _each(lambda problem: find_names(Stream(problem.text), problem.sentences)),
    "reading.numerals": _at_tokens(lambda s, i: (cardinal(s, i), ordinal_value(s, i))),
    "reading.worded_quantities": _at_tokens(lambda s, i: worded(s, i, 0) if s.low[i] in STARTERS else None),
    "reading.unit_parsing": _at_tokens(lambda s, i: (simple_unit(s, i), denominator(s, i), money_letter(s, i))),
    "reading.quantities": _both(lambda text: find_quantities(Stream(text))),
    "reading.question": lambda m: [find_questions(p.text, p.sentences) for p in (m.pair.question, m.pair.paraphrase)],
    "reading.unit_mentions": _each(find_unit_mentions),
    "reading.units": _each(lambda problem: [(dimension(q.unit), category(q.unit)) for q in problem.quantities]),
    "reading.equality": lambda m: equality.same_quantities(*(problem.quantities for problem in m.fresh)),
    "reading.unusual_signs": _both(_unusual),
    "reading.word_difference": lambda m: word_difference.differences(m.question, m.paraphrase),
    "reading.words": lambda m: words.overlap(m.question, m.paraphrase),
    "reading (all)": _both(read),
    "scoring.markup": lambda m: [markup.remove_markup(text) for text in (m.question, m.paraphrase)],
    "scoring.chatter": lambda m: chatter.assistant_remark(m.question, m.paraphrase),
    "scoring.language": lambda m: (language.is_foreign(m.question), language.is_foreign(m.paraphrase)),
    "scoring.text_warnings": lambda m: text_warnings.text_warnings(m.question, m.paraphrase),
    "scoring.same_text": lambda m: same_text.same_text(m.question, m.paraphrase),
    "scoring.shared_remarks": lambda m: shared_remarks.drop_shared_remarks(*map(markup.PlainText, m.texts)),
    "scoring.exchanged_names": lambda m: exchanged_names.undo_name_exchange(m.texts[0], markup.PlainText(m.texts[1])),
    "scoring.normalise_quantities": lambda m: normalise_quantities(*m.fresh, m.pair.matching),
    "scoring.pair_preparation": lambda m: prepare_pair(m.question, m.paraphrase),
    "evidence.content_words": _each(content_words.content_words),
    "evidence.matching": _each(lambda problem: matching.split_compounds(matching.amounts_of(problem))),
    "evidence.equal_quantities": _equal_amounts,
    "evidence.in_place": lambda m: list(in_place.swapped_in_place(*m.fresh)),
    "evidence.quantities": lambda m: quantities.match_quantities(*m.fresh),
    "evidence.ratios": _ratios,
    "evidence.derived": _derived,
    "evidence.roles": lambda m: (roles.swapped_numbers(m.pair.matching, *m.fresh), _sides(m)),
    "evidence.owners": lambda m: list(owners.owner_findings(*m.fresh, m.pair.matching)),
    "evidence.copies": _rule(copies.copied_numbers),
    "evidence.finding": _each(_quotes),
    "evidence.question": _rule(question.question_findings),
    "evidence.relations": _rule(relations.relation_findings),
    "evidence.relations (turns)": _rule(relations.turning_findings),
    "evidence.names": _rule(names.name_findings),
    "evidence.names (misplaced)": _rule(names.misplaced_names),
    "evidence.names (pronouns)": _rule(names.pronoun_findings),
    "evidence.figure_labels": _rule(figure_labels.label_findings),
    "evidence.missing_words": _rule(missing_words.gap_findings),
    "evidence.order": _rule(order.order_findings),
    "judge.finding": _both(_judged),
    "evidence.rules": lambda m: rules.READER.findings(*m.fresh, m.pair.matching),
    RULES: lambda m: _SCORER.score(m.question, m.paraphrase),
}


def seconds(step: Step, material: Material) -> float:
    """Return the processor time of a step."""
    gc.disable()
    try:
        start = time.process_time()
        step(material)
        return time.process_time() - start
    finally:
        gc.enable()

"""The default scorer: what the reading finds and what the learned judge says, weighed together."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from paraqd.reading import Problem, read
from paraqd.reading.sentences import split_sentences
from paraqd.scoring.evidence.finding import Finding
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.cross_encoder import CrossModel, Judgement
from paraqd.scoring.judge.finding import learned_finding
from paraqd.scoring.markup import placed_back, plain, quieter
from paraqd.scoring.normalise_quantities import Harmonised, harmonise
from paraqd.scoring.verdict import Evidence

_KEPT_READINGS = 512
_SHORT = 3
_TOLD = 0.05
Told = tuple[float, tuple[Evidence, ...]]  # a score, and what speaks against the pair
# what these mean depends on what was said before
_POINTING = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|their|theirs|this|that|these|those|then|now|there|here|next|rest|"
    r"remaining|remainder|remains?|left|other|others|another|same|such|former|latter|again|later|after|afterwards|before|"
    r"more|fewer|less|also|too|first|second|third|last|finally|so|both|each|respectively|previous|following|how|what)\b",
    re.I,
)
_STATED = re.compile(
    r"\b(?:costs?|is|are|was|were|has|have|had|weighs?|contains?|holds?|measures?|earns?|owns?)\b", re.I
)


class FusedJudge:
    """Weighs evidence from two readings and, where there is one, a learned model.

    With ``skip`` the model is not asked about pairs that the reading alone decides: their findings weigh so much that
    the model changed the verdict on no such pair of the validation sets.
    """

    def __init__(self, fusion: Fusion, model: CrossModel | None = None, *, skip: bool = True) -> None:
        self._fusion = fusion
        self._model = model
        self._skip = skip
        self._read = lru_cache(maxsize=_KEPT_READINGS)(read)

    def begin(self, pairs: Sequence[tuple[str, str]], threshold: float) -> Callable[[], list[Told]]:
        """Read pairs and begin to judge them; return what waits for each pair's score and evidence.

        Texts are neither blank nor the same.
        """
        seen = [quieter(plain(question), plain(paraphrase)) for question, paraphrase in pairs]
        # a question comes back with its next paraphrase; a paraphrase hardly ever does, and keeping it costs memory
        problems = [(self._read(question.text), read(paraphrase.text)) for question, paraphrase in seen]
        matched = [match_quantities(q, p) for q, p in problems]
        made = [harmonise(q, p, matching) for (q, p), matching in zip(problems, matched, strict=True)]
        # the same but for the way in which it is written: nothing to ask, nothing to weigh
        others = [i for i, (q, _) in enumerate(problems) if not _same(q, made[i].text)]
        findings = {i: READER.findings(*problems[i], matched[i]) for i in others}
        asked = [i for i in others if self._asks(findings[i], threshold)]
        # the model sees the paraphrase's numbers as the question writes them
        wait = (
            self._model.begin([(problems[i][0].text, made[i].text) for i in asked]) if self._model and asked else list
        )

        def finish() -> list[Told]:
            judgements = dict(zip(asked, wait(), strict=False))  # without a model nobody answers
            found: list[Told] = [(1.0, ())] * len(pairs)
            for i in others:
                score, evidence = self._weighed(*problems[i], made[i], findings[i], judgements.get(i), threshold)
                found[i] = (score, placed_back(evidence, *seen[i]))
            return found

        return finish

    def _asks(self, findings: Sequence[Finding], threshold: float) -> bool:
        """Tell whether the model must be asked about a pair."""
        if self._model is None:
            return False
        return not (self._skip and self._fusion.decided([finding.feature for finding in findings], threshold))

    def _weighed(
        self,
        question: Problem,
        paraphrase: Problem,
        made: Harmonised,
        findings: Sequence[Finding],
        judgement: Judgement | None,
        threshold: float,
    ) -> Told:
        """Weigh the findings and what the model says."""
        logit = 0.0 if judgement is None else judgement.valid
        features = [finding.feature for finding in findings]
        # of a pair that was decided without the model, what it says of such pairs; without its faults it is not known
        score = self._fusion.score(features, self._fusion.presumed if judgement is None and self._model else logit)
        evidence = self._fusion.evidence(findings, logit)
        if judgement is not None and (logit < 0 or (score <= threshold and not evidence)):
            delta = min(0.0, score - self._fusion.score(features))
            finding = learned_finding(question, paraphrase, judgement, made)
            message = finding.message if logit < 0 else _doubt(finding.message, threshold)
            piece = Evidence(finding.kind, finding.question_spans, finding.paraphrase_spans, message, delta)
            evidence = _with_learned(evidence, piece)
        if score > threshold:  # what hardly moved it is no more than a doubt of the reading
            evidence = tuple(piece for piece in evidence if piece.delta <= -_TOLD)
        return score, evidence


def _doubt(message: str, threshold: float) -> str:
    """Say of a pair that was taken for valid rather than not, but not as surely as asked for, where the doubt is."""
    return f"No fault stands out, but the score is not above {threshold:g}; the least sure place: {message}"


def _same(question: Problem, paraphrase: str) -> bool:
    """Tell whether two texts have the same words, or the same sentences in an order that does not matter."""
    mine, theirs = _words(question.text), _words(paraphrase)
    if len(mine) != len(theirs):
        return False
    if not (question.cased and any(map(str.isupper, paraphrase))):
        mine, theirs = ([word.lower() for word in words] for words in (mine, theirs))
    if mine == theirs or sorted(mine) != sorted(theirs):
        return mine == theirs
    here, there = ([" ".join(_words(s.text)) for s in split_sentences(text)] for text in (question.text, paraphrase))
    if sorted(here) != sorted(there):
        return False
    moved = [one for one, other in zip(here, there, strict=True) if one != other]
    told = sum(_STATED.search(sentence) is None for sentence in moved)  # what is done, not what is: the order counts
    return told <= 1 and not any(_POINTING.search(sentence) for sentence in moved)


def _words(text: str) -> list[str]:
    """Return the words of a text; capitals tell short ones apart (x and X, mg and Mg), long ones not."""
    return [word.lower() if len(word) > _SHORT and word.isalpha() else word for word in text.split()]


def _with_learned(evidence: tuple[Evidence, ...], piece: Evidence) -> tuple[Evidence, ...]:
    """Add what the model sees; where the reading names the same place, that piece speaks for both."""
    for place, other in enumerate(evidence):
        if _overlap(piece, other):
            both = replace(other, delta=max(-2.0, other.delta + piece.delta))
            evidence = (*evidence[:place], both, *evidence[place + 1 :])
            break
    else:
        evidence = (*evidence, piece)
    return tuple(sorted(evidence, key=lambda each: each.delta))


def _overlap(a: Evidence, b: Evidence) -> bool:
    sides = ((a.question_spans, b.question_spans), (a.paraphrase_spans, b.paraphrase_spans))
    return any(x < w and u < y for mine, theirs in sides for x, y in mine for u, w in theirs)

"""Score pairs with the default method, which combines the findings of rules with a learned judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from paraqd.reading import Problem, read
from paraqd.reading.sentences import split_sentences
from paraqd.scoring.evidence.finding import Finding
from paraqd.scoring.evidence.rules import READER
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.judge.base import Judge, Judgement
from paraqd.scoring.judge.finding import judge_finding
from paraqd.scoring.pair_preparation import PreparedPair, prepare_pair
from paraqd.scoring.second_opinion import SecondOpinion
from paraqd.scoring.verdict import THRESHOLD, Evidence, Verdict, VerdictTerms

_REMEMBERED_QUESTIONS = 512
_SHORT_WORD = 3
_INCOMPLETE = "The texts have too many numbers to compare each with all others, so the score may be wrong."
_LEAST_DELTA = 0.05
# words whose meaning depends on the preceding sentences
_POINTING = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|hers|its|their|theirs|this|that|these|those|then|now|there|here|next|rest|"
    r"remaining|remainder|remains?|left|other|others|another|same|such|former|latter|again|later|after|afterwards|before|"
    r"more|fewer|less|also|too|first|second|third|last|finally|so|both|each|respectively|previous|following|how|what)\b",
    re.I,
)
_STATES = re.compile(
    r"\b(?:costs?|is|are|was|were|has|have|had|weighs?|contains?|holds?|measures?|earns?|owns?)\b", re.I
)


class FusedMethod:
    """The default scoring method, which combines the findings of rules with an optional learned judge.

    Parameters
    ----------
    fusion : Fusion
        The weights of the findings and of the judge.
    judge : Judge, optional
        The learned judge. By default, there is no judge, and the score depends only on the findings.
    skip : bool
        If True, do not ask the judge about pairs whose findings already decide the verdict. On the validation sets,
        the judge would not have changed the verdict on any such pair at the default threshold.
    second : SecondOpinion, optional
        A larger judge for the pairs about which the first is unsure.

    """

    def __init__(
        self,
        fusion: Fusion,
        judge: Judge | None = None,
        *,
        skip: bool = True,
        second: SecondOpinion | None = None,
    ) -> None:
        self.fusion = fusion
        self.judge = judge
        self.second = second
        self._skip = skip
        # a question often recurs with another paraphrase; paraphrases rarely recur, so caching them would waste memory
        self._read_question = lru_cache(maxsize=_REMEMBERED_QUESTIONS)(read)

    def begin(self, pairs: Sequence[tuple[str, str]], terms: VerdictTerms) -> Callable[[], list[Verdict]]:
        """Read the pairs, start judging them, and return a function that waits for the verdicts.

        The texts must be neither blank nor identical.
        """
        prepared = [prepare_pair(*pair, read_question=self._read_question) for pair in pairs]
        # pairs whose texts differ only in notation need no judge
        differing = [i for i, pair in enumerate(prepared) if not _same(pair.question, pair.normalised.text)]
        findings = {
            i: READER.findings(prepared[i].question, prepared[i].paraphrase, prepared[i].matching) for i in differing
        }
        asked = [i for i in differing if self._needs_judge(findings[i])]
        wait: Callable[[], Sequence[Judgement]] = list
        if self.judge is not None and asked:
            wait = self.judge.begin([prepared[i] for i in asked])

        def finish() -> list[Verdict]:
            judgements = dict(zip(asked, wait(), strict=True))
            opinions = self._second_opinions(prepared, findings, judgements)
            verdicts = [terms.verdict(1.0)] * len(pairs)
            for i in differing:
                verdicts[i] = self._conclude(prepared[i], findings[i], judgements.get(i), opinions.get(i), terms)
            return verdicts

        return finish

    def _second_opinions(
        self,
        pairs: Sequence[PreparedPair],
        findings: Mapping[int, Sequence[Finding]],
        judgements: Mapping[int, Judgement],
    ) -> dict[int, Judgement]:
        """Ask the larger judge about the pairs of which the first judge is unsure."""
        if self.second is None:
            return {}
        unsure = []
        for i, judgement in judgements.items():
            features = [finding.feature for finding in findings[i]]
            if self.second.is_needed(self.fusion.log_odds(features, judgement.log_odds)):
                unsure.append(i)
        return dict(zip(unsure, self.second.judge.begin([pairs[i] for i in unsure])(), strict=True)) if unsure else {}

    def _needs_judge(self, findings: Sequence[Finding]) -> bool:
        if self.judge is None:
            return False
        return not (self._skip and self.fusion.decided([finding.feature for finding in findings]))

    def _conclude(
        self,
        pair: PreparedPair,
        findings: Sequence[Finding],
        judgement: Judgement | None,
        opinion: Judgement | None,
        terms: VerdictTerms,
    ) -> Verdict:
        """Return the verdict that follows from the findings, the judgement and the second opinion."""
        log_odds = 0.0 if judgement is None else judgement.log_odds
        fusion = self.fusion
        if self.second is not None and judgement is not None and opinion is not None:
            fusion, log_odds = self.second.fusion, self.second.combine(judgement, opinion)
            judgement = self.second.deciding(judgement, opinion)
        features = [finding.feature for finding in findings]
        # If the judge was not asked, assume its mean answer for such pairs, but at most the ceiling, so that the pair
        # is invalid. Compute the deltas as if the judge were undecided, because its answer for a pair without the
        # faults is unknown.
        skipped = judgement is None and self.judge is not None
        presumed = min(fusion.presumed, fusion.ceiling) if skipped else log_odds
        score = fusion.score(features, presumed)
        evidence = fusion.evidence(findings, log_odds)
        if judgement is not None and (log_odds < 0 or (score <= terms.threshold and not evidence)):
            delta = min(0.0, score - fusion.score(features))
            finding = judge_finding(pair, judgement)
            message = finding.message if log_odds < 0 else _doubt(finding.message, terms.threshold)
            piece = Evidence(finding.kind, finding.question_spans, finding.paraphrase_spans, message, delta)
            evidence = _add_piece(evidence, piece)
        if score > terms.threshold:  # evidence that hardly changed the score is not reported
            evidence = tuple(piece for piece in evidence if piece.delta <= -_LEAST_DELTA)
        warnings = [] if pair.matching.complete else [_INCOMPLETE]
        if evidence and score > terms.threshold:
            warnings.append(_why_valid(score, log_odds))
        return terms.verdict(score, pair.restore_spans(evidence), tuple(warnings))


def _doubt(message: str, threshold: float) -> str:
    """Return the message for a pair that the judge considers valid although its score is not above the threshold."""
    return f"No fault is certain, but the score is not above {threshold:g}. {message}"


def _why_valid(score: float, log_odds: float) -> str:
    """Return the reason why a pair with evidence is valid, given the judge's log-odds, which are 0 without a judge."""
    if score <= THRESHOLD:
        return f"A possible fault was found. The paraphrase is valid only because the threshold is below {THRESHOLD:g}."
    if log_odds > 0:
        return "A possible fault was found, but the judge, which compares the whole texts, finds the paraphrase valid."
    return "A possible fault was found, but the evidence is too weak to reject the paraphrase."


def _same(question: Problem, paraphrase: str) -> bool:
    """Return True if two texts have the same words, except that independent sentences may be reordered."""
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
    events = sum(_STATES.search(sentence) is None for sentence in moved)  # two events must not change places
    return events <= 1 and not any(_POINTING.search(sentence) for sentence in moved)


def _words(text: str) -> list[str]:
    """Return a text's words in lower case, except short words, whose capitals matter (x and X, mg and Mg)."""
    return [word.lower() if len(word) > _SHORT_WORD and word.isalpha() else word for word in text.split()]


def _add_piece(evidence: tuple[Evidence, ...], piece: Evidence) -> tuple[Evidence, ...]:
    """Add the judge's evidence. If a rule already reports the same place, add only the delta to the rule's evidence."""
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

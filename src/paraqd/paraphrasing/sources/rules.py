"""Write candidates with rules: chains of valid operators and rewriting rules. Needs no model and no torch."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paraqd.extras import MissingExtraError
from paraqd.parameters import named
from paraqd.paraphrasing.clumsiness import ended, is_clumsy
from paraqd.paraphrasing.distance import overlap
from paraqd.paraphrasing.frames import FRAMES, has_options, joined
from paraqd.paraphrasing.sources.base import Candidate, Found, check_styles, go_on, shares
from paraqd.reading import Problem, read, same_quantities
from paraqd.reading.entities import INSTALL_PIPELINE, PipelineUnavailableError
from paraqd.rewriting import Noted, Resources, derive_rng, missing_packages, rule, rule_resources
from paraqd.rewriting.operator import MissingResourceError
from paraqd.scoring.language import is_foreign
from paraqd.tables.questions import Question
from paraqd.version import __version__

_SHORTEST_IN_CAPITALS = 3  # words; a shorter text in capitals may be a formula or an abbreviation
_ENOUGH = 0.66  # no more steps are added to a chain once the overlap with the question is this small
_TRIES = 3  # chains that are tried for each candidate that is wanted
_ALWAYS = 240  # chains that are tried in any case: those for the 80 candidates of ten paraphrases
_IN_VAIN = 50  # after these, a style ends when so many chains in a row gave nothing new


@dataclass(frozen=True)
class Style:
    """The steps of a style: groups of steps in order, each step with its probability.

    ``more`` are the steps that are added, in random order, while a text is still close to the question. ``frame`` is
    the frame that every text must get at the end, and ``without`` matches wordings that no text may have.
    """

    steps: tuple[tuple[str, float], ...]
    more: tuple[str, ...]
    frame: str = ""
    without: re.Pattern[str] | None = None


_SHAPE = (
    ("frame", 0.4),
    ("SentenceOrder", 0.25),
    ("Rewrite", 0.8),
    ("ConverseRelation", 0.3),
    ("QuestionForm", 0.6),
)
_WORDS = (("LightSynonyms", 0.7), ("Shortening", 0.4), ("PronounUse", 0.15))
_NUMBERS = (("NumToWords", 0.25), ("WordsToNumbers", 0.3), ("UnitExpansion", 0.3), ("UnitContraction", 0.1))
_MORE = ("Rewrite", "frame", "LightSynonyms", "QuestionForm", "NumToWords", "LightSynonyms", "LightSynonyms")
# phrases that are correct, but not plain
_STIFF = re.compile(
    r"\b(?:you are (?:told|asked|required)|it is (?:given|known)|we (?:are told|know|wish|want|would|shall)|this "
    r"information|these facts|your task|the task|under the assumption|as given|supposing|provided that|knowing that)\b",
    re.I,
)
STYLES: Mapping[str, Style] = {
    "": Style((*_SHAPE, *_WORDS, *_NUMBERS), _MORE),
    "plain": Style((*_SHAPE, *_WORDS, ("WordsToNumbers", 0.6), ("UnitExpansion", 0.5)), _MORE, without=_STIFF),
    "exam": Style((*_SHAPE, *_WORDS, ("UnitContraction", 0.5)), _MORE, frame="frame.exam"),
    "engaging": Style((*_SHAPE, *_WORDS, *_NUMBERS), _MORE, frame="frame.engaging", without=_STIFF),
}
_NOTATION = frozenset({"NumToWords", "WordsToNumbers", "UnitExpansion", "UnitContraction"})
_ONCE = frozenset({"Rewrite", "NumToWords", "QuestionForm", "ConverseRelation", "SentenceOrder"})
_NOT_AFTER = {
    "UnitContraction": "NumToWords",
    "NumToWords": "UnitContraction",
    "WordsToNumbers": "NumToWords",
    "SplitCondition": "Rewrite",
}
_FORMULA = re.compile(r"[{}=^*/+<>]|\d ?[-–] ?\d|\b[a-z] ?- ?[a-z]\b")
_LARGEST_IN_WORDS = 100  # larger numbers are hard to read in words


def require_parser(parameter: str = "source") -> None:
    """Raise a `MissingExtraError` with one line if spaCy or its English pipeline is not installed.

    ``parameter`` is the name of the parameter with which another source is chosen.
    """
    if missing := missing_packages():
        raise MissingExtraError(
            f"not installed: {', '.join(missing)} (needed by the source rules); run pip install 'paraqd[augment]' and "
            f"{INSTALL_PIPELINE}, or choose another source with {named(parameter, 'MODEL')}"
        )


@dataclass(frozen=True)
class RuleSource:
    """The source that rewrites questions with rules.

    ``check`` is called before each text that is tried. An exception that it raises ends the work.

    >>> source = RuleSource()
    >>> source.name, "exam" in source.styles
    ('rules', True)
    """

    resources: Resources = field(default_factory=rule_resources, compare=False, repr=False)
    name: str = "rules"
    check: Callable[[], None] = field(default=go_on, compare=False, repr=False)

    @property
    def identity(self) -> str:
        """The name and the version, because the rules belong to the version."""
        return f"{self.name}@{__version__}"

    @property
    def styles(self) -> tuple[str, ...]:
        """The styles that the rules can write."""
        return tuple(style for style in STYLES if style)

    def candidates(
        self, questions: Sequence[Question], *, count: int, seed: int, styles: Sequence[str] = ()
    ) -> list[Found]:
        """Return up to ``count`` candidates for each question; see `CandidateSource`."""
        check_styles(styles, self.styles, self.name)
        return [self._found(question, count, seed, styles) for question in questions]

    def _found(self, question: Question, count: int, seed: int, styles: Sequence[str]) -> Found:
        if is_foreign(question.text):
            return Found(problem="the rules know only English, and the question does not seem to be in English")
        if question.text.isupper() and len(question.text.split()) > _SHORTEST_IN_CAPITALS:
            return Found(problem="no rule can rewrite it safely, because it is written in capitals")
        problem = read(joined(question.text))
        if has_options(problem):
            return Found(problem="no rule can rewrite it safely, because it has a list of statements or options")
        found: dict[str, Candidate] = {}
        for style, share in shares(count, styles):
            wanted, last = len(found) + share, 0
            for number in range(share * _TRIES):
                if len(found) >= wanted or number >= max(_ALWAYS, last + _IN_VAIN):
                    break
                self.check()
                rng = derive_rng(seed, question.id, f"{self.name}/{style}/{number}")
                made = self._chain(problem, STYLES[style], rng)
                if made is not None and made[0] not in found and not is_clumsy(problem.text, made[0]):
                    found[made[0]] = Candidate(made[0], self.name, style, made[1])
                    last = number
        return Found(tuple(found.values()), "" if found else "no rule can rewrite it")

    def _chain(self, problem: Problem, style: Style, rng: random.Random) -> tuple[str, tuple[str, ...]] | None:
        """Apply steps to a problem one after another, and return the text and the names of the steps that applied."""
        current, edits = problem, list[str]()
        for name in _chosen(style, rng):
            if (name in _ONCE and name in edits) or _NOT_AFTER.get(name) in edits:
                continue
            if len(edits) > 2 and overlap(problem.text, current.text) < _ENOUGH and rng.random() < 0.7:
                break
            text = self._step(name, current, rng, edits)
            if text is None or text == current.text:
                continue
            again = read(text)
            if not same_quantities(problem.quantities, again.quantities):
                edits.pop()
                continue
            current = again
        if style.frame:
            text = self._step(style.frame, current, rng, edits)
            if text is None:
                return None
            current = read(text)
        if style.without is not None and style.without.search(current.text):
            return None
        if set(edits) <= _NOTATION:  # a text whose numbers alone are written in another way is no paraphrase
            return None
        return ended(problem.text, current.text), tuple(edits)

    def _step(self, name: str, problem: Problem, rng: random.Random, edits: list[str]) -> str | None:
        """Apply one step and add its name to ``edits``; return None if it does not apply."""
        if name.startswith("frame"):
            frames = [each for each in FRAMES if each.style == name.partition(".")[2]]
            for frame in rng.sample(frames, len(frames)):
                fits = frame.name not in edits and _NOT_AFTER.get(frame.name) not in edits
                if fits and (text := frame.apply(problem, rng)):
                    edits.append(frame.name)
                    return text
            return None
        if name == "NumToWords":
            if not _fits_words(problem):
                return None
            whole = rule("UnitExpansion").apply(problem, rng, self.resources)  # never *two hundred m*
            problem = problem if whole is None else read(whole)
        try:
            text = rule(name).apply(problem, rng, self.resources)
        except (MissingExtraError, MissingResourceError, PipelineUnavailableError):
            raise
        except Exception:  # as in augment, a rule that fails on one text must not end the run
            return None
        if text is not None:
            edits.append(name)
        return text if text is None or not isinstance(text, Noted) else str(text)


def _fits_words(problem: Problem) -> bool:
    """Return True if all numbers of a problem are easy to read in words.

    >>> _fits_words(read("Ann has 5 pens.")), _fits_words(read("It costs $1,250.75."))
    (True, False)
    """
    if _FORMULA.search(problem.text):
        return False
    values = [quantity.value for quantity in problem.quantities]
    return all(abs(value) <= _LARGEST_IN_WORDS and value.denominator in (1, 2, 3, 4, 5) for value in values)


def _chosen(style: Style, rng: random.Random) -> Iterator[str]:
    yield from (name for name, probability in style.steps if rng.random() < probability)
    yield from rng.sample(style.more, len(style.more))

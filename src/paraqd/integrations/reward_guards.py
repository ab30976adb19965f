"""Find outputs that try to earn a reward without paraphrasing.

A model that is trained with a reward finds every gap in it. The scorer answers whether a text is the same problem.
These guards catch texts that contain the same problem and are still no use: a copy, a text with additions, or the
problem told twice.

A scene is allowed, so a sentence that has nothing to do with the question is no fault by itself. Each one costs a part
of the reward (see `reward`), and a text with many of them is caught.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

from paraqd.integrations.wording import words
from paraqd.reading import Problem, read
from paraqd.scoring.chatter import assistant_remark
from paraqd.scoring.evidence.content_words import STOP_WORDS, stem
from paraqd.scoring.language import is_foreign
from paraqd.scoring.markup import remove_markup

EMPTY, COPIED, CHATTER, FOREIGN = "empty", "copied", "chatter", "foreign"
ANSWER_GIVEN, REPEATED, APPENDED, TOO_LONG, CUT_OFF = "answer_given", "repeated", "appended", "too_long", "cut_off"
OFF_TOPIC = "off_topic"
GUARDS = (EMPTY, TOO_LONG, CHATTER, FOREIGN, ANSWER_GIVEN, REPEATED, APPENDED, OFF_TOPIC, CUT_OFF, COPIED)

_END = re.compile(r"[.?!…:=_][\s\"'”’)\]}*$]*\Z")
_LEAST_WORDS = 3
_LONGEST, _ALLOWED = 2.0, 20  # a paraphrase may have twice the words of its question, and 20 more
_SAME_SENTENCE, _SAME_QUESTION = 0.8, 0.5  # the share of common words
_LEAST_SENTENCE = 3  # shorter sentences may recur
_RUN, _MOST_REPEATED = 4, 0.15  # the share of runs of four words that occur before
_COVERED = 0.6  # the share of the question's words in each of two halves that tell the whole problem
_OWN_WORDS = 0.3  # a sentence with a smaller share of the question's words is an addition
_MOST_ADDED = 0.4  # the share of a text's words that may be in additions
_PART = re.compile(r"[:;—–]\s|\s[—–-]\s|\n")  # what divides a sentence into parts that can stand alone
_STUTTER = re.compile(r"\b([^\W\d_]{2,})\b(?:\s+\1\b|(?:\W+\1\b){2})", re.I)  # pens pens; pens, pens, pens
_ANSWER = re.compile(r"\banswer\b\s*(?:is|are|was|:|=)|\bsolution\s*:|\bstep by step\b|####|\\boxed\b", re.I)
# a number that follows from others: = 8; so he has 8 pens
_CONCLUSION = re.compile(
    r"(?:=|\b(?:therefore|hence|thus|so)\b[^.?!]*?\b(?:is|are|has|have|equals))\s*(?:[^\w\s]\s?)?(\d[\d.,]*)", re.I
)


def guard_fault(question: str, paraphrase: str, *, answer: object = None) -> str:
    """Return the name of the first guard that a paraphrase violates, or an empty string if there is none.

    ``answer`` is the answer to the question, if it is known. It may be a text that ends with ``####`` and the answer.
    The guard against copies is not among them, because it depends on a distance; see `wording.distance`.

    >>> question = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
    >>> guard_fault(question, "Tom buys 3 pens and had 5 before. How many are there now? The answer is 8.")
    'answer_given'
    >>> guard_fault(question, "Tom had 5 pens before he bought 3. How many pens are there? Birds sing in the garden.")
    'appended'
    """
    return check_output(question, paraphrase, answer=answer)[0]


def check_output(question: str, paraphrase: str, *, answer: object = None) -> tuple[str, int]:
    """Return what `guard_fault` returns, and the number of additions if there is no fault.

    An addition is a sentence that shares less than 30% of its content words, and no number, with the question.

    >>> question = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
    >>> check_output(question, "It is Monday. Tom had 5 pens before he bought 3. How many pens are there?")
    ('', 1)
    """
    fault = _fault_of_surface(question, paraphrase)
    if fault:
        return fault, 0
    asked, given = (read(remove_markup(text).text) for text in (question, paraphrase))
    if _gives_answer(asked, given, answer):
        return ANSWER_GIVEN, 0
    if _repeats(asked, given):
        return REPEATED, 0
    if _ends_with_addition(asked, given):
        return APPENDED, 0
    added = _additions(asked, given)
    if sum(len(words(text)) for text in added) > _MOST_ADDED * len(words(given.text)):
        return OFF_TOPIC, 0
    if _END.search(question) and not _END.search(paraphrase):
        return CUT_OFF, 0
    return "", len(added)


def _fault_of_surface(question: str, paraphrase: str) -> str:
    """Return the name of a guard that needs no reading of the problem, or an empty string."""
    if sum(word[0].isalpha() for word in words(paraphrase)) < _LEAST_WORDS:
        return EMPTY
    if len(words(paraphrase)) > _LONGEST * len(words(question)) + _ALLOWED:  # also keeps the other guards fast
        return TOO_LONG
    if assistant_remark(question, paraphrase):
        return CHATTER
    if is_foreign(paraphrase) and not is_foreign(question):
        return FOREIGN
    return ""


# --- the answer ----------------------------------------------------------------------------------


def _gives_answer(asked: Problem, given: Problem, answer: object) -> bool:
    if _ANSWER.search(given.text) and not _ANSWER.search(asked.text):
        return True
    stated = {match[1].rstrip(".,") for match in _CONCLUSION.finditer(given.text)} - set(words(asked.text))
    if any(answer_value(number) not in _values(asked) for number in stated):
        return True
    value = answer_value(answer)
    return value is not None and value in _values(given) and value not in _values(asked)


def answer_value(answer: object) -> Fraction | None:
    """Return the value of an answer, or None if it has none.

    >>> answer_value("She has 48/2 = 24 clips, and 72 in all. #### 72"), answer_value(2.5), answer_value("blue")
    (Fraction(72, 1), Fraction(5, 2), None)
    """
    if answer is None or isinstance(answer, bool):
        return None
    quantities = read(str(answer).rpartition("####")[2]).quantities
    return quantities[-1].value if quantities else None


def _values(problem: Problem) -> list[Fraction]:
    return [quantity.value for quantity in problem.quantities]


# --- repetitions ---------------------------------------------------------------------------------


def _repeats(asked: Problem, given: Problem) -> bool:
    """Return True if a paraphrase tells something twice that the question tells once."""
    return (
        _equal_sentences(given) > _equal_sentences(asked)
        or _repeated_runs(given) > max(_MOST_REPEATED, _repeated_runs(asked))
        or _similar_questions(given) > _similar_questions(asked)
        or _tells_twice(asked, given)
        or _stutters(given) > _stutters(asked)
    )


def _stutters(problem: Problem) -> int:
    """Return how often a content word is repeated at once."""
    return sum(match[1].lower() not in STOP_WORDS for match in _STUTTER.finditer(problem.text))


def _equal_sentences(problem: Problem) -> int:
    sentences = [set(words(sentence.text)) for sentence in problem.sentences]
    return _similar([each for each in sentences if len(each) >= _LEAST_SENTENCE], _SAME_SENTENCE)


def _similar_questions(problem: Problem) -> int:
    return _similar([_content(question.text) for question in problem.questions], _SAME_QUESTION)


def _similar(sets: Sequence[set[str]], share: float) -> int:
    """Return the number of pairs of sets with at least the given share of common elements."""
    pairs = [(one, other) for place, one in enumerate(sets) for other in sets[:place]]
    return sum(bool(one) and len(one & other) >= share * len(one | other) for one, other in pairs)


def _repeated_runs(problem: Problem) -> float:
    """Return the share of runs of four words that occurred before."""
    found = words(problem.text)
    runs = [tuple(found[place : place + _RUN]) for place in range(len(found) - _RUN + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


def _tells_twice(asked: Problem, given: Problem) -> bool:
    """Return True if a text can be divided into two parts that both tell the whole problem."""
    needed = _content(asked.text)
    values = Counter(_values(asked))
    for sentence in given.sentences[1:]:
        parts = given.text[: sentence.start], given.text[sentence.start :]
        if all(len(needed & _content(part)) >= _COVERED * len(needed) for part in parts) and all(
            values <= Counter(_values(read(part))) for part in parts
        ):
            return True
    return False


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOP_WORDS}


# --- additions -----------------------------------------------------------------------------------


def _ends_with_addition(asked: Problem, given: Problem) -> bool:
    """Return True if something new follows the last question, although the original ends with its question."""
    if not asked.questions or not given.questions or any(True for _ in _after_question(asked)):
        return False
    return any(_is_new(text, asked) for text in _after_question(given))


def _additions(asked: Problem, given: Problem) -> list[str]:
    """Return the sentences of a text that have little to do with the original.

    A question in other words may share nothing with the original question. So a question is an addition only if there
    are more questions than in the original.
    """
    asking = [question.start for question in given.questions]
    more = max(0, len(asking) - max(1, len(asked.questions)))
    told, asks = [], []
    for sentence in given.sentences:
        if any(sentence.start <= start < sentence.end for start in asking):
            asks.append(sentence.text)
        else:
            told += _PART.split(sentence.text)
    return [text for text in told if _is_new(text, asked)] + [text for text in asks if _is_new(text, asked)][:more]


def _is_new(text: str, asked: Problem) -> bool:
    """Return True if a sentence shares few content words, and no number, with the original."""
    found, known = _content(text), _content(asked.text)
    return len(found & known) < _OWN_WORDS * len(found) and not set(_values(read(text))) & set(_values(asked))


def _after_question(problem: Problem) -> Iterable[str]:
    """Yield the sentences after the last question."""
    last = problem.questions[-1]
    return (sentence.text for sentence in problem.sentences if sentence.start >= last.end)

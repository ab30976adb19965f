"""Collect the pairs on which a paraphrasing generator is trained: written paraphrases, and what the rules write.

Written paraphrases are far from their questions, and a small model that imitates them makes many mistakes. The rules
stay close to a question and seldom change its meaning. The model learns this from them, and can then also rewrite
questions that no rule fits. Their paraphrases have the styles ``close`` and ``exam``.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path

from paraqd.extras import MissingExtraError
from paraqd.files import sha256_of
from paraqd.lab.corpora.near_twins import near_twins
from paraqd.lab.corpora.rewrites import StyledRewrite, held_out_questions, styled_rewrites
from paraqd.lab.generators.training_data import Pair
from paraqd.lab.operators.resources import missing_packages
from paraqd.paraphrasing.distance import overlap
from paraqd.paraphrasing.sources.rules import RuleSource
from paraqd.paraphrasing.text_models.styles import styled
from paraqd.progress import Progress, silent
from paraqd.reading.entities import INSTALL_PIPELINE
from paraqd.tables.datasets import find_files, load_questions
from paraqd.tables.questions import Question
from paraqd.tables.table import open_table
from paraqd.tables.writers import write_rows

_QUESTIONS = {"full": 10_000, "smoke": 20}  # the number of questions of the corpus that the rules rewrite
_OWN = {"full": 4_000, "smoke": 0}  # the number of questions of the written rewrites that the rules rewrite, too
_SEED = 3407
_STYLES = {"plain": ("close", 4), "exam": ("exam", 3)}  # for each style of the rules, the model's style and a number
_MOST_OVERLAP = 0.8
_AT_ONCE = 200  # questions


def data_digest(data_dir: str | Path | None = None) -> str:
    """Return a short hash of the data sets from which the pairs are made, and of the settings in this module."""
    names = ("questions", "written_pairs", "synthetic", "styles")
    files = (sha256_of(path) for name in names for path in find_files(name, data_dir))
    return hashlib.sha256(" ".join([*files, settings_digest()]).encode()).hexdigest()[:8]


def settings_digest() -> str:
    """Return a short hash of the settings in this module."""
    settings = repr((_QUESTIONS, _OWN, _SEED, _STYLES, _MOST_OVERLAP))
    return hashlib.sha256(settings.encode()).hexdigest()[:8]


def kept_pairs(
    path: Path,
    data_dir: str | Path | None = None,
    *,
    scale: str = "full",
    workers: int = 1,
    progress: Progress = silent,
) -> list[Pair]:
    """Return the pairs in a file. If there is no such file, the pairs are made and written to it first."""
    if not path.is_file():
        if missing := missing_packages("augment"):
            raise MissingExtraError(
                f"not installed: {', '.join(missing)} (needed by the rules that write training pairs); run "
                f"pip install 'paraqd[augment]' and {INSTALL_PIPELINE}"
            )
        made = paraphraser_pairs(data_dir, scale=scale, workers=workers, progress=progress)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, {"input": str, "output": str}, ({"input": text, "output": answer} for text, answer in made))
    return [(str(row["input"]), str(row["output"])) for row in open_table(path).rows()]


def paraphraser_pairs(
    data_dir: str | Path | None = None, *, scale: str = "full", workers: int = 1, progress: Progress = silent
) -> list[Pair]:
    """Return pairs of a question with a style, as `styles.styled` writes it, and a paraphrase in this style.

    ``scale`` is ``full``, or ``smoke`` for a trial, in which the rules rewrite only a few questions.
    """
    rows = load_questions("questions", data_dir=data_dir)
    held_out = [*held_out_questions(data_dir), *(str(row["question"]) for row in rows if row["split"] != "train")]
    texts = list(dict.fromkeys(str(row["question"]) for row in rows if row["split"] == "train"))
    drawn = random.Random(_SEED).sample(texts, min(len(texts), _QUESTIONS[scale]))
    written = styled_rewrites(data_dir)
    own = sorted({each.question for each in written} - set(texts))
    drawn += random.Random(_SEED).sample(own, min(len(own), _OWN[scale]))
    free = [text for text, twin in zip(drawn, near_twins(drawn, held_out), strict=True) if not twin]
    rewrites = chain(written, rule_rewrites(free, workers=workers, progress=progress))
    return [(styled(each.question, each.style), each.text) for each in rewrites]


def rule_rewrites(
    questions: Sequence[str], *, workers: int = 1, progress: Progress = silent
) -> Iterator[StyledRewrite]:
    """Yield the paraphrases that the rules write.

    >>> found = list(rule_rewrites(["Tom has 5 pens. He buys 3 more pens. How many pens does he have now?"]))
    >>> {each.style for each in found} <= {"close", "exam"}, len(found) > 0
    (True, True)
    """
    parts = [questions[start : start + _AT_ONCE] for start in range(0, len(questions), _AT_ONCE)]
    for number, found in enumerate(_in_processes(parts, workers), start=1):
        progress("rewriting questions with rules", min(number * _AT_ONCE, len(questions)), len(questions))
        yield from found


def _in_processes(parts: Sequence[Sequence[str]], workers: int) -> Iterator[list[StyledRewrite]]:
    if workers <= 1 or len(parts) <= 1:
        yield from map(_rewritten, parts)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy locks that torch's threads hold
    with ProcessPoolExecutor(min(workers, len(parts)), mp_context=context) as pool:
        yield from pool.map(_rewritten, parts)


def _rewritten(questions: Sequence[str]) -> list[StyledRewrite]:
    source = RuleSource()
    asked = [Question(text, text) for text in questions]
    found = []
    for style, (name, count) in _STYLES.items():
        written = source.candidates(asked, count=count, seed=_SEED, styles=[style])
        for question, each in zip(questions, written, strict=True):
            texts = [candidate.text for candidate in each.candidates]
            found += [StyledRewrite(question, text, name) for text in texts if overlap(question, text) <= _MOST_OVERLAP]
    return found

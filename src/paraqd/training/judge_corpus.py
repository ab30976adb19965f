"""What the learned judge is trained on: sets of pairs with faults, made once, tokenised once, and weighed."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from paraqd.data.datasets import DatasetError, find, load_questions, written_split
from paraqd.data.faulty_pairs import FaultyPair, operator_faults, read_faults, write_faults
from paraqd.data.natural_pairs import natural_pairs
from paraqd.data.near_twins import likeness, near_twins
from paraqd.data.synthetic import SyntheticProblem, problem_pairs, synthetic_problems
from paraqd.data.tables import open_table
from paraqd.reading import read
from paraqd.runs.augment import augment
from paraqd.scoring.evidence.quantities import match_quantities
from paraqd.training.composed_pairs import OPERATORS, check_settings, extended_corpus, kept_back, other_questions
from paraqd.training.prepare import write_questions

# called with (stage, done, total or None)
Progress = Callable[[str, int, int | None], None]

# what a pair of each set counts; chosen on the validation parts
WEIGHTS: Mapping[str, float] = {
    "written": 1.0,
    "synthetic": 1.5,
    "composed": 0.7,
    "synthetic_composed": 0.7,
    "rules": 0.5,
    "natural": 1.0,
    "fluent": 0.5,
    "strangers": 0.5,
}
_MOST_COMPOSED, _MOST_RULES, _MOST_SYNTHETIC = 3000, 2000, 1200  # of an operator: more of one sort teaches nothing new
_MOST_FLUENT = 8000
_MOST_VALIDATED = 40
_STRANGERS = 6000
_LOOKED_AT = 60
_TOO_LIKE = 70  # of 100: such a one may ask the same


@dataclass(frozen=True)
class JudgeSets:
    """Files of pairs by name: to train on, and of other questions to validate on."""

    train: Mapping[str, Path]
    validation: Mapping[str, Path]


def judge_sets(
    folder: str | Path,
    *,
    data_dir: str | Path | None = None,
    questions: int = 14_000,
    seed: int = 3407,
    workers: int = 1,
    generators: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    device: str | None = None,
    progress: Progress | None = None,
) -> JudgeSets:
    """Make the sets in a folder; what is there already is kept.

    Parameters
    ----------
    generators : mapping, optional
        With a model for ``f9`` the fluent but wrong rewrites that it makes are a set of their own.
    without : sequence of str
        Sets that are not made.

    """
    place = Path(folder)
    made = extended_corpus(place, data_dir=data_dir, questions=questions, seed=seed, workers=workers, progress=progress)
    check_settings(
        place / "sets",
        {
            "synthetic": synthetic_digest(data_dir),
            "generators": dict(generators or {}),
            "questions": questions,
            "seed": seed,
        },
    )
    options: dict[str, Any] = {"seed": seed, "workers": workers, "progress": progress}
    problems = cache(lambda: _free_problems(data_dir))
    train: dict[str, Callable[[], Iterable[FaultyPair]]] = {
        "written": lambda: read_faults(made.train["written"]),
        "composed": lambda: draw(read_faults(made.train["composed"]), most=_MOST_COMPOSED, seed=seed),
        "rules": lambda: draw(read_faults(made.train["rules"]), most=_MOST_RULES, seed=seed),
        "synthetic": lambda: problem_pairs(problems()),
        "synthetic_composed": lambda: draw(
            _on_synthetic_pairs(place, problems(), **options), most=_MOST_SYNTHETIC, seed=seed
        ),
        "strangers": lambda: strangers(_texts(place / "questions.jsonl"), count=_STRANGERS, seed=seed),
        "natural": lambda: _natural(data_dir, seed),
    }
    if generators and "f9" in generators:
        train["fluent"] = lambda: _fluent(place, generators=generators, device=device, **options)
    validation: dict[str, Callable[[], Iterable[FaultyPair]]] = {
        "written": lambda: read_faults(made.validation["written"]),
        # a few of each operator are enough to weigh the evidence by
        "composed": lambda: draw(read_faults(made.validation["composed"]), most=_MOST_VALIDATED, seed=seed),
        "synthetic": lambda: problem_pairs(synthetic_problems_of("validation", data_dir)),
    }
    return JudgeSets(
        _made(place / "sets", "train", {name: make for name, make in train.items() if name not in without}),
        _made(place / "sets", "validation", {name: make for name, make in validation.items() if name not in without}),
    )


def _made(place: Path, part: str, sets: Mapping[str, Callable[[], Iterable[FaultyPair]]]) -> dict[str, Path]:
    """Write the sets that are not there yet; return the files of those that are not empty."""
    found = {name: place / f"{name}_pairs_{part}.jsonl.gz" for name in sets}
    for name, path in found.items():
        if not path.is_file():
            write_faults(sets[name](), path)
    return {name: path for name, path in found.items() if gzip.open(path).read(1)}


def synthetic_problems_of(part: str, data_dir: str | Path | None = None) -> list[SyntheticProblem]:
    """Return the synthetic problems of one part, train or validation."""
    return [problem for problem in synthetic_problems(data_dir) if synthetic_part(problem) == part]


def _free_problems(data_dir: str | Path | None) -> list[SyntheticProblem]:
    """Return the problems to train on, without near twins of anything that is used to measure."""
    problems = synthetic_problems_of("train", data_dir)
    back = [problem.question for problem in synthetic_problems_of("validation", data_dir)]
    with contextlib.suppress(DatasetError):  # nothing is held out of a data set that is not there
        back += kept_back(open_table(find("written_pairs", data_dir)).rows(), data_dir)
    twins = near_twins([problem.question for problem in problems], back)
    return [problem for problem, twin in zip(problems, twins, strict=True) if not twin]


def _on_synthetic_pairs(
    place: Path, problems: Sequence[SyntheticProblem], *, seed: int, **options: Any
) -> Iterator[FaultyPair]:
    """Apply the operators to the valid paraphrases of the problems."""
    source, out = place / "synthetic.jsonl", place / "synthetic_augmented.jsonl.gz"
    texts = {f"{p.id}|{n}": (p.question, text) for p in problems for n, text in enumerate(p.valid)}
    write_questions([{"id": key, "question": text} for key, (_, text) in texts.items()], source)
    augment(source, out, operators=OPERATORS, seed=seed, overwrite=True, **options)
    return operator_faults(open_table(out).rows(), {key: question for key, (question, _) in texts.items()})


def _fluent(place: Path, *, seed: int, **options: Any) -> list[FaultyPair]:
    """Let the stand-in of f9 rewrite the questions, and keep what is wrong for sure."""
    out = place / "fluent_augmented.jsonl.gz"
    augment(place / "questions.jsonl", out, operators=("f9",), seed=seed, overwrite=True, **options)
    found = list(fluent_faults(open_table(out).rows()))
    random.Random(seed).shuffle(found)
    return found[:_MOST_FLUENT]


def _texts(path: Path) -> list[str]:
    return [str(row["question"]) for row in open_table(path).rows()]


def _natural(data_dir: str | Path | None, seed: int) -> list[FaultyPair]:
    """Return the pairs that the training questions hold by themselves, without twins of what is kept back."""
    rows = load_questions("questions", data_dir=data_dir)
    written = list(open_table(find("written_pairs", data_dir)).rows())
    free = other_questions(rows, {str(row["id"]) for row in written}, size=len(rows), seed=seed)
    pairs, back = list(natural_pairs(free)), kept_back(written, data_dir)
    twins = (near_twins([getattr(pair, side) for pair in pairs], back) for side in ("question", "paraphrase"))
    return [pair for pair, *told in zip(pairs, *twins, strict=True) if not any(told)]


def synthetic_digest(data_dir: str | Path | None = None) -> str:
    """Return a hash of the synthetic problems, which differs for other versions of the text."""
    digest = hashlib.sha256()
    for problem in synthetic_problems(data_dir):
        digest.update(repr(problem).encode())
    return digest.hexdigest()[:16]


def synthetic_part(problem: SyntheticProblem) -> str:
    """Return the part that a problem belongs to: a tenth, chosen by a hash of the question, is for validation.

    >>> sorted({synthetic_part(SyntheticProblem("order-1", f"Has Ann {n} pens?", (), ())) for n in range(40)})
    ['train', 'validation']
    """
    return "validation" if hashlib.sha256(problem.question.encode()).digest()[0] % 10 == 1 else "train"


def draw(pairs: Iterable[FaultyPair], *, most: int, seed: int) -> Iterator[FaultyPair]:
    """Yield at most so many pairs of each source and label, drawn at random, in their order."""
    held = list(pairs)
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, pair in enumerate(held):
        groups[pair.source, pair.label].append(number)
    kept: set[int] = set()
    for (source, label), numbers in sorted(groups.items()):
        random.Random(f"{seed}|{source}|{label}").shuffle(numbers)
        kept.update(numbers[:most])
    return (held[number] for number in sorted(kept))


def fluent_faults(rows: Iterable[Mapping[str, Any]]) -> Iterator[FaultyPair]:
    """Yield those rewrites of a generator in which the reading sees a number or a unit gone or changed.

    The others may be valid or not: nobody knows, and they are left out.
    """
    for row in rows:
        question, text = str(row["question"]), str(row["paraphrase"])
        found = match_quantities(read(question), read(text))
        kind = (
            "number_lost"
            if found.lost
            else "number_changed"
            if found.other_value
            else "unit_changed"
            if found.other_unit
            else ""
        )
        if kind and written_split(str(row["id"])) == "train":
            yield FaultyPair(str(row["id"]), question, text, 0, kind, "fluent", placed=False)


def strangers(texts: Sequence[str], *, count: int, seed: int) -> Iterator[FaultyPair]:
    """Yield questions each beside another one: any other, or the likest of a few.

    >>> [(p.question, p.paraphrase) for p in strangers(["a cat", "two dogs"], count=1, seed=1)]
    [('a cat', 'two dogs')]
    """
    from rapidfuzz import fuzz

    rng = random.Random(seed)
    for number in range(count if len(set(texts)) > 1 else 0):
        one = rng.choice(texts)
        others = [text for text in rng.sample(texts, min(len(texts), _LOOKED_AT)) if likeness(text, one) < _TOO_LIKE]
        if others:
            other = max(others, key=lambda text: fuzz.token_set_ratio(text, one)) if number % 2 else others[0]
            spans = ((0, len(one)),), ((0, len(other)),)
            yield FaultyPair(f"stranger-{number}", one, other, 0, "content_lost", "strangers", *spans)


def pair_weights(pairs: Sequence[FaultyPair], weight: float) -> list[float]:
    """Return what each pair of a set counts: both labels count alike, a rare one at most three times.

    >>> rows = [FaultyPair("a", "q", "p", label) for label in (1, 0, 0, 0)]
    >>> pair_weights(rows, 1.0)
    [2.0, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666]
    """
    counts = [sum(pair.label == label for pair in pairs) for label in (0, 1)]
    shares = [weight * min(3.0, len(pairs) / 2 / count) if count else 0.0 for count in counts]
    return [shares[pair.label] for pair in pairs]

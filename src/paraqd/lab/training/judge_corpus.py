"""Create the sets of pairs for training and validating a judge, each in its own file.

A question is held out if it is in the benchmark part or the validation part of the written pairs, in a test set, in
the validation part of the synthetic problems, or among the reserved questions. Held-out questions are never used for
training, and neither are their near twins, which differ from them only in numbers and a word or two.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.faulty_pairs import UNLABELLED, FaultyPair, operator_faults, written_faults
from paraqd.lab.corpora.natural_pairs import natural_pairs
from paraqd.lab.corpora.near_twins import near_twins
from paraqd.lab.corpora.reserved_questions import reserved_questions
from paraqd.lab.corpora.synthetic import SyntheticProblem, problem_pairs, synthetic_part, synthetic_problems
from paraqd.lab.training.augmented_pairs import prepare_pairs, write_questions
from paraqd.lab.training.foreign_pairs import appended_questions, strangers
from paraqd.lab.training.pair_files import (
    PairFiles,
    Pairs,
    check_manifest,
    pair_settings,
    synthetic_digest,
    write_sets,
)
from paraqd.lab.training.recipes import JudgeData
from paraqd.lab.training.settings import TrainingError
from paraqd.lab.training.unlabelled_pairs import (
    harmless_sentences,
    pairs_of_faulty_texts,
    with_inserted_sentences,
    without_labels,
)
from paraqd.progress import Progress, silent
from paraqd.tables.datasets import DatasetError, find, load_pairs, load_questions, state, written_split
from paraqd.tables.pairs import Pair
from paraqd.tables.table import open_table

_FORMS = ("heavy", "moderate")
_SHORT = 60  # characters; many questions of EM_Math are shorter and refer to a figure

Row = Mapping[str, Any]


def make_judge_pairs(
    folder: str | Path,
    recipe: JudgeData,
    *,
    data_dir: str | Path | None = None,
    workers: int = 1,
    device: str | None = None,
    progress: Progress = silent,
) -> PairFiles:
    """Create a recipe's sets of pairs in a folder. Existing files are kept.

    The set ``sampled`` is not among them, because a generator must be trained first; see `sampled_pairs`.
    """
    place = Path(folder)
    corpus = _Corpus(place, recipe, data_dir, workers, device, progress)
    for part, sets, known in (
        ("train", recipe.train, corpus.train_sets),
        ("validation", recipe.validation, corpus.validation_sets),
    ):
        unknown = sorted(set(sets) - set(known))
        if unknown:
            raise TrainingError(f"there is no {part} set {unknown[0]!r}: the sets are {', '.join(known)}")
    sources: dict[str, Any] = {"synthetic": synthetic_digest(recipe, data_dir)}
    if "unlabelled" in recipe.train:  # without EM_Math's questions, the set has other pairs
        sources["em_questions"] = corpus.has_em_questions
    check_manifest(place, {**pair_settings(recipe), **sources})
    return PairFiles(
        write_sets(place, "train", recipe.train, corpus.train_sets),
        write_sets(place, "validation", recipe.validation, corpus.validation_sets),
    )


def questions_to_rewrite(
    folder: str | Path, recipe: JudgeData, *, data_dir: str | Path | None = None
) -> list[tuple[str, str]]:
    """Return the ids and texts of the questions from which those of the set ``sampled`` are drawn."""
    return _Corpus(Path(folder), recipe, data_dir, 1, None, silent).questions_to_rewrite()


@dataclass(frozen=True)
class _Corpus:
    """A recipe's sets of pairs, each represented by a function that creates the pairs."""

    folder: Path
    recipe: JudgeData
    data_dir: str | Path | None
    workers: int
    device: str | None
    progress: Progress

    @property
    def train_sets(self) -> dict[str, Callable[[], Pairs]]:
        return {
            "written": lambda: written_faults(self._written("train")),
            "composed": lambda: self._drawn("composed", self._composed("train")),
            "rules": lambda: self._drawn("rules", self._rules()),
            "synthetic": lambda: problem_pairs(self._problems),
            "synthetic_composed": lambda: self._drawn("synthetic_composed", self._on_problems("synthetic")),
            "styles": lambda: problem_pairs(self._styles),
            "styles_composed": lambda: self._drawn("styles_composed", self._on_problems("styles")),
            "model_rewrites": lambda: problem_pairs(self._unlike_held_out("model_rewrites")),
            "strangers": self._strangers,
            "appended": self._appended,
            "natural": self._natural,
            "unlabelled": self._unlabelled,
        }

    @property
    def validation_sets(self) -> dict[str, Callable[[], Pairs]]:
        most = self.recipe.validation["composed"].most if "composed" in self.recipe.validation else None
        return {
            "written": lambda: written_faults(self._written("validation")),
            "composed": lambda: draw(self._composed("validation"), most=most, seed=self.recipe.seed),
            "synthetic": lambda: problem_pairs(synthetic_problems_of("validation", self.data_dir)),
            "styles": lambda: choosing_half(load_pairs("styles_validation", data_dir=self.data_dir)),
        }

    @cached_property
    def _every_written(self) -> list[Row]:
        return list(open_table(find("written_pairs", self.data_dir)).rows())

    @cached_property
    def _held_out(self) -> list[str]:
        return held_out_questions(self._every_written, self.recipe.held_out, self.data_dir)

    @cached_property
    def _problems(self) -> list[SyntheticProblem]:
        return free_problems(self.recipe.held_out, self.data_dir)

    @cached_property
    def _styles(self) -> list[SyntheticProblem]:
        return self._unlike_held_out("styles")

    def _unlike_held_out(self, name: str) -> list[SyntheticProblem]:
        """Return the problems of a data set, except near twins of held-out questions."""
        problems = synthetic_problems(self.data_dir, name=name)
        twins = near_twins([problem.question for problem in problems], self._held_out)
        return [problem for problem, twin in zip(problems, twins, strict=True) if not twin]

    def _written(self, part: str) -> list[Row]:
        rows = [row for row in self._every_written if _part(row) == part]
        return without_twins(rows, self._held_out) if part == "train" else rows

    def _drawn(self, name: str, pairs: Pairs) -> Pairs:
        return draw(pairs, most=self.recipe.train[name].most, seed=self.recipe.seed)

    def _augmented(self, name: str, rows: Iterable[Row], operators: Sequence[str] | None = None) -> Iterator[Row]:
        """Apply operators (default: those of the recipe) to questions, and return an iterator over the outputs."""
        source, out = self.folder / f"{name}.jsonl", self.folder / f"{name}_augmented.jsonl.gz"
        if not source.is_file():
            write_questions(rows, source)
        prepare_pairs(
            source,
            out,
            operators=self.recipe.operators if operators is None else operators,
            seed=self.recipe.seed,
            stand_ins=False,
            device=self.device,
            workers=self.workers,
            progress=lambda stage, done, total, note="": self.progress(f"{name}: {stage}", done, total, note),
        )
        return iter(open_table(out).rows())

    def _composed(self, part: str) -> Pairs:
        """Apply the operators to the valid rewrites, and pair each output with the original question."""
        rows = [*self._written("validation"), *self._written("train")]
        texts = ({"id": f"{row['id']}|{form}", "question": row[f"{form}_valid"]} for row in rows for form in _FORMS)
        originals = {f"{row['id']}|{form}": str(row["question"]) for row in rows for form in _FORMS}
        made = self._augmented("written", texts)
        return operator_faults((row for row in made if written_split(_question_id(row)) == part), originals)

    def _other_questions(self) -> Iterator[Row]:
        """Draw questions that have no written rewrites."""
        count = self.recipe.questions
        names = {str(row["id"]) for row in self._every_written}
        rows = load_questions("questions", data_dir=self.data_dir)
        # draw more questions than needed, because about one in 18 is a near twin of a held-out question
        free = other_questions(rows, names, size=count + count // 8, seed=self.recipe.seed)
        return iter(without_twins(free, self._held_out)[:count])

    @property
    def _questions_file(self) -> Path:
        path = self.folder / "questions.jsonl"
        if not path.is_file():
            write_questions(self._other_questions(), path)
        return path

    def _rules(self) -> Pairs:
        return operator_faults(self._augmented(self._questions_file.stem, ()), {})

    def _on_problems(self, name: str) -> Pairs:
        """Apply the operators to valid paraphrases of problems, and pair each output with its question."""
        problems = self._problems if name == "synthetic" else self._styles
        texts = {f"{p.id}|{n}": (p.question, text) for p in problems for n, text in enumerate(p.valid)}
        made = self._augmented(name, ({"id": key, "question": text} for key, (_, text) in texts.items()))
        return operator_faults(made, {key: question for key, (question, _) in texts.items()})

    def _strangers(self) -> Pairs:
        texts = [str(row["question"]) for row in open_table(self._questions_file).rows()]
        return strangers(texts, count=self.recipe.train["strangers"].most or 0, seed=self.recipe.seed)

    def _appended(self) -> Pairs:
        texts = [str(row["question"]) for row in open_table(self._questions_file).rows()]
        texts += [text for problem in self._styles for text in (problem.question, *problem.valid)]
        return appended_questions(texts, count=self.recipe.train["appended"].most or 0, seed=self.recipe.seed)

    def _unlabelled(self) -> Pairs:
        """Return pairs for distillation: faulty texts as questions, inserted sentences, and operators on new texts."""
        count, seed = (self.recipe.train["unlabelled"].most or 0) // 3, self.recipe.seed
        problems = [*self._problems, *self._styles]
        faulty = list(pairs_of_faulty_texts(problems))
        random.Random(seed).shuffle(faulty)
        rows = list(self._fresh_questions(self.recipe.questions))
        operators = self.recipe.unlabelled_operators
        made = self._augmented("fresh", rows, operators) if operators and rows else ()
        edited = list(without_labels(operator_faults(made, {})))
        random.Random(seed).shuffle(edited)
        questions = [(str(row["id"]), str(row["question"])) for row in rows]
        scenes = with_inserted_sentences(questions, harmless_sentences(self._styles), count=count, seed=seed)
        return [*faulty[:count], *edited[:count], *scenes]

    @property
    def has_em_questions(self) -> bool:
        """True if EM_Math's questions are available."""
        return state("em_questions", self.data_dir, check=False).where != "missing"

    def _fresh_questions(self, count: int) -> list[Row]:
        """Draw questions that no other set uses: from the corpus, and from EM_Math if it is available."""
        used = {str(row["id"]) for row in open_table(self._questions_file).rows()}
        used |= {str(row["id"]) for row in self._every_written}
        rows = load_questions("questions", data_dir=self.data_dir)
        free = other_questions(rows, used, size=count // 2 + count // 16, seed=self.recipe.seed)
        if self.has_em_questions:
            more = [
                row for row in load_questions("em_questions", data_dir=self.data_dir) if len(row["question"]) > _SHORT
            ]
            free += random.Random(self.recipe.seed).sample(more, min(len(more), count // 2))
        return without_twins(free, self._held_out)

    def _natural(self) -> Pairs:
        """Return pairs of different questions with the same numbers and the same computed answer."""
        rows = load_questions("questions", data_dir=self.data_dir)
        names = {str(row["id"]) for row in self._every_written}
        pairs = list(natural_pairs(other_questions(rows, names, size=len(rows), seed=self.recipe.seed)))
        twins = (near_twins([getattr(pair, side) for pair in pairs], self._held_out) for side in _SIDES)
        return [pair for pair, *is_twin in zip(pairs, *twins, strict=True) if not any(is_twin)]

    def questions_to_rewrite(self) -> list[tuple[str, str]]:
        """Return the ids and texts of the questions without written rewrites, and of those that no other set uses."""
        rows = [*open_table(self._questions_file).rows(), *self._fresh_questions(self.recipe.questions)]
        return [(str(row["id"]), str(row["question"])) for row in rows]


_SIDES = ("question", "paraphrase")


def synthetic_problems_of(part: str, data_dir: str | Path | None = None) -> list[SyntheticProblem]:
    """Return the synthetic problems in one part, ``train`` or ``validation``."""
    return [problem for problem in synthetic_problems(data_dir) if synthetic_part(problem) == part]


def free_problems(tests: Sequence[str], data_dir: str | Path | None = None) -> list[SyntheticProblem]:
    """Return the synthetic problems for training, except near twins of held-out questions."""
    problems = synthetic_problems_of("train", data_dir)
    held_out = [problem.question for problem in synthetic_problems_of("validation", data_dir)]
    with contextlib.suppress(DatasetError):  # if the written pairs are missing, they cannot be held out
        held_out += held_out_questions(open_table(find("written_pairs", data_dir)).rows(), tests, data_dir)
    twins = near_twins([problem.question for problem in problems], held_out)
    return [problem for problem, twin in zip(problems, twins, strict=True) if not twin]


def held_out_questions(written: Iterable[Row], tests: Sequence[str], data_dir: str | Path | None = None) -> list[str]:
    """Return the held-out questions from the written pairs and from the available test sets."""
    found = [str(row["question"]) for row in written if _part(row) != "train"]
    for name in tests:
        if state(name, data_dir, check=False).where != "missing":
            found += sorted({pair.question for pair in load_pairs(name, data_dir=data_dir)})
    return found


def without_twins(rows: Sequence[Row], texts: Sequence[str]) -> list[Row]:
    """Return the rows whose questions are not near twins of any text in ``texts``."""
    twins = near_twins([str(row["question"]) for row in rows], texts)
    return [row for row, twin in zip(rows, twins, strict=True) if not twin]


def other_questions(rows: Sequence[Row], written: Collection[str], *, size: int, seed: int) -> list[Row]:
    """Draw training questions that have no written rewrites and no skeleton in common with a held-out question.

    Reserved questions are not drawn; see `data.reserved_questions`.

    >>> rows = [{"id": name, "split": "train", "skeleton": "s"} for name in ("a", "b")]
    >>> [row["id"] for row in other_questions(rows, {"a"}, size=5, seed=1)]
    ['b']
    """
    held_out = {row.get("skeleton") for row in rows if str(row["id"]) in written and _part(row) != "train"}
    held_out |= {row["skeleton"] for row in reserved_questions(rows, written)}
    free = [
        row
        for row in rows
        if row.get("split", "train") == "train"
        and str(row["id"]) not in written
        and row.get("skeleton", row["id"]) not in held_out
    ]
    random.Random(seed).shuffle(free)
    return free[:size]


def choosing_half(pairs: Iterable[Pair]) -> Iterator[FaultyPair]:
    """Yield the pairs of `styles_validation` on which choices are made. The other half is only for reports."""
    for pair in pairs:
        if int(hashlib.sha256(pair.id.encode()).hexdigest(), 16) % 2 == 0:
            yield FaultyPair(
                pair.id, pair.question, pair.paraphrase, int(pair.label or 0), source="styles", placed=False
            )


def draw(pairs: Pairs, *, most: int | None, seed: int) -> Iterator[FaultyPair]:
    """Draw at most ``most`` random pairs for each source and label. The original order of the pairs is kept."""
    rows = list(pairs)
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, pair in enumerate(rows):
        groups[pair.source, pair.label].append(number)
    kept: set[int] = set()
    for (source, label), numbers in sorted(groups.items()):
        random.Random(f"{seed}|{source}|{label}").shuffle(numbers)
        kept.update(numbers[:most])
    return (rows[number] for number in sorted(kept))


def pair_weights(pairs: Sequence[FaultyPair], weight: float) -> list[float]:
    """Return a weight for each pair such that valid and invalid pairs have the same total weight.

    The mean weight is ``weight``. No pair's weight exceeds three times this value, even if the totals then differ. A
    pair without a label has the weight ``weight``.

    >>> rows = [FaultyPair("a", "q", "p", label) for label in (1, 0, 0, 0)]
    >>> pair_weights(rows, 1.0)
    [2.0, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666]
    """
    counts = [sum(pair.label == label for pair in pairs) for label in (0, 1)]
    shares = [weight * min(3.0, sum(counts) / 2 / count) if count else 0.0 for count in counts]
    return [weight if pair.label == UNLABELLED else shares[pair.label] for pair in pairs]


def _part(row: Row) -> str:
    return written_split(str(row["id"]))


def _question_id(row: Row) -> str:
    return str(row["id"]).rpartition("|")[0]

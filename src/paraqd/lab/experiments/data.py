"""Provide the data for experiments: questions, the pairs that each recipe produces, and test sets.

Questions and pairs are prepared once and stored in the run's folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraqd.evaluation.published import examples
from paraqd.files import sha256_of
from paraqd.lab.corpora.mixture import paper_training, paper_validation
from paraqd.lab.corpora.near_twins import near_twins
from paraqd.lab.corpora.pseudo_labels import PseudoLabelStatistics, pseudo_label_file
from paraqd.lab.corpora.triplets import TripletSet, choose_questions, draw_triplets, read_triplets
from paraqd.lab.experiments.errors import ExperimentError, NotRunError
from paraqd.lab.experiments.methods import FALLBACK_RECIPE, FALLBACKS, Method, Training
from paraqd.lab.experiments.scales import Scale
from paraqd.lab.generators.training_data import TrainingDataError
from paraqd.lab.operators import get, load_recipe
from paraqd.lab.operators.plan import rules_stand_in
from paraqd.lab.operators.recipes import Recipe
from paraqd.lab.training.augmented_pairs import (
    PreparedPairs,
    describe_pairs,
    is_complete,
    prepare_pairs,
    write_questions,
)
from paraqd.model_runtime import GeneratorUnavailableError
from paraqd.progress import Progress, silent
from paraqd.reading.entities import PipelineUnavailableError, load_spacy
from paraqd.tables.datasets import DatasetError, find, load_pairs, load_questions
from paraqd.tables.locks import exclusive
from paraqd.tables.pairs import Pair, both_classes
from paraqd.tables.table import TableError, open_table
from paraqd.tables.writers import write_rows

if TYPE_CHECKING:
    from paraqd.lab.generators.train import Kind

SAMPLES = "samples"
OTHER_SAMPLES = "other_samples"
EXAMPLES = "examples"
PUBLISHED_IDS = "published"  # the prefix of the ids of questions for which the public code's outputs are known
_PUBLISHED_SETS = ("published_validation", "published_training")
_PUBLISHED_COLUMNS = {"id": str, "question": str, "paraphrase": str, "label": int, "operator": str}
_NOT_PUBLIC = "em_math"  # the test set that hardly anyone has
_GENERATORS: Mapping[str, tuple[Kind, ...]] = {
    "paper": ("f9",),
    "paper-deletion": ("f9",),
    "public-code": ("f9",),
    FALLBACK_RECIPE: ("f9",),
    "ssmba": ("ssmba",),
}


@dataclass(frozen=True)
class TestSet:
    """A test set: labelled pairs, and the SHA-256 hash of the file from which the pairs were read."""

    __test__ = False  # pytest should not collect this class

    name: str
    pairs: tuple[Pair, ...]
    sha256: str

    @cached_property
    def key(self) -> str:
        """The name followed by a hash of the pairs, so the scores of different pairs go to different files."""
        whole = json.dumps([(pair.id, pair.question, pair.paraphrase, pair.label) for pair in self.pairs])
        return f"{self.name}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"

    @property
    def triplets(self) -> list[tuple[str, str, str]]:
        """One triplet (question, valid paraphrase, invalid paraphrase) for each question with both kinds of pair."""
        found: dict[str, dict[int, str]] = {}
        for pair in self.pairs:
            found.setdefault(pair.question, {}).setdefault(int(pair.label or 0), pair.paraphrase)
        return [(question, both[1], both[0]) for question, both in found.items() if len(both) == 2]


@dataclass
class RunData:
    """The data for one run, stored in the subfolder ``data`` of the run's folder. Existing files are reused.

    Parameters
    ----------
    folder : Path
        The run's folder.
    scale : Scale
        The scale of the experiments.
    data_dir : str or Path, optional
        The folder that contains the data sets.
    samples : Path
        The folder that contains ``questions.csv`` and ``pairs.csv`` for the smoke scale.
    stand_ins : bool
        Use stand-ins for models that are not in ``generators``. Stand-ins for f9 and SSMBA are trained during the run.
    generators : mapping
        The models, keyed by generator.

    """

    folder: Path
    scale: Scale
    data_dir: str | Path | None = None
    samples: Path = Path(SAMPLES)
    stand_ins: bool = True
    generators: Mapping[str, str] = field(default_factory=dict)
    device: str | None = None
    workers: int = 1
    progress: Progress = silent

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)
        self._sets: dict[str, TestSet] = {}
        self._triplets: dict[tuple[Any, ...], TripletSet] = {}

    # questions

    @cached_property
    def questions(self) -> Path:
        """The path of the file with the training questions."""
        return self._written("questions.jsonl", lambda: self._split()[0])

    @cached_property
    def validation_questions(self) -> Path:
        """The path of the file with the validation questions, which are not used for training."""
        return self._written("validation.jsonl", lambda: self._split()[1])

    @cached_property
    def fallback_questions(self) -> Path:
        """The path of the questions for the experiment on the public code's fallback, with the published questions."""
        return self._written("fallback.jsonl", self._fallback_rows)

    def _fallback_rows(self) -> list[dict[str, Any]]:
        rows = [dict(row) for row in open_table(self.questions).rows(["id", "question"])]
        chosen = choose_questions(
            (str(row["id"]) for row in rows), self.scale.fallback_questions, self.scale.settings.seed
        )
        published = {row["id"]: row["question"] for row in self._published()}
        return [row for row in rows if row["id"] in chosen] + [{"id": i, "question": q} for i, q in published.items()]

    def _published(self) -> list[dict[str, Any]]:
        """Return the outputs that the public code published. At the smoke scale, sample pairs take their place."""
        if self.scale.name == "smoke":
            pairs = self.test_set(SAMPLES).pairs[:12]
            pairs = tuple(replace(pair, operator=f"published f{9 - 8 * (pair.label or 0)}") for pair in pairs)
        else:
            pairs = tuple(pair for name in _PUBLISHED_SETS for pair in load_pairs(name, data_dir=self.data_dir))
        names: dict[str, str] = {}  # two questions are in both files
        return [
            {
                "id": names.setdefault(pair.question, f"{PUBLISHED_IDS}-{len(names):03d}"),
                "question": pair.question,
                "paraphrase": pair.paraphrase,
                "label": pair.label,
                "operator": pair.operator,
            }
            for pair in pairs
        ]

    def more_questions(self, name: str) -> Path:
        """Return the path of a file with further training questions from a data set."""
        return self._written(f"{name}.jsonl", lambda: self._further(name))

    def _further(self, name: str) -> list[dict[str, Any]]:
        if name == OTHER_SAMPLES:
            return self._samples()[-self.scale.arm_more_count :]
        rows = load_questions(name, data_dir=self.data_dir)
        held_out = [str(row["question"]) for row in open_table(self.validation_questions).rows(["question"])]
        for test_set in self.scale.test_sets:
            try:
                held_out += sorted({pair.question for pair in self.test_set(test_set).pairs})
            except NotRunError as error:
                if test_set != _NOT_PUBLIC:
                    raise NotRunError(f"near-duplicates of the test questions cannot be left out: {error}") from None
        twins = near_twins([str(row["question"]) for row in rows], held_out)
        return [dict(row) for row, twin in zip(rows, twins, strict=True) if not twin][: self.scale.arm_more_count]

    def _written(self, name: str, rows: Callable[[], list[dict[str, Any]]]) -> Path:
        path = self.folder / "data" / name
        with self._alone(name):
            if not path.is_file():
                try:
                    write_questions(rows(), path)
                except DatasetError as error:
                    raise NotRunError(str(error)) from None
        return path

    def _alone(self, name: str) -> AbstractContextManager[None]:
        """Return a lock that keeps other processes from creating the same file at the same time."""
        return exclusive(self.folder / "locks" / f"{name}.lock")

    def _split(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        if self.scale.name != "smoke":
            rows = load_questions("questions", data_dir=self.data_dir)
            return paper_training(rows, size=self.scale.questions or len(rows)), paper_validation(rows)
        rows = self._samples()
        held = len(rows) // 6
        return rows[held:][: self.scale.questions], rows[:held]

    def _samples(self) -> list[dict[str, Any]]:
        """Return the sample questions that are not in the sample pairs."""
        tested = {pair.question for pair in self.test_set(SAMPLES).pairs}
        return [dict(row) for row in load_questions(self._sample("questions.csv")) if row["question"] not in tested]

    def source_hash(self) -> str | None:
        """Return the SHA-256 hash of the file from which the questions are taken, or None if the file is missing."""
        try:
            path = self._sample("questions.csv") if self.scale.name == "smoke" else find("questions", self.data_dir)
        except DatasetError:
            return None
        return sha256_of(path)

    def _sample(self, name: str) -> Path:
        path = self.samples / name
        if not path.is_file():
            raise ExperimentError(
                f"the smoke scale needs {path}, which does not exist: run the command in the repository root, or pass "
                "--samples DIR"
            )
        return path

    # pairs

    def pairs(self, recipe: str) -> PreparedPairs:
        """Return the pairs that a recipe produces from the training questions."""
        if recipe == FALLBACK_RECIPE:
            return self._with_published(self._prepared(recipe, self.fallback_questions, f"{recipe}.jsonl.gz"))
        return self._prepared(recipe, self.questions, f"{recipe}.jsonl.gz")

    def _with_published(self, prepared: PreparedPairs) -> PreparedPairs:
        path = self.folder / "data" / "published.jsonl"
        with self._alone(path.name):
            if not path.is_file():
                write_rows(path, _PUBLISHED_COLUMNS, self._published())
        return replace(prepared, paths=(*prepared.paths, path))

    def more_pairs(self, name: str, recipe: str) -> PreparedPairs:
        """Return the pairs that a recipe produces from a data set of further questions."""
        return self._prepared(recipe, self.more_questions(name), f"{name}-{recipe}.jsonl.gz")

    @cached_property
    def validation(self) -> TripletSet:
        """The validation triplets, which are built with the paper's recipe for all methods."""
        prepared = self._prepared("paper", self.validation_questions, "validation-paper.jsonl.gz")
        return read_triplets(*prepared.paths, seed=self.scale.settings.seed)

    def _prepared(self, recipe: str, questions: Path, name: str) -> PreparedPairs:
        """Return the pairs of a recipe, in one file, or in two if some of its operators run a model.

        With two files, a machine without a GPU can prepare the first one.
        """
        loaded = _recipe(recipe)
        rules = tuple(
            name for name in loaded.operators if rules_stand_in(name, loaded) and "encoder" not in get(name).needs
        )
        models = tuple(name for name in loaded.operators if name not in rules)
        if not rules or not models:
            return replace(self._part(recipe, loaded.operators, questions, name), recipe=recipe)
        first = self._part(recipe, rules, questions, name)
        second = self._part(recipe, models, questions, name.replace(".jsonl", "-models.jsonl"))
        return replace(_both(first, second), recipe=recipe)

    def _part(self, recipe: str, operators: Sequence[str], questions: Path, name: str) -> PreparedPairs:
        """Return the pairs of some of a recipe's operators."""
        out = self.folder / "data" / name
        with self._alone(name):
            if is_complete(out):
                return describe_pairs(out)
            loaded = _recipe(recipe)
            try:
                trained = self.stand_ins and not all(rules_stand_in(name, loaded) for name in operators)
                kinds = _GENERATORS.get(recipe, ()) if trained else ()
                models: dict[str, str] = {kind: str(self._generator(kind)) for kind in kinds}
            except (DatasetError, TrainingDataError, GeneratorUnavailableError) as error:
                if recipe == "ssmba":
                    raise NotRunError(str(error)) from None
                models = {}  # other recipes run without f9, and the report lists f9 as omitted
            try:
                return prepare_pairs(
                    questions,
                    out,
                    recipe=loaded,
                    operators=operators,
                    seed=self.scale.settings.seed,
                    stand_ins=self.stand_ins,
                    generators={**models, **self.generators},
                    entities=_entity_reader(),
                    device=self.device,
                    workers=self.workers,
                    progress=lambda stage, done, total, note="": self.progress(f"{recipe}: {stage}", done, total, note),
                )
            except GeneratorUnavailableError as error:
                raise NotRunError(str(error)) from None

    def _generator(self, kind: Kind) -> str | Path:
        if kind in self.generators:
            return self.generators[kind]
        with self._alone(kind):
            return self._trained_generator(kind)

    def _trained_generator(self, kind: Kind) -> Path:
        from paraqd.lab.generators.train import train_generator

        rows: list[tuple[str, str]] | None = None
        folder: Path | None = None
        if self.scale.generators == "smoke":
            texts = [str(row["question"]) for row in open_table(self.questions).rows(["question"])]
            rows = [(text, text) for text in texts]
        else:
            folder = find("general_paraphrases" if kind == "f9" else "questions", self.data_dir).parent
        return train_generator(
            kind,
            folder,
            self.folder / "generators" / kind,
            scale=self.scale.generators,
            device=self.device,
            pairs=rows,
            progress=self.progress,
        )

    def pseudo_labelled(self, recipe: str) -> tuple[Path, PseudoLabelStatistics]:
        """Label a baseline's pairs with the untrained encoder, and return the file's path and the label statistics."""
        (source,) = self.pairs(recipe).paths
        out = self.folder / "data" / f"{recipe}-pl.jsonl.gz"
        with self._alone(out.name):
            if not out.is_file():
                # as in the paper, the labels come from the same encoder that is trained afterwards
                pseudo_label_file(
                    source,
                    out,
                    encoder=self.scale.encoder,
                    device=self.device,
                    progress=lambda stage, done, total, note="": self.progress(
                        f"{recipe}: pseudo-labels, {stage}", done, total
                    ),
                )
        return out, PseudoLabelStatistics.of(open_table(out).rows(["label", "operator"]))

    def triplets(self, training: Training) -> tuple[TripletSet, PreparedPairs]:
        """Return the triplets for a training run, and a description of the pairs from which the triplets are built."""
        method: Method = training.method
        assert method.recipe is not None
        prepared, further = self.pairs(method.recipe), None
        if training.more_questions:
            if method.pseudo_labels:
                raise ExperimentError("pseudo-labels are not made for further questions: choose a method without them")
            further = self.more_pairs(training.more_questions, method.recipe)
        key = (
            method,
            training.without,
            training.questions,
            training.sources,
            training.triplets,
            training.more_questions,
        )
        if key not in self._triplets:
            paths = [self.pseudo_labelled(method.recipe)[0]] if method.pseudo_labels else [*prepared.paths]
            if further is not None:
                paths += further.paths
            seed = self.scale.settings.seed
            made = read_triplets(
                *paths,
                seed=seed,
                drop_operators=[training.without] if training.without else (),
                only_operators=method.operators,
                questions=self._chosen(training),
                in_batch=method.in_batch,
            )
            if training.triplets is not None:
                made = draw_triplets(made, training.triplets, seed)
            self._triplets = {key: made}  # keep only one set of triplets, because the sets are large
        return self._triplets[key], prepared if further is None else _both(prepared, further)

    def _chosen(self, training: Training) -> frozenset[str] | None:
        """Return the ids of the questions that a training run uses, or None if it uses all questions.

        If a training run omits an operator, the choice does not depend on which one, so all rows of the operator table
        use the same questions.
        """
        if training.questions is None and not training.sources:
            return None
        source = self.fallback_questions if training.method.recipe == FALLBACK_RECIPE else self.questions
        ids = [str(row["id"]) for row in open_table(source).rows(["id"])]
        if training.sources:
            ids = [name for name in ids if name.startswith(training.sources)]
        chosen = choose_questions(ids, training.questions or len(ids), self.scale.settings.seed)
        if training.more_questions:
            further = open_table(self.more_questions(training.more_questions)).rows(["id"])
            chosen |= {str(row["id"]) for row in further}
        return chosen

    # test sets

    def test_set(self, name: str) -> TestSet:
        """Return the test set with the given name, or raise `NotRunError` if its file is missing."""
        if name not in self._sets:
            self._sets[name] = self._load(name)
        return self._sets[name]

    def loaded(self) -> list[TestSet]:
        """Return the test sets loaded so far."""
        return list(self._sets.values())

    def _load(self, name: str) -> TestSet:
        if name == EXAMPLES:
            pairs = tuple(Pair(str(n), e.question, e.paraphrase, e.label) for n, e in enumerate(examples()))
            return TestSet(name, pairs, "")
        try:
            path = self._sample("pairs.csv") if name == SAMPLES else find(name, self.data_dir)
            pairs = tuple(load_pairs(path if name == SAMPLES else name, data_dir=self.data_dir))
        except DatasetError as error:
            raise NotRunError(str(error)) from None
        try:
            both_classes(pairs, name)
        except TableError as error:
            raise ExperimentError(str(error)) from None
        return TestSet(name, pairs, sha256_of(path))


def _both(first: PreparedPairs, second: PreparedPairs) -> PreparedPairs:
    """Describe the pairs of two descriptions together."""
    stand_ins = tuple(dict.fromkeys((*first.stand_ins, *second.stand_ins)))
    return replace(
        first,
        paths=(*first.paths, *second.paths),
        stand_ins=stand_ins,
        left_out={**first.left_out, **second.left_out},
    )


def _recipe(name: str) -> Recipe:
    """Return a recipe. The fallback recipe has all operators of the methods that show the public code's fallback."""
    if name != FALLBACK_RECIPE:
        return load_recipe(name)
    operators = tuple(dict.fromkeys(operator for method in FALLBACKS for operator in method.operators))
    return replace(load_recipe("paper"), name=name, operators=operators)


def _entity_reader() -> str:
    """Return ``spacy`` if spaCy's pipeline is installed, otherwise ``light``."""
    try:
        load_spacy()
    except PipelineUnavailableError:
        return "light"
    return "spacy"

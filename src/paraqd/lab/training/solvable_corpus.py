"""Create the sets of single questions for training and validating the model that tells whether a question is solvable.

Solvable texts are questions, valid paraphrases, and paraphrases that ask another but complete problem. Broken texts are
outputs of operators that break a question, and texts that were written with a fault. Harmless operators are applied to
solvable and to broken texts, about equally often: their traces say nothing about the label.
The rules for held-out questions are those of `judge_corpus`. All texts of a problem are in the same part.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from paraqd.lab.corpora.awp_variants import EVIDENCE_KINDS
from paraqd.lab.corpora.faulty_pairs import changed_spans
from paraqd.lab.corpora.near_twins import near_twins
from paraqd.lab.corpora.question_texts import QuestionText, write_texts, written_question_part, written_questions
from paraqd.lab.corpora.synthetic import InvalidParaphrase, SyntheticProblem, synthetic_part, synthetic_problems
from paraqd.lab.training.augmented_pairs import prepare_pairs, write_questions
from paraqd.lab.training.judge_corpus import choosing_half, held_out_questions, other_questions
from paraqd.lab.training.pair_files import PairFiles, check_manifest
from paraqd.lab.training.question_faults import (
    COMPLETE,
    changed_broken_texts,
    operator_texts,
    vary_form,
    written_text,
)
from paraqd.lab.training.recipes.solvable import SolvableData, TextSet
from paraqd.progress import Progress, silent
from paraqd.tables.datasets import find, load_pairs, load_questions, written_split
from paraqd.tables.table import open_table

PARTS = ("train", "validation")
_CORPUS_RESERVE = 8  # one more eighth of the questions is drawn, because some are near twins of held-out questions
_MORE_BROKEN = 2  # harmless operators fit fewer of the broken texts: a text without a question has none to reword


@dataclass(frozen=True)
class Source:
    """A problem: its solvable texts, and texts that were written with a fault."""

    id: str
    texts: tuple[str, ...]
    faulty: tuple[InvalidParaphrase, ...] = ()
    labelled: tuple[QuestionText, ...] = ()  # texts that already have a family


def make_question_texts(
    folder: str | Path,
    recipe: SolvableData,
    *,
    data_dir: str | Path | None = None,
    workers: int = 1,
    parts: Sequence[str] = PARTS,
    progress: Progress = silent,
) -> PairFiles:
    """Create a recipe's sets of texts in a folder, and return the files of all sets. Existing files are kept.

    ``parts`` can limit the sets that are created to those for training or those for validation.
    """
    place = Path(folder)
    check_manifest(place, text_settings(recipe))
    corpus = _Corpus(place, recipe, data_dir, workers, progress)
    files = set_files(place, recipe)
    for part in parts:
        for name, path in getattr(files, part).items():
            if not path.is_file():
                progress(f"{name} {part}", 0, None)
                write_texts(corpus.texts(name, part), path)
    return files


def text_settings(recipe: SolvableData) -> dict[str, Any]:
    """Return the values of a recipe that determine the content of its sets, in a form that JSON can represent.

    Held-out families and weights are applied later, so all models can share the texts.
    """
    found = {name: value for name, value in asdict(recipe).items() if name != "held_out_families"}
    for part in PARTS:
        found[part] = {
            name: {key: value for key, value in each.items() if key != "weight"} for name, each in found[part].items()
        }
    return found


def set_files(place: Path, recipe: SolvableData) -> PairFiles:
    """Return the files of a recipe's sets, whether or not they exist."""
    train, validation = ({name: place / f"{name}_{part}.jsonl.gz" for name in getattr(recipe, part)} for part in PARTS)
    return PairFiles(train, validation)


@dataclass(frozen=True)
class _Corpus:
    """The sources of a recipe's texts."""

    folder: Path
    recipe: SolvableData
    data_dir: str | Path | None
    workers: int
    progress: Progress

    def texts(self, name: str, part: str) -> Iterator[QuestionText]:
        """Yield the texts of a set."""
        settings: TextSet = getattr(self.recipe, part)[name]
        sources = self._sources(name, part)
        rng = random.Random(f"{self.recipe.seed}|{name}|{part}")
        base = [(f"{source.id}|{n}", text) for source in sources for n, text in enumerate(source.texts)]
        base = _drawn(base, settings.texts, rng)
        solvable = {text.strip().lower() for source in sources for text in source.texts}
        whole = list(_whole_texts(sources))
        complete = _drawn([text for text in whole if text.label], settings.complete, rng)
        made = [QuestionText(key, text, 1, source=name) for key, text in base]
        made += [each for source in sources for each in source.labelled]
        made += [*complete, *(text for text in whole if not text.label and text.text.strip().lower() not in solvable)]
        operators = self.recipe.operators
        for number in range(settings.parts):
            some = base[number :: settings.parts]
            outputs = self._augmented(f"{name}_{part}_{number}", some, operators[number :: settings.parts])
            found = list(operator_texts(outputs, self.recipe.family_of, solvable))
            for kind, label in (("breaking", 0), ("harmless", 1)):
                most = self.recipe.most[kind] if part == "train" else None
                made += _most_of_each([text for text in found if text.label == label], most, rng)
        made += self._changed_broken(f"{name}_{part}", made, len(base), settings.parts, rng)
        for text in made:
            yield vary_form(text, random.Random(f"{self.recipe.seed}|{text.id}|{text.text}"), self.recipe.varied)

    def _changed_broken(
        self, name: str, made: Sequence[QuestionText], size: int, parts: int, rng: random.Random
    ) -> list[QuestionText]:
        """Apply the harmless operators to broken texts; ``size`` is the number of solvable texts that were changed.

        Of each operator, as many outputs are used as among the solvable texts.
        """
        solvable = Counter(text.source for text in made if text.label)
        broken = [text for text in made if not text.label]
        operators = self.recipe.harmless_operators
        changed: list[QuestionText] = []
        for number in range(parts):
            drawn = _drawn(broken, _MORE_BROKEN * size // parts, rng)
            texts = {f"{text.id}|broken-{n}": text for n, text in enumerate(drawn)}
            outputs = self._augmented(
                f"{name}_broken_{number}", [(key, text.text) for key, text in texts.items()], operators[number::parts]
            )
            changed += changed_broken_texts(outputs, texts, self.recipe.counterparts)
        return [
            text
            for operator in operators
            for text in _drawn([text for text in changed if text.source == operator], solvable[operator], rng)
        ]

    def _augmented(
        self, name: str, texts: Sequence[tuple[str, str]], operators: Sequence[str]
    ) -> Iterator[Mapping[str, Any]]:
        """Apply operators to texts, and return an iterator over the outputs."""
        source, out = self.folder / f"{name}.jsonl", self.folder / f"{name}_augmented.jsonl.gz"
        write_questions(({"id": key, "question": text} for key, text in texts), source)
        prepare_pairs(
            source,
            out,
            operators=operators,
            seed=self.recipe.seed,
            stand_ins=False,
            workers=self.workers,
            progress=lambda stage, done, total, note="": self.progress(f"{name}: {stage}", done, total, note),
        )
        return iter(open_table(out).rows())

    def _sources(self, name: str, part: str) -> list[Source]:
        find_sources = {
            "corpus": self._corpus,
            "written": self._written,
            "synthetic": self._synthetic,
            "styles": self._styles,
            "single": self._single,
        }[name]
        sources = find_sources(part)
        if part == "validation":
            return sources
        twins = near_twins([source.texts[0] for source in sources], self._held_out)
        return [source for source, twin in zip(sources, twins, strict=True) if not twin]

    @cached_property
    def _every_written(self) -> list[Mapping[str, Any]]:
        return list(open_table(find("written_pairs", self.data_dir)).rows())

    @cached_property
    def _held_out(self) -> list[str]:
        """The questions that are not used for training, nor are their near twins."""
        found = held_out_questions(self._every_written, self.recipe.held_out, self.data_dir)
        found += [source.texts[0] for name in self.recipe.validation for source in self._sources(name, "validation")]
        found += [text.text for text in written_questions("solvable_test", self.data_dir)]
        return list(dict.fromkeys(found))

    def _corpus(self, part: str) -> list[Source]:
        settings: TextSet = getattr(self.recipe, part)["corpus"]
        rows: list[Mapping[str, Any]] = list(load_questions("questions", data_dir=self.data_dir))
        size = settings.texts or len(rows)
        if part == "validation":
            found = [row for row in rows if row.get("split") == "validation"]
            random.Random(self.recipe.seed).shuffle(found)
            found = found[:size]
        else:
            names = {str(row["id"]) for row in self._every_written}
            found = other_questions(rows, names, size=size + size // _CORPUS_RESERVE, seed=self.recipe.seed)
        return [Source(str(row["id"]), (str(row["question"]),)) for row in found]

    def _written(self, part: str) -> list[Source]:
        rows = [row for row in self._every_written if written_split(str(row["id"])) == part]
        return [_written_source(row) for row in rows]

    def _synthetic(self, part: str) -> list[Source]:
        problems = synthetic_problems(self.data_dir)
        return [_problem_source(problem) for problem in problems if synthetic_part(problem) == part]

    def _styles(self, part: str) -> list[Source]:
        if part == "train":
            return [_problem_source(problem) for problem in synthetic_problems(self.data_dir, name="styles")]
        found: dict[str, list[str]] = {}
        for pair in choosing_half(load_pairs("styles_validation", data_dir=self.data_dir)):
            texts = found.setdefault(pair.question, [pair.question])
            if pair.label:
                texts.append(pair.paraphrase)
        return [Source(f"styles-validation-{n}", tuple(texts)) for n, texts in enumerate(found.values())]

    def _single(self, part: str) -> list[Source]:
        found: dict[str, list[QuestionText]] = {}
        for text in written_questions("solvable", self.data_dir):
            if written_question_part(text.id) == part:
                found.setdefault(text.id, []).append(text)
        return [
            Source(name, tuple(t.text for t in texts if t.label), labelled=tuple(t for t in texts if not t.label))
            for name, texts in found.items()
        ]


def _written_source(row: Mapping[str, Any]) -> Source:
    faulty = []
    for form in ("heavy", "moderate"):
        text, kind = str(row[f"{form}_invalid"]), EVIDENCE_KINDS[str(row[f"{form}_fault"])]
        faulty.append(InvalidParaphrase(text, kind, (), changed_spans(str(row[f"{form}_valid"]), text)[1]))
    texts = (str(row["question"]), str(row["heavy_valid"]), str(row["moderate_valid"]))
    return Source(str(row["id"]), texts, tuple(faulty))


def _problem_source(problem: SyntheticProblem) -> Source:
    return Source(problem.id, (problem.question, *problem.valid), problem.invalid)


def _whole_texts(sources: Iterable[Source]) -> Iterator[QuestionText]:
    """Yield the texts that were written with a fault. A fault that leaves a complete problem makes a solvable text."""
    for source in sources:
        for number, faulty in enumerate(source.faulty):
            name = f"{source.id}|faulty-{number}"
            if faulty.kind in COMPLETE:
                yield QuestionText(name, faulty.text, 1, source=f"complete-{faulty.kind}")
            elif (text := written_text(name, faulty, source.texts)) is not None:
                yield text


def _drawn(rows: list[Any], size: int | None, rng: random.Random) -> list[Any]:
    """Draw at most ``size`` rows at random; the order of the drawn rows is random, too."""
    return rng.sample(rows, len(rows) if size is None else min(size, len(rows)))


def _most_of_each(texts: Sequence[QuestionText], most: int | None, rng: random.Random) -> list[QuestionText]:
    """Draw at most ``most`` texts of each source."""
    groups: dict[str, list[QuestionText]] = {}
    for text in texts:
        groups.setdefault(text.source, []).append(text)
    return [text for group in groups.values() for text in _drawn(group, most, rng)]

"""Make triplets (question, valid, invalid) from labelled pairs, for training.

This module needs only numpy. A machine for training needs pyarrow only if the pairs are in a Parquet file.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraqd.data.formats import TableError
from paraqd.data.labels import binary_label
from paraqd.data.tables import DEFAULT_COLUMNS, Columns, Table, open_table, row_id, text_in

IN_BATCH = -1  # instead of an invalid text: the other questions of the batch are the negatives

# the reasons why a question yields no triplet, or fewer than it has outputs
NO_VALID = "no valid output"
NO_INVALID = "no invalid output"
NOTHING_LEFT = "every operator dropped"
UNCHANGED = "an invalid output is the question itself"
BOTH = "an output is both valid and invalid"

_WHERE = "\0where"  # the file and row, for messages; no column has this name


@dataclass(frozen=True, eq=False)
class TripletSet:
    """Triplets over distinct texts.

    Attributes
    ----------
    texts : tuple of str
        Every text that a triplet uses, once.
    triplets : int32 array of shape (n, 3)
        Indices of (anchor, valid, invalid) in ``texts``. The third is `IN_BATCH` if the negatives are the other
        questions of the batch.
    questions : int32 array of shape (n,)
        The number of the question of each triplet, from 0; questions without a triplet have no number.
    operators : tuple of (str, str)
        The valid and the invalid operator of each triplet. The first is empty if the question itself is the valid
        text, the second if the negative is in the batch.
    skipped : dict
        The number of questions that yield no triplet, or fewer than they have outputs, by reason.

    """

    texts: tuple[str, ...]
    triplets: NDArray[np.int32]
    questions: NDArray[np.int32]
    operators: tuple[tuple[str, str], ...]
    skipped: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of triplets."""
        return len(self.triplets)

    @property
    def n_questions(self) -> int:
        """The number of questions."""
        return int(self.questions.max()) + 1 if len(self.questions) else 0


class _Output(NamedTuple):
    """The output of an operator for a question."""

    operator: str
    paraphrase: str


@dataclass
class _Outputs:
    """All outputs of one question, in sets, because a repeated question has its outputs twice."""

    question: str
    valid: set[_Output] = field(default_factory=set)
    invalid: set[_Output] = field(default_factory=set)


class _Triplet(NamedTuple):
    valid: _Output
    invalid: _Output | None


def make_triplets(
    rows: Iterable[Mapping[str, Any]],
    *,
    seed: int = 3407,
    drop_operators: Sequence[str] = (),
    questions: Collection[str] | None = None,
    in_batch: bool = False,
) -> TripletSet:
    """Make triplets from labelled pairs as the paper does: each invalid output once, with a random valid one.

    Parameters
    ----------
    rows : iterable of mappings
        The output of ``augment``: ``id``, ``question``, ``paraphrase``, ``label`` (1 valid, 0 invalid) and
        ``operator``. It is read once, and the rows of a question can be in any order.
    seed : int
        The seed of the random choice, which depends on the id of a question and its outputs, but not on their order.
    drop_operators : sequence of str
        Operators to leave out, by name or paper id; a composed operator by its full name.
    questions : collection of str, optional
        The ids of the questions to use; all of them unless given.
    in_batch : bool
        Set this for the baselines, which have only valid outputs: each output makes one triplet with its negatives in
        the batch. If pseudo-labels have made some outputs invalid, each invalid one is used once, with a random valid
        one (or the question itself if there is none). Only the remaining valid outputs have their negatives in the
        batch.

    Returns
    -------
    TripletSet
        The triplets in the order in which their questions first appear.

    Examples
    --------
    >>> rows = [
    ...     {"id": "1", "question": "5 pens?", "paraphrase": "five pens?", "label": 1, "operator": "NumToWords"},
    ...     {"id": "1", "question": "5 pens?", "paraphrase": "7 pens?", "label": 0, "operator": "NumberChange"},
    ... ]
    >>> made = make_triplets(rows)
    >>> [made.texts[i] for i in made.triplets[0]]
    ['5 pens?', 'five pens?', '7 pens?']

    """
    skipped: Counter[str] = Counter()
    builder = _Builder()
    for name, outputs in _grouped(rows, drop_operators).items():
        if questions is not None and name not in questions:
            continue
        valid, invalid = _cleaned(outputs, skipped)
        rng = _rng(seed, name)
        triplets = (_with_batch if in_batch else _drawn)(outputs.question, valid, invalid, rng)
        if triplets:
            builder.add(outputs.question, triplets)
        elif not outputs.valid and not outputs.invalid:
            skipped[NOTHING_LEFT] += 1
        else:
            skipped[NO_INVALID if valid else NO_VALID] += 1
    return builder.built(dict(skipped))


def read_triplets(
    *paths: str | Path,
    seed: int = 3407,
    drop_operators: Sequence[str] = (),
    questions: Collection[str] | None = None,
    in_batch: bool = False,
    columns: Columns = DEFAULT_COLUMNS,
    encoding: str | None = None,
) -> TripletSet:
    """Make triplets from files that ``augment`` wrote; see `make_triplets`.

    Raises
    ------
    TableError
        If a file cannot be read, or the files yield no triplet.

    """
    tables = [open_table(path, encoding=encoding) for path in paths]
    for table in tables:
        table.require(columns, ("question", "paraphrase", "label"))
    rows = _labelled(tables, columns)
    made = make_triplets(rows, seed=seed, drop_operators=drop_operators, questions=questions, in_batch=in_batch)
    if not len(made):
        reasons = ", ".join(f"{why}: {times:,}" for why, times in made.skipped.items())
        names = ", ".join(table.name for table in tables)
        raise TableError(f"{names}: no triplets can be made ({f'questions with {reasons}' if reasons else 'no rows'})")
    return made


def _labelled(tables: Sequence[Table], columns: Columns) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of files with the default names of columns, and with their place for messages."""
    names = {"id": columns.id, "question": columns.question, "paraphrase": columns.paraphrase, "label": columns.label}
    for table in tables:
        for number, row in enumerate(table.rows([*names.values(), "operator"]), start=1):
            plain = {key: row.get(name) for key, name in names.items()}
            yield {**plain, "operator": row.get("operator"), _WHERE: f"{table.name}, row {number}"}


def choose_questions(ids: Iterable[str], count: int, seed: int) -> frozenset[str]:
    """Return the ids of ``count`` questions, drawn at random.

    The draw depends only on the seed and the ids, not on what is later done with the questions. A larger draw contains
    every smaller one.

    >>> few, more = (choose_questions(map(str, range(9)), n, seed=1) for n in (3, 5))
    >>> few < more
    True
    """

    def place(name: str) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{name}\x1fquestions".encode("utf-8", "surrogatepass")).digest()

    return frozenset(sorted(set(ids), key=place)[:count])


def draw_triplets(triplets: TripletSet, count: int, seed: int) -> TripletSet:
    """Return ``count`` of the triplets, drawn at random, in their order; all of them if there are fewer."""
    if count >= len(triplets):
        return triplets
    kept = np.zeros(len(triplets), dtype=bool)
    kept[_rng(seed, "draw").sample(range(len(triplets)), count)] = True
    return _kept(triplets, kept)


def subset(triplets: TripletSet, share: float, seed: int) -> TripletSet:
    """Return the triplets of a random share of the questions that have any, at least one, in their order.

    Questions without triplets are not counted. To compare trainings on the same questions, choose them first
    (`choose_questions`) and make triplets of these. ``skipped`` still describes the whole set.
    """
    if not 0 < share <= 1:
        raise ValueError(f"the share of the questions must be above 0 and at most 1, not {share}")
    total = triplets.n_questions
    if not total:
        return triplets
    chosen = _rng(seed, "subset").sample(range(total), max(1, round(share * total)))
    return _kept(triplets, np.isin(triplets.questions, chosen))


def _kept(triplets: TripletSet, kept: NDArray[np.bool_]) -> TripletSet:
    """Return some of the triplets; unused texts are removed, and the questions are numbered again."""
    rows = triplets.triplets[kept]
    used = np.unique(rows[rows != IN_BATCH])  # sorted, so that the texts keep their order
    places = np.full(len(triplets.texts) + 1, IN_BATCH, dtype=np.int32)  # IN_BATCH refers to the last one
    places[used] = np.arange(len(used))
    return replace(
        triplets,
        texts=tuple(triplets.texts[i] for i in used),
        triplets=places[rows],
        questions=np.unique(triplets.questions[kept], return_inverse=True)[1].astype(np.int32),
        operators=tuple(pair for pair, keep in zip(triplets.operators, kept, strict=True) if keep),
    )


def _rng(seed: int, name: str) -> random.Random:
    """Return the random generator of one question.

    The one of the operators is not used, because that package needs more than numpy.
    """
    digest = hashlib.sha256(f"{seed}\x1f{name}\x1ftriplets".encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


# --- rows to questions --------------------------------------------------------------------------


def _grouped(rows: Iterable[Mapping[str, Any]], drop: Sequence[str]) -> dict[str, _Outputs]:
    """Collect the outputs of each question, in the order in which the questions first appear."""
    dropped = _full_names(drop)
    questions: dict[str, _Outputs] = {}
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        place = str(row.get(_WHERE) or f"row {number}")
        question, paraphrase = text_in(row, "question", place), text_in(row, "paraphrase", place)
        name = row_id(row, DEFAULT_COLUMNS, question)
        outputs = questions.setdefault(name, _Outputs(question))
        if outputs.question != question:
            raise TableError(
                f"{place}: the id {name!r} already belongs to another question; give each question its own id"
            )
        label = _label(row, place)
        operator = str(row.get("operator") or "")
        seen.add(operator)
        if operator not in dropped:
            (outputs.valid if label else outputs.invalid).add(_Output(operator, paraphrase))
    _check_known(dropped - seen)
    return questions


def _label(row: Mapping[str, Any], place: str) -> int:
    try:
        label = binary_label(row.get("label"))
    except ValueError:
        label = None
    if label is None:
        raise TableError(f"{place}: the label is {row.get('label')!r}; it must be 1 (valid) or 0 (invalid)")
    return label


def _full_names(operators: Sequence[str]) -> frozenset[str]:
    if not operators:
        return frozenset()
    from paraqd.operators.registry import full_name

    return frozenset(full_name(name) for name in operators)


def _check_known(operators: frozenset[str]) -> None:
    """Raise an error for a name that is not an operator: a misspelt name would silently drop nothing."""
    if not operators:
        return
    from paraqd.operators.registry import base_name, get, names

    for name in sorted(operators):
        if not {base_name(part) for part in name.split("+")} <= set(names()):
            get(name)  # raises, with the nearest name


# --- questions to triplets ----------------------------------------------------------------------


def _cleaned(outputs: _Outputs, skipped: Counter[str]) -> tuple[list[_Output], list[_Output]]:
    """Return the valid and the invalid outputs in a fixed order, without contradictions."""
    valid, invalid = _distinct(outputs.valid), _distinct(outputs.invalid)
    good = {output.paraphrase for output in valid}
    rules: tuple[tuple[str, Callable[[_Output], bool]], ...] = (
        (UNCHANGED, lambda output: output.paraphrase == outputs.question),
        (BOTH, lambda output: output.paraphrase in good),
    )
    for reason, is_wrong in rules:
        kept = [output for output in invalid if not is_wrong(output)]
        skipped[reason] += len(kept) < len(invalid)
        invalid = kept
    return valid, invalid


def _distinct(outputs: Iterable[_Output]) -> list[_Output]:
    """Sort outputs; a text that an operator returned in several draws (``A``, ``A#2``) counts once."""
    first: dict[tuple[str, str], _Output] = {}
    for output in sorted(outputs):
        first.setdefault((output.operator.partition("#")[0], output.paraphrase), output)
    return list(first.values())


def _drawn(question: str, valid: list[_Output], invalid: list[_Output], rng: random.Random) -> list[_Triplet]:
    """Pair each invalid output with a random valid one."""
    del question
    return [_Triplet(rng.choice(valid), output) for output in invalid] if valid else []


def _with_batch(question: str, valid: list[_Output], invalid: list[_Output], rng: random.Random) -> list[_Triplet]:
    """Pair each invalid output with a valid one; the remaining valid outputs have their negatives in the batch."""
    paired = _drawn(question, valid or [_Output("", question)], invalid, rng)
    drawn = {triplet.valid for triplet in paired}
    return paired + [_Triplet(output, None) for output in valid if output not in drawn]


class _Builder:
    """Numbers texts and questions while triplets are added."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._numbers: dict[int, int] = {}
        self._triplets: list[tuple[int, int, int]] = []
        self._questions: list[int] = []
        self._operators: list[tuple[str, str]] = []

    def add(self, question: str, triplets: Sequence[_Triplet]) -> None:
        anchor = self._place(question)
        # by its text: a question with two ids must not be its own negative in a batch
        number = self._numbers.setdefault(anchor, len(self._numbers))
        for valid, invalid in triplets:
            second = self._place(valid.paraphrase)
            third = IN_BATCH if invalid is None else self._place(invalid.paraphrase)
            self._triplets.append((anchor, second, third))
            self._questions.append(number)
            self._operators.append((valid.operator, "" if invalid is None else invalid.operator))

    def _place(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    def built(self, skipped: Mapping[str, int]) -> TripletSet:
        return TripletSet(
            texts=tuple(self._places),
            triplets=np.array(self._triplets, dtype=np.int32).reshape(-1, 3),
            questions=np.array(self._questions, dtype=np.int32),
            operators=tuple(self._operators),
            skipped={reason: times for reason, times in skipped.items() if times},
        )

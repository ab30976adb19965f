"""Build training triplets (question, valid text, invalid text) from labelled pairs.

This module depends only on numpy. Pyarrow is needed only to read pairs from a Parquet file.
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

from paraqd.errors import ArgumentError
from paraqd.tables.formats import TableError
from paraqd.tables.labels import binary_label
from paraqd.tables.rows import numbered
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Table, open_table, row_id, text_in

IN_BATCH = -1  # the third index of a triplet if the other questions in the batch serve as negatives

# the reasons why a question yields no triplets, or fewer triplets than expected
NO_VALID = "no valid output"
NO_INVALID = "no invalid output"
NOTHING_LEFT = "every operator dropped"
UNCHANGED = "an invalid output is the question itself"
BOTH = "an output is both valid and invalid"

_WHERE = "\0where"  # the key for the file and row number shown in messages; no column can have this name


@dataclass(frozen=True, eq=False)
class TripletSet:
    """Triplets, stored as indices into a tuple of distinct texts.

    Attributes
    ----------
    texts : tuple of str
        The distinct texts that the triplets use.
    triplets : int32 array of shape (n, 3)
        The indices of the anchor, the valid text and the invalid text in ``texts``. The third index is `IN_BATCH` if
        the other questions in the batch serve as negatives.
    questions : int32 array of shape (n,)
        The zero-based index of each triplet's question. Questions that have no triplets are not counted.
    operators : tuple of (str, str)
        The operators that produced the valid and the invalid text of each triplet. The first operator is empty if the
        question itself is the valid text. The second operator is empty if the other questions in the batch serve as
        negatives.
    skipped : dict
        The number of questions that yield no triplets, or fewer triplets than expected, keyed by reason.

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
        """The number of questions that have triplets."""
        return int(self.questions.max()) + 1 if len(self.questions) else 0


class _Output(NamedTuple):
    """One operator's output for one question."""

    operator: str
    paraphrase: str


@dataclass
class _Outputs:
    """All outputs for one question, stored in sets because a repeated question repeats its outputs."""

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
    only_operators: Collection[str] = (),
    questions: Collection[str] | None = None,
    in_batch: bool = False,
) -> TripletSet:
    """Build triplets from labelled pairs as the paper does, combining each invalid output with a random valid output.

    Parameters
    ----------
    rows : iterable of mappings
        The rows that ``augment`` writes, with the keys ``id``, ``question``, ``paraphrase``, ``label`` (1 for valid, 0
        for invalid) and ``operator``. The rows are read once and can be in any order.
    seed : int
        The random seed. The choice of valid outputs depends on the seed, the question's id and the set of its outputs,
        but not on the order of the rows.
    drop_operators : sequence of str
        The names or paper ids of operators whose outputs are ignored. Pass the full name of a composed operator.
    only_operators : collection of str
        The full names of the operators whose outputs are used (default: all operators).
    questions : collection of str, optional
        The ids of the questions to use (default: all).
    in_batch : bool
        Use the other questions in the batch as negatives. This is meant for the baselines, whose operators only produce
        valid outputs. Each valid output then yields one triplet. If pseudo-labels have marked some outputs as invalid,
        each invalid output is combined with a random valid output, or with the question itself if no output is valid,
        and only the remaining valid outputs use negatives from the batch.

    Returns
    -------
    TripletSet
        The triplets, in the order in which their questions first appear.

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
    for name, outputs in _grouped(rows, drop_operators, only_operators).items():
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
    only_operators: Collection[str] = (),
    questions: Collection[str] | None = None,
    in_batch: bool = False,
    columns: Columns = DEFAULT_COLUMNS,
    encoding: str | None = None,
) -> TripletSet:
    """Build triplets from files written by ``augment``; see `make_triplets`.

    Raises
    ------
    TableError
        If a file cannot be read, or the files yield no triplets.

    """
    tables = [open_table(path, encoding=encoding) for path in paths]
    for table in tables:
        table.require(columns, ("question", "paraphrase", "label"))
    rows = _labelled(tables, columns)
    made = make_triplets(
        rows,
        seed=seed,
        drop_operators=drop_operators,
        only_operators=only_operators,
        questions=questions,
        in_batch=in_batch,
    )
    if not len(made):
        reasons = ", ".join(f"{why}: {times:,}" for why, times in made.skipped.items())
        names = ", ".join(table.name for table in tables)
        raise TableError(
            f"{names}: no triplets can be made ({f'questions with {reasons}' if reasons else 'no rows'}); pass pairs "
            "with a valid and an invalid output of the same question"
        )
    return made


def _labelled(tables: Sequence[Table], columns: Columns) -> Iterator[Mapping[str, Any]]:
    """Yield each row with the default column names, and with its file and row number for messages."""
    names = {"id": columns.id, "question": columns.question, "paraphrase": columns.paraphrase, "label": columns.label}
    for table in tables:
        for number, row in numbered(table.rows([*names.values(), "operator"])):
            plain = {key: row.get(name) for key, name in names.items()}
            yield {**plain, "operator": row.get("operator"), _WHERE: f"{table.name}, row {number}"}


def choose_questions(ids: Iterable[str], count: int, seed: int) -> frozenset[str]:
    """Return ``count`` randomly chosen ids, or all ids if there are fewer.

    The choice depends only on the seed and the ids. With the same seed, a larger choice contains every smaller choice.

    >>> few, more = (choose_questions(map(str, range(9)), n, seed=1) for n in (3, 5))
    >>> few < more
    True
    """

    def place(name: str) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{name}\x1fquestions".encode("utf-8", "surrogatepass")).digest()

    return frozenset(sorted(set(ids), key=place)[:count])


def draw_triplets(triplets: TripletSet, count: int, seed: int) -> TripletSet:
    """Return ``count`` randomly chosen triplets in their original order, or all triplets if there are fewer."""
    if count >= len(triplets):
        return triplets
    kept = np.zeros(len(triplets), dtype=bool)
    kept[_rng(seed, "draw").sample(range(len(triplets)), count)] = True
    return _kept(triplets, kept)


def subset(triplets: TripletSet, share: float, seed: int) -> TripletSet:
    """Return the triplets of a random share of the questions (at least one question), in their original order.

    Questions without triplets do not count towards the share. To train several models on the same questions, first
    choose the questions with `choose_questions`, and then build their triplets. The attribute ``skipped`` is copied
    from the whole set.
    """
    if not 0 < share <= 1:
        raise ArgumentError(f"the share of the questions must be above 0 and at most 1, not {share}")
    total = triplets.n_questions
    if not total:
        return triplets
    chosen = _rng(seed, "subset").sample(range(total), max(1, round(share * total)))
    return _kept(triplets, np.isin(triplets.questions, chosen))


def _kept(triplets: TripletSet, kept: NDArray[np.bool_]) -> TripletSet:
    """Return the selected triplets, without unused texts and with renumbered questions."""
    rows = triplets.triplets[kept]
    used = np.unique(rows[rows != IN_BATCH])  # sorted, so that the texts keep their order
    places = np.full(len(triplets.texts) + 1, IN_BATCH, dtype=np.int32)  # the index IN_BATCH (-1) is the last element
    places[used] = np.arange(len(used))
    return replace(
        triplets,
        texts=tuple(triplets.texts[i] for i in used),
        triplets=places[rows],
        questions=np.unique(triplets.questions[kept], return_inverse=True)[1].astype(np.int32),
        operators=tuple(pair for pair, keep in zip(triplets.operators, kept, strict=True) if keep),
    )


def _rng(seed: int, name: str) -> random.Random:
    """Return the random number generator for a question or for a task such as ``subset``.

    The operators' random number generator is not used here, because this module depends only on numpy.
    """
    digest = hashlib.sha256(f"{seed}\x1f{name}\x1ftriplets".encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


# --- rows to questions --------------------------------------------------------------------------


def _grouped(rows: Iterable[Mapping[str, Any]], drop: Sequence[str], only: Collection[str]) -> dict[str, _Outputs]:
    """Return each question's outputs, keyed by question id in the order in which the questions first appear."""
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
        if operator not in dropped and (not only or operator in only):
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
    from paraqd.lab.operators.registry import full_name

    return frozenset(full_name(name) for name in operators)


def _check_known(operators: frozenset[str]) -> None:
    """Raise an error if a name is not an operator's name, because a misspelt name would silently have no effect."""
    if not operators:
        return
    from paraqd.lab.operators.registry import base_name, get, names

    for name in sorted(operators):
        if not {base_name(part) for part in name.split("+")} <= set(names()):
            get(name)  # raises an error that suggests the nearest name


# --- questions to triplets ----------------------------------------------------------------------


def _cleaned(outputs: _Outputs, skipped: Counter[str]) -> tuple[list[_Output], list[_Output]]:
    """Return the valid and the invalid outputs in a fixed order.

    Invalid outputs that equal the question or a valid output are removed, and ``skipped`` counts the questions that
    have such outputs.
    """
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
    """Return the sorted outputs, with each text only once per operator; ``A`` and ``A#2`` are the same operator."""
    first: dict[tuple[str, str], _Output] = {}
    for output in sorted(outputs):
        first.setdefault((output.operator.partition("#")[0], output.paraphrase), output)
    return list(first.values())


def _drawn(question: str, valid: list[_Output], invalid: list[_Output], rng: random.Random) -> list[_Triplet]:
    """Return triplets that combine each invalid output with a random valid output."""
    del question
    return [_Triplet(rng.choice(valid), output) for output in invalid] if valid else []


def _with_batch(question: str, valid: list[_Output], invalid: list[_Output], rng: random.Random) -> list[_Triplet]:
    """Return a triplet for each invalid output, and a triplet with in-batch negatives for each unused valid output."""
    paired = _drawn(question, valid or [_Output("", question)], invalid, rng)
    drawn = {triplet.valid for triplet in paired}
    return paired + [_Triplet(output, None) for output in valid if output not in drawn]


class _Builder:
    """A builder that collects triplets and numbers their texts and questions."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._numbers: dict[int, int] = {}
        self._triplets: list[tuple[int, int, int]] = []
        self._questions: list[int] = []
        self._operators: list[tuple[str, str]] = []

    def add(self, question: str, triplets: Sequence[_Triplet]) -> None:
        anchor = self._place(question)
        # number questions by text, so that a question with two ids is never its own negative in a batch
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

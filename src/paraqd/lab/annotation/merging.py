"""Merge several annotators' labels into one label for each pair."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from paraqd.evaluation.agreement import Agreement, cohen_kappa
from paraqd.lab.annotation.journals import check_pairs, is_journal, read_journal
from paraqd.lab.annotation.pairs_to_label import AnnotationError, PairsToLabel, PairToLabel, read_pairs_to_label
from paraqd.tables.labels import ALSO_READ, binary_label
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Row, open_table
from paraqd.tables.writers import check_outputs, write_rows

_ADDED: Mapping[str, type] = {"annotators": str, "agreed": bool, "annotator_notes": str}
_INTENDED = "intended"
_NO_COLUMN = "\0"  # no column can have this name


@dataclass(frozen=True)
class Annotator:
    """One annotator's labels and notes, keyed by pair key.

    ``source`` is the file from which the labels were read. ``resolves`` names the annotators whose disagreements this
    annotator settles, and is empty for other annotators.
    """

    name: str
    source: str
    labels: Mapping[str, int]
    notes: Mapping[str, str] = field(default_factory=dict)
    resolves: tuple[str, ...] = ()


@dataclass(frozen=True)
class Merged:
    """A pair with its merged label.

    ``agreed`` is None if fewer than two annotators labelled the pair. ``label`` is None if no annotator labelled the
    pair or the annotators' disagreement was not settled. ``votes`` and ``notes`` are keyed by the annotator's name.
    """

    pair: PairToLabel
    label: int | None
    agreed: bool | None
    votes: Mapping[str, int]
    notes: Mapping[str, str]


@dataclass(frozen=True)
class MergeReport:
    """The result of merging the labels in files.

    Attributes
    ----------
    out : str
        The file with the merged pairs.
    pairs, written, valid, invalid : int
        The numbers of all pairs, of pairs in the output, of pairs with the label 1, and of pairs with the label 0.
    disagreed : int or None
        The number of pairs on which annotators disagree. None if no pair was labelled by two annotators, because 0
        would mean that the annotators agree.
    unsettled : tuple of Merged
        The pairs without a merged label.
    annotators : mapping
        The number of pairs that each annotator labelled, by the annotator's name.
    agreements : tuple
        The names and the agreement of every two annotators who labelled at least one pair in common.

    """

    out: str
    pairs: int
    written: int
    valid: int
    invalid: int
    disagreed: int | None
    unsettled: tuple[Merged, ...]
    annotators: Mapping[str, int]
    agreements: tuple[tuple[str, str, Agreement], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dictionary."""
        return {
            "out": self.out,
            "pairs": self.pairs,
            "written": self.written,
            "valid": self.valid,
            "invalid": self.invalid,
            "open": len(self.unsettled),
            "disagreed": self.disagreed,
            "annotators": dict(self.annotators),
            "agreement": [{"first": a, "second": b, **found.to_dict()} for a, b, found in self.agreements],
        }


def merge_files(
    source: str | Path,
    annotated: Sequence[str | Path],
    out: str | Path,
    *,
    disagreements: str | Path | None = None,
    drop_open: bool = False,
    overwrite: bool = False,
    columns: Columns = DEFAULT_COLUMNS,
    label_columns: Sequence[str] = ("label",),
    encoding: str | None = None,
) -> MergeReport:
    """Merge the annotators' labels in files into one label for each pair, and compute Cohen's κ between annotators.

    Parameters
    ----------
    source : str or Path
        The file with the pairs.
    annotated : sequence of str or Path
        The annotators' journals, or tables with a label column.
    out : str or Path
        The file for the merged pairs. Its extension sets the format.
    disagreements : str or Path, optional
        A file for the pairs on which annotators disagree.
    drop_open : bool
        Omit pairs that are not labelled or are still in dispute.
    overwrite : bool
        Replace existing output files.
    columns : Columns
        The column names in ``source``.
    label_columns : sequence of str
        The columns with the labels in tables; see `read_annotators`.
    encoding : str, optional
        The encoding of all text files that are read (default: UTF-8).

    Raises
    ------
    TableError
        If a file cannot be read or written.
    OutputExistsError
        If an output is an input, or exists and ``overwrite`` is False.
    AnnotationError
        If the labels do not fit the pairs, an annotator labelled nothing, or there is nothing to write.

    """
    check_outputs([out, *([] if disagreements is None else [disagreements])], [source, *annotated], overwrite=overwrite)
    pairs = read_pairs_to_label(source, columns=columns, encoding=encoding)
    annotators = read_annotators(annotated, pairs, label_columns=label_columns, encoding=encoding)
    check_labelled(annotators, pairs)
    merged = merge(pairs, annotators)
    agreements = pairwise_agreements(annotators, pairs)
    kept = [item for item in merged if item.label is not None] if drop_open else merged
    if not kept:
        raise AnnotationError("no pair has a settled label; there is nothing to write")
    write_merged(out, pairs, kept)
    disputed = [item for item in merged if item.agreed is False]
    if disagreements is not None:
        write_merged(disagreements, pairs, disputed)
    return MergeReport(
        out=str(out),
        pairs=len(merged),
        written=len(kept),
        valid=sum(item.label == 1 for item in merged),
        invalid=sum(item.label == 0 for item in merged),
        disagreed=len(disputed) if agreements else None,
        unsettled=tuple(item for item in merged if item.label is None),
        annotators={annotator.name: len(annotator.labels) for annotator in annotators},
        agreements=agreements,
    )


def read_annotators(
    sources: Iterable[str | Path],
    pairs: PairsToLabel,
    *,
    label_columns: Sequence[str] = ("label",),
    encoding: str | None = None,
) -> list[Annotator]:
    """Read annotators' labels from journals, or from tables such as a spreadsheet saved as CSV.

    If ``label_columns`` contains one name, a table has one annotator, who is named after the file. Otherwise, each
    column belongs to an annotator who is named after the column. A blank cell means that the pair has no label.

    Raises
    ------
    AnnotationError
        If a labelled pair is not in ``pairs``, an annotator appears twice, a label is not 1 or 0, or an annotator
        settles the disagreements of annotators whose labels are not in ``sources``.

    """
    found: list[Annotator] = []
    for source in sources:
        if is_journal(source):
            found.append(_journal_annotator(source, pairs))
        else:
            found += _table_annotators(source, pairs, label_columns, encoding)
    seen: dict[str, Annotator] = {}
    for annotator in found:
        if annotator.name in seen:
            raise AnnotationError(
                f"{annotator.name} appears twice: in {seen[annotator.name].source} and in {annotator.source}; pass the "
                "labels of each annotator once"
            )
        seen[annotator.name] = annotator
    for annotator in found:
        absent = [name for name in annotator.resolves if name not in seen]
        if absent:
            whose = " and ".join(annotator.resolves)
            raise AnnotationError(
                f"{annotator.source} settles the disagreements of {whose}; also pass the file of {absent[0]}"
            )
    return found


def _journal_annotator(source: str | Path, pairs: PairsToLabel) -> Annotator:
    header, decisions = read_journal(source)
    check_pairs(source, header, pairs)
    return Annotator(header.annotator, str(source), decisions.labels, decisions.notes, header.resolves)


def _table_annotators(
    source: str | Path, pairs: PairsToLabel, label_columns: Sequence[str], encoding: str | None
) -> Iterator[Annotator]:
    columns = _columns_in(source, pairs, label_columns[0], encoding)
    sheet = read_pairs_to_label(source, columns=columns, encoding=encoding)
    present = [name for name in label_columns if name in sheet.names]
    if not present:
        raise AnnotationError(
            f"{sheet.name} has no column {label_columns[0]!r} (it has: {', '.join(sheet.names)}); name the label "
            "column with --label-column NAME"
        )
    known = {pair.key for pair in pairs.pairs}
    unknown = next((pair for pair in sheet.pairs if pair.key not in known), None)
    if unknown is not None:
        raise AnnotationError(
            f"the pair in row {unknown.number} of {sheet.name} is not in {pairs.name}; restore the texts of the pair, "
            "or remove the row"
        )
    for column in present:
        labels = {}
        for pair in sheet.pairs:
            try:
                label = binary_label(pair.row.get(column))
            except ValueError:
                value = pair.row.get(column)
                raise AnnotationError(
                    f"{sheet.name}: the {column} of row {pair.number} is {value!r}; it must be 1 (valid), 0 (invalid) "
                    f"or blank; {ALSO_READ}"
                ) from None
            if label is not None:
                labels[pair.key] = label
        yield Annotator(_stem(source) if len(label_columns) == 1 else column, str(source), labels)


def _columns_in(source: str | Path, pairs: PairsToLabel, label: str, encoding: str | None) -> Columns:
    """Return the column names in an annotator's table: those of the pairs or, if these are missing, the usual names.

    Ids are not compared, because a pair is known by its texts.
    """
    names = replace(pairs.columns, label=label, id=_NO_COLUMN)
    present = open_table(source, encoding=encoding).columns
    if names.question not in present and {DEFAULT_COLUMNS.question, DEFAULT_COLUMNS.paraphrase} <= set(present):
        return replace(DEFAULT_COLUMNS, label=label, id=_NO_COLUMN)
    return names


def _stem(source: str | Path) -> str:
    return Path(Path(source).name.removesuffix(".gz")).stem


def check_labelled(annotators: Sequence[Annotator], pairs: PairsToLabel) -> None:
    """Raise an AnnotationError if an annotator has no labels, because missing labels must not count as agreement."""
    for annotator in annotators:
        if not annotator.labels:
            raise AnnotationError(
                f"{annotator.name} labelled nothing: 0 of {len(pairs.pairs):,} pairs have a label in "
                f"{annotator.source}; fill in 1 (valid) or 0 (invalid), or omit {annotator.name}"
            )


def disagreements(annotators: Sequence[Annotator]) -> list[str]:
    """Return the keys of the pairs on which annotators disagree.

    The labels of annotators who settle disagreements are ignored.
    """
    judges = [annotator for annotator in annotators if not annotator.resolves]
    keys = dict.fromkeys(key for annotator in judges for key in annotator.labels)
    return [key for key in keys if len({judge.labels[key] for judge in judges if key in judge.labels}) > 1]


def both_labelled(first: Annotator, second: Annotator, pairs: PairsToLabel) -> tuple[list[int], list[int]]:
    """Return the first and the second annotator's labels for the pairs that both annotators labelled."""
    keys = [pair.key for pair in pairs.pairs if pair.key in first.labels and pair.key in second.labels]
    return [first.labels[key] for key in keys], [second.labels[key] for key in keys]


def pairwise_agreements(annotators: Sequence[Annotator], pairs: PairsToLabel) -> tuple[tuple[str, str, Agreement], ...]:
    """Return the names and the agreement of every two annotators who labelled at least one pair in common.

    Annotators who settle disagreements are ignored.
    """
    judges = [annotator for annotator in annotators if not annotator.resolves]
    labels = {(a.name, b.name): both_labelled(a, b, pairs) for a, b in combinations(judges, 2)}
    return tuple((first, second, cohen_kappa(*both)) for (first, second), both in labels.items() if both[0])


def merge(pairs: PairsToLabel, annotators: Sequence[Annotator]) -> list[Merged]:
    """Merge the annotators' labels into one label for each pair.

    If the annotators disagree, the majority of the annotators who settle disagreements decides. If none of these
    annotators labelled the pair, the majority of the other annotators decides. In case of a tie, the label is None.
    """
    return [_merged(pair, annotators) for pair in pairs.pairs]


def _merged(pair: PairToLabel, annotators: Sequence[Annotator]) -> Merged:
    votes = {annotator.name: annotator.labels[pair.key] for annotator in annotators if pair.key in annotator.labels}
    judged = [votes[judge.name] for judge in annotators if not judge.resolves and judge.name in votes]
    settled = [votes[judge.name] for judge in annotators if judge.resolves and judge.name in votes]
    agreed = None if len(judged) < 2 else len(set(judged)) == 1
    label: int | None
    if len(set(judged)) == 1:
        label = judged[0]
    else:
        label = _majority(settled) if settled else _majority(judged)
    notes = {judge.name: judge.notes[pair.key] for judge in annotators if pair.key in judge.notes}
    return Merged(pair=pair, label=label, agreed=agreed, votes=votes, notes=notes)


def _majority(labels: Sequence[int]) -> int | None:
    valid = sum(labels)
    return None if 2 * valid == len(labels) else int(2 * valid > len(labels))


def write_merged(out: str | Path, pairs: PairsToLabel, merged: Sequence[Merged]) -> None:
    """Write merged pairs with their original columns, the merged label, and all annotators' labels and notes.

    The columns keep their names. If the pairs already have labels and no column ``intended``, the old labels are moved
    to the column ``intended``, because they are the labels that the operators should produce.
    """
    names = pairs.columns
    taken = {names.id, names.question, names.paraphrase, names.label, *_ADDED}
    others = [name for name in pairs.names if name not in taken]
    before = [_label_or_none(item.pair.row.get(names.label)) for item in merged]
    moved = _INTENDED not in pairs.names and any(label is not None for label in before)
    rows: list[Row] = []
    for item, old in zip(merged, before, strict=True):
        pair = item.pair
        row: Row = {names.id: pair.id, names.question: pair.question, names.paraphrase: pair.paraphrase}
        row[names.label] = item.label
        row |= {name: pair.row.get(name) for name in others}
        if moved:
            row[_INTENDED] = old
        row["annotators"] = "; ".join(f"{name}={label}" for name, label in item.votes.items())
        row["agreed"] = item.agreed
        row["annotator_notes"] = "; ".join(f"{name}: {note}" for name, note in item.notes.items())
        rows.append(row)
    schema: dict[str, type] = {names.id: str, names.question: str, names.paraphrase: str, names.label: int}
    for name in others:
        schema[name] = _type([row[name] for row in rows])
        if schema[name] is str:
            for row in rows:
                row[name] = _plain(row[name])
    if moved:
        schema[_INTENDED] = int
    write_rows(out, {**schema, **_ADDED}, rows, dialect=pairs.dialect)


def write_sheet(out: str | Path, pairs: PairsToLabel, keys: Sequence[str]) -> None:
    """Write the texts of pairs with an empty label column, for an annotator who works in a spreadsheet.

    The columns have the names that they have in the file of pairs. The ids are included if that file has any. Other
    columns are left out, because they could reveal the expected label. A CSV file starts with a byte-order mark,
    because Excel would otherwise misread non-ASCII characters.
    """
    by_key, names = {pair.key: pair for pair in pairs.pairs}, pairs.columns
    own = [names.id] if names.id in pairs.names else []
    shown = [*own, names.question, names.paraphrase]
    rows = [{name: by_key[key].row.get(name) for name in shown} for key in keys]
    schema = {**dict.fromkeys(shown, str), names.label: int}
    for row in rows:
        row |= {name: _plain(row[name]) for name in own}
    write_rows(out, schema, rows, dialect=replace(pairs.dialect, bom=True))


def _label_or_none(value: Any) -> int | None:
    try:
        return binary_label(value)
    except ValueError:
        return None


def _type(values: Sequence[Any]) -> type:
    """Return the type of a column's values, or str if the values have several types."""
    kinds = {type(value) for value in values if value is not None}
    return kinds.pop() if len(kinds) == 1 and kinds <= {str, int, float, bool} else str


def _plain(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

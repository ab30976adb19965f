"""Find the question and paraphrase columns in files, and determine which columns scoring adds or replaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from paraqd.parameters import named
from paraqd.runs.score_rows import ADDED, DECISION, PARAPHRASE_COLUMN, WHY
from paraqd.runs.survey import Inputs, of_files
from paraqd.tables.formats import TableError
from paraqd.tables.pair_tables import WIDE, PairColumns, pair_columns
from paraqd.tables.table import DEFAULT_COLUMNS, Columns, Table
from paraqd.tables.writers import Schema


@dataclass
class ScoreColumns:
    """The input and output columns of a scoring run.

    ``paraphrases`` contains the names or patterns of the columns with the paraphrases (default: the name in
    ``columns``). If ``wide`` is True, the verdicts are written beside each paraphrase.

    `check` is called for each file and fills the following fields. ``found`` maps each file to its columns.
    ``variants`` maps files that capitalise the column names differently to their column names. ``scored`` contains the
    files whose column ``why`` comes from an earlier scoring run, and ``noted`` contains the files whose column ``why``
    has a different origin. ``decided`` contains the files whose column ``decision`` comes from an earlier scoring run.
    ``unnamed`` contains the files with several unnamed columns.
    """

    columns: Columns
    why: bool = False
    overwrite: bool = False
    review: bool = False
    paraphrases: tuple[str, ...] = ()
    wide: bool = False
    found: dict[str, PairColumns] = field(default_factory=dict)
    variants: dict[str, Columns] = field(default_factory=dict)
    scored: set[str] = field(default_factory=set)
    noted: set[str] = field(default_factory=set)
    decided: set[str] = field(default_factory=set)
    unnamed: set[str] = field(default_factory=set)

    @property
    def added(self) -> Mapping[str, type]:
        """The columns that scoring adds, with their types."""
        several = any(names.several for names in self.found.values())
        return self._added(self.used, several=several)

    def _added(self, paraphrases: Iterable[str], *, several: bool) -> Mapping[str, type]:
        if self.wide:
            beside = {name: kind for column in paraphrases for name, kind in wide_columns(column).items()}
            return {**beside, "signature": str}
        more = {**({DECISION: str} if self.review else {}), **({WHY: str} if self.why else {})}
        which = {PARAPHRASE_COLUMN: str} if several else {}
        return {**which, "score": float, "valid": bool, **more, **ADDED}

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that contain paraphrases in any file."""
        return tuple(dict.fromkeys(column for _, names in sorted(self.found.items()) for column in names.paraphrases))

    def of(self, file: str) -> PairColumns:
        """Return the column names as spelled in a file."""
        return self.found[file]

    def check(self, table: Table) -> None:
        """Raise a TableError if a column is missing, or if scoring would replace a column without permission."""
        found = pair_columns(table, self.columns, self.paraphrases, several=self.wide)
        if self.columns.id != DEFAULT_COLUMNS.id:  # ids are optional, unless their column is named
            table.need("id", table.written_as(self.columns.id), self.columns)
        added = self._added(found.paraphrases, several=found.several)
        roles = (("question", found.question), *(("paraphrase", each) for each in found.paraphrases))
        check_clash(table, added, roles, overwrite=self.overwrite)
        self.found[table.name] = found
        names = replace(self.columns, question=found.question)
        if not found.several:
            names = replace(names, paraphrase=found.paraphrases[0])
        if names != self.columns:
            self.variants[table.name] = names
        if WHY in table.columns and not self.why and not self.wide:
            (self.scored if _is_from_scoring(table.columns, names) else self.noted).add(table.name)
        if not self.review and ("valid", DECISION) in pairwise(table.columns):
            self.decided.add(table.name)
        if table.columns.count("") > 1:
            self.unnamed.add(table.name)

    def notes(self) -> list[str]:
        """Return one-line remarks about the columns."""
        lines = []
        patterns = ", ".join(name for name in self.paraphrases if "*" in name)
        if patterns and any(names.several for names in self.found.values()):
            lines.append(f"{named('paraphrase', patterns)}: the paraphrases are in the columns {', '.join(self.used)}")
        alike = Counter(self.variants[name] for name in sorted(self.variants))
        for names, count in alike.items():
            first = min(name for name, other in self.variants.items() if other == names)
            both = ((self.columns.question, names.question), (self.columns.paraphrase, names.paraphrase))
            lines += [
                of_files(f"{first} has no column {wanted!r}; using {used!r}", count)
                for wanted, used in both
                if wanted != used
            ]
        if self.scored:
            first = min(self.scored)
            line = (
                f"{first} has a column {WHY!r} from an earlier scoring, which is dropped ({named('why')} adds it again)"
            )
            lines.append(of_files(line, len(self.scored)))
        if self.decided:
            line = (
                f"{min(self.decided)} has a column {DECISION!r} from an earlier scoring, which is dropped "
                f"({named('review')} adds it again)"
            )
            lines.append(of_files(line, len(self.decided)))
        if self.unnamed:
            line = f"warning: {min(self.unnamed)} has several columns without a name; only the last of them is kept"
            lines.append(of_files(line, len(self.unnamed)))
        return lines

    def renamed(self, inputs: Inputs) -> dict[str, str]:
        """Return a mapping from differently capitalised column names to the requested names."""
        shown = inputs.source.shown
        rest = {
            name for file in inputs.files if shown(file.entry.name) not in self.variants for name in file.types or ()
        }
        pairs = [(names.question, self.columns.question) for names in self.variants.values()]
        pairs += [(names.paraphrase, self.columns.paraphrase) for names in self.variants.values()]
        return {here: there for here, there in pairs if here != there and there in rest and here not in rest}

    def replaced(self, file: str, added: Iterable[str]) -> set[str]:
        """Return the columns of a file that are not copied to the output, given the columns that scoring adds."""
        earlier = {*({WHY} if file in self.scored else ()), *({DECISION} if file in self.decided else ())}
        return {*added, *earlier}

    def schema(self, inputs: Inputs) -> Schema:
        """Return the output columns with their types: the input columns, followed by the columns that scoring adds."""
        renamed = self.renamed(inputs)
        replaced = {*self.added, *({WHY} if self.scored and not self.noted else ())}
        if self.decided and len(self.decided) == len(inputs.files):
            replaced.add(DECISION)
        own = {renamed.get(name, name): kind for name, kind in inputs.types.items() if name not in replaced}
        if not self.wide:
            return {**own, **self.added}
        schema: dict[str, object] = {}
        for name, kind in own.items():
            schema[name] = kind
            if name in self.used:
                schema |= wide_columns(name)
        return {**schema, "signature": str}


def check_clash(table: Table, added: Iterable[str], roles: Iterable[tuple[str, str]], *, overwrite: bool) -> None:
    """Raise a TableError if an added column is also the column for one of the roles, or if it exists already.

    ``roles`` contains pairs of a role and the name of its column. If ``overwrite`` is True, other existing columns may
    be replaced.
    """
    added = list(added)
    for role, name in roles:
        if name in added:
            raise TableError(
                f"the column {name!r} of {table.name} cannot be the {role}, because the output gets a column with this "
                "name; rename it"
            )
    clash = [name for name in added if name in table.columns]
    if clash and not overwrite:
        which = f"a column {clash[0]!r}" if len(clash) == 1 else f"the columns {', '.join(clash)}"
        them = "it" if len(clash) == 1 else "them"
        raise TableError(f"{table.name} already has {which}; pass {named('overwrite_columns')} to replace {them}")


def wide_columns(column: str) -> dict[str, type]:
    """Return the columns that scoring adds beside a column with paraphrases, with their types.

    >>> list(wide_columns("V1"))
    ['V1_score', 'V1_decision', 'V1_why']
    """
    return {f"{column}_{ending}": float if ending == "score" else str for ending in WIDE}


def _is_from_scoring(names: Sequence[str], columns: Columns) -> bool:
    """Return True if the column ``why`` comes from an earlier scoring run.

    >>> _is_from_scoring(("question", "score", "valid", "why", "evidence"), Columns())
    True
    >>> _is_from_scoring(("question", "why", "score", "valid", "evidence"), Columns())  # somebody's own
    False
    """
    place = names.index(WHY) if WHY in names else 0
    ours = place and tuple(names[place - 1 : place + 2]) in (("valid", WHY, "evidence"), (DECISION, WHY, "evidence"))
    return bool(ours) and WHY not in (columns.question, columns.paraphrase)

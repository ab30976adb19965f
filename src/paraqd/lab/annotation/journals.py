"""Record each annotator's decisions in a journal, which is flushed to disk after every decision.

A journal is a JSONL file. The first line identifies the annotator and the pairs. Each further line is an event: a
label, a skip, a note, or an undo of the last decision. Lines are only appended, so a killed process loses at most one
event.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from paraqd.files import sync_folder
from paraqd.lab.annotation.pairs_to_label import AnnotationError, PairsToLabel, PairToLabel
from paraqd.tables.formats import TableError, clear_errors, reason
from paraqd.tables.locks import try_lock

SEED = 3407
_KIND = "annotations"
_BEGINNING = f'{{"paraqd": "{_KIND}"'.encode()
_FORBIDDEN = '/\\:;=,"<>|?*'  # not allowed in annotators' names, because the names become part of file names and lists


def annotator_name(name: str) -> str:
    """Return the name with normalised spaces; raise an AnnotationError if the name cannot be part of a file name."""
    name = " ".join(name.split())
    forbidden = sorted({character for character in name if character in _FORBIDDEN or not character.isprintable()})
    if not name or forbidden or name.startswith("."):
        why = f"the name contains {forbidden[0]!r}" if forbidden else "the name is blank or begins with a dot"
        raise AnnotationError(f"--annotator {name!r}: {why}; use letters, digits, - and _")
    return name


def journal_path(pairs: str | Path, annotator: str) -> Path:
    """Return the default path of an annotator's journal, which is in the same folder as the file of pairs.

    >>> journal_path("data/pairs.csv.gz", "ann").as_posix()
    'data/pairs.ann.jsonl'
    """
    path = Path(pairs)
    stem = path.name.removesuffix(".gz")
    return path.with_name(f"{Path(stem).stem}.{annotator.replace(' ', '_')}.jsonl")


# --- the journal --------------------------------------------------------------------------------


class Decision(NamedTuple):
    """An annotator's decision on a pair: the pair's key, and the label 1 (valid), 0 (invalid) or None (skipped)."""

    key: str
    label: int | None


@dataclass(frozen=True)
class Header:
    """The first line of a journal; ``resolves`` names the annotators whose disagreements this annotator settles."""

    annotator: str
    pairs: str
    count: int
    seed: int
    resolves: tuple[str, ...] = ()

    def line(self) -> dict[str, Any]:
        """Return the header as the dictionary that is written to the journal."""
        plain = {"annotator": self.annotator, "pairs": self.pairs, "count": self.count, "seed": self.seed}
        resolves = {"resolves": list(self.resolves)} if self.resolves else {}
        return {"paraqd": _KIND, **plain, **resolves}


@dataclass
class Decisions:
    """The decisions and notes in a journal.

    ``made`` contains the decisions that were not undone, in order. ``notes`` is keyed by pair key.
    """

    made: list[Decision] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def apply(self, event: Mapping[str, Any]) -> None:
        """Apply one event from a journal; raise a KeyError or ValueError if the event is not valid."""
        if event.get("undo"):
            if not self.made:
                raise ValueError("there is no decision to undo")
            self.made.pop()
            return
        key = str(event["pair"])
        if "note" in event:
            self.notes.pop(key, None)
            if event["note"]:
                self.notes[key] = str(event["note"])
            return
        label = event["label"]
        if label is not None and (label not in (0, 1) or isinstance(label, (bool, float))):
            raise ValueError(f"the label is {label!r}; it must be 1, 0 or null")
        self.made.append(Decision(key, label))

    @property
    def labels(self) -> dict[str, int]:
        """The latest label of each labelled pair, keyed by pair key."""
        last = dict(self.made)
        return {key: label for key, label in last.items() if label is not None}

    @property
    def skipped(self) -> list[str]:
        """The keys of the pairs whose last decision was a skip, in the order in which the pairs were last skipped."""
        last: dict[str, int | None] = {}
        for key, label in self.made:
            last.pop(key, None)
            last[key] = label
        return [key for key, label in last.items() if label is None]


def is_journal(path: str | Path) -> bool:
    """Return True if the file begins with a journal's header."""
    with clear_errors(path), open(path, "rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING


def read_journal(path: str | Path) -> tuple[Header, Decisions]:
    """Return a journal's header and decisions, ignoring an incomplete event at the end of the file."""
    with clear_errors(path), open(path, "rb") as file:
        return _read(file, str(path))[:2]


def _read(file: IO[bytes], name: str) -> tuple[Header, Decisions, int]:
    """Return the header, the decisions, and the total length of the complete lines in bytes."""
    length = 0
    header: Header | None = None
    decisions = Decisions()
    for number, line in enumerate(file, start=1):
        if not line.endswith(b"\n"):
            break
        try:
            event = json.loads(line)
            if header is None:
                header = _header(event)
            else:
                decisions.apply(event)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            what = "is not a journal of annotations" if header is None else f"is damaged in line {number}"
            raise AnnotationError(f"{name} {what}; pass the file that paraqd lab annotate wrote") from None
        length += len(line)
    if header is None:
        raise AnnotationError(
            f"{name} is not a journal of annotations, or its first line is incomplete; pass the file that paraqd "
            "lab annotate wrote"
        )
    return header, decisions, length


def _header(event: Mapping[str, Any]) -> Header:
    if event["paraqd"] != _KIND:
        raise ValueError
    return Header(
        annotator=str(event["annotator"]),
        pairs=str(event["pairs"]),
        count=int(event["count"]),
        seed=int(event["seed"]),
        resolves=tuple(event.get("resolves", ())),
    )


class Journal:
    """An annotator's journal, which `open_journal` has opened for writing and locked."""

    def __init__(self, path: Path, file: IO[bytes], header: Header, decisions: Decisions) -> None:
        self.path = path
        self.header = header
        self.decisions = decisions
        self._file = file

    def decide(self, key: str, label: int | None) -> None:
        """Record a label, or a skip if the label is None, and flush the journal to disk."""
        self._append({"pair": key, "label": label})

    def note(self, key: str, text: str) -> None:
        """Record a note on a pair in place of any earlier note; a blank text removes the earlier note."""
        self._append({"pair": key, "note": " ".join(text.split())})

    def undo(self) -> Decision | None:
        """Undo the last decision and return it, or return None if there is no decision to undo."""
        if not self.decisions.made:
            return None
        last = self.decisions.made[-1]
        self._append({"undo": True})
        return last

    def _append(self, event: Mapping[str, Any]) -> None:
        _write_line(self._file, event, self.path)
        self.decisions.apply(event)


def _write_line(file: IO[bytes], event: Mapping[str, Any], path: Path) -> None:
    end = file.seek(0, os.SEEK_END)
    try:
        line = json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):
            file.truncate(end)  # otherwise the next line would be joined to an incomplete line
        raise TableError(f"cannot write {path}: {reason(error)}; earlier decisions are safe") from None


@contextmanager
def open_journal(
    path: str | Path, pairs: PairsToLabel, *, annotator: str, seed: int | None = None, resolves: Sequence[str] = ()
) -> Iterator[Journal]:
    """Open an annotator's journal, or create the journal if it does not exist.

    Raises
    ------
    AnnotationError
        If the file is not this annotator's journal for the given pairs, or if another process is writing to the file.
    TableError
        If the file cannot be written.

    """
    path = Path(path)
    try:
        # unbuffered, because a failed write must not be repeated when the file is closed
        file = open(path, "r+b" if path.exists() else "x+b", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise TableError(f"cannot write {path}: {reason(error)}") from None
    with file:
        if not try_lock(file):
            raise AnnotationError(f"another session is writing to {path}; end that session first")
        beginning = file.read(len(_BEGINNING))
        if not _BEGINNING.startswith(beginning):
            raise AnnotationError(f"{path} exists and is not a journal of annotations; choose another -o")
        file.seek(0)
        if b"\n" not in file.read(1 << 16):  # the file is new, or a process was killed while writing the first line
            file.truncate(0)
            chosen = SEED if seed is None else seed
            header = Header(annotator, pairs.digest, len(pairs.pairs), chosen, tuple(resolves))
            _write_line(file, header.line(), path)
            sync_folder(path.parent)
        file.seek(0)
        with open(path, "rb") as reader:
            header, decisions, length = _read(reader, str(path))
        _check_same(path, header, pairs, annotator, seed, resolves)
        file.truncate(length)
        yield Journal(path, file, header, decisions)


def _check_same(
    path: Path, header: Header, pairs: PairsToLabel, annotator: str, seed: int | None, resolves: Sequence[str]
) -> None:
    """Raise an AnnotationError if the journal was started with different settings."""
    if header.annotator != annotator:
        raise AnnotationError(f"{path} is the journal of {header.annotator}, not of {annotator}; choose another -o")
    check_pairs(path, header, pairs)
    if seed is not None and seed != header.seed:
        raise AnnotationError(f"{path} was started with --seed {header.seed}; omit --seed to continue it")
    if tuple(resolves) != header.resolves:
        settled = " and ".join(header.resolves)
        purpose = f"settle the disagreements of {settled}" if settled else "label all pairs"
        raise AnnotationError(f"{path} was started to {purpose}; choose another -o or --annotator")


def check_pairs(path: str | Path, header: Header, pairs: PairsToLabel) -> None:
    """Raise an AnnotationError if the journal was started for different pairs."""
    if header.pairs != pairs.digest:
        raise AnnotationError(
            f"the pairs in {pairs.name} have changed since {path} was started ({header.count:,} pairs then, "
            f"{len(pairs.pairs):,} now); restore the file, or start another journal"
        )


# --- a session ----------------------------------------------------------------------------------


def shuffled(pairs: PairsToLabel, *, annotator: str, seed: int) -> list[str]:
    """Return the pairs' keys in the annotator's own random order, which does not depend on the order in the file."""

    def rank(key: str) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{annotator}\x1f{key}".encode()).digest()

    return sorted((pair.key for pair in pairs.pairs), key=rank)


class Session:
    """An annotation session, with a queue of the pairs that the annotator still has to label.

    Pairs without a decision come first, followed by pairs that were skipped in earlier sessions. A pair that is skipped
    in this session returns in the next session. ``scope`` contains the keys of the pairs to label (default: all pairs).
    """

    def __init__(self, journal: Journal, pairs: PairsToLabel, *, scope: Collection[str] | None = None) -> None:
        self.journal = journal
        self._pairs = {pair.key: pair for pair in pairs.pairs}
        self._scope = set(self._pairs) if scope is None else set(scope)
        order = shuffled(pairs, annotator=journal.header.annotator, seed=journal.header.seed)
        decided = {key for key, _ in journal.decisions.made}
        fresh = [key for key in order if key in self._scope and key not in decided]
        again = [key for key in journal.decisions.skipped if key in self._scope]
        self._queue = deque([*fresh, *again])

    @property
    def current(self) -> PairToLabel | None:
        """The pair to label now, or None if no pairs are left."""
        return self._pairs[self._queue[0]] if self._queue else None

    @property
    def total(self) -> int:
        """The number of labelled and unlabelled pairs in the session's scope."""
        return len(self._scope)

    @property
    def labelled(self) -> int:
        """The number of labelled pairs in the session's scope."""
        return len(self._scope & self.journal.decisions.labels.keys())

    @property
    def skipped(self) -> int:
        """The number of pairs in the session's scope that were skipped and have no label."""
        return len(self._scope.intersection(self.journal.decisions.skipped))

    @property
    def left(self) -> int:
        """The number of pairs left in the queue."""
        return len(self._queue)

    def decide(self, label: int | None) -> None:
        """Record a label for the current pair, or a skip if the label is None, and move on to the next pair."""
        self.journal.decide(self._queue[0], label)
        self._queue.popleft()

    def undo(self) -> bool:
        """Undo the last decision, even if it was made in an earlier session, and make its pair the current pair.

        Return False if there is no decision to undo.
        """
        last = self.journal.undo()
        if last is None:
            return False
        with suppress(ValueError):
            self._queue.remove(last.key)
        if last.key in self._scope:
            self._queue.appendleft(last.key)
        return True

    def note(self, text: str) -> None:
        """Record a note on the current pair."""
        self.journal.note(self._queue[0], text)

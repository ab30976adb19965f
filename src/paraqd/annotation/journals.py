"""Pairs labelled by people: each annotator's decisions in a journal of their own, on disk as soon as they are made.

A journal is JSONL. Its first line says whose it is and of which pairs; every other line is one event: a label, a
skip, a note, or an undo of the decision before. Nothing is ever rewritten, so a kill at any moment loses at most
the event that was being written.
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

from paraqd.annotation.items_to_label import AnnotationError, Item, Items
from paraqd.data.formats import TableError, explained, reason
from paraqd.data.locks import locked
from paraqd.data.writers import sync_folder

SEED = 3407
_KIND = "annotations"
_BEGINNING = f'{{"paraqd": "{_KIND}"'.encode()
_FORBIDDEN = '/\\:;=,"<>|?*'  # in an annotator's name: it becomes a file's name, and a list of names


def annotator_name(name: str) -> str:
    """Return the name without spaces around it; refuse one that cannot be part of a file's name."""
    name = " ".join(name.split())
    strange = sorted({sign for sign in name if sign in _FORBIDDEN or not sign.isprintable()})
    if not name or strange or name.startswith("."):
        why = f"it holds {strange[0]!r}" if strange else "it is blank or begins with a dot"
        raise AnnotationError(f"--annotator {name!r}: {why}; use letters, digits, - and _")
    return name


def journal_path(pairs: str | Path, annotator: str) -> Path:
    """Return where an annotator's journal lies unless another place is named: beside the pairs.

    >>> journal_path("data/pairs.csv.gz", "ann").as_posix()
    'data/pairs.ann.jsonl'
    """
    path = Path(pairs)
    stem = path.name.removesuffix(".gz")
    return path.with_name(f"{Path(stem).stem}.{annotator.replace(' ', '_')}.jsonl")


# --- the journal --------------------------------------------------------------------------------


class Decision(NamedTuple):
    """What an annotator decided on a pair: 1 valid, 0 invalid, None skipped."""

    key: str
    label: int | None


@dataclass(frozen=True)
class Header:
    """The first line of a journal. ``resolves`` names those whose disagreements this annotator settles."""

    annotator: str
    pairs: str
    count: int
    seed: int
    resolves: tuple[str, ...] = ()

    def line(self) -> dict[str, Any]:
        """Return it as it is written."""
        plain = {"annotator": self.annotator, "pairs": self.pairs, "count": self.count, "seed": self.seed}
        resolves = {"resolves": list(self.resolves)} if self.resolves else {}
        return {"paraqd": _KIND, **plain, **resolves}


@dataclass
class Decisions:
    """What the events of a journal come to: the decisions in force in their order, and the notes."""

    made: list[Decision] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def follow(self, event: Mapping[str, Any]) -> None:
        """Take one event into account; KeyError or ValueError for one that makes no sense."""
        if event.get("undo"):
            if not self.made:
                raise ValueError("there is nothing to undo")
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
            raise ValueError(f"a label is {label!r}")
        self.made.append(Decision(key, label))

    @property
    def labels(self) -> dict[str, int]:
        """The label of every pair that has one."""
        last = dict(self.made)
        return {key: label for key, label in last.items() if label is not None}

    @property
    def skipped(self) -> list[str]:
        """The pairs that were skipped and not labelled since, in the order in which they were skipped."""
        last: dict[str, int | None] = {}
        for key, label in self.made:
            last.pop(key, None)
            last[key] = label
        return [key for key, label in last.items() if label is None]


def is_journal(path: str | Path) -> bool:
    """Whether the file begins as a journal does."""
    with explained(path), open(path, "rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING


def read_journal(path: str | Path) -> tuple[Header, Decisions]:
    """Read a journal; an event that was cut off at the end of the file does not count."""
    with explained(path), open(path, "rb") as file:
        return _read(file, str(path))[:2]


def _read(file: IO[bytes], name: str) -> tuple[Header, Decisions, int]:
    """Return the header, what the events come to, and the length of what is whole."""
    whole = 0
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
                decisions.follow(event)
        except (ValueError, KeyError, TypeError, AttributeError):
            what = "is not a journal of annotations" if header is None else f"is damaged in line {number}"
            raise AnnotationError(f"{name} {what}; give the file that paraqd annotate wrote") from None
        whole += len(line)
    if header is None:
        raise AnnotationError(f"{name} is not a journal of annotations, or was cut off before its first event")
    return header, decisions, whole


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
    """An annotator's journal, open for writing and held by this process alone; see `open_journal`."""

    def __init__(self, path: Path, file: IO[bytes], header: Header, decisions: Decisions) -> None:
        self.path = path
        self.header = header
        self.decisions = decisions
        self._file = file

    def decide(self, key: str, label: int | None) -> None:
        """Record a label, or a skip; it is on disk when this returns."""
        self._append({"pair": key, "label": label})

    def note(self, key: str, text: str) -> None:
        """Record a note on a pair in the place of the one before; a blank one removes it."""
        self._append({"pair": key, "note": " ".join(text.split())})

    def undo(self) -> Decision | None:
        """Take the last decision back and return it; None where there is none."""
        if not self.decisions.made:
            return None
        last = self.decisions.made[-1]
        self._append({"undo": True})
        return last

    def _append(self, event: Mapping[str, Any]) -> None:
        _write_line(self._file, event, self.path)
        self.decisions.follow(event)


def _write_line(file: IO[bytes], event: Mapping[str, Any], path: Path) -> None:
    end = file.seek(0, os.SEEK_END)
    try:
        line = json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):
            file.truncate(end)  # a half-written line must not be followed by a whole one
        raise TableError(f"cannot write {path}: {reason(error)}; what was decided before is kept") from None


@contextmanager
def open_journal(
    path: str | Path, pairs: Items, *, annotator: str, seed: int | None = None, resolves: Sequence[str] = ()
) -> Iterator[Journal]:
    """Begin an annotator's journal of these pairs, or go on with it; one of other pairs is refused."""
    path = Path(path)
    try:
        # unbuffered: what could not be written must not be tried again when the file is closed
        file = open(path, "r+b" if path.exists() else "x+b", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise TableError(f"cannot write {path}: {reason(error)}") from None
    with file:
        if not locked(file):
            raise AnnotationError(f"another session is writing {path} just now; end it first")
        beginning = file.read(len(_BEGINNING))
        if not _BEGINNING.startswith(beginning):
            raise AnnotationError(f"{path} is there and is not a journal of annotations; choose another -o")
        file.seek(0)
        if b"\n" not in file.read(1 << 16):  # new, or killed while the first line was being written
            file.truncate(0)
            chosen = SEED if seed is None else seed
            header = Header(annotator, pairs.digest, len(pairs.pairs), chosen, tuple(resolves))
            _write_line(file, header.line(), path)
            sync_folder(path.parent)
        file.seek(0)
        with open(path, "rb") as reader:
            header, decisions, whole = _read(reader, str(path))
        _check_same(path, header, pairs, annotator, seed, resolves)
        file.truncate(whole)
        yield Journal(path, file, header, decisions)


def _check_same(
    path: Path, header: Header, pairs: Items, annotator: str, seed: int | None, resolves: Sequence[str]
) -> None:
    """Refuse to go on with a journal that was begun for something else."""
    if header.annotator != annotator:
        raise AnnotationError(f"{path} is the journal of {header.annotator}, not of {annotator}; choose another -o")
    check_pairs(path, header, pairs)
    if seed is not None and seed != header.seed:
        raise AnnotationError(f"{path} was begun with --seed {header.seed}; leave --seed out to go on with it")
    if tuple(resolves) != header.resolves:
        was = " and ".join(header.resolves) or "nobody"
        raise AnnotationError(f"{path} was begun to settle what {was} disagreed on; choose another -o or --annotator")


def check_pairs(path: str | Path, header: Header, pairs: Items) -> None:
    """Raise an AnnotationError unless the journal is of these pairs."""
    if header.pairs != pairs.digest:
        raise AnnotationError(
            f"{pairs.name} holds other pairs than {path} was begun with ({header.count:,} then, "
            f"{len(pairs.pairs):,} now): take the pairs as they were, or begin another journal"
        )


# --- a session ----------------------------------------------------------------------------------


def shuffled(pairs: Items, *, annotator: str, seed: int) -> list[str]:
    """Return the keys in the annotator's own order, which does not depend on the order of the file."""

    def rank(key: str) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{annotator}\x1f{key}".encode()).digest()

    return sorted((pair.key for pair in pairs.pairs), key=rank)


class Session:
    """The pairs that an annotator is shown one after the other, as the journal leaves them.

    First those without a decision, then those skipped in earlier sessions; a pair skipped in this one comes again
    in the next. ``scope`` names the pairs to show if not all.
    """

    def __init__(self, journal: Journal, pairs: Items, *, scope: Collection[str] | None = None) -> None:
        self.journal = journal
        self._pairs = {pair.key: pair for pair in pairs.pairs}
        self._scope = set(self._pairs) if scope is None else set(scope)
        order = shuffled(pairs, annotator=journal.header.annotator, seed=journal.header.seed)
        decided = {key for key, _ in journal.decisions.made}
        fresh = [key for key in order if key in self._scope and key not in decided]
        again = [key for key in journal.decisions.skipped if key in self._scope]
        self._queue = deque([*fresh, *again])

    @property
    def current(self) -> Item | None:
        """The pair to decide on; None at the end."""
        return self._pairs[self._queue[0]] if self._queue else None

    @property
    def total(self) -> int:
        """How many pairs there are to label in all."""
        return len(self._scope)

    @property
    def labelled(self) -> int:
        """How many have a label."""
        return len(self._scope & self.journal.decisions.labels.keys())

    @property
    def skipped(self) -> int:
        """How many were skipped and have no label."""
        return len(self._scope.intersection(self.journal.decisions.skipped))

    @property
    def left(self) -> int:
        """How many are still to come in this session."""
        return len(self._queue)

    def decide(self, label: int | None) -> None:
        """Decide on the current pair (None skips it) and go on to the next."""
        self.journal.decide(self._queue[0], label)
        self._queue.popleft()

    def undo(self) -> bool:
        """Take the last decision back, also one of an earlier session: its pair comes next. False if there is none."""
        last = self.journal.undo()
        if last is None:
            return False
        with suppress(ValueError):
            self._queue.remove(last.key)
        if last.key in self._scope:
            self._queue.appendleft(last.key)
        return True

    def note(self, text: str) -> None:
        """Write a note on the current pair."""
        self.journal.note(self._queue[0], text)
